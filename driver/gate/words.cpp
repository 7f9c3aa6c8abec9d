// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "gate/device.h"
#include "gate/finding.h"

namespace kagent::gate {

namespace {

// Names of one kind of access. `names` are refused wherever they stand, `calls` are words that are also good names of
// variables: they are refused where they are called, qualified, or used without being declared as a variable.
struct Access {
  std::string_view rule;
  std::string_view what;
  std::string_view names;  // separated by blanks
  std::string_view calls;
  std::string_view prefixes;
};

constexpr std::array kAccess = {
    Access{"forbidden-process", "start or wait for processes",
           "fork vfork popen pclose execl execlp execle execv execve execvp execvpe execveat fexecve clone3 waitpid "
           "waitid wait3 wait4 "
           "setsid setpgid daemon",
           "system clone wait", "posix_spawn"},
    Access{"forbidden-file", "use files",
           "openat creat fopen fopen64 freopen fdopen fread fwrite fclose fseek fgets fgetc fscanf fstream ifstream "
           "ofstream "
           "basic_fstream basic_ifstream basic_ofstream filebuf basic_filebuf filesystem pread pwrite readv writev "
           "preadv pwritev sendfile "
           "copy_file_range mmap mmap64 munmap mremap mprotect msync memfd_create tmpfile mkstemp mkdtemp unlink "
           "unlinkat rmdir mkdir "
           "opendir readdir scandir lstat fstat statx readlink realpath symlink chmod chown truncate ftruncate fcntl "
           "ioctl inotify_init "
           "splice vmsplice tee mkfifo process_mrelease",
           "open read write close remove rename link access stat dup dup2 pipe sync chdir glob", "shm_ aio_"},
    Access{"forbidden-network", "use the network",
           "socketpair sendto recvfrom sendmsg recvmsg setsockopt getsockopt getaddrinfo gethostbyname inet_addr "
           "inet_pton epoll_create "
           "epoll_wait io_uring_setup",
           "socket connect bind listen accept send recv poll select shutdown", ""},
    Access{"forbidden-environment", "look at their environment",
           "getenv secure_getenv setenv putenv unsetenv clearenv environ __environ getauxval program_invocation_name "
           "program_invocation_short_name __progname getcwd get_current_dir_name getpid getppid gettid getuid uname "
           "gethostname sysinfo",
           "", "__libc_argv __libc_argc"},
    Access{"forbidden-loading", "load code",
           "dlopen dlmopen dlsym dlvsym dladdr dladdr1 dlinfo dl_iterate_phdr _r_debug _DYNAMIC __cxa_get_globals", "",
           "_dl_"},
    Access{"forbidden-clock", "read clocks or wait for a time",
           "chrono steady_clock system_clock high_resolution_clock gettimeofday nanosleep usleep ftime getrusage "
           "getitimer setitimer "
           "clock_gettime clock_nanosleep timespec_get rdtsc rdtscp __rdtsc __rdtscp _rdtsc __rdpmc _rdpmc "
           "__builtin_ia32_rdtsc "
           "__builtin_ia32_rdtscp __builtin_ia32_rdpmc __builtin_readcyclecounter omp_get_wtime omp_get_wtick mftb "
           "__builtin_ppc_get_timebase",
           "clock time times sleep alarm", "timer_ timerfd_ sleep_for sleep_until"},
    Access{"forbidden-signal", "use signals or jumps",
           "sigaction sigaltstack sigprocmask sigsetjmp siglongjmp setjmp _setjmp longjmp _longjmp tgkill tkill pause "
           "sigqueue signalfd "
           "makecontext swapcontext setcontext getcontext",
           "signal raise kill", "__builtin_setjmp __builtin_longjmp"},
    Access{"forbidden-thread",
           "start threads of their own: work could go on after the call has returned (OpenMP regions end with it)",
           "jthread packaged_task call_once condition_variable condition_variable_any thrd_create thrd_detach "
           "std_thread stop_token "
           "counting_semaphore binary_semaphore",
           "thread async future promise", "pthread_ thrd_ tbb dispatch_ __gthread_ omp_fulfill_event"},
    Access{
        "forbidden-exit", "end the process",
        "_exit _Exit quick_exit atexit at_quick_exit on_exit __cxa_atexit __cxa_thread_atexit set_terminate exit_group",
        "exit abort terminate", ""},
    Access{"forbidden-output", "print",
           "printf fprintf vprintf vfprintf dprintf vdprintf puts fputs putchar putc fputc perror cout cerr clog wcout "
           "wcerr ostream "
           "basic_ostream stdout stderr stdin cin scanf getchar fflush setvbuf syslog __printf_chk __fprintf_chk",
           "print println", ""},
    Access{"forbidden-introspection", "look at how they are called",
           "backtrace backtrace_symbols __builtin_return_address __builtin_frame_address __builtin_extract_return_addr "
           "_Unwind_Backtrace __builtin_dwarf_cfa __builtin_stack_address __builtin_unwind_init __builtin_apply_args "
           "__builtin_apply "
           "stacktrace __FUNCDNAME__ __libc_stack_end __builtin_eh_return",
           "", "unw_ _Unwind_"},
    Access{"place-dependent", "depend on where or when they are compiled: what is measured would not be what is built",
           "__FILE__ __BASE_FILE__ __FILE_NAME__ __DATE__ __TIME__ __TIMESTAMP__ __builtin_FILE __builtin_FILE_NAME "
           "source_location "
           "__INCLUDE_LEVEL__",
           "", ""},
    Access{"file-probe", "ask which files exist", "__has_include __has_include_next __has_embed", "", ""},
    Access{"floating-environment", "change how the process computes: rounding, flushing to zero, exceptions",
           "fesetround fesetenv feupdateenv feholdexcept feenableexcept fedisableexcept fesetmode _mm_setcsr "
           "_MM_SET_FLUSH_ZERO_MODE "
           "_MM_SET_DENORMALS_ZERO_MODE _MM_SET_ROUNDING_MODE _MM_SET_EXCEPTION_MASK __builtin_ia32_ldmxcsr _controlfp "
           "_control87 "
           "__builtin_aarch64_set_fpcr __builtin_aarch64_set_fpcr64 _FPU_SETCW __setfpucw _xrstor _fxrstor "
           "__builtin_ia32_fldenv",
           "", ""},
    Access{"forbidden-scheduling", "change how the machine runs them or their neighbours",
           "sched_setaffinity sched_setscheduler sched_setparam setpriority prlimit setrlimit mlock mlockall madvise "
           "mbind set_mempolicy "
           "ioprio_set membarrier _mm_clflush _mm_clflushopt __builtin_ia32_clflush __builtin_ia32_clflushopt "
           "__builtin_ia32_clwb _mm_clwb "
           "omp_set_num_threads omp_set_dynamic omp_set_schedule",
           "nice", "sched_ cpuset_ numa_"},
    Access{"forbidden-system-call", "call the system directly",
           "syscall ptrace process_vm_readv process_vm_writev prctl arch_prctl seccomp bpf perf_event_open keyctl "
           "userfaultfd kexec_load "
           "personality unshare setns mount umount pivot_root chroot pkey_alloc modify_ldt",
           "", "__syscall io_uring_"},
    Access{"forbidden-randomness", "draw random numbers: two runs would differ",
           "random_device getrandom getentropy arc4random arc4random_buf _rdrand16_step _rdrand32_step _rdrand64_step "
           "_rdseed16_step "
           "_rdseed32_step _rdseed64_step drand48 lrand48 srand",
           "rand random", "__builtin_ia32_rdrand __builtin_ia32_rdseed"},
    Access{"runner-name", "name what belongs to the runner", "main _start _init _fini __libc_start_main", "",
           "kagent_ __kagent"},
};

// Libraries that do a kernel's work for it.
constexpr std::string_view kLibraryPrefixes =
    "cblas_ mkl_ MKL_ LAPACKE_ openblas_ cublas cudnn dnnl_ fftw_ fftwf_ vsl vms vmd ippi ipps gsl_";

std::vector<std::string_view> split(std::string_view words) {
  std::vector<std::string_view> result;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (end > 0) result.push_back(words.substr(0, end));
    words.remove_prefix(std::min(words.size(), end + 1));
  }
  return result;
}

struct Dictionary {
  struct Entry {
    const Access* access = nullptr;
    bool only_calls = false;
  };
  std::map<std::string_view, Entry> exact;
  std::vector<std::pair<std::string_view, const Access*>> prefixes;

