// SPDX-License-Identifier: Apache-2.0
#include "store/git.h"

#include <array>
#include <chrono>
#include <random>
#include <thread>

#include "util/text.h"

namespace kagent::store::git {

StageError last_error(const std::string& what) {
  const git_error* last = git_error_last();
  return {what + ": git: " + util::clean(last != nullptr ? last->message : "unknown error", 1000), {}};
}

std::unexpected<StageError> error(const std::string& what) {
  return std::unexpected(last_error(what));
}

int retried(const std::function<int()>& call) {
  using namespace std::chrono;
  constexpr milliseconds kFirstPause{5}, kLongestPause{200};
  constexpr seconds kAll{5};
  const auto give_up = steady_clock::now() + kAll;
  std::minstd_rand random(std::random_device{}());
  for (milliseconds pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    const int code = call();
    // A folder of refs that became empty by packing is removed, which makes creating a file in it fail with an error of
    // the operating system.
    const bool vanished = code == GIT_ERROR && git_error_last() != nullptr && git_error_last()->klass == GIT_ERROR_OS;
    if (code != GIT_ELOCKED && code != GIT_EMODIFIED && !vanished) return code;
    const milliseconds jittered{std::uniform_int_distribution<int>(1, static_cast<int>(pause.count()))(random)};
    if (steady_clock::now() + jittered > give_up) return code;
    std::this_thread::sleep_for(jittered);
  }
}

void initialise() {
  static const bool done = [] {
    git_libgit2_init();
    // Both are harmless here: missing objects of a partial clone are reported when they are needed, and nothing that
    // kagent reads from the configuration is kept per worktree.
    std::array<const char*, 3> extensions{"partialclone", "worktreeconfig", "preciousobjects"};
    git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions.data(), extensions.size());
    // A variant that was reported as kept survives a power cut.
    git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace kagent::store::git
