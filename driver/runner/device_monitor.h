// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "util/descriptor.h"
#include "util/subprocess.h"
#include "values/device.h"

namespace kagent::runner {

// Looks at one GPU through a process of its own ('kagent-cuda-runner --watch'), so that the driver loads no library of
// NVIDIA's, no candidate has a say in what is seen, and a look costs well under a millisecond.
class DeviceMonitor {
 public:
  // `own_processes`: how many of the processes with a context are this program's.
  DeviceMonitor(std::filesystem::path program, std::string uuid, std::chrono::milliseconds least_distance,
                std::shared_ptr<const std::atomic<int>> own_processes);

  // As it is now, or was when it was looked at last if that is less than the least distance ago. Nothing where it
  // cannot be seen.
  std::optional<DeviceState> state();

 private:
  bool start();
  std::optional<DeviceState> look();

  std::filesystem::path program_;
  std::string uuid_;
  std::chrono::milliseconds least_distance_;
  std::shared_ptr<const std::atomic<int>> own_processes_;
  std::mutex mutex_;
  bool gave_up_ = false;
  util::Descriptor socket_;
  std::optional<util::Child> child_;
  std::optional<DeviceState> last_;
  std::chrono::steady_clock::time_point looked_;
};

}  // namespace kagent::runner
