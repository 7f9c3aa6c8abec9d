// SPDX-License-Identifier: Apache-2.0

// A program of launcher style, the call shim written by hand.

#include <cassert>
#include <cstdlib>

#include <sys/socket.h>
#include <unistd.h>

#include "modes.h"

namespace {

__global__ void scale(const float* x, float* y, double* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
  if (i == 0) *total += n;
}

__global__ void misbehave(const float* x, float* y, int n, int mode) {
  switch (mode) {
    case kIllegalAccess:
      *reinterpret_cast<volatile float*>(0x10) = 1;
      break;
    case kMisaligned:
      *reinterpret_cast<volatile float*>(reinterpret_cast<char*>(y) + 1) = 1;
      break;
    case kTrap:
      asm volatile("trap;");
      break;
    case kAssert:
      assert(n < 0);
      break;
    case kLoop:
      while (*reinterpret_cast<volatile float*>(y) != -1.5f) {
      }
      break;
    case kWritesBeyond:
      y[n] = 1;
      break;
    case kWritesBefore:
      y[-1] = 1;
      break;
    case kReadsBeyond:
      y[0] = reinterpret_cast<const volatile float*>(x)[n];
      break;
    case kChangesInput:
      const_cast<float*>(x)[0] = 77;
      break;
  }
}

__global__ void use_shared(float* y) {
  extern __shared__ float memory[];
  memory[threadIdx.x] = 1;
  y[threadIdx.x] = memory[threadIdx.x];
}

__global__ void wait(long long nanoseconds) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < static_cast<unsigned long long>(nanoseconds));
}

void launch(const float* x, float* y, double* total, int n, cudaStream_t stream) {
  scale<<<(n + 255) / 256 + 1, 256, 0, stream>>>(x, y, total, n);
}

void run(const float* x, float* y, double* total, int n, int mode, cudaStream_t stream) {
  switch (mode) {
    case kScale:
      return launch(x, y, total, n, stream);
    case kTooMuchShared:
      cudaFuncSetAttribute(use_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20);
      return use_shared<<<1, 32, 1 << 20, stream>>>(y);
    case kTooManyThreads:
      return misbehave<<<1, 2048, 0, stream>>>(x, y, n, kWritesNothing);
    case kOutOfMemory: {
      void* memory = nullptr;
      cudaMalloc(&memory, std::size_t{1} << 42);
      return;
    }
    case kOtherStream: {
      static cudaStream_t own = nullptr;
      if (own == nullptr) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
      wait<<<1, 1, 0, own>>>(5'000'000);
      return launch(x, y, total, n, own);
    }
    case kDefaultStream:
      return launch(x, y, total, n, nullptr);
    case kWaits:
      launch(x, y, total, n, stream);
      cudaDeviceSynchronize();
      return;
    case kAllocates: {
      float* own = nullptr;
      if (cudaMallocAsync(&own, sizeof(float) * (n + 1), stream) != cudaSuccess) return;
      launch(x, own, total, n, stream);
      cudaMemcpyAsync(y, own, sizeof(float) * n, cudaMemcpyDeviceToDevice, stream);
      cudaFreeAsync(own, stream);
      return;
    }
    case kTakesTime:
      wait<<<1, 1, 0, stream>>>(n);
      return launch(x, y, total, n, stream);
    case kCrashes:
      *reinterpret_cast<volatile int*>(0x10) = 1;
      return;
    case kAborts:
      std::abort();
    case kExits:
      std::exit(3);
    case kConnects:
      ::socket(AF_INET, SOCK_STREAM, 0);
      return launch(x, y, total, n, stream);
    case kForks:
      if (::fork() == 0) ::_exit(0);
      return launch(x, y, total, n, stream);
    default:
      misbehave<<<1, 1, 0, stream>>>(x, y, n, mode);
  }
}

}  // namespace

extern "C" int kagent_cuda_call(void* const* arguments) {
  run(static_cast<const float*>(arguments[0]), static_cast<float*>(arguments[1]), static_cast<double*>(arguments[2]),
      *static_cast<const int*>(arguments[3]), *static_cast<const int*>(arguments[4]),
      static_cast<cudaStream_t>(arguments[5]));
  return cudaGetLastError();
}
