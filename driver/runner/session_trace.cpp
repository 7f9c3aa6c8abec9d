// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "runner/process_session.h"
#include "runner/trace_text.h"

namespace kagent::runner {
namespace {

// Loading the profiler, and a few calls: as bytes that are gone through, which have time of their own.
constexpr std::uint64_t kTraceWork = std::uint64_t{16} << 30;

KernelTrace nothing(std::string why) {
  KernelTrace trace;
  trace.problem = std::move(why);
  return trace;
}

}  // namespace

Result<KernelTrace> Session::trace(int) {
  return nothing("this runner traces no kernels");
}

Result<KernelTrace> ProcessSession::trace(int slot) {
  if (!kind_.counts) return Session::trace(slot);
  const auto answer = look(slot, protocol::Operation::trace, kTraceWork);
  if (!answer) return std::unexpected(answer.error());
  return answer->result.outcome == Outcome::ok ? parse_trace(told()) : nothing(answer->result.detail);
}

}  // namespace kagent::runner
