// SPDX-License-Identifier: Apache-2.0
#include <string_view>
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
  const auto target = find(slot);
  if (!target) return std::unexpected(target.error());
  (*target)->written.reset();
  protocol::Request request{};
  request.operation = protocol::Operation::trace;
  request.slot = static_cast<std::uint32_t>(slot);
  const auto answer = process_->ask(request, {}, kTraceWork);
  if (!answer) return std::unexpected(answer.error());
  if (answer->result.outcome != Outcome::ok) return nothing(answer->result.detail);
  const std::string_view text(reinterpret_cast<const char*>(process_->area().data()), process_->area().size());
  return parse_trace(text.substr(0, text.find('\0')));
}

}  // namespace kagent::runner