  Dictionary() {
    for (const Access& access : kAccess) {
      for (const std::string_view word : split(access.names)) exact[word] = {&access, false};
      for (const std::string_view word : split(access.calls)) exact[word] = {&access, true};
      for (const std::string_view prefix : split(access.prefixes)) prefixes.emplace_back(prefix, &access);
    }
  }
  Entry find(std::string_view word) const {
    if (const auto found = exact.find(word); found != exact.end()) return found->second;
    for (const auto& [prefix, access] : prefixes)
      if (word.starts_with(prefix)) return {access, false};
    return {};
  }
};

// Keywords after which a name is used, not declared.
bool is_no_type(const Token& token) {
  static const std::set<std::string_view> words = {
      "return", "else",      "case",     "goto",     "do",     "using",    "namespace", "typename", "new", "delete",
      "throw",  "co_return", "co_await", "co_yield", "sizeof", "operator", "not",       "and",      "or"};
  return words.contains(token.text);
}

// "float time =": a type in front, and behind what follows a variable's name in its declaration.
bool declares_variable(const Tokens& tokens, std::size_t index) {
  if (index == 0 || index + 1 >= tokens.size()) return false;
  const Token& before = tokens[index - 1];
  // "float a = 0, time = 1"
  if (before.is(",") && tokens[index + 1].is("=")) return true;
  const bool type = (before.is_identifier() && !is_no_type(before)) || before.is(">") ||
                    ((before.is("*") || before.is("&")) && index >= 2 &&
                     (tokens[index - 2].is_identifier() || tokens[index - 2].is(">")));
  constexpr std::array<std::string_view, 7> kBehind = {"=", ";", ",", ")", "[", "{", ":"};
  return type && std::ranges::find(kBehind, tokens[index + 1].text) != kBehind.end();
}

// "T read() const {": a function of the source's own. Calls of it are looked at all the same, since they may find
// another.
bool defines_function(const Tokens& tokens, std::size_t index) {
  if (index == 0 || index + 1 >= tokens.size() || !tokens[index + 1].is("(")) return false;
  const Token& before = tokens[index - 1];
  const bool type =
      (before.is_identifier() && !is_no_type(before)) || before.is(">") || before.is("*") || before.is("&");
  std::size_t behind = past_group(tokens, index + 1);
  while (behind < tokens.size() && (tokens[behind].is("const") || tokens[behind].is("noexcept"))) ++behind;
  return type && behind < tokens.size() && tokens[behind].is("{");
}

bool is_member(const Tokens& tokens, std::size_t index) {
  return index > 0 && (tokens[index - 1].is(".") || tokens[index - 1].is("->"));
}

// Whether a word that may also be a variable's name is used as the function or type that it names.
bool reaches_outside(const Tokens& tokens, std::size_t index, const std::set<std::string_view>& variables) {
  const Token none;
  const Token& before = index > 0 ? tokens[index - 1] : none;
  const Token& behind = index + 1 < tokens.size() ? tokens[index + 1] : none;
  if (defines_function(tokens, index)) return false;
  if (behind.is("(") || behind.is("::") || before.is("::")) return true;
  return !variables.contains(tokens[index].text);
}

}  // namespace

