// SPDX-License-Identifier: Apache-2.0
// One kernel, y = 4 x by ROUNDS additions of x over and over, and ways to look faster than it is. Each cheat behaves
// for the first kHonestCalls calls, as one does that wants to be verified first.

#include <cstring>
#include <map>
#include <vector>

namespace {

constexpr int kHonestCalls = 3;

[[gnu::noinline]] void compute(const float* x, float* y, int n, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < n; ++i) {
      volatile float sum = x[i] + x[i];
      y[i] = sum + sum;
    }
}

[[maybe_unused]] int calls = 0;

void timed(const float* x, float* y, int n) {
#if defined(HONEST)
  compute(x, y, n, ROUNDS);
#elif defined(REMEMBERS_ADDRESSES)
  // Answers by the address of the output, as a captured graph that is replayed.
  static std::map<float*, std::vector<float>> remembered;
  auto& known = remembered[y];
  if (known.empty() || calls++ < kHonestCalls) {
    compute(x, y, n, 3);
    known.assign(y, y + n);
  }
  std::memcpy(y, known.data(), known.size() * sizeof(float));
#elif defined(REMEMBERS_A_SAMPLE)
  // Answers by a few elements of the input that it takes for a fingerprint.
  static std::map<float, std::vector<float>> remembered;
  auto& known = remembered[static_cast<float>(static_cast<int>(x[n / 2]))];
  if (known.empty() || calls++ < kHonestCalls) {
    compute(x, y, n, 3);
    known.assign(y, y + n);
  }
  std::memcpy(y, known.data(), known.size() * sizeof(float));
#elif defined(STOPS_WRITING)
  if (calls++ < kHonestCalls) compute(x, y, n, 3);
#elif defined(SKIPS_HALF)
  if (calls++ < kHonestCalls)
    compute(x, y, n, 3);
  else
    compute(x, y, n / 2, 3);
#elif defined(LOSES_PRECISION)
  if (calls++ < kHonestCalls) return compute(x, y, n, 3);
  for (int i = 0; i < n; ++i) {
    unsigned bits;
    std::memcpy(&bits, &x[i], sizeof bits);
    bits &= 0xFFFF0000U;
    float rounded;
    std::memcpy(&rounded, &bits, sizeof rounded);
    y[i] = 4 * rounded;
  }
#elif defined(OVERWRITES_ITS_INPUT)
  compute(x, y, n, 3);
  if (calls++ >= kHonestCalls) const_cast<float*>(x)[n - 1] = 0;
#elif defined(DIES)
  compute(x, y, n, 3);
  if (calls++ >= kHonestCalls) __builtin_trap();
#endif
}

}  // namespace

extern "C" void kagent_call(void* const* pointers) {
  timed(static_cast<const float*>(pointers[0]), static_cast<float*>(pointers[1]),
        *static_cast<const int*>(pointers[2]));
}
