// SPDX-License-Identifier: Apache-2.0
#include "runner/runner_process.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runner/call_filter.h"
#include "runner/cuda_errors.h"
#include "runner/secret.h"
#include "runner/tick_clock.h"
#include "util/process_tree.h"
#include "util/text.h"

namespace kagent::runner {

using protocol::Reply;
using protocol::ReplyKind;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

// How often memory and threads are looked at while a step runs.
constexpr auto kLook = 10ms;
// What even a busy virtual machine manages that has to get each page from its host first.
constexpr std::uint64_t kTouchedBytesPerSecond = std::uint64_t{16} << 20;
// A process that closed the channel is on its way out, or never will be.
constexpr auto kGrace = 5s;
// Counters of different cores agree to far less.
constexpr auto kCounterSkew = 20us;
// A single thread uses no processor time beyond what it claims, but for waking up and answering; a pool of threads may
// spin on after the call.
constexpr auto kUnclaimedTime = 2ms;
constexpr auto kPoolUnclaimedTime = 100ms;
// Answering and going to sleep take less. Stopping costs every step some 40 us, so who is idle in between is spared it.
constexpr auto kLingering = 100us;
// Between the end of the calls' own stream and that of everything on the device, as the host sees it; less than this
// may be a host that was busy.
constexpr auto kLate = 200us;
// Private memory is cut off hard a quarter beyond the limit, where the watch was too slow.
constexpr std::uint64_t kHardLimitShare = 4;

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

std::string changed_thing(std::int32_t change) {
  switch (static_cast<protocol::Change>(change)) {
    case protocol::Change::registers:
      return "registers";
    case protocol::Change::floating_modes:
      return "floating-point environment";
    case protocol::Change::signal_mask:
      return "signal mask";
    case protocol::Change::start_time:
      return "start time";
    case protocol::Change::late_output:
    case protocol::Change::none:
      break;
  }
  return "state";
}

std::string last_line(const std::string& text) {
  std::string clean = util::clean(text, 4096);
  while (!clean.empty() && clean.back() == '\n') clean.pop_back();
  clean.erase(0, clean.find_last_of('\n') + 1);
  return clean.substr(0, 200);
}

std::string first_line(std::span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::string clean = util::clean(text.substr(0, text.find('\0')), bytes.size());
  return clean.substr(0, clean.find('\n'));
}

std::uint64_t mebibytes(std::uint64_t bytes) {
  return bytes >> 20;
}

Result<std::optional<RunResult>> optional_of(Result<RunResult> result) {
  if (!result) return std::unexpected(std::move(result.error()));
  return std::move(*result);
}

}  // namespace

