// SPDX-License-Identifier: Apache-2.0
#include "runner/device_monitor.h"

#include <algorithm>
#include <array>

#include <poll.h>
#include <sys/socket.h>

#include "runner/device_program.h"
#include "runner/protocol.h"

namespace kagent::runner {

namespace {

// The management library takes some ten milliseconds to start.
constexpr int kFirstAnswerMs = 10'000, kAnswerMs = 500;

}  // namespace

DeviceMonitor::DeviceMonitor(std::filesystem::path program, std::string uuid, std::chrono::milliseconds least_distance,
                             std::shared_ptr<const std::atomic<int>> own_processes)
    : program_(std::move(program)),
      uuid_(std::move(uuid)),
      least_distance_(least_distance),
      own_processes_(std::move(own_processes)) {}

bool DeviceMonitor::start() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
  socket_ = util::Descriptor(ends[0]);
  const util::Descriptor theirs(ends[1]);
  util::Command command;
  command.argv = {program_.string(), "--watch", uuid_};
  command.environment = device_environment({});
  command.descriptors = {{theirs.get(), protocol::kSocket}};
  auto child = util::Child::start(command);
  if (!child) return false;
  child_.emplace(std::move(*child));
  return true;
}

std::optional<DeviceState> DeviceMonitor::look() {
  const char byte = 0;
  if (::send(socket_.get(), &byte, 1, MSG_NOSIGNAL) != 1) return {};
  pollfd waiting{socket_.get(), POLLIN, 0};
  if (::poll(&waiting, 1, last_ ? kAnswerMs : kFirstAnswerMs) != 1) return {};
  protocol::StateReply reply{};
  if (::recv(socket_.get(), &reply, sizeof reply, 0) != sizeof reply) return {};
  DeviceState state;
  state.clock_mhz = static_cast<int>(reply.clock_mhz);
  state.memory_clock_mhz = static_cast<int>(reply.memory_clock_mhz);
  state.throttle_reasons = reply.throttle_reasons;
  state.temperature_celsius = static_cast<int>(reply.temperature_celsius);
  state.power_milliwatts = static_cast<int>(reply.power_milliwatts);
  state.compute_processes = static_cast<int>(reply.compute_processes);
  state.other_processes = std::max(0, state.compute_processes - own_processes_->load());
  return state;
}

std::optional<DeviceState> DeviceMonitor::state() {
  const std::scoped_lock lock(mutex_);
  if (gave_up_) return {};
  const auto now = std::chrono::steady_clock::now();
  if (last_ && now - looked_ < least_distance_) return last_;
  auto seen = child_ || start() ? look() : std::nullopt;
  // A late answer would be taken for that of the next question.
  if (!seen) {
    gave_up_ = true;
    child_.reset();
    last_.reset();
    return {};
  }
  looked_ = now;
  last_ = seen;
  return seen;
}

}  // namespace kagent::runner
