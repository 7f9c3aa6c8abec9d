// SPDX-License-Identifier: Apache-2.0
// Does what candidates do: computes, with and without threads, and nothing else.

#include <cstdint>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

enum Mode : int { kScale, kAddresses, kThreads, kBusy, kOpenMp, kThrow };

namespace {

// Long enough to stand out from the overhead of a step.
void be_busy(int rounds) {
  volatile int sink = 0;
  for (int i = 0; i < rounds; ++i) sink = i;
}

}  // namespace

extern "C" void entry(const float* x, float* y, double* total, unsigned char* scratch, int n, int mode) {
  switch (mode) {
    case kScale:
      for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
      break;
    case kAddresses:
      y[0] = static_cast<float>(reinterpret_cast<std::uintptr_t>(x) % 4096);
      y[1] = static_cast<float>(reinterpret_cast<std::uintptr_t>(y) % 4096);
      y[2] = static_cast<float>(scratch[0]);
      break;
    case kThreads: {
      if (std::thread::hardware_concurrency() == 0) return;
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t)
        threads.emplace_back([=] {
          for (int i = t; i < n; i += 4) y[i] = 2 * x[i];
        });
      for (std::thread& thread : threads) thread.join();
      break;
    }
    case kBusy:
      be_busy(n);
      break;
    case kOpenMp:
#pragma omp parallel for proc_bind(spread)
      for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
      break;
    case kThrow:
      try {
        throw std::runtime_error(std::to_string(n));
      } catch (const std::runtime_error& error) {
        std::ostringstream text;
        text << error.what() << std::endl;
        std::cout << text.str();
        for (int i = 0; i < std::stoi(text.str()); ++i) y[i] = 2 * x[i];
      }
      break;
  }
  for (int i = 0; i < n; ++i) *total += x[i];
}

extern "C" void kagent_call(void* const* arguments) {
  entry(static_cast<const float*>(arguments[0]), static_cast<float*>(arguments[1]), static_cast<double*>(arguments[2]),
        static_cast<unsigned char*>(arguments[3]), *static_cast<const int*>(arguments[4]),
        *static_cast<const int*>(arguments[5]));
}
