// SPDX-License-Identifier: Apache-2.0
#include "loop/contents.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "spec/spec.h"

namespace kagent::loop {
namespace {

// Generating so many bytes takes about a millisecond; moving them a hundredth of that.
constexpr std::int64_t kSmallBytes = 128 * 1024;

// From here on a tensor counts as very large.
constexpr std::size_t kLargeBytes = std::size_t{16} << 20;
constexpr std::size_t kPatches = 8;  // of a 64th of the tensor each

}  // namespace

FreshContents::FreshContents(const KernelSpec& spec, const Case& timed, std::uint64_t seed)
    : spec_(&spec), timed_(&timed), random_(seed) {}

Result<FreshContents> FreshContents::make(const KernelSpec& spec, const Case& timed, std::uint64_t seed) {
  FreshContents contents(spec, timed, seed);
  auto first = spec::generate_inputs(spec, timed, contents.random_());
  if (!first) return std::unexpected(first.error());
  contents.scalars_ = first->scalars;
  if (input_bytes(*first) <= kSmallBytes) return contents;
  auto second = spec::generate_inputs(spec, timed, contents.random_());
  if (!second) return std::unexpected(second.error());
  contents.current_ = {first->label, first->sizes, first->scalars, {}};
  // What changes in place, or not at all, is not taken from the pool any more.
  for (auto& [name, tensor] : first->tensors) {
    const bool stays = timed.inputs.contains(name) || contents.is_large(name, tensor);
    if (stays) contents.revisions_.follow(name);
    contents.current_.tensors.emplace(name, stays ? std::move(tensor) : tensor);
  }
  contents.pool_.push_back(std::move(*first));
  contents.pool_.push_back(std::move(*second));
  return contents;
}

// Rows of a one-hot tensor cannot be cut, wherever they are long.
bool FreshContents::is_large(const std::string& name, const Tensor& tensor) const {
  const auto recipe = spec_->inputs.find(name);
  const bool one_hot = recipe != spec_->inputs.end() && recipe->second.distribution == Distribution::one_hot;
  return tensor.bytes.size() >= kLargeBytes && !one_hot && !timed_->inputs.contains(name);
}

Result<const CallInputs*> FreshContents::next() {
  if (pool_.empty()) {
    auto inputs = spec::generate_inputs(*spec_, *timed_, random_());
    if (!inputs) return std::unexpected(inputs.error());
    current_ = std::move(*inputs);
    current_.scalars = scalars_;
    return &current_;
  }
  revisions_.begin();
  for (auto& [name, tensor] : current_.tensors) {
    if (timed_->inputs.contains(name)) continue;
    if (is_large(name, tensor)) {
      patch(name, tensor, pool_[1].tensors.at(name));
      continue;
    }
    const std::size_t base = random_() % 2;
    tensor = pool_[base].tensors.at(name);
    const auto recipe = spec_->inputs.find(name);
    mix(tensor, pool_[1 - base].tensors.at(name),
        recipe == spec_->inputs.end() ? Distribution::normal : recipe->second.distribution);
  }
  return &current_;
}

void FreshContents::mix(Tensor& tensor, const Tensor& other, Distribution distribution) {
  const std::size_t element = size_bytes(tensor.dtype);
  const auto count = static_cast<std::size_t>(tensor.element_count());
  if (count < 2) return;
  const auto last = static_cast<std::size_t>(tensor.shape.empty() ? 1 : tensor.shape.back());
  const std::size_t row = last < count ? last : 1;  // a single row is moved by elements
  const std::size_t rows = count / row, row_bytes = row * element;
  auto pick = [this](std::size_t below) { return static_cast<std::size_t>(random_() % below); };
  auto at = [row_bytes](auto begin, std::size_t index) {
    return begin + static_cast<std::ptrdiff_t>(index * row_bytes);
  };
  std::rotate(tensor.bytes.begin(), at(tensor.bytes.begin(), pick(rows)), tensor.bytes.end());
  // Two pieces of a single one-hot row could hold no one, or two.
  if (distribution == Distribution::one_hot && row == 1) return;
  const std::size_t length = 1 + pick(std::max<std::size_t>(rows / 2, 1));
  const std::size_t from = pick(rows - length + 1), to = pick(rows - length + 1);
  std::copy(at(other.bytes.begin(), from), at(other.bytes.begin(), from + length), at(tensor.bytes.begin(), to));
}

// Pieces of `other` at secret places, whole rows where there are many.
void FreshContents::patch(const std::string& name, Tensor& tensor, const Tensor& other) {
  const std::size_t element = size_bytes(tensor.dtype);
  const std::size_t count = tensor.bytes.size() / element;
  const auto last = static_cast<std::size_t>(tensor.shape.empty() ? 1 : tensor.shape.back());
  const std::size_t row = last * kPatches * kPatches <= count ? last : 1;
  const std::size_t rows = count / row, length = std::max<std::size_t>(rows / (kPatches * kPatches), 1);
  for (std::size_t i = 0; i < kPatches; ++i) {
    const std::size_t from = random_() % (rows - length + 1), to = random_() % (rows - length + 1);
    std::memcpy(tensor.bytes.data() + to * row * element, other.bytes.data() + from * row * element,
                length * row * element);
    revisions_.note(name, {to * row * element, length * row * element});
  }
}

std::int64_t input_bytes(const CallInputs& inputs) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : inputs.tensors) bytes += static_cast<std::int64_t>(tensor.bytes.size());
  return bytes;
}

Result<std::int64_t> buffer_bytes(const KernelSpec& spec, const Case& timed) {
  std::int64_t bytes = 0;
  for (const Parameter& parameter : spec.parameters) {
    if (!parameter.is_buffer()) continue;
    auto shape = spec::extents(parameter, timed.sizes);
    if (!shape) return std::unexpected(shape.error());
    bytes += Tensor{parameter.dtype, std::move(*shape), {}}.element_count() *
             static_cast<std::int64_t>(size_bytes(parameter.dtype));
  }
  return bytes;
}

}  // namespace kagent::loop
