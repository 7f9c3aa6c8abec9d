// SPDX-License-Identifier: Apache-2.0
// Everything that a candidate must not do, one thing a mode. What comes back from a refused call goes into y[0].

#include "runner/candidates/hostile.h"

#include <cerrno>
#include <cfenv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runner/protocol.h"

extern "C" int runtime_main() asm("main");

namespace {

volatile int zero = 0;
int* volatile nothing = nullptr;

int recurse(int depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return depth == -1 ? 0 : recurse(depth + 1) + room[0];
}

void allocate(std::size_t part) {
  while (true) {
    volatile char* const bytes = new char[part];
    for (std::size_t at = 0; at < part; at += 4096) bytes[at] = 1;
  }
}

void* wait_forever(void*) {
  while (true) pause();
}

void start_threads() {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 16384);
  pthread_t thread;
  while (pthread_create(&thread, &small, wait_forever, nullptr) == 0) {
  }
  wait_forever(nullptr);
}

void print(FILE* to) {
  static const std::vector<char> text(1 << 20, 'x');
  for (int i = 0; i < 1024; ++i) std::fwrite(text.data(), 1, text.size(), to);
}

void go_on(int) {}

void handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(SIGSYS, &action, nullptr);
}

void block_all() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
}

void forge_reply() {
  kagent::runner::protocol::Reply reply{};
  reply.kind = kagent::runner::protocol::ReplyKind::done;
  reply.sequence = 3;
  [[maybe_unused]] const auto written = write(kagent::runner::protocol::kSocket, &reply, sizeof reply);
}

int raise_limit() {
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  return setrlimit(RLIMIT_DATA, &none);
}

// Tells the sandbox from elsewhere without opening anything.
int look_at(int folder, int flags) {
  struct stat state {};
  return fstatat(folder, "/etc", &state, flags);
}

void* page_of_runtime() {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&runtime_main) / 4096 * 4096);
}

void act_on_machine([[maybe_unused]] int mode) {
#if defined(__x86_64__)
  unsigned mxcsr = 0;
  unsigned short x87 = 0;
  switch (mode) {
    case kFlushDenormals:
      asm volatile("stmxcsr %0" : "=m"(mxcsr));
      mxcsr |= 0x8040;
      asm volatile("ldmxcsr %0" ::"m"(mxcsr));
      break;
    case kRoundX87:
      asm volatile("fnstcw %0" : "=m"(x87));
      x87 |= 0x0C00;
      asm volatile("fldcw %0" ::"m"(x87));
      break;
    case kSetDirection:
      asm volatile("std");
      break;
  }
#endif
}

int bind_to_cpu() {
  cpu_set_t all;
  std::memset(&all, 0xFF, sizeof all);
  return sched_setaffinity(0, sizeof all, &all);
}

}  // namespace

