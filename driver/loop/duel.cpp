// SPDX-License-Identifier: Apache-2.0
#include "loop/duel.h"

#include <algorithm>
#include <numeric>

#include "verifier/verifier.h"

namespace kagent::loop {
namespace {

using Clock = std::chrono::steady_clock;

// Comparing so many elements takes some ten milliseconds: larger outputs are compared more rarely.
constexpr double kCheapElements = 500'000;
constexpr double kLeastVerifyShare = 0.1, kMostVerifyShare = 0.5;

std::int64_t written_elements(const KernelSpec& spec, const std::vector<BufferImage>& images) {
  std::int64_t count = 0;
  for (const BufferImage& image : images)
    if (const Parameter* parameter = spec.find_parameter(image.parameter); parameter && parameter->is_written())
      count += image.contents.element_count();
  return count;
}

}  // namespace

Sampled<DuelSamples> Duel::run(const DuelLength& length) {
  inputs_too_ = length.inputs_too;
  if (auto done = prepare(); !done) return std::unexpected(done.error());
  if (auto done = warm_up(length.warm_up); !done) return std::unexpected(done.error());
  DuelSamples samples;
  const auto start = Clock::now();
  for (int count = 1; count <= length.most; ++count) {
    if (interrupted_ && interrupted_()) return std::unexpected(Stop::interruption());
    const bool last = count == length.most || (count >= length.least && Clock::now() - start >= length.time);
    if (auto done = block(samples, last && !verified_); !done) return std::unexpected(done.error());
    if (last) break;
  }
  if (auto done = release(); !done) return std::unexpected(done.error());
  return samples;
}

Sampled<RunResult> Duel::of_candidate(Result<RunResult> step) const {
  if (!step) return std::unexpected(Stop::machine(step.error()));
  if (step->outcome != Outcome::ok)
    return std::unexpected(Stop::candidate(step->outcome, plan_.timed->name + ": " + step->detail));
  if (is_impossible(*step))
    return std::unexpected(Stop::candidate(
        Outcome::policy_violation, plan_.timed->name + ": the clock in its process ran longer than the driver waited"));
  return std::move(*step);
}

Sampled<void> Duel::prepare() {
  for (int slot = 0; slot < plan_.slots; ++slot) {
    auto inputs = contents_.next();
    if (!inputs) return std::unexpected(Stop::machine(inputs.error()));
    const runner::CallLayout layout{.placement = runner::Placement::aligned,
                                    .offset_elements = 0,
                                    .poison = poison(),
                                    .revisions = &contents_.revisions()};
    if (auto step = of_incumbent(incumbent_.prepare(slot, **inputs, layout), plan_.timed->name); !step)
      return std::unexpected(step.error());
    if (auto step = of_candidate(candidate_.prepare(slot, **inputs, layout)); !step)
      return std::unexpected(step.error());
  }
  return {};
}

Sampled<void> Duel::warm_up(std::chrono::milliseconds time) {
  runner::SamplePlan plan{.slots = std::vector<int>(static_cast<std::size_t>(plan_.repetitions)),
                          .repetitions = plan_.repetitions,
                          .cold = plan_.cold,
                          .poison = poison(),
                          .graph = plan_.graph};
  std::iota(plan.slots.begin(), plan.slots.end(), 0);
  const auto end = Clock::now() + 2 * time;
  do {
    if (interrupted_ && interrupted_()) return std::unexpected(Stop::interruption());
    for (const bool candidate : {false, true})
      if (auto step = sample(candidate, plan); !step) return std::unexpected(step.error());
  } while (Clock::now() < end);
  return {};
}

Sampled<void> Duel::block(DuelSamples& samples, bool verify_for_certain) {
  const bool candidate_first = random_() % 2 == 0;
  const bool verify_second = random_() % 2 == 0;
  for (const bool second : {false, true}) {
    // Which calls are looked at is as secret as their contents.
    const bool by_chance = std::bernoulli_distribution(verify_share_)(random_);
    const bool looked_at = verify_second == second && (verify_for_certain || by_chance);
    auto filled = refill(looked_at);
    if (!filled) return std::unexpected(filled.error());
    if (auto done = half(filled->slots, candidate_first != second, samples); !done) return done;
    if (filled->looked_at)
      if (auto done = verify(*filled->looked_at); !done) return done;
  }
  return {};
}

Sampled<Duel::Filled> Duel::refill(bool look) {
  std::vector<int> slots(static_cast<std::size_t>(plan_.slots));
  std::iota(slots.begin(), slots.end(), 0);
  std::shuffle(slots.begin(), slots.end(), random_);
  slots.resize(static_cast<std::size_t>(plan_.repetitions));
  const std::size_t looked_at = random_() % slots.size();
  // Whose contents were written last finds more of them in the caches.
  const bool candidate_first = random_() % 2 == 0;
  Filled filled;
  CallInputs passed;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto inputs = contents_.next();
    if (!inputs) return std::unexpected(Stop::machine(inputs.error()));
    const std::uint8_t pattern = poison();
    const runner::Revisions* revisions = &contents_.revisions();
    for (const bool candidate : {candidate_first, !candidate_first}) {
      auto step = candidate
                      ? of_candidate(candidate_.refill(slots[i], **inputs, pattern, revisions))
                      : of_incumbent(incumbent_.refill(slots[i], **inputs, pattern, revisions), plan_.timed->name);
      if (!step) return std::unexpected(step.error());
    }
    const CallInputs* known = *inputs;
    if (slots.size() > 1) {
      // Of every call: a pause after one of them alone would tell which is looked at.
      (i == looked_at ? kept_ : passed) = copied(**inputs);
      known = &kept_;
    }
    if (look && i == looked_at) filled.looked_at = Looked{slots[i], known};
  }
  filled.slots = std::move(slots);
  return filled;
}

