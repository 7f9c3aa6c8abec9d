// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "util/lock.h"
#include "values/binary.h"
#include "values/error.h"

namespace kagent::loop {

// The right to measure on this machine's CPU, or on one of its GPUs, for one process at a time: two measurements at
// once would disturb each other through caches, memory and clocks, whichever cores they run on.
//
// The lock is one file of the user's own, in the first of /run/user/<uid>, $XDG_RUNTIME_DIR and /tmp/kagent-<uid> that
// belongs to the user and lets nobody else write. Another user can therefore neither hold it nor put a link in its
// place, and does not wait for it either: measurements of two users at once are noisier, never wrong.
class MeasuringLane {
 public:
  // Waits until it is free, in turn with others who wait. An empty folder means lane_folder(). `waiting` is called once
  // with the holder if it is not.
  static Result<MeasuringLane> enter(const std::filesystem::path& folder, const std::string& what,
                                     const std::function<void(const std::string&)>& waiting,
                                     const std::function<bool()>& give_up = {});
  // The same for one GPU, by its UUID: measurements on different GPUs do not wait for one another, nor for the CPU's.
  static Result<MeasuringLane> enter_device(const std::string& uuid, const std::filesystem::path& folder,
                                            const std::string& what,
                                            const std::function<void(const std::string&)>& waiting,
                                            const std::function<bool()>& give_up = {});

 private:
  static Result<MeasuringLane> enter_named(const std::string& name, const std::filesystem::path& folder,
                                           const std::string& what,
                                           const std::function<void(const std::string&)>& waiting,
                                           const std::function<bool()>& give_up);
  explicit MeasuringLane(util::FileLock lock) : lock_(std::move(lock)) {}
  util::FileLock lock_;
};

// This user's folder for the lock, made if it is missing.
Result<std::filesystem::path> lane_folder();

// The CPUs that this process may use, in order.
std::vector<int> allowed_cpus();

// Whether the program can start threads: it refers to pthread_create or to a runtime that does (OpenMP, TBB).
Result<bool> may_use_threads(const Binary& binary);

// Where programs are measured: on the last CPU that is allowed (the first ones serve interrupts), or on all of them if
// one of the programs may use threads.
Result<std::vector<int>> measuring_cpus(const std::vector<Binary>& binaries);

}  // namespace kagent::loop
