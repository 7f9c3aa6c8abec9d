// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runner/channel.h"
#include "runner/recurrence.h"
#include "runner/runner.h"
#include "util/subprocess.h"

namespace kagent::runner {

// What code the process runs, as far as it is watched otherwise for that.
struct ProcessKind {
  // Device code is called: the process has threads and memory of the driver's own, so that neither its processor time
  // nor its private memory tells anything, and it is never stopped.
  bool device = false;
  // Whether the device still works, as seen from another process: asked when this one says that it does not.
  std::function<Result<void>()> device_works = {};
  // It runs under a tool that has something to say after an error too: what told of one ends in its own time, which
  // dismiss() limits.
  bool ends_by_itself = false;
  // Held as long as the process may live.
  std::shared_ptr<void> presence = {};
};

// The candidate's process: one request at a time, each with its time limit, and how it ended if it did. Once it was
// seen to work between requests it is stopped there: threads that it leaves behind neither prepare the next call nor
// disturb what another process measures.
class RunnerProcess {
 public:
  // `sandboxed`: the child is bubblewrap, and the candidate's process lies within.
  RunnerProcess(util::Child child, bool sandboxed, Channel channel, const RunnerLimits& limits, std::uint64_t own_bytes,
                ProcessKind kind = {});

  struct Answer {
    RunResult result;
    protocol::Reply reply{};  // when result is ok
  };
  // Sends the request (its sequence is set here) and waits for the answer. `touched_bytes`: memory that the runtime
  // itself goes through for it, which gets time of its own.
  Result<Answer> ask(protocol::Request request, std::span<const std::byte> entries = {},
                     std::uint64_t touched_bytes = 0);

  std::span<std::byte> area() { return channel_.area(); }
  bool has_ended() const { return ended_.has_value(); }
  // Kills it; the next request is answered with this.
  RunResult end(Outcome outcome, std::string detail);
  // The next request is answered with how it ended, although that was told before.
  void tell_again() { told_ = false; }
  // The answer to a request that found no memory: whose fault it is.
  Result<RunResult> no_memory_for_buffers(const protocol::Reply& reply);
  // Before a process that was kept ready is used for something new.
  void set_limits(const RunnerLimits& limits) { limits_ = limits; }
  // Waits until it can be talked to, or has ended.
  Result<RunResult> start_up();
  const util::Child& child() const { return child_; }
  // Of the candidate's process itself; known once it was talked to.
  pid_t pid() const { return pid_; }
  // Hears no more of the driver: an orderly runtime ends then. How it ended, or nothing after `limit` or beyond its
  // other limits, when it is killed.
  std::optional<util::Finished> dismiss(std::chrono::milliseconds limit);
  // Memory that the driver itself asks for in the process, from now on.
  void allow_buffers(std::uint64_t bytes);

 private:
  struct Window {
    std::uint64_t begin = 0, end = 0;       // the driver's ticks around the step
    std::chrono::nanoseconds processor{0};  // processor time that the process used in it
    bool timed = false;                     // the step calls the kernel
  };
  Result<std::optional<RunResult>> wait_until_ready();
  Result<std::optional<RunResult>> wait_for_reply(std::chrono::steady_clock::time_point deadline,
                                                  std::chrono::milliseconds limit, protocol::Reply& reply);
  void signal(int number);
  RunResult note_end(Outcome outcome, std::string detail);
  RunResult end_told(Outcome outcome, std::string detail);
  RunResult tell_end();
  Result<RunResult> how_it_ended(const util::Finished& finished);
  Result<RunResult> reported(const protocol::Reply& reply);
  Result<RunResult> reported_by_device(const protocol::Reply& reply);
  Result<RunResult> no_device_memory(const protocol::Reply& reply);
  std::optional<RunResult> over_limits();
  std::string disputed_device_time(const protocol::Reply& reply, std::chrono::nanoseconds whole);
  std::string disputed_time(const protocol::Reply& reply, const Window& window);
  bool used_unclaimed_time(std::chrono::nanoseconds claimed, const Window& window) const;
  std::chrono::nanoseconds processor_time() const;
  std::uint64_t memory_limit() const { return limits_.memory_bytes + own_bytes_ + buffer_bytes_; }

  util::Child child_;
  Channel channel_;
  RunnerLimits limits_;
  std::uint64_t own_bytes_ = 0, buffer_bytes_ = 0;
  std::uint64_t sequence_;  // starts where no candidate can guess
  bool sandboxed_;
  ProcessKind kind_;
  pid_t pid_ = -1;                         // of the candidate's process itself; known once it is ready
  Recurrence unclaimed_;                   // over the timed steps
  Recurrence late_;                        // the same, of the device
  util::Descriptor handle_;                // of that process
  std::chrono::nanoseconds processor_{0};  // time that it had used when it answered last
  bool lingers_ = false;
  bool ready_ = false;
  std::chrono::steady_clock::time_point started_, next_look_;
  std::optional<RunResult> ended_;
  bool told_ = false;
};

// Threads that a candidate may have: enough for any run time's pool, with some to spare.
int most_threads();

}  // namespace kagent::runner
