// SPDX-License-Identifier: Apache-2.0
#include "util/lock.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "util/descriptor.h"

namespace kagent::util {

namespace fs = std::filesystem;

namespace {

// How long somebody who pressed Ctrl-C waits at most.
constexpr int kAskAgainMs = 100;

std::unexpected<StageError> lock_failure(const fs::path& file, int code) {
  return failure("cannot lock '" + file.string() + "': " + std::generic_category().message(code),
                 "make its folder writable, or free some space on its disk");
}

std::string holder_line(int descriptor) {
  std::array<char, 512> text{};
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), 0);
  std::string line(text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  if (const auto end = line.find('\n'); end != std::string::npos) line.resize(end);
  return line;
}

void write_holder(int descriptor, const std::string& what) {
  std::string line = std::to_string(::getpid()) + " " + what;
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  // For messages only: a full disk is no reason to work without the lock.
  if (::ftruncate(descriptor, 0) == 0) [[maybe_unused]]
    const ssize_t written = ::pwrite(descriptor, line.data(), line.size(), 0);
}

// The path may have been deleted, or given to another file, between opening and locking: such a lock excludes nobody.
bool is_still_at(int descriptor, const fs::path& file) {
  struct stat locked {
  }, named{};
  return ::fstat(descriptor, &locked) == 0 && ::stat(file.c_str(), &named) == 0 && locked.st_ino == named.st_ino &&
         locked.st_dev == named.st_dev;
}

Result<Descriptor> open_and_lock(const fs::path& file, const std::function<void(const std::string&)>& waiting,
                                 const std::function<bool()>& give_up) {
  bool told = false;
  while (true) {
    Descriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!descriptor) return lock_failure(file, errno);
    if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return lock_failure(file, errno);
      if (waiting && !std::exchange(told, true)) waiting(holder_line(descriptor.get()));
      if (give_up) {
        if (give_up()) return failure("gave up waiting for '" + file.string() + "'");
        ::poll(nullptr, 0, kAskAgainMs);
        continue;
      }
      if (::flock(descriptor.get(), LOCK_EX) != 0) return lock_failure(file, errno);
    }
    if (is_still_at(descriptor.get(), file)) return descriptor;
  }
}

}  // namespace

Result<FileLock> FileLock::acquire(const fs::path& file, const std::string& what,
                                   const std::function<void(const std::string& holder)>& waiting,
                                   const std::function<bool()>& give_up) {
  auto descriptor = open_and_lock(file, waiting, give_up);
  if (!descriptor) return std::unexpected(descriptor.error());
  write_holder(descriptor->get(), what);
  return FileLock(descriptor->release());
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  // The file stays: deleting it would let a waiter lock a file that nobody else can find.
  if (::ftruncate(descriptor_, 0) != 0) errno = 0;
  ::close(descriptor_);
}

}  // namespace kagent::util
