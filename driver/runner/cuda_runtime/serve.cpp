// SPDX-License-Identifier: Apache-2.0

// The runtime in a process that runs device code: makes the context, lays out device memory, calls the entry, reads the
// device's clock around it. It decides nothing; what it reports is checked by the driver.

#include "runner/cuda_runtime/serve.h"

#include <csignal>
#include <initializer_list>

#include <sys/mman.h>
#include <sys/stat.h>

#include "runner/cuda_runtime/calls.h"
#include "runner/cuda_runtime/kernel_module.h"
#include "runner/runtime/filter.h"
#include "runner/runtime/system.h"
#include "runner/ticks.h"

namespace kagent::runner {

// Declared in ticks.h: by the system call itself.
std::uint64_t monotonic_ticks() {
  __kernel_timespec now{};
  system_call(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, reinterpret_cast<long>(&now));
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

namespace cuda {

using namespace protocol;

namespace {

constexpr int kSignalExitStatus = 128;  // as a shell tells a signal
constexpr std::size_t kSignalStackBytes = std::size_t{64} << 10;

TickSource tick_source;
std::uint64_t sentinel_seed;
bool prepared = false;

Slot slots[kSlots];
alignas(64) unsigned char signal_stack[kSignalStackBytes];
alignas(8) unsigned char packet[kMostRequestBytes];

void report_signal(int signal, siginfo_t* info, void*) {
  Reply reply{};
  reply.kind = signal == SIGSYS ? ReplyKind::refused : ReplyKind::deadly;
  reply.code = signal == SIGSYS ? info->si_syscall : signal;
  reply.address = signal == SIGSYS ? 0 : reinterpret_cast<std::uintptr_t>(info->si_addr);
  system_call(SYS_write, kSocket, reinterpret_cast<long>(&reply), sizeof reply);
  end_process(kSignalExitStatus + signal);
}

void take_signals() {
  stack_t stack{};
  stack.ss_sp = signal_stack;
  stack.ss_size = sizeof signal_stack;
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = report_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS}) ::sigaction(signal, &action, nullptr);
}

// What the driver handed over; null in a program that somebody started by hand.
StartBlock* map_exchange() {
  struct stat status {};
  if (::fstat(kExchange, &status) != 0 || status.st_size != static_cast<off_t>(kExchangeBytes)) return nullptr;
  const long at =
      system_call(SYS_mmap, 0L, static_cast<long>(kExchangeBytes), PROT_READ | PROT_WRITE, MAP_SHARED, kExchange, 0);
  if (at < 0 && at > -4096) end_process(1);
  system_call(SYS_close, kExchange);
  return reinterpret_cast<StartBlock*>(at);
}

// After the initialisers of shared libraries, and before any of the candidate's.
void prepare_process(int, char**, char**) {
  StartBlock* const start = map_exchange();
  if (start == nullptr) return;
  tick_source = start->tick_source;
  sentinel_seed = start->sentinel_seed;
  if (start->exits_orderly != 0) leave_orderly();
  area = reinterpret_cast<unsigned char*>(start) + kStartBytes;
  open_context();
  take_signals();
  // The driver's library has threads by now: the filter holds for all of them.
  if (!apply_filter(*start, SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW))
    fail(ReplyKind::no_device, -2, "the system call filter could not be set");
  start->started = 1;
  system_call(SYS_munmap, start, kStartBytes);
  prepared = true;
}

[[gnu::section(".init_array.00000"), gnu::used]] void (*const first_of_program)(int, char**, char**) = prepare_process;

void reset() {
  check(api.cuCtxSynchronize(), "work that was left on the device");
  for (Slot& slot : slots) release(slot);
  unload_module();
  forget_calls();
}

void serve(const Request& request, Reply& reply) {
  const void* const entries = packet + sizeof(Request);
  Slot& slot = slots[request.slot];
  const auto* pieces = static_cast<const Piece*>(entries);
  switch (request.operation) {
    case Operation::lay_out:
      if (!lay_out(slot, static_cast<const Block*>(entries), request.count, sentinel_seed, reply)) {
        reply.kind = ReplyKind::no_memory;
        return;
      }
      poison(slot, static_cast<std::uint8_t>(request.poison), true);
      break;
    case Operation::store:
      if ((request.flags & kPoisonOutputs) != 0) poison(slot, static_cast<std::uint8_t>(request.poison), true);
      for (std::uint32_t i = 0; i < request.count; ++i) store(slot, pieces[i]);
      check(api.cuStreamSynchronize(context.stream), "copying inputs");
      break;
    case Operation::load:
      for (std::uint32_t i = 0; i < request.count; ++i) load(slot, pieces[i]);
      break;
    case Operation::call:
      call(slot, request.nonce, reply);
      break;
    case Operation::sample:
      sample(slots, request, static_cast<const std::uint32_t*>(entries), tick_source, reply);
      break;
    case Operation::release:
      release(slot);
      break;
    case Operation::count:
      count(slot);
      break;
    case Operation::trace:
      trace(slot);
      break;
    case Operation::load_module: {
      const auto* module = static_cast<const Module*>(entries);
      load_module(*module, reinterpret_cast<const Constant*>(module + 1));
      break;
    }
    case Operation::set_geometry:
      set_geometry(slot, *static_cast<const Geometry*>(entries));
      break;
    case Operation::reset:
      reset();
      break;
  }
}

}  // namespace

void serve_requests() {
  if (!prepared) end_process(1);
  Reply ready{};
  ready.kind = ReplyKind::ready;
  send(ready);
  while (true) {
    const long got = system_call(SYS_read, kSocket, reinterpret_cast<long>(packet), sizeof packet);
    if (got < static_cast<long>(sizeof(Request))) break;
    const auto& request = *reinterpret_cast<const Request*>(packet);
    Reply reply{};
    reply.kind = ReplyKind::done;
    reply.sequence = request.sequence;
    reply.begin_ticks = ticks(tick_source);
    serve(request, reply);
    reply.end_ticks = ticks(tick_source);
    send(reply);
  }
  leave(0);
}

}  // namespace cuda

}  // namespace kagent::runner
