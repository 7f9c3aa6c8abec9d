// SPDX-License-Identifier: Apache-2.0
#include "store/project_files.h"

#include <deque>
#include <fstream>
#include <optional>

namespace kagent::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLfsVersion = "version https://git-lfs.github.com/spec/";
constexpr std::size_t kLargestPointerBytes = 1024;  // by the specification of Git LFS
constexpr int kMostLinks = 40;                      // as Linux follows them

// The path below root, although links may lead to root under other names; nothing if it is outside.
std::optional<fs::path> below(const fs::path& root, const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  fs::path folder;
  for (const fs::path& part : normal) {
    folder /= part;
    std::error_code ignored;
    if (fs::equivalent(folder, root, ignored)) return normal.lexically_relative(folder);
  }
  return std::nullopt;
}

// Follows one path part by part, as the operating system does, and notes what git has to hold for it.
class Walk {
 public:
  Walk(const Repository& repository, std::set<std::string>& found) : repository_(repository), found_(found) {}

  Result<void> file(const fs::path& path) {
    const auto relative = below(repository_.root, path);
    if (!relative) return outside(path);
    rest_.assign(relative->begin(), relative->end());
    while (!rest_.empty()) {
      const fs::path part = rest_.front();
      rest_.pop_front();
      if (part == "." || part.empty()) continue;
      if (part == ".." && at_.empty()) return last_link_ ? Result<void>{} : outside(path);
      if (part == "..") {
        at_ = at_.parent_path();
        continue;
      }
      bool done = false;
      if (auto stepped = step(path, part, done); !stepped || done) return stepped;
    }
    return {};
  }

 private:
  Result<void> step(const fs::path& path, const fs::path& part, bool& done) {
    const fs::path here = at_ / part;
    std::error_code error;
    const fs::file_status status = fs::symlink_status(repository_.root / here, error);
    if (fs::is_symlink(status)) return follow(path, here, done);
    if (fs::is_directory(status)) {
      // A submodule, or a repository that git would not look into either.
      done = fs::exists(fs::symlink_status(repository_.root / here / ".git", error));
      at_ = here;
      return {};
    }
    if (!fs::is_regular_file(status) || !rest_.empty())
      return failure("'" + path.string() + "' is not a regular file" + (error ? ": " + error.message() : ""));
    done = true;
    found_.insert(here.string());
    return {};
  }

  Result<void> follow(const fs::path& path, const fs::path& link, bool& done) {
    std::error_code error;
    const fs::path target = fs::read_symlink(repository_.root / link, error);
    if (error || ++links_ > kMostLinks) return failure("'" + path.string() + "': too many or broken symbolic links");
    found_.insert(link.string());
    // Where the last part of a path is a link that leads outside, the link alone is kept.
    last_link_ = rest_.empty();
    fs::path next = target;
    if (target.is_absolute()) {
      const auto inside = below(repository_.root, target);
      done = !inside;
      if (!inside) return last_link_ ? Result<void>{} : outside(path);
      at_.clear();
      next = *inside;
    }
    rest_.insert(rest_.begin(), next.begin(), next.end());
    return {};
  }

  std::unexpected<StageError> outside(const fs::path& path) const {
    return failure("'" + path.string() + "' lies outside of the git repository '" + repository_.root.string() +
                       "' and cannot be part of a variant's branch",
                   "move it into the repository");
  }

  const Repository& repository_;
  std::set<std::string>& found_;
  std::deque<fs::path> rest_;
  fs::path at_;
  int links_ = 0;
  bool last_link_ = false;
};

bool is_left_alone(const Repository& repository, const std::string& path) {
  int ignored = 0;
  if (git_ignore_path_is_ignored(&ignored, repository.get(), path.c_str()) != 0 || ignored == 0) return false;
  git::Object tracked;
  return git_revparse_single(tracked.out(), repository.get(), ("HEAD:" + path).c_str()) != 0;
}

bool starts_as_lfs_pointer(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error)) || fs::file_size(file, error) > kLargestPointerBytes)
    return false;
  std::string text(kLfsVersion.size(), '\0');
  std::ifstream(file, std::ios::binary).read(text.data(), static_cast<std::streamsize>(text.size()));
  return is_lfs_pointer(text);
}

}  // namespace

Result<std::set<std::string>> tree_paths(const Repository& repository, const std::vector<fs::path>& files) {
  std::set<std::string> found;
  for (const fs::path& file : files)
    if (auto done = Walk(repository, found).file(file); !done) return std::unexpected(done.error());
  for (const std::string& path : found)
    if (starts_as_lfs_pointer(repository.root / path))
      return failure("'" + (repository.root / path).string() + "' is a Git LFS pointer, not the data", "git lfs pull");
  std::erase_if(found, [&](const std::string& path) { return is_left_alone(repository, path); });
  return found;
}

bool is_lfs_pointer(std::string_view text) {
  return text.starts_with(kLfsVersion);
}

std::string lfs_hash(std::string_view pointer) {
  constexpr std::string_view kBefore = "\noid sha256:";
  constexpr std::size_t kDigits = 64;
  const auto at = pointer.find(kBefore);
  return at == std::string_view::npos ? "" : std::string(pointer.substr(at + kBefore.size(), kDigits));
}

}  // namespace kagent::store
