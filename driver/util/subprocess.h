// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "values/error.h"

namespace kagent::util {

// Bounds on a child process. Zero means no bound of that kind.
struct Limits {
  std::chrono::milliseconds wall{0};
  std::chrono::seconds cpu{0};
  std::uint64_t memory_bytes = 0;     // resident set of all its processes together, watched by the parent
  std::uint64_t file_size_bytes = 0;  // RLIMIT_FSIZE
  int open_files = 0;
  std::uint64_t output_bytes = 1 << 20;  // captured output, both streams together; more ends the process
};

struct Command {
  std::vector<std::string> argv;             // argv[0] is searched in PATH if it has no '/'
  std::filesystem::path working_folder;      // empty: the parent's
  std::vector<std::string> environment;      // complete: "NAME=value"; the parent's is never inherited
  std::string standard_input;                // written to the child, then closed
  Limits limits;
  std::vector<int> cpus;                     // affinity; empty: the parent's
  std::vector<std::pair<int, int>> descriptors;  // parent's descriptor -> number in the child; others are closed
  std::string seccomp_program;               // BPF of struct sock_filter[]; applied just before exec; empty: none
};

enum class EndedBy { exit, signal, wall_limit, memory_limit, output_limit };

struct Finished {
  EndedBy ended_by = EndedBy::exit;
  int code = 0;                  // exit status, or the signal's number
  std::string standard_output;   // raw bytes, at most the limit
  std::string standard_error;
  std::chrono::milliseconds duration{0};
  bool ok() const { return ended_by == EndedBy::exit && code == 0; }
};

// The environment that tools need and nothing else: PATH, HOME=/nonexistent, LANG=C.UTF-8, TMPDIR.
std::vector<std::string> minimal_environment();

// Runs to its end, in a session of its own that dies with this process; on a limit the whole group is killed.
// An error means that it could not be started.
Result<Finished> run(const Command& command);

// A child that is talked to while it lives. Killed, with its group, at the latest by the destructor.
class Child {
 public:
  static Result<Child> start(const Command& command);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  pid_t pid() const { return pid_; }
  // Reads what the child printed so far, without waiting, into standard_output()/standard_error(). False once the
  // output or memory limit is exceeded (the child has then been killed).
  bool drain();
  const std::string& standard_output() const { return standard_output_; }
  const std::string& standard_error() const { return standard_error_; }
  // How it ended, without waiting; nothing while it runs.
  std::optional<Finished> poll();
  // Kills the group and reaps. A process that does not die within 10 s (state D) is left and reported as a limit.
  Finished kill();

 private:
  Child() = default;
  pid_t pid_ = -1;
  int output_ = -1, error_ = -1;
  Limits limits_;
  std::string standard_output_, standard_error_;
  std::chrono::steady_clock::time_point started_;
  std::optional<Finished> finished_;
};

}  // namespace kagent::util
