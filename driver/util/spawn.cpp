// SPDX-License-Identifier: Apache-2.0
#include "util/spawn.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kagent::util {

namespace {

enum class Step { session, namespaces, descriptors, working_folder, affinity, limits, seccomp, exec };

const char* description(Step step) {
  switch (step) {
    case Step::session:
      return "cannot make its session";
    case Step::namespaces:
      return "cannot set up its namespaces";
    case Step::descriptors:
      return "cannot place its descriptors";
    case Step::working_folder:
      return "cannot enter its working folder";
    case Step::affinity:
      return "cannot bind it to the given CPUs";
    case Step::limits:
      return "cannot set its limits";
    case Step::seccomp:
      return "cannot apply the system call filter";
    case Step::exec:
      return "cannot execute it";
  }
  return "";
}

struct Failure {
  Step step;
  int code;
};

struct Limit {
  int resource;
  rlimit value;
};

// All that the child needs between clone and exec, made before: there it may only make system calls, for it shares the
// parent's memory, whose locks other threads may hold.
struct Plan {
  std::string program;
  std::vector<char*> argv, environment;
  std::string working_folder;
  std::vector<std::pair<int, int>> descriptors;  // from numbers above all targets
  std::vector<Limit> limits;
  cpu_set_t cpus;
  bool pinned = false;
  sock_fprog filter{};
  bool pid_namespace = false;
  std::string user_map, group_map;
  int alive_read = -1, alive_write = -1;  // hung up when the parent is dead
  volatile Failure failure{};
  volatile bool failed = false;
};

// Affinity masks beyond 1024 CPUs are not supported: cpu_set_t's size.
constexpr int kMostCpus = CPU_SETSIZE;
constexpr std::size_t kChildStackBytes = 64 * 1024;
constexpr int kLastSignal = 64;

[[noreturn]] void give_up(Plan& plan, Step step) {
  plan.failure.step = step;
  plan.failure.code = errno;
  plan.failed = true;
  ::_exit(127);
}

void close_on_exec_from(unsigned first) {
  if (::syscall(SYS_close_range, first, ~0U, 1U << 2 /* CLOSE_RANGE_CLOEXEC */) == 0) return;
  for (int descriptor = static_cast<int>(first); descriptor < 4096; ++descriptor)
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

bool write_proc(const char* path, const char* text, std::size_t length) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = ::write(file, text, length) == static_cast<ssize_t>(length);
  ::close(file);
  return written;
}

bool map_ids(const Plan& plan) {
  return write_proc("/proc/self/setgroups", "deny", 4) &&
         write_proc("/proc/self/uid_map", plan.user_map.data(), plan.user_map.size()) &&
         write_proc("/proc/self/gid_map", plan.group_map.data(), plan.group_map.size());
}

// getppid() cannot tell from inside a PID namespace.
bool parent_died(const Plan& plan) {
  ::close(plan.alive_write);
  pollfd alive{plan.alive_read, POLLIN, 0};
  return ::poll(&alive, 1, 0) != 0;
}

int child_main(void* argument) {
  Plan& plan = *static_cast<Plan*>(argument);
  struct sigaction defaults {};
  defaults.sa_handler = SIG_DFL;
  for (int signal = 1; signal <= kLastSignal; ++signal) ::sigaction(signal, &defaults, nullptr);
  if (::setsid() < 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(plan, Step::session);
  if (parent_died(plan)) ::_exit(127);  // before the line above
  // The kernel's first choice when memory runs out is a candidate, not the user's session. Needs no rights to raise.
  write_proc("/proc/self/oom_score_adj", "1000", 4);
  if (plan.pid_namespace && !map_ids(plan)) give_up(plan, Step::namespaces);
  close_on_exec_from(3);
  for (const auto& [from, to] : plan.descriptors)
    if (::dup2(from, to) < 0) give_up(plan, Step::descriptors);
  if (!plan.working_folder.empty() && ::chdir(plan.working_folder.c_str()) != 0) give_up(plan, Step::working_folder);
  if (plan.pinned && ::sched_setaffinity(0, sizeof plan.cpus, &plan.cpus) != 0) give_up(plan, Step::affinity);
  for (const Limit& limit : plan.limits)
    if (::setrlimit(static_cast<__rlimit_resource>(limit.resource), &limit.value) != 0) give_up(plan, Step::limits);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (plan.filter.len != 0 && (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
                               ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &plan.filter) != 0))
    give_up(plan, Step::seccomp);
  ::execve(plan.program.c_str(), plan.argv.data(), plan.environment.data());
  give_up(plan, Step::exec);
}

// One thread starts all children and lives as long as the process: PR_SET_PDEATHSIG fires when the THREAD that made the
// child ends, and callers' threads come and go.
class Spawner {
 public:
  static Spawner& instance() {
    // Never destroyed: its thread is detached and may still be waiting when the process ends. After a fork() without
    // exec the child has no such thread and needs its own.
    static std::mutex mutex;
    static Spawner* spawner = nullptr;
    const std::lock_guard lock(mutex);
    if (spawner == nullptr || spawner->process_ != ::getpid()) spawner = new Spawner;
    return *spawner;
  }

