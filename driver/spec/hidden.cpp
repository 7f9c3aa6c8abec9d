// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "spec/random.h"
#include "spec/read_parts.h"
#include "spec/spec.h"

namespace kagent::spec {
namespace {

// Hidden cases run through a plain fp64 reference, so they stay small: about this many elements and operations.
constexpr std::int64_t kMaxElements = 1 << 18;
constexpr std::int64_t kMaxOperations = 100'000'000;
constexpr std::size_t kMaxCases = 18;
constexpr int kSecretCases = 4;
// How far from wanted sizes the search for ones that satisfy "requires" goes.
constexpr std::int64_t kNeighbourhood = 256;
// Edge inputs on fewer elements miss vector and tile borders.
constexpr std::int64_t kEdgeElements = 4096;

// Elements of all buffers; nothing if a shape cannot be computed under these sizes.
std::optional<std::int64_t> elements(const KernelSpec& spec, const Sizes& sizes) {
  std::int64_t total = 0;
  for (const Parameter& parameter : spec.parameters) {
    if (!parameter.is_buffer()) continue;
    const auto shape = extents(parameter, sizes);
    if (!shape || __builtin_add_overflow(total, Tensor{parameter.dtype, *shape, {}}.element_count(), &total))
      return std::nullopt;
  }
  return total;
}

class HiddenCases {
 public:
  HiddenCases(const KernelSpec& spec, std::uint64_t seed) : spec_(spec), stream_(seed, "", "hidden sizes") {
    // A size that no shape uses (an axis, a number of steps) has a meaning that only the spec's cases tell.
    for (const Parameter& parameter : spec.parameters)
      for (const Expression& extent : parameter.shape) varied_.insert(extent.names().begin(), extent.names().end());
    for (const Case& known : spec.cases) {
      seen_.insert(known.sizes);
      limit_ = std::max(limit_, elements(spec, known.sizes).value_or(0));
    }
    limit_ = std::min(limit_, kMaxElements);
  }

  std::vector<Case> make() {
    const std::optional<Case> found = small_base();
    if (!found || varied_.empty()) return {};
    const Case& base = *found;
    Sizes ones = base.sizes;
    for (const std::string& name : varied_) ones[name] = 1;
    add(base, ones);
    for (const std::string& name : varied_) {
      for (const auto& change : std::initializer_list<std::function<std::int64_t(std::int64_t)>>{
               [](std::int64_t) { return 1; }, [](std::int64_t n) { return n + 1; },
               [](std::int64_t n) { return n - 1; }, [](std::int64_t n) { return 2 * n; }}) {
        Sizes sizes = base.sizes;
        sizes[name] = change(sizes[name]);
        add(base, sizes);
      }
    }
    Sizes primes = base.sizes;
    for (const std::string& name : varied_) primes[name] = prime_near(primes[name]);
    add(base, primes);
    trim();
    add_secret(base);
    add_empty(base);
    return std::move(cases_);
  }

  // The sizes as wanted, or the nearest that satisfy everything.
  std::optional<Sizes> settle(const Sizes& wanted) const {
    if (allowed(wanted)) return wanted;
    for (std::int64_t distance = 1; distance <= kNeighbourhood; ++distance)
      for (const std::string& name : varied_)
        for (const std::int64_t change : {distance, -distance}) {
          Sizes sizes = wanted;
          sizes[name] += change;
          if (allowed(sizes)) return sizes;
        }
    for (const std::int64_t multiple : {2, 4, 8, 16, 32, 64, 128, 256}) {
      Sizes sizes = wanted, equal = wanted;
      const std::int64_t first = wanted.at(*varied_.begin());
      for (const std::string& name : varied_) {
        sizes[name] = (std::max<std::int64_t>(sizes[name], 1) + multiple - 1) / multiple * multiple;
        equal[name] = (std::max<std::int64_t>(first, 1) + multiple - 1) / multiple * multiple;
      }
      if (allowed(sizes)) return sizes;
      if (allowed(equal)) return equal;
    }
    return std::nullopt;
  }

  // The case with the most elements within the limits, or a smaller version of the smallest case.
  std::optional<Case> small_base() const {
    const Case* best = nullptr;
    const Case* smallest = nullptr;
    std::int64_t most = 0, least = INT64_MAX;
    for (const Case& known : spec_.cases) {
      const std::int64_t count = elements(spec_, known.sizes).value_or(0);
      if (count > most && allowed(known.sizes)) best = &known, most = count;
      if (count > 0 && count < least) smallest = &known, least = count;
    }
    if (best != nullptr) return *best;
    return smallest != nullptr ? shrunk(*smallest) : std::nullopt;
  }

