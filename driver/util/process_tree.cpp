// SPDX-License-Identifier: Apache-2.0
#include "util/process_tree.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "util/descriptor.h"

namespace kagent::util {

namespace {

// More processes than this are not followed: the sum so far is beyond any sensible limit on tasks.
constexpr std::size_t kMostProcesses = 4096;

std::string read_proc(const std::string& path) {
  std::string text;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return text;
  std::array<char, 4096> part;
  ssize_t got;
  while ((got = ::read(file.get(), part.data(), part.size())) > 0)
    text.append(part.data(), static_cast<std::size_t>(got));
  return text;
}

std::vector<long> numbers(std::string_view text) {
  std::vector<long> values;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    long value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error == std::errc{}) values.push_back(value);
    at = std::find(next, end, ' ');
    at = std::find_if(at, end, [](char c) { return c != ' ' && c != '\n'; });
  }
  return values;
}

void add_use(const std::string& folder, TreeUse& use) {
  // proc(5): after the name in parentheses, which may hold anything: state and then numbers; num_threads is field 20.
  const std::string stat = read_proc(folder + "/stat");
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > stat.size()) return;
  const std::vector<long> fields = numbers(std::string_view(stat).substr(name_end + 4));
  constexpr std::size_t kThreads = 20 - 4, kResidentPages = 24 - 4;
  if (fields.size() <= kResidentPages) return;
  use.tasks += static_cast<int>(fields[kThreads]);
  use.resident_bytes +=
      static_cast<std::uint64_t>(fields[kResidentPages]) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void append_children(const std::string& folder, std::vector<pid_t>& to) {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir((folder + "/task").c_str()), ::closedir);
  if (!tasks) return;
  while (const dirent* task = ::readdir(tasks.get())) {
    if (task->d_name[0] == '.') continue;
    for (long child : numbers(read_proc(folder + "/task/" + task->d_name + "/children")))
      to.push_back(static_cast<pid_t>(child));
  }
}

}  // namespace

TreeUse process_use(pid_t process) {
  TreeUse use;
  add_use("/proc/" + std::to_string(process), use);
  return use;
}

TreeUse tree_use(pid_t root) {
  TreeUse use;
  std::vector<pid_t> processes{root};
  for (std::size_t i = 0; i < processes.size() && i < kMostProcesses; ++i) {
    const std::string folder = "/proc/" + std::to_string(processes[i]);
    add_use(folder, use);
    append_children(folder, processes);
  }
  return use;
}

}  // namespace kagent::util