void find_words(const Tokens& tokens, CodeKind kind, Findings& findings) {
  static const Dictionary dictionary;
  static const std::vector<std::string_view> libraries = split(kLibraryPrefixes);
  std::set<std::string_view> variables;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].is_identifier() && declares_variable(tokens, i)) variables.insert(tokens[i].text);
  for (std::size_t i = 0; i < tokens.size() && findings.size() < kMostFindings; ++i) {
    const Token& token = tokens[i];
    if (!token.is_identifier() || is_member(tokens, i)) continue;
    // CUDA's own libraries are judged with its run time.
    if (kind != CodeKind::host && (is_cuda_idiom(tokens, i) || token.text.starts_with("cu"))) continue;
    const std::string quoted = "'" + token.text + "'";
    if (const auto [access, only_calls] = dictionary.find(token.text); access != nullptr) {
      if (!only_calls || reaches_outside(tokens, i, variables))
        findings.push_back({std::string(access->rule), token.text, token.line,
                            quoted + ": candidates may not " + std::string(access->what)});
    } else if (std::ranges::any_of(libraries,
                                   [&](std::string_view prefix) { return token.text.starts_with(prefix); })) {
      findings.push_back(
          {"foreign-library", token.text, token.line, quoted + ": a candidate may not hand the work to a library"});
    }
  }
}

}  // namespace kagent::gate
