// SPDX-License-Identifier: Apache-2.0

// A program of launcher style for the fake driver, whose device memory is the process's own.

#include <cstdlib>

#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../cuda/modes.h"

namespace {

void leave_error(int error) {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  reinterpret_cast<void (*)(int)>(::dlsym(library, "fake_cuda_leave_error"))(error);
}

}  // namespace

extern "C" int kagent_cuda_call(void* const* arguments) {
  auto* const x = static_cast<float*>(arguments[0]);
  auto* const y = static_cast<float*>(arguments[1]);
  auto* const total = static_cast<double*>(arguments[2]);
  const int n = *static_cast<const int*>(arguments[3]);
  switch (*static_cast<const int*>(arguments[4])) {
    case kIllegalAccess:
      leave_error(700);
      return 0;
    case kMisaligned:
      leave_error(716);
      return 0;
    case kTrap:
      leave_error(999);  // as if the device were gone
      return 0;
    case kTooManyThreads:
      return 9;
    case kOutOfMemory:
      return 2;
    case kLoop:
      static_cast<void>(::write(STDERR_FILENO, "loops\n", 6));
      while (true) ::pause();
    case kWritesBeyond:
      y[n] = 1;
      return 0;
    case kWritesBefore:
      y[-1] = 1;
      return 0;
    case kReadsBeyond:
      y[0] = const_cast<const volatile float*>(x)[n];
      return 0;
    case kChangesInput:
      x[0] = 77;
      return 0;
    case kWritesNothing:
      return 0;
    case kCrashes:
      *reinterpret_cast<volatile int*>(0x10) = 1;
      return 0;
    case kExits:
      std::exit(3);
    case kConnects:
      ::socket(AF_INET, SOCK_STREAM, 0);
      return 0;
    case kForks:
      if (::fork() == 0) ::_exit(0);
      return 0;
    default:
      for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
      *total += n;
      return 0;
  }
}
