// SPDX-License-Identifier: Apache-2.0
#include "runner/runtime/guarded_call.h"

#include "runner/ticks.h"

// Made for each entry: arguments[i] is the buffer, or leads to the value, of parameter i.
extern "C" void kagent_call(void* const* arguments);

namespace kagent::runner {

using protocol::Change;

namespace {

protocol::TickSource tick_source;
std::uint64_t key;

// The start time waits in memory under a key, and twice: registers and stack are the candidate's to change.
struct {
  std::uint64_t masked, sum;
} start_time;
std::uint64_t end_time;

[[gnu::used]] void note_start() asm("kagent_note_start");
[[gnu::used]] void note_end() asm("kagent_note_end");

void note_start() {
  const std::uint64_t now = ticks(tick_source);
  start_time.masked = now ^ key;
  start_time.sum = now + key;
}

void note_end() {
  end_time = ticks(tick_source);
}

// What a function must leave as it was: modes of the floating-point units, not the flags that say what has happened.
struct FloatingModes {
  std::uint64_t first = 0, second = 0;
  bool operator==(const FloatingModes&) const = default;
};

#if defined(__x86_64__)

FloatingModes floating_modes() {
  std::uint32_t mxcsr = 0;
  std::uint16_t x87 = 0;
  asm volatile("stmxcsr %0" : "=m"(mxcsr));
  asm volatile("fnstcw %0" : "=m"(x87));
  constexpr std::uint32_t kWhatHappened = 0x3F;
  return {mxcsr & ~kWhatHappened, x87};
}

// rbx, rbp, r12 to r15 and rsp as they are before the call.
[[gnu::used]] std::uint64_t saved_registers[7] asm("kagent_saved_registers");

// Returns 1 if the entry returned with other values in the registers that belong to its caller, or with the direction
// flag set. They are put back from memory, so that nothing after depends on what it left in them.
extern "C" [[gnu::visibility("hidden")]] int kagent_call_by_registers(void* const* arguments);
asm(R"(
.text
.globl kagent_call_by_registers
.hidden kagent_call_by_registers
.type kagent_call_by_registers, @function
kagent_call_by_registers:
  endbr64
  sub $8, %rsp
  mov %rdi, (%rsp)
  mov %rbx, kagent_saved_registers(%rip)
  mov %rbp, kagent_saved_registers+8(%rip)
  mov %r12, kagent_saved_registers+16(%rip)
  mov %r13, kagent_saved_registers+24(%rip)
  mov %r14, kagent_saved_registers+32(%rip)
  mov %r15, kagent_saved_registers+40(%rip)
  mov %rsp, kagent_saved_registers+48(%rip)
  call kagent_note_start
  mov (%rsp), %rdi
  call kagent_call@PLT
  mov %rsp, %rdx
  mov kagent_saved_registers+48(%rip), %rsp
  mov %rdx, (%rsp)
  pushfq
  sub $8, %rsp
  call kagent_note_end
  add $8, %rsp
  pop %rax
  cld
  and $0x400, %eax
  pop %rdx
  sub $8, %rsp
  sub kagent_saved_registers+48(%rip), %rdx
  or %rdx, %rax
  xor kagent_saved_registers(%rip), %rbx
  or %rbx, %rax
  xor kagent_saved_registers+8(%rip), %rbp
  or %rbp, %rax
  xor kagent_saved_registers+16(%rip), %r12
  or %r12, %rax
  xor kagent_saved_registers+24(%rip), %r13
  or %r13, %rax
  xor kagent_saved_registers+32(%rip), %r14
  or %r14, %rax
  xor kagent_saved_registers+40(%rip), %r15
  or %r15, %rax
  mov kagent_saved_registers(%rip), %rbx
  mov kagent_saved_registers+8(%rip), %rbp
  mov kagent_saved_registers+16(%rip), %r12
  mov kagent_saved_registers+24(%rip), %r13
  mov kagent_saved_registers+32(%rip), %r14
  mov kagent_saved_registers+40(%rip), %r15
  xor %edx, %edx
  test %rax, %rax
  setne %dl
  mov %edx, %eax
  add $8, %rsp
  ret
.size kagent_call_by_registers, . - kagent_call_by_registers
)");

bool call_keeps_registers(void* const* arguments) {
  return kagent_call_by_registers(arguments) == 0;
}

#else

FloatingModes floating_modes() {
  FloatingModes modes;
#if defined(__aarch64__)
  asm volatile("mrs %0, fpcr" : "=r"(modes.first));
#endif
  return modes;
}

bool call_keeps_registers(void* const* arguments) {
  note_start();
  kagent_call(arguments);
  note_end();
  return true;
}

#endif

}  // namespace

void prepare_guarded_calls(protocol::TickSource source, std::uint64_t secret) {
  tick_source = source;
  key = (secret ^ ticks(source)) * 0x9E37'79B9'7F4A'7C15;
}

GuardedCall guarded_call(void* const* arguments) {
  const FloatingModes before = floating_modes();
  asm volatile("" ::: "memory");
  const bool kept = call_keeps_registers(arguments);
  asm volatile("" ::: "memory");
  GuardedCall call;
  const std::uint64_t start = start_time.masked ^ key;
  call.ticks = end_time - start;
  if (start + key != start_time.sum) call.change = Change::start_time;
  if (!(floating_modes() == before)) call.change = Change::floating_modes;
  if (!kept) call.change = Change::registers;
  return call;
}

}  // namespace kagent::runner
