// SPDX-License-Identifier: Apache-2.0
#include "toolchain/tool_process.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "util/text.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

// A translation unit that needs more than this is no kernel; template bombs do.
constexpr std::uint64_t kMemoryBytes = std::uint64_t{4} << 30;
// Largest object or executable. `static char a[1 << 30] = {1};` would otherwise fill the disk.
constexpr std::uint64_t kFileBytes = std::uint64_t{512} << 20;

}  // namespace

std::vector<fs::path> installation_of(const fs::path& compiler) {
  const char* const home = std::getenv("HOME");
  const auto holds_home = [&](const fs::path& folder) {
    if (home == nullptr || *home != '/') return false;
    const fs::path below = fs::path(home).lexically_normal().lexically_relative(folder);
    return !below.empty() && *below.begin() != "..";
  };
  std::vector<fs::path> folders;
  std::error_code error;
  fs::path link = compiler;
  // Every link of the chain has to be visible, not only its end.
  for (int depth = 0; depth < 16; ++depth) {
    // <prefix>/bin/g++: libraries and headers lie beside bin/, but for ~/bin/g++.
    const fs::path folder = link.parent_path(), prefix = folder.parent_path();
    const bool has_prefix = folder.filename() == "bin" && prefix != "/" && !holds_home(prefix);
    folders.push_back(has_prefix ? prefix : holds_home(folder) ? link : folder);
    const fs::path target = fs::read_symlink(link, error);
    if (error) break;
    link = (link.parent_path() / target).lexically_normal();
  }
  std::erase_if(folders, [](const fs::path& folder) {
    const std::string text = folder.string();
    return text == "/" || text == "/usr" || text == "/bin" || text.starts_with("/usr/");
  });
  return folders;
}

fs::path ToolProcess::seen(const fs::path& work_folder) const {
  return sandbox->available ? kSeenWorkFolder : work_folder;
}

Result<util::Finished> ToolProcess::run(const std::vector<std::string>& argv, const fs::path& work_folder) const {
  util::Command command;
  command.argv = argv;
  command.working_folder = working_folder;
  command.environment = util::minimal_environment();
  command.limits = {
      .wall = time_limit, .memory_bytes = kMemoryBytes, .file_size_bytes = kFileBytes, .output_bytes = output_bytes};
  if (!sandbox->available) {
    if (allow_unsandboxed) return util::run(command);
    return failure(
        "candidates cannot be compiled in isolation here: " + sandbox->description,
        "install bubblewrap, or allow compiling and running without a sandbox (KAGENT_ALLOW_UNSANDBOXED=ON)");
  }
  const util::SandboxView view{visible, {}, covered, {{work_folder, seen(work_folder)}}};
  auto finished = util::run(util::sandboxed(command, view, *sandbox));
  if (finished && !finished->ok() && finished->standard_error.starts_with("bwrap: "))
    return failure("the sandbox failed: " + util::clean(finished->standard_error, 400), "see kagent doctor");
  return finished;
}

std::string limit_reached(const util::Finished& finished, std::chrono::milliseconds time_limit) {
  switch (finished.ended_by) {
    case util::EndedBy::exit:
      return {};
    case util::EndedBy::signal:
      return "was ended by " + std::string(::strsignal(finished.code));
    case util::EndedBy::wall_limit:
      return "took longer than " + std::to_string(time_limit.count()) + " ms";
    case util::EndedBy::memory_limit:
      return "needed more than " + std::to_string(kMemoryBytes >> 30) + " GiB of memory";
    case util::EndedBy::task_limit:
      return "started too many processes";
    case util::EndedBy::output_limit:
      return "printed too much";
  }
  return {};
}

}  // namespace kagent::toolchain
