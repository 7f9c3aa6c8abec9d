// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runner/runner.h"

namespace kagent::loop {

// y = 2 x over n floats, timed.
inline KernelSpec doubling_spec(std::int64_t n = 64) {
  KernelSpec spec;
  spec.kernel = "doubling";
  spec.entry = "doubling";
  const Expression extent = Expression::parse("n").value();
  spec.parameters = {{"x", ParameterKind::input, DType::float32, {extent}, 0},
                     {"y", ParameterKind::output, DType::float32, {extent}, 0},
                     {"n", ParameterKind::size, DType::int64, {}, 0}};
  Case timed;
  timed.name = "training";
  timed.sizes = {{"n", n}};
  timed.timed = true;
  spec.cases = {timed};
  spec.tolerance["y"].rtol = 1.3e-6;
  return spec;
}

// How a program of the fake runner behaves. Binary::executable is its name.
struct FakeProgram {
  double call_ns = 1e6;
  double noise = 0.001;      // sigma of the logarithm of a call's time
  double clock_factor = 1;   // what its own clock shows over what passes
  double sweep_ns = 0;       // what sweeping the caches takes, a call
  int fails_at_sample = -1;  // of its first process that gets so far
  Outcome failure = Outcome::crashed;
  bool remembers_by_slot = false;                // writes what was right when the slot was first used
  std::optional<DeviceState> device_state = {};  // of each sample
};

// No process, no clock: says how long each step took by the programs' own account, which makes tests of the protocol
// exact. Real processes are in the benchmark and in the runner's own tests.
class FakeRunner : public runner::Runner {
 public:
  std::map<std::string, FakeProgram> programs;
  std::vector<std::string> started;            // names, in order
  std::vector<std::string> sampled;            // names, in order
  std::vector<std::vector<int>> cpus;          // of each process
  std::multiset<std::vector<std::byte>> seen;  // contents that any sample of the candidate was taken on
  std::mt19937_64 random{1};

  static Binary binary(const std::string& name) { return {name, name, "entry"}; }

  Result<std::unique_ptr<runner::Session>> start(const Binary& binary, const std::vector<Parameter>& parameters,
                                                 const runner::RunnerLimits& limits) override;
};

class FakeSession : public runner::Session {
 public:
  FakeSession(FakeRunner& owner, std::string name, std::vector<Parameter> parameters)
      : owner_(owner), name_(std::move(name)), parameters_(std::move(parameters)) {}

  Result<RunResult> prepare(int slot, const CallInputs& inputs, const runner::CallLayout& layout) override {
    slots_[slot] = {inputs, {}, {}};
    return refill(slot, inputs, layout.poison, layout.revisions);
  }
  Result<RunResult> refill(int slot, const CallInputs& inputs, std::uint8_t poison, const runner::Revisions*) override {
    if (!slots_.contains(slot)) return failure("slot was not prepared");
    slots_[slot].inputs = inputs;
    slots_[slot].y = make_tensor(DType::float32, inputs.tensors.at("x").shape);
    std::fill(slots_[slot].y.bytes.begin(), slots_[slot].y.bytes.end(), std::byte{poison});
    return RunResult{};
  }
  Result<RunResult> call(int) override { return ended(); }
  Result<RunResult> sample(const runner::SamplePlan& plan) override;
  Result<std::vector<BufferImage>> read(int slot) override {
    if (dead_) return std::vector<BufferImage>{};
    const Slot& at = slots_.at(slot);
    return std::vector<BufferImage>{{"x", at.inputs.tensors.at("x"), true, 0}, {"y", at.y, true, 0}};
  }
  Result<std::vector<BufferImage>> read_written(int slot) override {
    auto images = read(slot);
    if (images && !images->empty()) images->front().contents.bytes.clear();
    return images;
  }
  Result<RunResult> release(int slot) override {
    slots_.erase(slot);
    return RunResult{};
  }

 private:
  struct Slot {
    CallInputs inputs;
    Tensor y, remembered;
  };

  RunResult ended() const {
    RunResult result;
    if (dead_) result.outcome = Outcome::launch_failed, result.detail = "the process is gone";
    return result;
  }

  FakeRunner& owner_;
  std::string name_;
  std::vector<Parameter> parameters_;
  std::map<int, Slot> slots_;
  int samples_ = 0;
  bool dead_ = false;
};

inline Result<std::unique_ptr<runner::Session>> FakeRunner::start(const Binary& binary,
                                                                  const std::vector<Parameter>& parameters,
                                                                  const runner::RunnerLimits& limits) {
  const std::string name = binary.executable.string();
  if (!programs.contains(name)) return failure("no program " + name);
  started.push_back(name);
  cpus.push_back(limits.cpus);
  return std::make_unique<FakeSession>(*this, name, parameters);
}

inline Result<RunResult> FakeSession::sample(const runner::SamplePlan& plan) {
  if (dead_) return ended();
  const FakeProgram& program = owner_.programs.at(name_);
  owner_.sampled.push_back(name_);
  RunResult result;
  if (samples_++ == program.fails_at_sample) {
    dead_ = true;
    result.outcome = program.failure;
    result.detail = "SIGSEGV";
    return result;
  }
  double ns = 0, sweeps = 0;
  for (int i = 0; i < plan.repetitions; ++i) {
    Slot& slot = slots_.at(plan.slots[static_cast<std::size_t>(i) % plan.slots.size()]);
    const Tensor& x = slot.inputs.tensors.at("x");
    owner_.seen.insert(x.bytes);
    if (!program.remembers_by_slot || slot.remembered.bytes.empty()) {
      for (std::int64_t j = 0; j < x.element_count(); ++j) slot.y.set(j, 2 * x.at(j));
      slot.remembered = slot.y;
    } else {
      slot.y = slot.remembered;
    }
    ns += program.call_ns * std::exp(std::normal_distribution<double>(0, program.noise)(owner_.random));
    if (plan.cold) sweeps += program.sweep_ns;
  }
  result.child_time = std::chrono::nanoseconds(std::llround(ns * program.clock_factor));
  result.driver_time = std::chrono::nanoseconds(std::llround(ns + sweeps + 5'000));
  result.device_state = program.device_state;
  return result;
}

}  // namespace kagent::loop