  // Halves the largest size until everything is within the limits.
  std::optional<Case> shrunk(const Case& large) const {
    Sizes sizes = large.sizes;
    for (int step = 0; step < 64; ++step) {
      const auto largest = std::max_element(
          varied_.begin(), varied_.end(), [&sizes](const auto& a, const auto& b) { return sizes.at(a) < sizes.at(b); });
      if (largest == varied_.end() || sizes.at(*largest) < 2) break;
      sizes[*largest] /= 2;
      if (elements(spec_, sizes).value_or(INT64_MAX) > limit_) continue;
      if (const auto settled = settle(sizes)) return case_of(large, *settled, large.name);
    }
    return std::nullopt;
  }

 private:
  bool allowed(const Sizes& sizes) const {
    for (const Parameter& parameter : spec_.parameters) {
      if (parameter.kind != ParameterKind::size) continue;
      const std::int64_t value = sizes.at(parameter.name);
      if (value < 0 || static_cast<double>(value) > highest_value(parameter.dtype)) return false;
    }
    for (const Expression& requirement : spec_.requirements)
      if (evaluate(requirement, sizes).value_or(0) == 0) return false;
    if (elements(spec_, sizes).value_or(INT64_MAX) > limit_) return false;
    return !spec_.flops || evaluate(*spec_.flops, sizes).value_or(INT64_MAX) <= kMaxOperations;
  }

  static bool has_zero(const Sizes& sizes) {
    return std::any_of(sizes.begin(), sizes.end(), [](const auto& size) { return size.second == 0; });
  }

  void add(const Case& base, const Sizes& wanted) {
    const auto sizes = settle(wanted);
    if (!sizes || has_zero(*sizes) || !seen_.insert(*sizes).second) return;
    push(base, *sizes, base.name);
  }

  static Case case_of(const Case& base, const Sizes& sizes, const std::string& label) {
    std::string name = label.substr(0, label.find('[')) + "[";
    for (const auto& [size, value] : sizes)
      name += (name.back() == '[' ? "" : ",") + size + "=" + std::to_string(value);
    return {name + "]", sizes, base.scalars, {}, {}, false, 1.0};
  }

  void push(const Case& base, const Sizes& sizes, const std::string& label) {
    cases_.push_back(case_of(base, sizes, label));
  }

  // With many sizes there are many neighbours: a secret choice of them is kept.
  void trim() {
    while (cases_.size() > kMaxCases - kSecretCases - 2)
      cases_.erase(cases_.begin() + static_cast<std::ptrdiff_t>(stream_.below(next_++, cases_.size())));
  }

  void add_secret(const Case& base) {
    for (int tries = 0, made = 0; tries < 4 * kSecretCases && made < kSecretCases; ++tries) {
      Sizes sizes = base.sizes;
      for (const std::string& name : varied_)
        sizes[name] = 1 + static_cast<std::int64_t>(stream_.below(
                              next_++, static_cast<std::uint64_t>(std::max<std::int64_t>(sizes[name], 2)) * 3 / 2));
      const std::size_t before = cases_.size();
      add(base, sizes);
      made += cases_.size() > before ? 1 : 0;
    }
  }

  void add_empty(const Case& base) {
    int made = 0;
    for (const std::string& name : varied_) {
      Sizes sizes = base.sizes;
      sizes[name] = 0;
      if (made == 2 || !allowed(sizes) || !seen_.insert(sizes).second) continue;
      push(base, sizes, "empty");
      ++made;
    }
  }

  static std::int64_t prime_near(std::int64_t n) {
    const auto is_prime = [](std::int64_t p) {
      for (std::int64_t d = 2; d * d <= p; ++d)
        if (p % d == 0) return false;
      return p > 1;
    };
    std::int64_t p = std::clamp<std::int64_t>(n, 2, 65'521);
    while (!is_prime(p)) --p;
    return p;
  }

  const KernelSpec& spec_;
  RandomStream stream_;
  std::uint64_t next_ = 0;
  std::set<std::string> varied_;
  std::set<Sizes> seen_;
  std::int64_t limit_ = 0;
  std::vector<Case> cases_;
};

}  // namespace

std::vector<Case> hidden_cases(const KernelSpec& spec, std::uint64_t seed) {
  return HiddenCases(spec, seed).make();
}

std::optional<Case> edge_case(const KernelSpec& spec) {
  const HiddenCases hidden(spec, 0);
  const Case* best = nullptr;
  std::int64_t least = INT64_MAX;
  for (const Case& known : spec.cases) {
    const std::int64_t count = elements(spec, known.sizes).value_or(0);
    if (count >= kEdgeElements && count <= kMaxElements && count < least) best = &known, least = count;
  }
  return best != nullptr ? std::optional<Case>(*best) : hidden.small_base();
}

}  // namespace kagent::spec
