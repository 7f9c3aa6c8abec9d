// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "gate/gate_fixture.h"
#include "util/files.h"

namespace kagent::gate {
namespace {

void expect_accepted(const std::string& source, const std::string& parent = kParent) {
  EXPECT_EQ(in_words(inspect_source(source, parent)), "");
}

TEST(HonestKernel, may_use_intrinsics_and_remainder_loops) {
  expect_accepted(R"(#include <immintrin.h>
#include <cmath>
namespace ns {
void scale(const float* __restrict x, float* __restrict y, int n) {
  const __m256 two = _mm256_set1_ps(2.0f);
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    _mm_prefetch(reinterpret_cast<const char*>(x + i + 64), _MM_HINT_T0);
    _mm256_storeu_ps(y + i, _mm256_mul_ps(two, _mm256_loadu_ps(x + i)));
    _mm256_storeu_ps(y + i + 8, _mm256_mul_ps(two, _mm256_loadu_ps(x + i + 8)));
  }
  for (; i < n; ++i) y[i] = 2 * x[i];
}
}  // namespace ns
)");
}

TEST(HonestKernel, may_use_openmp_and_loop_pragmas) {
  expect_accepted(R"(#include <omp.h>
namespace ns {
void scale(const float* x, float* y, int n) {
  const int threads = omp_get_max_threads();
#pragma omp parallel for simd num_threads(threads) schedule(static) \
    if (n > 4096)
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
#pragma omp parallel
  {
    int thread = omp_get_thread_num();
    float time = 0.0f, signal = x[thread];
    time += signal;
#pragma GCC ivdep
#pragma GCC unroll 8
    for (int i = thread; i < n; i += threads) y[i] += 0 * time;
  }
}
}
)");
}

TEST(HonestKernel, may_use_containers_templates_lambdas_and_constant_tables) {
  expect_accepted(R"cpp(// don't read the environment here: it's "constant"; fopen() is not called
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

                        namespace {

                        constexpr int kBlock = 64;
                        static constexpr float kTable[] = {1.0f, 2.0f, 4.0f};
                        static const std::array<float, 2> kPair = {1, 2};
                        const float kScale = 2.0f, kOther = 1.0f;
                        constexpr auto kSquares = [] {
                          std::array<int, 16> t{};
                          for (int i = 0; i < 16; ++i) t[i] = i * i;
                          return t;
                        }();

                        typedef float Floats __attribute__((vector_size(32), aligned(4), may_alias));
                        using Word = std::uint64_t;
                        struct Block {
                          int begin, end;
                          float sums[4] = {};
                        };
                        struct alignas(64) Line {
                          float values[16];
                        };
                        enum class Mode : int { fast, slow };
                        enum { kWidth = 8 };
                        union Bits {
                          float f;
                          std::uint32_t u;
                        };

                        template <class T, int kUnroll = 4>
                        struct Loader {
                          static inline T load(const T* p) { return *p; }
                          static constexpr int width = kUnroll;
                          T last{};
                          T read() const { return last; }
                        };

                        template <int N>
                        [[gnu::always_inline]] inline float dot(const float* __restrict__ a,
                                                                const float* __restrict__ b);
                        template <int N>
                        inline float dot(const float* __restrict__ a, const float* __restrict__ b) {
                          float sum = 0;
                          for (int i = 0; i < N; ++i) sum += a[i] * b[i];
                          return sum;
                        }

                        static float horizontal(const Floats& v);
                        static float horizontal(const Floats& v) {
                          return v[0] + v[1];
                        }
                        __attribute__((noinline, cold)) void slow_path(const float* x, float* y, int n) noexcept;

#define LOAD(i) (*reinterpret_cast<const Floats*>(x + (i)))
#define REPEAT4(m) m m m m
#define KERNEL static inline __attribute__((always_inline))

                        KERNEL float half(float a) {
                          return a * 0.5f;
                        }

                        }  // namespace

                        namespace ns {

                        void scale(const float* __restrict x, float* __restrict y, int n) {
                          if (__builtin_expect(n <= 0, 0)) return;
                          const float* aligned = static_cast<const float*>(__builtin_assume_aligned(x, 4));
                          std::vector<float> copy(aligned, aligned + n);
                          std::vector<std::vector<int>> nested;
                          alignas(64) float packed[kBlock] = {};
                          static constexpr int kShift[4] = {0, 1, 2, 3};
                          const auto body = [&](int i) { y[i] = kScale * copy[static_cast<std::size_t>(i)] + packed[0] * kShift[0]; };
                          for (int i = 0; i < n; ++i) body(i);
                          Loader<float, 8> loader;
                          y[0] += 0 * (loader.read() + horizontal(Floats{}) + half(0) + dot<1>(x, x) * kOther);
                          int a[4] = {}, b[2] = {0, 1};
                          y[0] += static_cast<float>(a[b[0]]) * 1e-30f;
                          if (n > 1'000'000'000) __builtin_unreachable();
                          std::fill_n(packed, 4, 0.0f);
                        }

                        }  // namespace ns
  )cpp");
}

TEST(HonestKernel, may_have_any_layout) {
  expect_accepted(
      "#include <vector>\r\n\r\nnamespace ns {\r\n\tvoid\r\nscale(const float *x,\r\n  float *y, int n)\r\n{ for(int "
      "i=0;i<n;++i) y[i]=2*x[i]; }\r\n}\r\n");
  expect_accepted("/* π ≈ 3.14159, why?? */ " + candidate("// ünïcödé"));
}

TEST(HonestKernel, may_be_the_parent_itself_whatever_it_does) {
  const std::string parent =
      "#include <cstdio>\n#include \"/abs/x.h\"\nstatic int calls; void scale() { ++calls; std::printf(\"x\"); }\n";
  expect_accepted(parent, parent);
}

TEST(HonestKernel, may_keep_what_the_parent_does) {
  const std::string parent =
      "#include \"tile.h\"\n#include <chrono>\nextern \"C\" int helper(int);\nnamespace ns { static int calls = 0;\n"
      "__attribute__((target(\"avx2\"))) void scale(const float* x, float* y, int n) { ++calls; asm volatile(\"\" ::: "
      "\"memory\"); } }\n"
      "#define CAT(a, b) a##b\n";
  expect_accepted(parent + "inline int more() { return 1; }\n", parent);
  EXPECT_EQ(rules_of(inspect_source(parent + "static int more;\n", parent)), std::vector<std::string>{"static-state"});
  EXPECT_EQ(rules_of(inspect_source(parent + "inline void f() { asm(\"nop\"); }\n", parent)),
            std::vector<std::string>{"inline-assembly"});
}

TEST(HonestKernel, may_be_any_of_this_projects_own) {
  for (const std::string name : {"softmax", "matmul", "histogram"}) {
    const auto source = util::read_file(std::string(KAGENT_KERNELS) + "/" + name + ".cpp");
    ASSERT_TRUE(source) << source.error().message;
    expect_accepted(*source, "#include \"" + name + ".h\"\n");
  }
}

}  // namespace
}  // namespace kagent::gate
