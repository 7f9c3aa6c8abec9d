// SPDX-License-Identifier: Apache-2.0
#include "util/files.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>

#include "util/descriptor.h"

namespace kagent::util {

namespace fs = std::filesystem;

namespace {

std::unexpected<StageError> system_failure(const std::string& what, const fs::path& path, int code) {
  return failure("cannot " + what + " '" + path.string() + "': " + std::generic_category().message(code));
}

Result<void> write_all(int descriptor, std::string_view contents, const fs::path& path) {
  while (!contents.empty()) {
    const ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure("write", path, errno);
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// A name that no other writer has, in this process or another.
fs::path name_beside(const fs::path& target) {
  static std::atomic<std::uint64_t> counter{0};
  fs::path beside = target;
  beside += ".kagent-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  return beside;
}

// A link is written through, as an editor would, so that it stays a link.
fs::path follow_links(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

}  // namespace

Result<std::string> read_file(const fs::path& path) {
  // Without O_NONBLOCK a named pipe without a writer would hold this process up for ever.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file) return system_failure("read", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return system_failure("read", path, errno);
  if (!S_ISREG(status.st_mode)) return failure("cannot read '" + path.string() + "': not a regular file");

  // Files of /proc say that they are empty, and a file may grow: the size is only a first guess.
  std::string contents(static_cast<std::size_t>(status.st_size) + 1, '\0');
  std::size_t used = 0;
  while (true) {
    if (used == contents.size()) contents.resize(std::max<std::size_t>(4096, contents.size() * 2));
    const ssize_t got = ::read(file.get(), contents.data() + used, contents.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("read", path, errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  contents.resize(used);
  return contents;
}

Result<void> write_file_atomically(const fs::path& path, std::string_view contents) {
  const fs::path target = follow_links(path);
  const fs::path beside = name_beside(target);
  Descriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) return system_failure("write", path, errno);

  const auto give_up = [&](StageError error) -> Result<void> {
    file.close();
    ::unlink(beside.c_str());
    return std::unexpected(std::move(error));
  };
  if (struct stat status{}; ::stat(target.c_str(), &status) == 0)
    if (::fchmod(file.get(), status.st_mode & 07777) != 0) return give_up(system_failure("write", path, errno).error());
  if (auto written = write_all(file.get(), contents, path); !written) return give_up(written.error());
  // Without this a power cut soon after the rename can leave an empty file under the new name.
  if (::fsync(file.get()) != 0 && errno != EINVAL && errno != EROFS)
    return give_up(system_failure("write", path, errno).error());
  if (::rename(beside.c_str(), target.c_str()) != 0) return give_up(system_failure("write", path, errno).error());
  return {};
}

Result<bool> write_file_if_different(const fs::path& path, std::string_view contents) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (!error && size == contents.size())
    if (const auto present = read_file(path); present && *present == contents) return false;
  if (auto written = write_file_atomically(path, contents); !written) return std::unexpected(written.error());
  return true;
}

TemporaryFolder::TemporaryFolder(std::string_view prefix) {
  std::string name = (fs::temp_directory_path() / prefix).string() + "-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    throw fs::filesystem_error("cannot make a temporary folder", name, std::error_code(errno, std::generic_category()));
  path_ = name;
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) {
  other.path_.clear();
}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  path_.swap(other.path_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code error;
  fs::remove_all(path_, error);
  if (!error) return;
  // Folders without write permission keep their contents: open them up and try once more.
  for (auto entry = fs::recursive_directory_iterator(path_, fs::directory_options::skip_permission_denied, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored))
      fs::permissions(entry->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
  }
  fs::remove_all(path_, error);
}

}  // namespace kagent::util
