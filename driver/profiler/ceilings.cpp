// SPDX-License-Identifier: Apache-2.0
#include "profiler/ceilings.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "util/files.h"

namespace kagent::profiler {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The best of several runs: a ceiling is what the machine can do, not what it does while others use it.
template <class Run>
double best_rate(double work, Run run) {
  constexpr int kRuns = 7;
  double best = 0;
  for (int i = 0; i < kRuns; ++i) {
    const auto start = Clock::now();
    run();
    best = std::max(best, work / seconds_since(start));
  }
  return best;
}

// Independent accumulators enough to hide the latency of a multiply-add (4 to 5 cycles) on two units.
constexpr int kAccumulators = 12;
constexpr long kSteps = 400'000;

typedef float Vector4 __attribute__((vector_size(16)));
typedef float Vector8 __attribute__((vector_size(32)));
typedef float Vector16 __attribute__((vector_size(64)));

template <class Vector>
__attribute__((always_inline)) inline float multiply_add() {
  Vector sums[kAccumulators];
  for (int i = 0; i < kAccumulators; ++i) sums[i] = Vector{} + static_cast<float>(i);
  Vector factor = Vector{} + 0.999F, addend = Vector{} + 0.001F;
  // Hidden from the compiler, which could otherwise compute the sums itself.
  asm volatile("" : "+m"(factor), "+m"(addend));
  for (long step = 0; step < kSteps; ++step)
    for (int i = 0; i < kAccumulators; ++i) sums[i] = sums[i] * factor + addend;
  float total = 0;
  for (int i = 0; i < kAccumulators; ++i) total += sums[i][0];
  return total;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) float multiply_add_512() {
  return multiply_add<Vector16>();
}
__attribute__((target("avx2,fma"))) float multiply_add_256() {
  return multiply_add<Vector8>();
}
#endif

double measure_flops() {
  volatile float sink = 0;
  auto rate = [&sink](int floats, float (*run)()) {
    return best_rate(2.0 * floats * kAccumulators * kSteps, [&] { sink = run(); });
  };
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return rate(16, multiply_add_512);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return rate(8, multiply_add_256);
#endif
  return rate(4, [] { return multiply_add<Vector4>(); });
}

double measure_bytes() {
  // Several times the last-level cache of a core's share; read and written bytes both count.
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  std::vector<char> from(kBytes, 1), to(kBytes, 2);
  return best_rate(2.0 * kBytes, [&] {
    std::memcpy(to.data(), from.data(), kBytes);
    asm volatile("" : : "r"(to.data()) : "memory");
  });
}

struct Rate {
  const char* name;
  double Ceilings::*value;
};
constexpr Rate kRates[]{{"flops_per_s", &Ceilings::flops_per_s},
                        {"bytes_per_s", &Ceilings::bytes_per_s},
                        {"half_flops_per_s", &Ceilings::half_flops_per_s},
                        {"tensor_flops_per_s", &Ceilings::tensor_flops_per_s},
                        {"launch_s", &Ceilings::launch_s}};

bool are_usable(const Ceilings& ceilings) {
  return ceilings.flops_per_s > 0 && ceilings.bytes_per_s > 0;
}

struct Known {
  Ceilings ceilings;
  bool is_complete = true;  // a version that did not know a rate may have written the file
};

Known read_ceilings(const nlohmann::json& from) {
  Known known;
  for (const Rate& rate : kRates) {
    const auto found = from.find(rate.name);
    if (found != from.end() && found->is_number())
      known.ceilings.*rate.value = found->get<double>();
    else
      known.is_complete = false;
  }
  known.is_complete = known.is_complete && are_usable(known.ceilings);
  return known;
}

}  // namespace

Ceilings measure_ceilings() {
  return {.flops_per_s = measure_flops(), .bytes_per_s = measure_bytes()};
}

Ceilings cached_ceilings(const std::filesystem::path& file, const std::string& machine,
                         const std::function<Ceilings()>& measure) {
  auto text = util::read_file(file);
  auto root = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json::object();
  if (!root.is_object()) root = nlohmann::json::object();
  Known known{.ceilings = {}, .is_complete = false};
  if (const auto found = root.find(machine); found != root.end() && found->is_object()) known = read_ceilings(*found);
  if (known.is_complete) return known.ceilings;
  const Ceilings measured = measure();
  // What could not be measured now may be measured the next time.
  if (!are_usable(measured)) return known.ceilings;
  nlohmann::json rates;
  for (const Rate& rate : kRates) rates[rate.name] = measured.*rate.value;
  root[machine] = std::move(rates);
  (void)util::write_file_atomically(file, root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return measured;
}

}  // namespace kagent::profiler