  pid_t start(Plan& plan) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return plan_ == nullptr; });
    plan_ = &plan;
    started_ = 0;
    changed_.notify_all();
    changed_.wait(lock, [&] { return plan_ == &plan && started_ != 0; });
    const pid_t result = started_;
    plan_ = nullptr;
    changed_.notify_all();
    return result;
  }

 private:
  Spawner() : stack_(kChildStackBytes) {
    if (::pipe2(alive_.data(), O_CLOEXEC) != 0) alive_ = {-1, -1};
    std::thread(&Spawner::serve, this).detach();
  }

  void serve() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);  // a handler must not run in the child, which shares our memory
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return plan_ != nullptr && started_ == 0; });
      plan_->alive_read = alive_[0];
      plan_->alive_write = alive_[1];
      // As vfork: no copy of the page tables of a process that may hold gigabytes of tensors.
      const int flags = CLONE_VM | CLONE_VFORK | SIGCHLD | (plan_->pid_namespace ? CLONE_NEWUSER | CLONE_NEWPID : 0);
      const pid_t pid = ::clone(child_main, stack_.data() + stack_.size(), flags, plan_);
      started_ = pid > 0 ? pid : -errno;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<char> stack_;
  std::array<int, 2> alive_{};
  Plan* plan_ = nullptr;
  pid_t started_ = 0;
  pid_t process_ = ::getpid();
};

std::unexpected<StageError> cannot_start(const Command& command, const std::string& why, int code,
                                         std::string fix = {}) {
  std::string reason = code == 0 ? why : why + ": " + std::generic_category().message(code);
  return failure("cannot start '" + command.argv.front() + "': " + reason, std::move(fix));
}

std::string search_path(const Command& command) {
  for (const std::string& entry : command.environment)
    if (entry.starts_with("PATH=")) return entry.substr(5);
  return "/usr/local/bin:/usr/bin:/bin";
}

