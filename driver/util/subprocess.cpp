// SPDX-License-Identifier: Apache-2.0
#include "util/subprocess.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/process_tree.h"
#include "util/spawn.h"

namespace kagent::util {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// How often /proc is read for the limits on memory and tasks: a thread that touches new memory gets a few GB a second
// from the kernel, so a limit is overrun by some ten MB at most.
constexpr auto kLook = 10ms;
// A killed process that has not gone after this time hangs in the kernel (state D).
constexpr auto kPatience = 10s;

}  // namespace

std::vector<std::string> minimal_environment() {
  const char* path = std::getenv("PATH");
  const char* temporary = std::getenv("TMPDIR");
  return {"PATH=" + std::string(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin"), "HOME=/nonexistent",
          "LANG=C.UTF-8", "TMPDIR=" + std::string(temporary != nullptr ? temporary : "/tmp")};
}

std::filesystem::path find_program(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) return name;
  std::size_t start = 0;
  while (start <= search_path.size() && !name.empty()) {
    const std::size_t end = std::min(search_path.find(':', start), search_path.size());
    const std::string folder = search_path.substr(start, end - start);
    std::filesystem::path file = std::filesystem::path(folder.empty() ? "." : folder) / name;
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(file.c_str(), X_OK) == 0) return file;
    start = end + 1;
  }
  return {};
}

Result<Child> Child::start(const Command& command) {
  Child child;
  child.started_ = Clock::now();
  child.next_look_ = child.started_ + kLook;
  auto spawned = spawn(command);
  if (!spawned) return std::unexpected(spawned.error());
  child.pid_ = spawned->pid;
  child.over_ = false;
  child.output_ = std::move(spawned->output);
  child.error_ = std::move(spawned->error);
  child.limits_ = command.limits;
  child.signals_as_exit_status_ = command.signals_as_exit_status;
  // Only to be woken by its end at once; where the kernel has none, looking every kLook does.
  child.process_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child.pid_, 0)));
  return child;
}

Child::Child(Child&& other) noexcept {
  *this = std::move(other);
}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(output_, other.output_);
  std::swap(error_, other.error_);
  std::swap(process_, other.process_);
  std::swap(limits_, other.limits_);
  std::swap(signals_as_exit_status_, other.signals_as_exit_status_);
  std::swap(over_, other.over_);
  std::swap(finished_, other.finished_);
  std::swap(started_, other.started_);
  std::swap(next_look_, other.next_look_);
  return *this;
}

Child::~Child() {
  kill();
}

// False once more was printed than may be.
bool Child::drain() {
  std::array<char, 16384> part;
  for (auto [from, to] :
       {std::pair(&output_, &finished_.standard_output), std::pair(&error_, &finished_.standard_error)}) {
    while (*from) {
      const ssize_t got = ::read(from->get(), part.data(), part.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) break;
      if (got <= 0) {
        from->close();
        break;
      }
      const std::size_t have = finished_.standard_output.size() + finished_.standard_error.size();
      const std::size_t room = limits_.output_bytes == 0 ? part.size() : limits_.output_bytes - have;
      to->append(part.data(), std::min(static_cast<std::size_t>(got), room));
      if (static_cast<std::size_t>(got) > room) return false;
    }
  }
  return true;
}

std::optional<EndedBy> Child::exceeded() {
  const auto now = Clock::now();
  if (limits_.wall.count() > 0 && now - started_ >= limits_.wall) return EndedBy::wall_limit;
  if (now < next_look_ || (limits_.memory_bytes == 0 && limits_.tasks == 0)) return {};
  next_look_ = now + kLook;
  const TreeUse use = tree_use(pid_);
  if (limits_.memory_bytes > 0 && use.resident_bytes > limits_.memory_bytes) return EndedBy::memory_limit;
  if (limits_.tasks > 0 && use.tasks > limits_.tasks) return EndedBy::task_limit;
  return {};
}

bool Child::has_exited() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
}

// Precondition: it has exited. Its group is killed before its number is free for others.
void Child::reap() {
  ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  finished_.ended_by = WIFSIGNALED(status) ? EndedBy::signal : EndedBy::exit;
  finished_.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  // Statuses beyond the last signal are the program's own: nvcc ends with 255.
  const bool can_be_signal = finished_.code > 128 && finished_.code - 128 < NSIG;
  if (signals_as_exit_status_ && finished_.ended_by == EndedBy::exit && can_be_signal)
    finished_.ended_by = EndedBy::signal, finished_.code -= 128;
  finished_.duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started_);
  over_ = true;
}

std::optional<Finished> Child::poll() {
  if (over_) return finished_;
  const bool exited = has_exited();  // before reading: what it printed last is then in the pipe
  if (!drain()) return kill(EndedBy::output_limit);
  if (exited) {
    reap();
    return finished_;
  }
  if (const auto limit = exceeded()) return kill(*limit);
  return {};
}

void Child::wait_for_news(int also, std::chrono::microseconds at_most) {
  std::array<pollfd, 4> watched{
      {{also, POLLIN, 0}, {output_.get(), POLLIN, 0}, {error_.get(), POLLIN, 0}, {process_.get(), POLLIN, 0}}};
  const auto now = Clock::now();
  std::chrono::nanoseconds pause = at_most;
  if (limits_.memory_bytes > 0 || limits_.tasks > 0 || !process_)
    pause = std::min<std::chrono::nanoseconds>(pause, kLook);
  if (limits_.wall.count() > 0) pause = std::min<std::chrono::nanoseconds>(pause, started_ + limits_.wall - now);
  pause = std::max<std::chrono::nanoseconds>(pause, 0ns);
  const timespec time{static_cast<time_t>(pause / 1s), static_cast<long>((pause % 1s).count())};
  ::ppoll(watched.data(), watched.size(), &time, nullptr);
}

Finished Child::wait() {
  while (true) {
    if (auto finished = poll()) return *finished;
    wait_for_news(-1, 1h);
  }
}

Finished Child::kill(EndedBy because) {
  if (over_) return finished_;
  ::kill(-pid_, SIGKILL);
  const auto deadline = Clock::now() + kPatience;
  while (!has_exited() && Clock::now() < deadline) {
    pollfd ended{process_.get(), POLLIN, 0};
    ::poll(&ended, 1, 10);
  }
  if (has_exited()) {
    drain();
    reap();
  } else {
    finished_.reaped = false;
    finished_.code = SIGKILL;
    over_ = true;
  }
  if (because != EndedBy::signal || !finished_.reaped) finished_.ended_by = because;
  return finished_;
}

Result<Finished> run(const Command& command) {
  auto child = Child::start(command);
  if (!child) return std::unexpected(child.error());
  return child->wait();
}

}  // namespace kagent::util
