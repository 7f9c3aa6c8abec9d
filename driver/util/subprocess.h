// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "util/descriptor.h"
#include "values/error.h"

namespace kagent::util {

// Bounds on a child process. Zero means no bound of that kind.
struct Limits {
  std::chrono::milliseconds wall{0};
  std::chrono::seconds cpu{0};                   // RLIMIT_CPU: of each of its processes
  std::uint64_t memory_bytes = 0;                // resident set of all its processes together, watched by the parent
  int tasks = 0;                                 // processes and threads together, watched by the parent
  std::optional<std::uint64_t> file_size_bytes;  // RLIMIT_FSIZE; 0 means that no file can grow
  std::uint64_t private_bytes = 0;               // RLIMIT_DATA: private writable memory of each of its processes
  int open_files = 0;
  std::uint64_t output_bytes = 1 << 20;  // captured output, both streams together; more ends the process
};

struct Command {
  std::vector<std::string> argv;         // argv[0] is searched in `environment`'s PATH if it has no '/'
  std::filesystem::path working_folder;  // empty: the parent's
  std::vector<std::string> environment;  // complete: "NAME=value"; the parent's is never inherited
  std::string standard_input;            // what the child can read there
  Limits limits;
  std::vector<int> cpus;                         // affinity; empty: the parent's
  std::vector<std::pair<int, int>> descriptors;  // parent's descriptor -> number in the child; others are closed
  std::string seccomp_program;                   // BPF of struct sock_filter[]; applied just before exec; empty: none
  std::optional<int> seccomp_descriptor;         // hand the program over at this descriptor instead of applying it
  bool pid_namespace = false;                    // own user and PID namespaces: all that it started ends when it ends
  bool signals_as_exit_status = false;  // an exit status of 128 + n is told as signal n (as bubblewrap passes them)
};

enum class EndedBy { exit, signal, wall_limit, memory_limit, task_limit, output_limit };

struct Finished {
  EndedBy ended_by = EndedBy::exit;
  int code = 0;                 // exit status, or the signal's number
  std::string standard_output;  // raw bytes, at most the limit
  std::string standard_error;
  std::chrono::milliseconds duration{0};
  bool reaped = true;  // false: killed, but still there after 10 s (it hangs in the kernel)
  bool ok() const { return ended_by == EndedBy::exit && code == 0; }
};

// The environment that tools need and nothing else: PATH, HOME=/nonexistent, LANG=C.UTF-8, TMPDIR.
std::vector<std::string> minimal_environment();

// Where `name` is found in PATH as execvp would; `name` itself if it has a '/'. Empty if there is no such program.
std::filesystem::path find_program(const std::string& name, const std::string& search_path);

// Runs to its end, in a session of its own; on a limit, and after its end, its whole process group is killed.
// An error means that it could not be started. May be called from several threads at once.
Result<Finished> run(const Command& command);

// A child that is talked to while it lives. Killed, with its group, at the latest by the destructor.
//
// It dies with this process, however that ends (PR_SET_PDEATHSIG), and not with the thread that started it. Processes
// that it started itself are sure to die with it in a PID namespace only, which the sandbox makes; outside of it they
// are killed with their group as long as this process lives.
class Child {
 public:
  static Result<Child> start(const Command& command);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  pid_t pid() const { return pid_; }
  // Reads what the child printed so far, without waiting, and looks after the limits. How it ended, or nothing while it
  // runs.
  std::optional<Finished> poll();
  // Waits for its end.
  Finished wait();
  // Waits until it prints, ends or `also` (a descriptor, or -1) is readable, at most `at_most`, or until the next look
  // at the limits is due.
  void wait_for_news(int also, std::chrono::microseconds at_most);
  // Kills the group and reaps.
  Finished kill(EndedBy because = EndedBy::signal);
  // Printed so far.
  const std::string& standard_output() const { return finished_.standard_output; }
  const std::string& standard_error() const { return finished_.standard_error; }
  // Leaves the limits on memory and tasks to the caller from now on.
  void stop_watching() { limits_.memory_bytes = 0, limits_.tasks = 0; }

 private:
  Child() = default;
  bool drain();
  std::optional<EndedBy> exceeded();
  bool has_exited() const;
  void reap();

  pid_t pid_ = -1;
  Descriptor output_, error_, process_;
  Limits limits_;
  bool signals_as_exit_status_ = false;
  bool over_ = true;
  Finished finished_;
  std::chrono::steady_clock::time_point started_, next_look_;
};

}  // namespace kagent::util
