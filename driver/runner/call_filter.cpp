// SPDX-License-Identifier: Apache-2.0
#include "runner/call_filter.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runner/protocol.h"
#include "util/descriptor.h"

namespace kagent::runner {

namespace {

// Forbidden to everybody. Names that this libseccomp or this machine does not know are skipped: there is no such call
// then.
constexpr std::array kForbidden{
    // Processes, and other ways to talk to them.
    "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_open",
    "pidfd_getfd", "pidfd_send_signal", "unshare", "setns", "personality", "setrlimit", "ioprio_set", "shmget",
    "msgget", "semget", "mq_open", "memfd_secret",
    // Files.
    "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "link", "linkat", "symlink", "symlinkat", "mknod",
    "mknodat", "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "truncate", "utime",
    "utimes", "utimensat", "futimesat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr",
    "fremovexattr", "name_to_handle_at", "open_by_handle_at",
    // The machine.
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsmount", "fsconfig",
    "fspick", "mount_setattr", "bpf", "perf_event_open", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "userfaultfd", "keyctl", "add_key", "request_key", "kexec_load", "kexec_file_load", "init_module", "finit_module",
    "delete_module", "reboot", "swapon", "swapoff", "sethostname", "setdomainname", "settimeofday", "clock_settime",
    "clock_adjtime", "adjtimex", "acct", "syslog", "quotactl", "iopl", "ioperm", "modify_ldt", "fanotify_init",
    "lookup_dcookie", "vhangup", "nfsservctl"};

// Forbidden where no driver of a GPU, which needs some of these, is in the process.
constexpr std::array kForbiddenWithoutDevice{
    // Processes.
    "setsid", "setpgid", "sched_setscheduler", "sched_setparam", "sched_setattr", "setpriority",
    // Sockets and memory that could be shared.
    "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "memfd_create",
    // Files.
    "creat", "unlink", "unlinkat", "ftruncate", "fallocate"};

// Also forbidden once the program has been loaded.
constexpr std::array kForbiddenLater{
    "execve", "execveat", "seccomp", "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
    // Looking at files: what is there differs between the sandbox and where the kernel is used.
    "open", "openat", "openat2", "stat", "lstat", "statx", "statfs", "access", "faccessat", "faccessat2", "readlink",
    "readlinkat", "getdents", "getdents64", "getcwd", "chdir", "fchdir", "getxattr", "lgetxattr", "fgetxattr",
    "getxattrat", "listxattr", "llistxattr", "flistxattr", "listxattrat", "inotify_init", "inotify_init1",
    "inotify_add_watch", "fanotify_mark", "statmount", "listmount"};

class Filter {
 public:
  Filter() : context_(::seccomp_init(SCMP_ACT_ALLOW), ::seccomp_release) {
    if (!context_) error_ = ENOMEM;
    // A program cannot get around the filter through another ABI (i386, x32) of the same kernel.
    check(::seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
  }

  template <class... Comparisons>
  void on(std::uint32_t action, const char* name, Comparisons... comparisons) {
    const int number = ::seccomp_syscall_resolve_name(name);
    if (error_ != 0 || number < 0) return;
    const std::array<scmp_arg_cmp, sizeof...(Comparisons)> all{comparisons...};
    check(::seccomp_rule_add_array(context_.get(), action, number, sizeof...(Comparisons), all.data()));
  }
  template <class... Comparisons>
  void forbid(const char* name, Comparisons... comparisons) {
    on(SCMP_ACT_TRAP, name, comparisons...);
  }

  // What rules that differ only in the action do.
  void refuse(bool ends_process, const char* name) { on(refusal(ends_process), name); }
  template <class... Comparisons>
  void refuse_if(bool ends_process, const char* name, Comparisons... comparisons) {
    on(refusal(ends_process), name, comparisons...);
  }

  Result<std::string> program() {
    util::Descriptor file(::memfd_create("filter", MFD_CLOEXEC));
    if (!file && error_ == 0) error_ = errno;
    if (error_ == 0) check(::seccomp_export_bpf(context_.get(), file.get()));
    if (error_ != 0)
      return failure("libseccomp cannot make the system call filter: " + std::generic_category().message(error_),
                     "install a libseccomp that knows this kernel");
    std::string bytes(static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
    if (::pread(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      return failure("cannot read back the system call filter");
    return bytes;
  }

 private:
  static std::uint32_t refusal(bool ends_process) { return ends_process ? SCMP_ACT_TRAP : SCMP_ACT_ERRNO(EPERM); }
  void check(int result) {
    if (result < 0 && error_ == 0) error_ = -result;
  }

  std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
  int error_ = 0;
};

using Value = scmp_datum_t;

scmp_arg_cmp bits(unsigned argument, Value mask, Value value) {
  return scmp_arg_cmp{argument, SCMP_CMP_MASKED_EQ, mask, value};
}
scmp_arg_cmp is(unsigned argument, Value value) {
  return scmp_arg_cmp{argument, SCMP_CMP_EQ, value, 0};
}
scmp_arg_cmp is_not(unsigned argument, Value value) {
  return scmp_arg_cmp{argument, SCMP_CMP_NE, value, 0};
}

void forbid_writing(Filter& filter, const char* name, unsigned flags_argument) {
  for (const int mode : {O_WRONLY, O_RDWR})
    filter.forbid(name, bits(flags_argument, O_ACCMODE, static_cast<Value>(mode)));
  for (const int flag : {O_CREAT, O_TRUNC, __O_TMPFILE})
    filter.forbid(name, bits(flags_argument, static_cast<Value>(flag), static_cast<Value>(flag)));
}

void forbid_always(Filter& filter) {
  for (const char* name : kForbidden) filter.forbid(name);
  for (const char* name : kForbiddenWithoutDevice) filter.forbid(name);
  forbid_writing(filter, "open", 1);
  forbid_writing(filter, "openat", 2);
  // Its flags lie in memory, where a filter cannot look: callers fall back to openat.
  filter.on(SCMP_ACT_ERRNO(ENOSYS), "openat2");
  // Threads only. clone3's flags lie in memory as well; the C library falls back to clone.
  filter.forbid("clone", bits(0, CLONE_THREAD, 0));
  filter.on(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  filter.forbid("prlimit64", is_not(2, 0));
  // A run time that wants to bind its threads is told no: where the candidate runs is the driver's choice.
  filter.on(SCMP_ACT_ERRNO(EPERM), "sched_setaffinity");
  for (const int option : {PR_SET_PDEATHSIG, PR_SET_TSC, PR_SET_MM, PR_SET_CHILD_SUBREAPER, PR_SET_SPECULATION_CTRL})
    filter.forbid("prctl", is(0, static_cast<Value>(option)));
}

void forbid_later(Filter& filter) {
  for (const char* name : kForbiddenLater) filter.forbid(name);
  filter.forbid("tgkill", is_not(0, protocol::kOwnPidPlaceholder));
  filter.forbid("rt_sigaction", is(0, SIGSYS), is_not(1, 0));
  filter.forbid("prctl", is(0, PR_SET_SECCOMP));
  // Memory that the limit on private memory would not see.
  filter.forbid("mmap", bits(3, MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS));
  // Code that nobody has seen, or the runtime's own made writable.
  for (const char* name : {"mmap", "mprotect", "pkey_mprotect"}) filter.forbid(name, bits(2, PROT_EXEC, PROT_EXEC));
  // The C library asks so for the state of an open descriptor. As a path could stand there, which a filter cannot see,
  // the standard streams, whose buffers it sizes, are told no; everybody else is ended.
  filter.forbid("newfstatat", is_not(3, AT_EMPTY_PATH));
  filter.forbid("newfstatat", scmp_arg_cmp{0, SCMP_CMP_GT, STDERR_FILENO, 0});
  filter.on(SCMP_ACT_ERRNO(EACCES), "newfstatat", scmp_arg_cmp{0, SCMP_CMP_LE, STDERR_FILENO, 0}, is(3, AT_EMPTY_PATH));
}

void refuse_with_device(Filter& filter, bool ends_process) {
  for (const char* name : kForbidden) filter.refuse(ends_process, name);
  filter.refuse_if(ends_process, "socket", is_not(0, AF_UNIX));
  filter.refuse_if(ends_process, "socketpair", is_not(0, AF_UNIX));
  filter.refuse_if(ends_process, "clone", bits(0, CLONE_THREAD, 0));
  filter.on(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  filter.refuse_if(ends_process, "prlimit64", is_not(2, 0));
}

}  // namespace

Result<std::string> device_start_filter() {
  Filter filter;
  refuse_with_device(filter, false);
  return filter.program();
}

Result<std::string> device_call_filter() {
  Filter filter;
  refuse_with_device(filter, true);
  // CUDA's initialisation removes the socket that it makes in /tmp, and fails where it may not.
  for (const char* name : {"unlink", "unlinkat", "execve", "execveat", "seccomp", "tkill", "rt_sigqueueinfo"})
    filter.forbid(name);
  filter.forbid("kill");
  filter.forbid("tgkill", is_not(0, protocol::kOwnPidPlaceholder));
  filter.forbid("rt_sigaction", is(0, SIGSYS), is_not(1, 0));
  filter.forbid("prctl", is(0, PR_SET_SECCOMP));
  return filter.program();
}

Result<std::string> start_filter() {
  Filter filter;
  forbid_always(filter);
  return filter.program();
}

Result<std::string> call_filter() {
  Filter filter;
  forbid_later(filter);
  return filter.program();
}

std::string system_call_name(int number) {
  const std::unique_ptr<char, void (*)(void*)> name(::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number),
                                                    std::free);
  return name ? std::string(name.get()) : "system call " + std::to_string(number);
}

}  // namespace kagent::runner
