// SPDX-License-Identifier: Apache-2.0

// The runtime in the candidate's process: lays out buffers, calls the entry, reads the counter around it. It decides
// nothing; what it reports is checked by the driver. It shares its process with code that may be hostile, so it calls
// no library function (see system.h), and everything that can be arranged is arranged before that code runs for the
// first time, which is in the static initialisers.

#include <cstddef>
#include <cstdint>

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "runner/protocol.h"
#include "runner/runtime/filter.h"
#include "runner/runtime/guarded_call.h"
#include "runner/runtime/slots.h"
#include "runner/runtime/system.h"
#include "runner/ticks.h"

namespace kagent::runner {

using namespace protocol;

namespace {

// What the kernel takes for rt_sigaction; the C library's struct is another one.
struct KernelAction {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};

constexpr std::size_t kSignalStackBytes = 64 * 1024;
constexpr unsigned long kRestorerFlag = 0x04000000;  // SA_RESTORER
constexpr int kSignalExitStatus = 128;               // as a shell tells a signal

// Of the start block, which is out of reach once the candidate's code runs.
TickSource tick_source;
std::uint64_t sweep_bytes, sentinel_seed;

StartBlock* start_block = nullptr;
unsigned char* area = nullptr;
Slot slots[kSlots];
const Slot* protected_slot = nullptr;  // whose inputs cannot be written just now
unsigned char* sweep_area = nullptr;
unsigned long signal_mask = 0;
alignas(64) unsigned char signal_stack[kSignalStackBytes];
alignas(8) unsigned char packet[kMostRequestBytes];

void send(const Reply& reply) {
  // Without a driver there is nothing left to do.
  if (system_call(SYS_write, kSocket, reinterpret_cast<long>(&reply), sizeof reply) != sizeof reply) end_process(1);
}

bool equal(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

// The C library counts processors by files (std::thread::hardware_concurrency()), and if it may not, asks the
// scheduler. Such a call is told no instead of ending the process.
bool refuse_processor_count([[maybe_unused]] const siginfo_t& info, [[maybe_unused]] void* context) {
#if defined(__x86_64__)
  if (info.si_syscall != SYS_openat) return false;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* const path = reinterpret_cast<const char*>(registers[REG_RSI]);
  if (!equal(path, "/sys/devices/system/cpu/online") && !equal(path, "/proc/stat")) return false;
  registers[REG_RAX] = -EACCES;
  return true;
#else
  return false;
#endif
}

void report_signal(int signal, siginfo_t* info, void* context) {
  if (signal == SIGSYS && refuse_processor_count(*info, context)) return;
  Reply reply{};
  reply.kind = signal == SIGSYS ? ReplyKind::refused : ReplyKind::deadly;
  if (signal == SIGSEGV && protected_slot != nullptr &&
      is_protected_input(*protected_slot, reinterpret_cast<std::uintptr_t>(info->si_addr)))
    reply.kind = ReplyKind::wrote_input;
  reply.code = signal == SIGSYS ? info->si_syscall : signal;
  reply.address = signal == SIGSYS ? 0 : reinterpret_cast<std::uintptr_t>(info->si_addr);
  system_call(SYS_write, kSocket, reinterpret_cast<long>(&reply), sizeof reply);
  end_process(kSignalExitStatus + signal);
}

#if defined(__x86_64__)
[[gnu::naked]] void return_from_handler() {
  asm volatile("mov %0, %%eax\n\tsyscall" ::"i"(SYS_rt_sigreturn));
}
#endif

void set_action(int signal, const KernelAction* action, KernelAction* before) {
  system_call(SYS_rt_sigaction, signal, reinterpret_cast<long>(action), reinterpret_cast<long>(before), 8);
}

unsigned long blocked_signals() {
  unsigned long mask = 0;
  system_call(SYS_rt_sigprocmask, static_cast<long>(SIG_BLOCK), 0, reinterpret_cast<long>(&mask), sizeof mask);
  return mask;
}

void take_signals() {
  KernelAction before{};
  set_action(SIGSYS, nullptr, &before);
  if (before.handler != nullptr) {
    Reply reply{};
    reply.kind = ReplyKind::tampered;
    send(reply);
    end_process(1);
  }
  stack_t stack{};
  stack.ss_sp = signal_stack;
  stack.ss_size = sizeof signal_stack;
  system_call(SYS_sigaltstack, &stack);
  KernelAction action{};
  action.handler = report_signal;
  action.flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
#if defined(__x86_64__)
  action.flags |= kRestorerFlag;
  action.restorer = return_from_handler;
#endif
  constexpr int kDeadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS};
  for (const int signal : kDeadly) set_action(signal, &action, nullptr);
}

// Before any initialiser at all.
void prepare_process(int, char**, char**) {
  const long at =
      system_call(SYS_mmap, 0L, static_cast<long>(kExchangeBytes), PROT_READ | PROT_WRITE, MAP_SHARED, kExchange, 0);
  if (at < 0 && at > -4096) end_process(1);
  start_block = reinterpret_cast<StartBlock*>(at);
  tick_source = start_block->tick_source;
  sweep_bytes = start_block->sweep_bytes;
  sentinel_seed = start_block->sentinel_seed;
  area = reinterpret_cast<unsigned char*>(at) + kStartBytes;
  system_call(SYS_close, kExchange);
  take_signals();
  start_block->started = 1;
}

// After the initialisers of shared libraries, which may read what they need to know of the machine, and before any of
// the candidate's.
void close_process(int, char**, char**) {
  if (!apply_filter(*start_block, SECCOMP_FILTER_FLAG_SPEC_ALLOW)) end_process(1);
  signal_mask = blocked_signals();
  prepare_guarded_calls(tick_source, sentinel_seed);
  system_call(SYS_munmap, start_block, kStartBytes);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const first_of_all)(int, char**, char**) = prepare_process;
[[gnu::section(".init_array.00000"), gnu::used]] void (*const first_of_program)(int, char**, char**) = close_process;

// Evicts the private caches: code and the candidate's own tables too, which flush() does not know of.
void sweep() {
  if (sweep_bytes == 0) return;
  if (sweep_area == nullptr) {
    long error = 0;
    sweep_area = map_pages(sweep_bytes, &error);
    if (sweep_area == nullptr) return;
  }
  volatile unsigned char* bytes = sweep_area;
  for (std::uint64_t at = 0; at < sweep_bytes; at += kLineBytes) bytes[at] = static_cast<unsigned char>(bytes[at] + 1);
}

[[noreturn]] void report_change(Change change) {
  Reply reply{};
  reply.kind = ReplyKind::changed;
  reply.code = static_cast<std::int32_t>(change);
  send(reply);
  end_process(1);
}

// Ticks that the call took.
std::uint64_t timed_call(const Slot& slot) {
  const GuardedCall call = guarded_call(slot.pointers);
  if (call.change != Change::none) report_change(call.change);
  return call.ticks;
}

void sample(const Request& request, const std::uint32_t* order, Reply& reply) {
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < request.repetitions; ++i) {
    Slot& slot = slots[order[next]];
    if (++next == request.count) next = 0;
    restore_inouts(slot);
    poison_for_timing(slot, static_cast<std::uint8_t>(request.poison));
    if ((request.flags & kCold) != 0) {
      sweep();
      flush(slot);
    }
    reply.call_ticks += timed_call(slot);
    if (i + 1 == request.repetitions) reply.fingerprint = fingerprint_of_outputs(slot, request.nonce);
  }
}

void serve(const Request& request, Reply& reply) {
  const void* const entries = packet + sizeof(Request);
  Slot& slot = slots[request.slot];
  const auto* pieces = static_cast<const Piece*>(entries);
  switch (request.operation) {
    case Operation::lay_out: {
      const long error = lay_out(slot, static_cast<const Block*>(entries), request.count, sentinel_seed);
      if (error < 0) {
        reply.kind = ReplyKind::no_memory;
        reply.code = static_cast<std::int32_t>(-error);
        return;
      }
      poison(slot, static_cast<std::uint8_t>(request.poison));
      break;
    }
    case Operation::store:
      if ((request.flags & kPoisonOutputs) != 0) poison(slot, static_cast<std::uint8_t>(request.poison));
      for (std::uint32_t i = 0; i < request.count; ++i) store(slot, pieces[i], area);
      break;
    case Operation::load:
      for (std::uint32_t i = 0; i < request.count; ++i) load(slot, pieces[i], area);
      break;
    case Operation::call:
      protected_slot = &slot;
      protect_inputs(slot, true);
      reply.call_ticks = timed_call(slot);
      protect_inputs(slot, false);
      protected_slot = nullptr;
      reply.fingerprint = fingerprint_of_outputs(slot, request.nonce);
      break;
    case Operation::sample:
      sample(request, static_cast<const std::uint32_t*>(entries), reply);
      break;
    case Operation::release:
      release(slot);
      break;
    case Operation::count:
    case Operation::trace:
    case Operation::load_module:
    case Operation::set_geometry:
    case Operation::reset:
      break;  // of device code
  }
}

[[noreturn]] void serve_requests() {
  Reply ready{};
  ready.kind = ReplyKind::ready;
  send(ready);
  while (true) {
    const long got = system_call(SYS_read, kSocket, reinterpret_cast<long>(packet), sizeof packet);
    if (got < static_cast<long>(sizeof(Request))) end_process(0);
    const auto& request = *reinterpret_cast<const Request*>(packet);
    Reply reply{};
    reply.kind = ReplyKind::done;
    reply.sequence = request.sequence;
    reply.begin_ticks = ticks(tick_source);
    serve(request, reply);
    reply.end_ticks = ticks(tick_source);
    if (blocked_signals() != signal_mask) report_change(Change::signal_mask);
    send(reply);
  }
}

}  // namespace

std::uint64_t monotonic_ticks() {
  __kernel_timespec now{};
  system_call(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, reinterpret_cast<long>(&now));
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace kagent::runner

int main() {
  kagent::runner::serve_requests();
}