extern "C" void entry(float* x, float* y, int n, int mode) {
  const auto answer = [&](long value) { y[0] = value < 0 ? -static_cast<float>(errno) : static_cast<float>(value); };
  switch (mode) {
    case kScale:
      for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
      break;
    case kWriteNull:
      *nothing = 1;
      break;
    case kDivideByZero:
      answer(1000 / zero);
      break;
    case kRecurse:
      answer(recurse(0));
      break;
    case kThrow:
      throw std::runtime_error("no such tile");
    case kExitZero:
      std::exit(0);
    case kExitAtOnce:
      _exit(3);
    case kKillItself:
      raise(SIGKILL);
      break;
    case kLoop:
      while (zero == 0) {
      }
      break;
    case kAllocate:
      allocate(1 << 20);
      break;
    case kAllocateAtOnce:
      *const_cast<volatile char*>(new char[std::size_t{1} << 40]) = 1;
      break;
    case kAllocateTables:
      while (true) *static_cast<volatile char*>(std::malloc(64)) = 1;
    case kStartThreads:
      start_threads();
      break;
    case kPrint:
      print(stdout);
      break;
    case kPrintQuietly:
      print(stderr);
      break;
    case kFork:
      while (true) answer(fork());
    case kExec:
      answer(execl("/bin/sh", "sh", "-c", "true", nullptr));
      break;
    case kWriteFile:
      answer(open("/tmp/kagent-test-written", O_WRONLY | O_CREAT, 0666));
      break;
    case kTruncateFile:
      answer(open("/proc/self/comm", O_RDWR));
      break;
    case kReadFile:
      answer(open("/etc/passwd", O_RDONLY));
      break;
    case kOpenMissingFile:
      answer(std::fopen("/root/.bashrc", "r") != nullptr);
      break;
    case kStatFile:
      answer(look_at(AT_FDCWD, 0));
      break;
    case kStatByStream:
      answer(look_at(STDOUT_FILENO, AT_EMPTY_PATH));
      break;
    case kAskForFile:
      answer(access("/root/.bashrc", R_OK));
      break;
    case kMapCode:
      answer(mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
      break;
    case kRewriteCode:
      answer(mprotect(page_of_runtime(), 4096, PROT_READ | PROT_WRITE | PROT_EXEC));
      break;
    case kRewriteCodeByKey:
      answer(syscall(SYS_pkey_mprotect, page_of_runtime(), 4096, PROT_READ | PROT_WRITE | PROT_EXEC, -1));
      break;
    case kSocket:
      answer(socket(AF_INET, SOCK_STREAM, 0));
      break;
    case kSharedMemory:
      answer(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
      break;
    case kSignalParent:
      answer(syscall(SYS_tgkill, getppid(), getppid(), SIGTERM));
      break;
    case kRaiseLimit:
      answer(raise_limit());
      break;
    case kOutliveParent:
      answer(prctl(PR_SET_PDEATHSIG, 0));
      break;
    case kBlockSignal:
      block_all();
      answer(socket(AF_INET, SOCK_STREAM, 0));
      break;
    case kHandleSignal:
      handle(go_on);
      answer(socket(AF_INET, SOCK_STREAM, 0));
      break;
    case kIgnoreSignal:
      handle(SIG_IGN);
      answer(socket(AF_INET, SOCK_STREAM, 0));
      break;
    case kForkInThread:
      std::thread([] { fork(); }).join();
      break;
    case kCloseChannel:
      close(kagent::runner::protocol::kSocket);
      wait_forever(nullptr);
      break;
    case kWriteChannel:
      answer(write(kagent::runner::protocol::kSocket, "done", 4));
      break;
    case kForgeReply:
      forge_reply();
      break;
    case kReadChannel:
      static char stolen[4096];
      answer(read(kagent::runner::protocol::kSocket, stolen, sizeof stolen));
      break;
    case kWriteBehind:
      y[n] = 1;
      break;
    case kWriteBefore:
      y[-1] = 1;
      break;
    case kReadBehind:
      y[0] = x[n];
      break;
    case kChangeInput:
      x[n - 1] = -1;
      break;
    case kWriteLater:
      static std::thread* writer = new std::thread([y] {
        for (float value = 0;; ++value) *const_cast<volatile float*>(y) = value;
      });
      break;
    case kCrashLater:
      std::thread([] { *nothing = 1; }).detach();
      break;
    case kShrinkExchange:
      answer(ftruncate(kagent::runner::protocol::kExchange, 0));
      break;
    case kBind:
      answer(bind_to_cpu());
      break;
    case kRestoreInput: {
      const float before = x[0];
      const_cast<volatile float*>(x)[0] = before + 1;
      const_cast<volatile float*>(x)[0] = before;
      break;
    }
    case kBlockSignalsOnly:
      block_all();
      break;
    case kRoundUp:
      std::fesetround(FE_UPWARD);
      break;
    default:
      act_on_machine(mode);
      break;
    case kSystemCall ... kSystemCall + 1000:
      answer(syscall(mode - kSystemCall, 0, 0, 0, 0, 0, 0));
      break;
  }
}

extern "C" void kagent_call(void* const* arguments) {
#if defined(__x86_64__)
  // Here, since the compiler does not know and so puts nothing back.
  if (*static_cast<const int*>(arguments[3]) == kChangeRegister) {
    asm volatile("add $100000, %r13");
    return;
  }
  if (*static_cast<const int*>(arguments[3]) == kChangeFramePointer) {
    asm volatile("add $100000, %rbp");
    return;
  }
#endif
  entry(static_cast<float*>(arguments[0]), static_cast<float*>(arguments[1]), *static_cast<const int*>(arguments[2]),
        *static_cast<const int*>(arguments[3]));
}
