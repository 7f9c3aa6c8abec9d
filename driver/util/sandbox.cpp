// SPDX-License-Identifier: Apache-2.0
#include "util/sandbox.h"

#include <algorithm>
#include <array>
#include <system_error>

namespace kagent::util {

namespace fs = std::filesystem;

namespace {

constexpr std::array kSystem{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache",
                             "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
                             // The C library and OpenMP run times count CPUs there.
                             "/sys/devices/system/cpu"};
// More than any compiler's temporary files need, less than would hurt the machine: the private /tmp is memory.
constexpr const char* kTemporaryBytes = "1073741824";
constexpr auto kProbeTime = std::chrono::seconds(10);

struct Mount {
  enum class Kind { read_only, read_write, covered };
  fs::path path;
  Kind kind;
};

bool is_within(const fs::path& path, fs::path folder) {
  if (!folder.has_filename()) folder = folder.parent_path();
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// The folder of the first link on the way to the path; empty if there is none.
fs::path folder_of_link(const fs::path& path) {
  fs::path so_far;
  std::error_code error;
  for (const fs::path& part : path) {
    if (fs::is_symlink(so_far / part, error)) return so_far;
    so_far /= part;
  }
  return {};
}

// Whether the sandbox shows the link that the path leads through (/usr/local/cuda, say). No mount point can be made
// behind it then, and none is needed.
bool shows_link_to(const fs::path& path, const SandboxView& view) {
  const fs::path folder = folder_of_link(path);
  if (folder.empty()) return false;
  const auto shows = [&folder](const fs::path& shown) { return is_within(folder, shown.lexically_normal()); };
  return std::ranges::any_of(kSystem, shows) || std::ranges::any_of(view.read_only, shows) ||
         std::ranges::any_of(view.read_write, shows);
}

std::vector<Mount> mounts(const SandboxView& view) {
  std::vector<Mount> all;
  const auto add = [&all, &view](const std::vector<fs::path>& paths, Mount::Kind kind) {
    for (const fs::path& path : paths) {
      std::error_code missing;
      const fs::path real = fs::canonical(path, missing);
      if (missing) continue;
      const fs::path named = path.lexically_normal();
      if (named == real || !shows_link_to(named, view)) all.push_back({named, kind});
      // A link is no mount point of its own: what it leads to is shown, or hidden, under its own name as well.
      if (named != real) all.push_back({real, kind});
    }
  };
  add(view.read_only, Mount::Kind::read_only);
  add(view.read_write, Mount::Kind::read_write);
  add(view.covered, Mount::Kind::covered);
  std::ranges::stable_sort(all, {},
                           [](const Mount& mount) { return std::distance(mount.path.begin(), mount.path.end()); });
  return all;
}

void append(std::vector<std::string>& to, std::initializer_list<std::string> words) {
  to.insert(to.end(), words);
}

void append_mounts(const SandboxView& view, std::vector<std::string>& to) {
  std::vector<fs::path> covers;
  for (const Mount& mount : mounts(view)) {
    const std::string path = mount.path.string();
    switch (mount.kind) {
      case Mount::Kind::read_only:
        append(to, {"--ro-bind-try", path, path});
        break;
      case Mount::Kind::read_write:
        append(to, {"--bind-try", path, path});
        break;
      case Mount::Kind::covered:
        if (fs::is_directory(mount.path)) {
          append(to, {"--tmpfs", path});
          covers.push_back(mount.path);
        } else {
          append(to, {"--ro-bind", "/dev/null", path});
        }
        break;
    }
  }
  // Last, because a longer path inside of a cover still needed its mount point made.
  for (const fs::path& cover : covers) append(to, {"--remount-ro", cover.string()});
  for (const auto& [outside, inside] : view.read_write_as) append(to, {"--bind", outside.string(), inside.string()});
}

// Free for bubblewrap's use: above those of the command.
int free_descriptor(const Command& command) {
  int highest = 2;
  for (const auto& [from, to] : command.descriptors) highest = std::max(highest, to);
  return highest + 1;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

Command sandboxed(const Command& command, const SandboxView& view, const SandboxState& state) {
  Command inside = command;
  std::vector<std::string> words{state.program.string(), "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"};
  for (const char* path : kSystem) append(words, {"--ro-bind-try", path, path});
  append(words, {"--proc", "/proc", "--dev", "/dev", "--size", kTemporaryBytes, "--tmpfs", "/tmp"});
  for (const fs::path& device : view.devices) append(words, {"--dev-bind-try", device.string(), device.string()});
  append_mounts(view, words);
  append(words, {"--chdir", command.working_folder.empty() ? "/" : command.working_folder.string()});
  if (!command.seccomp_program.empty()) {
    inside.seccomp_descriptor = free_descriptor(command);
    append(words, {"--seccomp", std::to_string(*inside.seccomp_descriptor)});
  }
  words.emplace_back("--");
  words.insert(words.end(), command.argv.begin(), command.argv.end());
  inside.argv = std::move(words);
  inside.working_folder = "/";
  inside.pid_namespace = state.pid_namespace;
  inside.signals_as_exit_status = true;
  std::erase_if(inside.environment, [](const std::string& entry) { return entry.starts_with("TMPDIR="); });
  inside.environment.emplace_back("TMPDIR=/tmp");
  return inside;
}

SandboxState probe_sandbox(const fs::path& program) {
  SandboxState state{false, {}, program};
  if (program.empty()) {
    state.description = "bubblewrap (bwrap) is not installed";
    return state;
  }
  Command version;
  version.argv = {program.string(), "--version"};
  version.environment = minimal_environment();
  version.limits.wall = kProbeTime;
  const auto told = run(version);
  if (!told || !told->ok()) {
    state.description = told ? "'" + program.string() + " --version' failed" : told.error().message;
    return state;
  }
  for (const bool pid_namespace : {true, false}) {
    state.pid_namespace = pid_namespace;
    Command probe;
    probe.argv = {"/bin/true"};
    probe.environment = minimal_environment();
    probe.limits.wall = kProbeTime;
    const auto tried = run(sandboxed(probe, {}, state));
    if (tried && tried->ok()) {
      state.available = true;
      state.description = first_line(told->standard_output);
      return state;
    }
    state.description = tried ? first_line(tried->standard_error) : tried.error().message;
  }
  if (state.description.empty()) state.description = "'" + program.string() + "' does not work here";
  return state;
}

const SandboxState& sandbox_state() {
  static const SandboxState state = [] {
    for (const std::string& entry : minimal_environment())
      if (entry.starts_with("PATH=")) return probe_sandbox(find_program("bwrap", entry.substr(5)));
    return SandboxState{};
  }();
  return state;
}

}  // namespace kagent::util
