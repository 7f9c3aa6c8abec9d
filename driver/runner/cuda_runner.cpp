// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_runner.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "runner/call_filter.h"
#include "runner/channel.h"
#include "runner/device_monitor.h"
#include "runner/device_process.h"
#include "runner/process_session.h"
#include "runner/runner_process.h"
#include "util/files.h"

namespace kagent::runner {

namespace {

// What a session that was given back may take to forget what it did.
constexpr auto kResetTime = std::chrono::seconds(5);

// Processes of kagent-cuda-runner, each with its context, that wait for device code.
class Pool {
 public:
  Pool(std::shared_ptr<const DeviceProcesses> processes, std::filesystem::path program, int size)
      : processes_(std::move(processes)), program_(std::move(program)), size_(std::max(size, 0)) {}

  Result<DeviceProcess> take(const RunnerLimits& limits) {
    std::optional<DeviceProcess> found;
    {
      const std::scoped_lock lock(mutex_);
      if (!waiting_.empty()) {
        found = std::move(waiting_.front());
        waiting_.erase(waiting_.begin());
      }
    }
    // One that died while it waited says nothing about the code that it is for.
    if (found) {
      const auto up = found->process.start_up();
      if (!up || up->outcome != Outcome::ok) found.reset();
    }
    if (!found) {
      auto fresh = processes_->start(program_, limits);
      if (!fresh) return std::unexpected(fresh.error());
      found = std::move(*fresh);
    }
    found->process.set_limits(limits);
    fill(limits);
    return std::move(*found);
  }

  void give_back(DeviceProcess used) {
    RunnerLimits limits;
    limits.step = kResetTime;
    used.process.set_limits(limits);
    protocol::Request request{};
    request.operation = protocol::Operation::reset;
    const auto answer = used.process.ask(request);
    if (!answer || answer->result.outcome != Outcome::ok) return;
    const std::scoped_lock lock(mutex_);
    // First, since its context is there already.
    if (std::cmp_less(waiting_.size(), size_)) waiting_.insert(waiting_.begin(), std::move(used));
  }

 private:
  // Starting a process does not wait for its context.
  void fill(const RunnerLimits& limits) {
    const std::scoped_lock lock(mutex_);
    while (std::cmp_less(waiting_.size(), size_)) {
      auto fresh = processes_->start(program_, limits);
      if (!fresh) return;  // whoever needs it learns why
      waiting_.push_back(std::move(*fresh));
    }
  }

  std::shared_ptr<const DeviceProcesses> processes_;
  std::filesystem::path program_;
  int size_;
  std::mutex mutex_;
  std::vector<DeviceProcess> waiting_;
};

class CudaRunner final : public Runner {
 public:
  explicit CudaRunner(const CudaRunnerOptions& options)
      : options_(options),
        processes_(std::make_shared<DeviceProcesses>(options)),
        pool_(std::make_shared<Pool>(processes_, options.kernel_runner, options.warm)),
        monitor_(std::make_shared<DeviceMonitor>(options.kernel_runner, options.device.uuid, options.look,
                                                 processes_->own_processes())) {}

  Result<std::unique_ptr<Session>> start(const Binary& binary, const std::vector<Parameter>& parameters,
                                         const RunnerLimits& limits) override;

 private:
  Result<std::unique_ptr<Session>> start_kernel(const Binary& binary, const std::vector<Parameter>& parameters,
                                                const RunnerLimits& limits);
  SessionKind session_kind() const;

  CudaRunnerOptions options_;
  std::shared_ptr<const DeviceProcesses> processes_;
  std::shared_ptr<Pool> pool_;
  std::shared_ptr<DeviceMonitor> monitor_;
};

SessionKind CudaRunner::session_kind() const {
  SessionKind kind;
  kind.blocks = kDeviceBlocks;
  kind.keeps_inputs = true;
  kind.counts = true;
  if (options_.look.count() > 0) kind.device_state = [monitor = monitor_] { return monitor->state(); };
  return kind;
}

Result<std::unique_ptr<Session>> CudaRunner::start(const Binary& binary, const std::vector<Parameter>& parameters,
                                                   const RunnerLimits& limits) {
  if (parameters.size() > protocol::kMostParameters)
    return failure(fmt::format("an entry of {} parameters cannot be called", parameters.size()),
                   fmt::format("use at most {}", protocol::kMostParameters));
  if (!binary.cubin.empty()) return start_kernel(binary, parameters, limits);
  auto started = processes_->start(binary.executable, limits);
  if (!started) return std::unexpected(started.error());
  return std::make_unique<ProcessSession>(std::move(started->process), parameters, started->sentinel_seed,
                                          session_kind());
}

Result<std::unique_ptr<Session>> CudaRunner::start_kernel(const Binary& binary,
                                                          const std::vector<Parameter>& parameters,
                                                          const RunnerLimits& limits) {
  if (!binary.launch) return failure("device code '" + binary.cubin.string() + "' comes without a launch geometry");
  // A profiler needs more of the system than those that wait have, and changes what comes after it: such a process is
  // started for it, and ends with it.
  auto taken = limits.reads_counters ? processes_->start(options_.kernel_runner, limits) : pool_->take(limits);
  if (!taken) return std::unexpected(taken.error());
  const auto loaded = load_module(taken->process, binary, parameters);
  if (!loaded) return std::unexpected(loaded.error());
  // As a program that cannot start: the first step is answered with it.
  if (loaded->outcome != Outcome::ok) taken->process.tell_again();
  SessionKind kind = session_kind();
  kind.launch = binary.launch;
  kind.tunables = binary.tunables;
  const std::uint64_t seed = taken->sentinel_seed;
  if (limits.reads_counters) return std::make_unique<ProcessSession>(std::move(taken->process), parameters, seed, kind);
  kind.give_back = [pool = std::weak_ptr(pool_), seed](RunnerProcess process) {
    if (const auto alive = pool.lock()) alive->give_back({std::move(process), seed});
  };
  return std::make_unique<ProcessSession>(std::move(taken->process), parameters, seed, std::move(kind));
}

}  // namespace

std::unique_ptr<Runner> make_cuda_runner(const CudaRunnerOptions& options) {
  return std::make_unique<CudaRunner>(options);
}

}  // namespace kagent::runner