Result<Descriptor> in_memory_file(const Command& command, const std::string& contents) {
  Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  if (!file) return cannot_start(command, "cannot make a file in memory", errno);
  std::size_t done = 0;
  while (done < contents.size()) {
    const ssize_t written = ::write(file.get(), contents.data() + done, contents.size() - done);
    if (written < 0) return cannot_start(command, "cannot fill a file in memory", errno);
    done += static_cast<std::size_t>(written);
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

// Read end, write end.
Result<std::pair<Descriptor, Descriptor>> make_pipe(const Command& command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot_start(command, "cannot make a pipe", errno);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return std::pair(Descriptor(ends[0]), Descriptor(ends[1]));
}

void add_limits(const Limits& limits, std::vector<Limit>& to) {
  to.push_back({RLIMIT_CORE, {0, 0}});
  if (limits.file_size_bytes) to.push_back({RLIMIT_FSIZE, {*limits.file_size_bytes, *limits.file_size_bytes}});
  if (limits.open_files > 0) {
    const auto count = static_cast<rlim_t>(limits.open_files);
    to.push_back({RLIMIT_NOFILE, {count, count}});
  }
  // The hard limit one second later is SIGKILL, for who ignores SIGXCPU.
  if (limits.cpu.count() > 0) {
    const auto seconds = static_cast<rlim_t>(limits.cpu.count());
    to.push_back({RLIMIT_CPU, {seconds, seconds + 1}});
  }
  // The soft limit only, so that the parent may raise it later.
  if (limits.private_bytes > 0) to.push_back({RLIMIT_DATA, {limits.private_bytes, RLIM_INFINITY}});
}

// Descriptors that only live until the child has been made.
struct Prepared {
  std::vector<Descriptor> held;
  Descriptor output, error;
};

// Gives the child copies numbered above every target, so that placing one never overwrites another.
Result<void> place(const Command& command, const std::vector<std::pair<int, int>>& wanted, Plan& plan,
                   Prepared& prepared) {
  int highest = 2;
  for (const auto& [from, to] : wanted) highest = std::max(highest, to);
  for (const auto& [from, to] : wanted) {
    Descriptor copy(::fcntl(from, F_DUPFD_CLOEXEC, highest + 1));
    if (!copy) return cannot_start(command, "cannot copy descriptor " + std::to_string(from), errno);
    plan.descriptors.emplace_back(copy.get(), to);
    prepared.held.push_back(std::move(copy));
  }
  return {};
}

Result<Prepared> prepare_descriptors(const Command& command, Plan& plan) {
  Prepared prepared;
  auto output = make_pipe(command), error = make_pipe(command);
  if (!output) return std::unexpected(output.error());
  if (!error) return std::unexpected(error.error());
  Descriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!command.standard_input.empty()) {
    auto file = in_memory_file(command, command.standard_input);
    if (!file) return std::unexpected(file.error());
    input = std::move(*file);
  }
  std::vector<std::pair<int, int>> wanted = command.descriptors;
  wanted.insert(wanted.end(), {{input.get(), 0}, {output->second.get(), 1}, {error->second.get(), 2}});
  if (command.seccomp_descriptor) {
    auto file = in_memory_file(command, command.seccomp_program);
    if (!file) return std::unexpected(file.error());
    wanted.emplace_back(file->get(), *command.seccomp_descriptor);
    prepared.held.push_back(std::move(*file));
  }
  if (auto placed = place(command, wanted, plan, prepared); !placed) return std::unexpected(placed.error());
  prepared.output = std::move(output->first);
  prepared.error = std::move(error->first);
  return prepared;
}

Result<void> prepare(const Command& command, Plan& plan) {
  for (const std::string& word : command.argv) plan.argv.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& entry : command.environment) plan.environment.push_back(const_cast<char*>(entry.c_str()));
  plan.argv.push_back(nullptr);
  plan.environment.push_back(nullptr);
  plan.working_folder = command.working_folder.string();
  plan.program = find_program(command.argv.front(), search_path(command)).string();
  if (plan.program.empty())
    return cannot_start(command, "no such program in PATH (" + search_path(command) + ")", 0,
                        "install '" + command.argv.front() + "', or add its folder to PATH");
  add_limits(command.limits, plan.limits);
  const auto same = [](auto id) { return std::to_string(id) + " " + std::to_string(id) + " 1"; };
  plan.pid_namespace = command.pid_namespace;
  plan.user_map = same(::geteuid());
  plan.group_map = same(::getegid());
  plan.pinned = !command.cpus.empty();
  CPU_ZERO(&plan.cpus);
  for (int cpu : command.cpus) {
    if (cpu < 0 || cpu >= kMostCpus) return cannot_start(command, "there is no CPU " + std::to_string(cpu), 0);
    CPU_SET(cpu, &plan.cpus);
  }
  if (!command.seccomp_program.empty() && !command.seccomp_descriptor) {
    plan.filter.len = static_cast<unsigned short>(command.seccomp_program.size() / sizeof(sock_filter));
    plan.filter.filter = reinterpret_cast<sock_filter*>(const_cast<char*>(command.seccomp_program.data()));
  }
  return {};
}

std::string fix_for(const Command& command, const Plan& plan) {
  switch (plan.failure.step) {
    case Step::exec:
      return "check that '" + plan.program + "' exists and is executable";
    case Step::working_folder:
      return "check that '" + plan.working_folder + "' exists and is a folder";
    case Step::affinity:
      return "give CPUs that exist and that this process may use";
    case Step::session:
    case Step::namespaces:
    case Step::descriptors:
    case Step::limits:
    case Step::seccomp:
      break;
  }
  return "check the limits of this process (ulimit -a) for '" + command.argv.front() + "'";
}

// A shell or service may have started us with SIGCHLD ignored: children would be gone before they can be asked how they
// ended.
void keep_ended_children() {
  struct sigaction action {};
  if (::sigaction(SIGCHLD, nullptr, &action) != 0 || action.sa_handler != SIG_IGN) return;
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &action, nullptr);
}

}  // namespace

Result<Spawned> spawn(const Command& command) {
  if (command.argv.empty()) return failure("cannot start a command without a program");
  Plan plan;
  if (auto ready = prepare(command, plan); !ready) return std::unexpected(ready.error());
  auto prepared = prepare_descriptors(command, plan);
  if (!prepared) return std::unexpected(prepared.error());
  keep_ended_children();
  const pid_t pid = Spawner::instance().start(plan);
  if (pid < 0)
    return cannot_start(command, "cannot make a process", -pid, "end some processes, or raise the limit (ulimit -u)");
  if (plan.failed) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return cannot_start(command, description(plan.failure.step), plan.failure.code, fix_for(command, plan));
  }
  return Spawned{pid, std::move(prepared->output), std::move(prepared->error)};
}

}  // namespace kagent::util
