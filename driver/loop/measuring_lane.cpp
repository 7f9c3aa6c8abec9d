// SPDX-License-Identifier: Apache-2.0
#include "loop/measuring_lane.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/files.h"

namespace kagent::loop {
namespace {

namespace fs = std::filesystem;

// A folder (not a link to one) of this user's in which nobody else can write.
bool is_private(const fs::path& folder) {
  struct stat status {};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::getuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// /tmp last: there another user may have made the folder before, which only costs the lock, and is_private() sees it.
std::vector<fs::path> lane_parents() {
  std::vector<fs::path> parents{"/run/user/" + std::to_string(::getuid())};
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && *runtime == '/') parents.emplace_back(runtime);
  return parents;
}

}  // namespace

Result<fs::path> lane_folder() {
  for (const fs::path& parent : lane_parents())
    if (is_private(parent) && ::access(parent.c_str(), W_OK) == 0) return parent;
  const fs::path own = "/tmp/kagent-" + std::to_string(::getuid());
  if (::mkdir(own.c_str(), 0700) != 0 && errno != EEXIST)
    return failure("cannot make '" + own.string() + "': " + std::generic_category().message(errno),
                   "set XDG_RUNTIME_DIR to a folder of your own");
  if (!is_private(own))
    return failure("'" + own.string() + "' is not a folder of this user's alone",
                   "remove it, or set XDG_RUNTIME_DIR to a folder of your own");
  return own;
}

Result<MeasuringLane> MeasuringLane::enter(const fs::path& folder, const std::string& what,
                                           const std::function<void(const std::string&)>& waiting,
                                           const std::function<bool()>& give_up) {
  return enter_named("kagent-measuring", folder, what, waiting, give_up);
}

Result<MeasuringLane> MeasuringLane::enter_device(const std::string& uuid, const fs::path& folder,
                                                  const std::string& what,
                                                  const std::function<void(const std::string&)>& waiting,
                                                  const std::function<bool()>& give_up) {
  if (uuid.empty() || uuid.find_first_of("/\n") != std::string::npos)
    return failure("'" + uuid + "' is not the UUID of a GPU", "take it from 'kagent doctor'");
  return enter_named("kagent-measuring-" + uuid, folder, what, waiting, give_up);
}

Result<MeasuringLane> MeasuringLane::enter_named(const std::string& name, const fs::path& folder,
                                                 const std::string& what,
                                                 const std::function<void(const std::string&)>& waiting,
                                                 const std::function<bool()>& give_up) {
  const auto chosen = folder.empty() ? lane_folder() : Result<fs::path>(folder);
  if (!chosen) return std::unexpected(chosen.error());
  // Whoever waits for the lane holds the queue's lock meanwhile, so that one who has just left it and comes back at
  // once stands behind those who wait.
  bool told = false;
  const auto tell_once = [&](const std::string& holder) {
    if (waiting && !std::exchange(told, true)) waiting(holder);
  };
  auto queue = util::FileLock::acquire(*chosen / (name + "-queue.lock"), what, tell_once, give_up);
  if (!queue) return std::unexpected(queue.error());
  auto lock = util::FileLock::acquire(*chosen / (name + ".lock"), what, tell_once, give_up);
  if (!lock) return std::unexpected(lock.error());
  return MeasuringLane(std::move(*lock));
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  // Machines with more CPUs than the fixed set holds need a larger one.
  for (std::size_t capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(capacity);
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(capacity), [](cpu_set_t* s) { CPU_FREE(s); });
    if (::sched_getaffinity(0, bytes, set.get()) != 0) continue;
    for (std::size_t cpu = 0; cpu < capacity; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, set.get())) cpus.push_back(static_cast<int>(cpu));
    return cpus;
  }
  return {0};
}

Result<bool> may_use_threads(const Binary& binary) {
  constexpr std::array<std::string_view, 6> kSigns{"pthread_create", "thrd_create", "libgomp.so",
                                                   "libomp.so",      "libiomp5.so", "libtbb.so"};
  const auto contents = util::read_file(binary.executable);
  if (!contents) return std::unexpected(contents.error());
  for (const std::string_view sign : kSigns)
    if (contents->find(sign) != std::string::npos) return true;
  return false;
}

Result<std::vector<int>> measuring_cpus(const std::vector<Binary>& binaries) {
  const std::vector<int> cpus = allowed_cpus();
  for (const Binary& binary : binaries) {
    const auto threads = may_use_threads(binary);
    if (!threads) return std::unexpected(threads.error());
    if (*threads) return cpus;
  }
  return std::vector<int>{cpus.back()};
}

}  // namespace kagent::loop