// What it takes to verify a call of them.
CallInputs Duel::copied(const CallInputs& inputs) const {
  if (inputs_too_) return inputs;
  return {inputs.label, inputs.sizes, inputs.scalars, {}};
}

Sampled<void> Duel::half(const std::vector<int>& slots, bool candidate_first, DuelSamples& samples) {
  const runner::SamplePlan plan{
      .slots = slots, .repetitions = plan_.repetitions, .cold = plan_.cold, .poison = poison(), .graph = plan_.graph};
  SampleTimes times;
  for (const bool candidate : {candidate_first, !candidate_first}) {
    auto step = sample(candidate, plan);
    if (!step) return std::unexpected(step.error());
    (candidate ? times.candidate_child : times.incumbent_child) = step->child_time;
    (candidate ? times.candidate_driver : times.incumbent_driver) = step->driver_time;
    if (step->device_state) samples.conditions.add(*step->device_state);
  }
  auto of_call = [this](std::chrono::nanoseconds time) {
    return static_cast<double>(time.count()) / plan_.repetitions;
  };
  samples.times.incumbent_ns.push_back(of_call(times.incumbent_child));
  samples.times.candidate_ns.push_back(of_call(times.candidate_child));
  samples.clocks.push_back(times);
  return {};
}

Sampled<RunResult> Duel::sample(bool candidate, const runner::SamplePlan& plan) {
  return candidate ? of_candidate(candidate_.sample(plan)) : of_incumbent(incumbent_.sample(plan), plan_.timed->name);
}

Sampled<void> Duel::verify(const Looked& looked) {
  auto incumbent = incumbent_.read_written(looked.slot);
  if (!incumbent) return std::unexpected(Stop::machine(incumbent.error()));
  auto candidate = inputs_too_ ? candidate_.read(looked.slot) : candidate_.read_written(looked.slot);
  if (!candidate) return std::unexpected(Stop::machine(candidate.error()));
  // A process that died between two steps has no images; the next step says how it ended.
  if (incumbent->empty())
    if (auto step = of_incumbent(incumbent_.call(looked.slot), plan_.timed->name); !step)
      return std::unexpected(step.error());
  if (candidate->empty())
    if (auto step = of_candidate(candidate_.call(looked.slot)); !step) return std::unexpected(step.error());
  const Verdict verdict = verifier::compare_programs(spec_, *looked.inputs, *candidate, *incumbent);
  if (verdict.outcome != Outcome::ok)
    return std::unexpected(Stop::candidate(verdict.outcome, "in a timed call: " + verdict.reason));
  verified_ = true;
  const auto elements = static_cast<double>(std::max<std::int64_t>(written_elements(spec_, *candidate), 1));
  verify_share_ = std::clamp(kCheapElements / elements, kLeastVerifyShare, kMostVerifyShare);
  return {};
}

Sampled<void> Duel::release() {
  for (int slot = 0; slot < plan_.slots; ++slot) {
    if (auto step = of_incumbent(incumbent_.release(slot), plan_.timed->name); !step)
      return std::unexpected(step.error());
    if (auto step = of_candidate(candidate_.release(slot)); !step) return std::unexpected(step.error());
  }
  return {};
}

// Never 0 or 0xFF, which outputs may well be full of.
std::uint8_t Duel::poison() {
  return static_cast<std::uint8_t>(1 + random_() % 254);
}

}  // namespace kagent::loop