int most_threads() {
  return 64 + 4 * static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

RunnerProcess::RunnerProcess(util::Child child, bool sandboxed, Channel channel, const RunnerLimits& limits,
                             std::uint64_t own_bytes, ProcessKind kind)
    : child_(std::move(child)),
      channel_(std::move(channel)),
      limits_(limits),
      own_bytes_(own_bytes),
      sequence_(secret_number()),
      sandboxed_(sandboxed),
      kind_(std::move(kind)),
      started_(steady_clock::now()),
      next_look_(started_) {}

RunResult RunnerProcess::end(Outcome outcome, std::string detail) {
  if (!child_.kill().reaped) {
    detail += "; its process hangs in the kernel and could not be killed";
    if (kind_.device) detail += ": the GPU may be of no use until the machine restarts";
  }
  return note_end(outcome, std::move(detail));
}

// Of a runtime that told why it goes.
RunResult RunnerProcess::end_told(Outcome outcome, std::string detail) {
  return kind_.ends_by_itself ? note_end(outcome, std::move(detail)) : end(outcome, std::move(detail));
}

RunResult RunnerProcess::note_end(Outcome outcome, std::string detail) {
  ended_ = RunResult{outcome, std::move(detail), {}, {}};
  told_ = false;
  return *ended_;
}

// What the caller learns of the end, once; afterwards there is nothing to run any more.
RunResult RunnerProcess::tell_end() {
  if (!std::exchange(told_, true)) return *ended_;
  return {Outcome::launch_failed, "the process has ended: " + ended_->detail, {}, {}};
}

void RunnerProcess::allow_buffers(std::uint64_t bytes) {
  buffer_bytes_ = bytes;
  if (pid_ < 0 || kind_.device) return;
  const rlimit limit{memory_limit() + limits_.memory_bytes / kHardLimitShare, RLIM_INFINITY};
  ::prlimit(pid_, RLIMIT_DATA, &limit, nullptr);  // the watch alone remains where this is not allowed
}

void RunnerProcess::signal(int number) {
  if (handle_) ::syscall(SYS_pidfd_send_signal, handle_.get(), number, nullptr, 0);
}

std::chrono::nanoseconds RunnerProcess::processor_time() const {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0ns;
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::optional<RunResult> RunnerProcess::over_limits() {
  const auto now = steady_clock::now();
  if (pid_ < 0 || now < next_look_) return {};
  next_look_ = now + kLook;
  const util::TreeUse use = util::process_use(pid_);
  if (use.resident_bytes > memory_limit())
    return end(Outcome::memory_exceeded, fmt::format("used more than {} MiB", mebibytes(limits_.memory_bytes)));
  if (use.tasks > most_threads())
    return end(Outcome::policy_violation, fmt::format("started more than {} threads", most_threads()));
  return {};
}

Result<RunResult> RunnerProcess::no_memory_for_buffers(const Reply& reply) {
  if (kind_.device) return no_device_memory(reply);
  const std::uint64_t resident = util::process_use(pid_).resident_bytes;
  if (resident > limits_.memory_bytes + own_bytes_) {
    end(Outcome::memory_exceeded,
        fmt::format("left no room for the call's buffers: holds {} MiB", mebibytes(resident)));
    return tell_end();
  }
  return failure(fmt::format("this machine has no memory for buffers of {} MiB", mebibytes(buffer_bytes_)),
                 "make the case smaller, or end other programs");
}

// A message that the runtime sends on its own account.
Result<RunResult> RunnerProcess::reported(const Reply& reply) {
  switch (reply.kind) {
    case ReplyKind::deadly:
      return end_told(Outcome::crashed, fmt::format("{} at {:#x}", signal_name(reply.code), reply.address));
    case ReplyKind::refused:
      return end(Outcome::policy_violation, fmt::format("called {}()", system_call_name(reply.code)));
    case ReplyKind::tampered:
      return end(Outcome::policy_violation, "handled SIGSYS itself");
    case ReplyKind::wrote_input:
      return end(Outcome::crashed,
                 fmt::format("{} at {:#x}: wrote to an input", signal_name(reply.code), reply.address));
    case ReplyKind::changed:
      if (reply.code == static_cast<std::int32_t>(protocol::Change::late_output))
        return end_told(Outcome::policy_violation, "wrote to an output after the call's stream had ended");
      return end(Outcome::policy_violation, "changed its caller's " + changed_thing(reply.code));
    case ReplyKind::device_error:
    case ReplyKind::no_device:
    case ReplyKind::bad_module:
      if (kind_.device) return reported_by_device(reply);
      break;
    case ReplyKind::ready:
    case ReplyKind::done:
    case ReplyKind::no_memory:
      break;
  }
  return end(Outcome::policy_violation, "wrote to the runner's channel");
}

// The runtime's words are as untrusted as its numbers.
Result<RunResult> RunnerProcess::reported_by_device(const Reply& reply) {
  const std::string text = first_line(channel_.area().first(protocol::kTextBytes));
  if (reply.kind == ReplyKind::bad_module) return end_told(Outcome::launch_failed, text);
  if (reply.kind == ReplyKind::device_error && !speaks_of_lost_device(reply.code))
    return end_told(outcome_of_device_error(reply.code), text);
  end_told(Outcome::device_fault, text);
  if (reply.kind == ReplyKind::no_device && !ready_ && !channel_.started())
    return failure("the GPU cannot be used: " + text, device_error_fix(reply.code));
  // Whoever says that the device is lost may be lying, or have lost nothing but its own context.
  if (kind_.device_works)
    if (const auto works = kind_.device_works(); !works)
      return failure("the GPU was lost: " + text + "; then: " + works.error().message, works.error().fix);
  return *ended_;
}

Result<RunResult> RunnerProcess::no_device_memory(const Reply& reply) {
  if (reply.lost_bytes > limits_.memory_bytes) {
    end(Outcome::memory_exceeded,
        fmt::format("left no room for the call's buffers: {} MiB of the GPU's memory are gone",
                    mebibytes(reply.lost_bytes)));
    return tell_end();
  }
  return failure(fmt::format("the case needs {} MiB of the GPU's memory, and {} MiB are free",
                             mebibytes(reply.needed_bytes), mebibytes(reply.free_bytes)),
                 "make the case smaller, or end other programs on the GPU (nvidia-smi lists them)");
}

Result<RunResult> RunnerProcess::how_it_ended(const util::Finished& finished) {
  const std::string printed = last_line(finished.standard_error);
  const bool by_bubblewrap = printed.starts_with("bwrap: ");
  if (!channel_.started() && finished.ended_by == util::EndedBy::exit) {
    if (by_bubblewrap && !printed.starts_with("bwrap: execvp"))
      return failure("the sandbox could not be set up: " + printed, "run 'kagent doctor'");
    return end(Outcome::launch_failed,
               printed.empty() ? fmt::format("the program ended at once with status {}", finished.code) : printed);
  }
  switch (finished.ended_by) {
    case util::EndedBy::memory_limit:
      return end(Outcome::memory_exceeded, fmt::format("used more than {} MiB", mebibytes(limits_.memory_bytes)));
    case util::EndedBy::task_limit:
      return end(Outcome::policy_violation, fmt::format("started more than {} threads", most_threads()));
    case util::EndedBy::output_limit:
      return end(Outcome::output_exceeded, "printed more than 1 MiB");
    case util::EndedBy::wall_limit:
      return end(Outcome::timed_out, "did not end in time");
    case util::EndedBy::exit:
      return end(Outcome::crashed, ready_ ? fmt::format("exited with {} in the middle of a call", finished.code)
                                          : fmt::format("exited with {} before its first call", finished.code));
    case util::EndedBy::signal:
      break;
  }
  if (finished.code == SIGSYS) return end(Outcome::policy_violation, "made a forbidden system call");
  if (finished.code == SIGKILL) return end(Outcome::memory_exceeded, "killed by the kernel, which ran out of memory");
  if (finished.standard_error.find("'std::bad_alloc'") != std::string::npos)
    return end(Outcome::memory_exceeded,
               fmt::format("std::bad_alloc under a limit of {} MiB", mebibytes(limits_.memory_bytes)));
  return end(Outcome::crashed, finished.code == SIGABRT && !printed.empty()
                                   ? signal_name(finished.code) + ": " + printed
                                   : signal_name(finished.code));
}

// Nothing when a reply came; else how the process ended.
Result<std::optional<RunResult>> RunnerProcess::wait_for_reply(steady_clock::time_point deadline,
                                                               std::chrono::milliseconds limit, Reply& reply) {
  bool closed = false;
  while (true) {
    const Channel::Received received = closed ? Channel::Received{} : channel_.receive();
    switch (received.what) {
      case Channel::Received::What::reply:
        // Who sent it is the kernel's word only where the candidate has no privileges to say otherwise.
        if (pid_ < 0) pid_ = sandboxed_ ? received.sender : child_.pid();
        reply = received.reply;
        if (reply.kind == ReplyKind::ready || reply.kind == ReplyKind::done || reply.kind == ReplyKind::no_memory)
          return std::nullopt;
        return optional_of(reported(reply));
      case Channel::Received::What::nonsense:
        return end(Outcome::policy_violation, "wrote to the runner's channel");
      case Channel::Received::What::closed:
        closed = true;
        deadline = std::min(deadline, steady_clock::now() + kGrace);
        break;
      case Channel::Received::What::nothing:
        break;
    }
    if (const auto finished = child_.poll()) return optional_of(how_it_ended(*finished));
    if (auto over = over_limits()) return over;
    const auto now = steady_clock::now();
    if (now >= deadline) {
      if (closed) return end(Outcome::policy_violation, "closed the runner's channel");
      return end(Outcome::timed_out, fmt::format("no answer within {} s", static_cast<double>(limit.count()) / 1000));
    }
    const auto pause = std::min<std::chrono::nanoseconds>(deadline - now, kLook);
    child_.wait_for_news(closed ? -1 : channel_.socket(), std::chrono::ceil<std::chrono::microseconds>(pause));
  }
}

Result<std::optional<RunResult>> RunnerProcess::wait_until_ready() {
  if (ready_) return std::nullopt;
  Reply reply{};
  auto over = wait_for_reply(started_ + limits_.start, limits_.start, reply);
  if (!over || *over) return over;
  if (reply.kind != ReplyKind::ready) return optional_of(reported(reply));
  ready_ = true;
  handle_ = util::Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  processor_ = processor_time();
  child_.stop_watching();
  allow_buffers(buffer_bytes_);
  return std::nullopt;
}

// Why the times cannot be true; empty if they can. Everything is in the same ticks.
std::string RunnerProcess::disputed_time(const Reply& reply, const Window& window) {
  const TickClock& clock = TickClock::instance();
  const auto after = [&](std::uint64_t early, std::uint64_t late) {  // beyond what skew explains
    return early > late && clock.duration(early - late) > kCounterSkew;
  };
  if (after(window.begin, reply.begin_ticks) || after(reply.end_ticks, window.end) ||
      after(reply.begin_ticks, reply.end_ticks))
    return "a step that lies outside of the time it was asked in";
  const std::uint64_t whole = reply.end_ticks - reply.begin_ticks;
  if (reply.call_ticks > whole) return "calls longer than the whole step";
  if (kind_.device) return disputed_device_time(reply, clock.duration(whole));
  // What is not timed gains nothing by working on.
  if (window.timed && unclaimed_.note(used_unclaimed_time(clock.duration(whole), window)))
    return "less time than the processor spent, again and again";
  return {};
}

std::string RunnerProcess::disputed_device_time(const Reply& reply, std::chrono::nanoseconds whole) {
  // The device's clock and the host's differ by far less than this share.
  if (std::chrono::nanoseconds(reply.device_ns) > whole + whole / 64 + kCounterSkew)
    return "calls on the device longer than the whole step";
  if (reply.late_ns == 0) return {};  // no call
  if (late_.note(std::chrono::nanoseconds(reply.late_ns) > kLate))
    return "calls that end before their work, again and again";
  return {};
}

// Whether the process worked while it claims that the step was over.
bool RunnerProcess::used_unclaimed_time(std::chrono::nanoseconds claimed, const Window& window) const {
  const auto cpus = limits_.cpus.empty() ? std::max(1U, std::thread::hardware_concurrency())
                                         : static_cast<unsigned>(limits_.cpus.size());
  if (window.processor <= claimed * cpus + kUnclaimedTime) return false;
  return util::process_use(pid_).tasks == 1 || window.processor > (claimed + kPoolUnclaimedTime) * cpus;
}

Result<RunResult> RunnerProcess::start_up() {
  if (ended_) return tell_end();
  auto over = wait_until_ready();
  if (!over) return std::unexpected(over.error());
  if (*over) told_ = true;
  return *over ? **over : RunResult{};
}

std::optional<util::Finished> RunnerProcess::dismiss(std::chrono::milliseconds limit) {
  channel_.hang_up();
  for (const auto deadline = steady_clock::now() + limit; steady_clock::now() < deadline && !over_limits();) {
    if (auto finished = child_.poll()) return finished;
    child_.wait_for_news(-1, kLook);
  }
  child_.kill(util::EndedBy::wall_limit);
  return {};
}

Result<RunnerProcess::Answer> RunnerProcess::ask(protocol::Request request, std::span<const std::byte> entries,
                                                 std::uint64_t touched_bytes) {
  if (ended_) return Answer{tell_end(), {}};
  const auto finish = [&](Result<RunResult> over) -> Result<Answer> {
    if (!over) return std::unexpected(std::move(over.error()));
    return told_ = true, Answer{std::move(*over), {}};
  };
  if (auto over = wait_until_ready(); !over || *over) return over ? finish(**over) : std::unexpected(over.error());
  // Nothing may have been said since the last answer; a crash of a thread that went on is told as what it is.
  if (const auto unasked = channel_.receive(); unasked.what == Channel::Received::What::reply)
    return finish(reported(unasked.reply));
  else if (unasked.what == Channel::Received::What::nonsense)
    return finish(end(Outcome::policy_violation, "wrote to the runner's channel"));

  const TickClock& clock = TickClock::instance();
  request.sequence = ++sequence_;
  Window window;
  window.timed = request.operation == protocol::Operation::call || request.operation == protocol::Operation::sample;
  const auto processor = processor_time();
  if (processor - processor_ > kLingering && !kind_.device) lingers_ = true;
  if (lingers_) signal(SIGCONT);
  window.begin = clock.now();
  channel_.send(request, entries);  // if nobody listens, the reason follows
  Answer answer;
  const auto limit = limits_.step + std::chrono::seconds(touched_bytes / kTouchedBytesPerSecond);
  auto over = wait_for_reply(steady_clock::now() + limit, limit, answer.reply);
  if (!over) return std::unexpected(over.error());
  if (*over) return finish(**over);
  window.end = clock.now();
  if (lingers_) signal(SIGSTOP);
  processor_ = processor_time();
  window.processor = processor_ - processor;
  if (answer.reply.kind == ReplyKind::ready || answer.reply.sequence != request.sequence)
    return finish(reported(Reply{}));
  if (const std::string dispute = disputed_time(answer.reply, window); !dispute.empty())
    return finish(end(Outcome::policy_violation, "clock: it claims " + dispute));
  answer.result.child_time =
      kind_.device ? std::chrono::nanoseconds(answer.reply.device_ns) : clock.duration(answer.reply.call_ticks);
  answer.result.driver_time = clock.duration(window.end - window.begin);
  return answer;
}

}  // namespace kagent::runner
