// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runner/block_layout.h"
#include "runner/runner.h"
#include "runner/runner_process.h"
#include "values/candidate.h"
#include "values/launch.h"

namespace kagent::runner {

// How sessions of different programs differ.
struct SessionKind {
  BlockRules blocks = {};
  // Style kernel: the geometry of each call, over its sizes and these tunables.
  std::optional<Launch> launch = {};
  TunableValues tunables = {};
  // What to attach to the samples of a GPU.
  std::function<std::optional<DeviceState>()> device_state = {};
  bool counts = false;      // its runtime reads hardware counters, and traces
  bool is_counted = false;  // the processor's counters are read on it, from here
  // Inputs stay as they were sent: when a slot is refilled, what changed since is enough.
  bool keeps_inputs = false;
  // Who takes the process back once the session is over; else it ends with it.
  std::function<void(RunnerProcess)> give_back = {};
  bool gives_back_ended = false;  // even if it has ended
};

// What the driver knows of a process that runs one entry: its parameters, and what lies in its slots.
class ProcessSession final : public Session {
 public:
  ProcessSession(RunnerProcess process, std::vector<Parameter> parameters, std::uint64_t sentinel_seed,
                 SessionKind kind = {});
  ProcessSession(const ProcessSession&) = delete;
  ~ProcessSession() override;

  Result<RunResult> prepare(int slot, const CallInputs& inputs, const CallLayout& layout) override;
  Result<RunResult> refill(int slot, const CallInputs& inputs, std::uint8_t poison,
                           const Revisions* revisions) override;
  Result<RunResult> call(int slot) override;
  Result<RunResult> sample(const SamplePlan& plan) override;
  Result<std::vector<BufferImage>> read(int slot) override { return read_images(slot, true); }
  Result<std::vector<BufferImage>> read_written(int slot) override { return read_images(slot, false); }
  Result<Counters> count(int slot, const std::vector<std::string>& metrics) override;
  Result<KernelTrace> trace(int slot) override;
  Result<RunResult> release(int slot) override;

 private:
  struct Fingerprint {
    std::uint64_t nonce = 0, value = 0;
  };
  struct Slot {
    std::vector<protocol::Block> blocks;
    Sizes sizes;
    std::optional<Fingerprint> written;  // by the last call, and nothing was changed by us since
    std::optional<Revisions::Held> holds;
  };
  // Bytes that go into a buffer's data, or come out of its mapping.
  template <class Byte>
  struct Part {
    std::uint32_t parameter;
    std::uint64_t offset;
    std::span<Byte> bytes;
  };
  Result<Slot*> find(int slot);
  Result<std::vector<BufferImage>> read_images(int slot, bool inputs);
  bool is_looked_at(const Parameter& parameter, const protocol::Block& block, bool inputs) const;
  std::vector<Part<const std::byte>> contents_of(const CallInputs& inputs) const;
  std::vector<Part<const std::byte>> changed_parts(const std::vector<Part<const std::byte>>& parts,
                                                   const Revisions& revisions, const Revisions::Held& held) const;
  template <class Byte>
  Result<RunResult> transfer(int slot, std::vector<Part<Byte>> parts, protocol::Request request);
  Result<RunResult> store(int slot, const CallInputs& inputs, std::optional<std::uint8_t> poison,
                          const Revisions* revisions);
  // Has a look taken at calls of the slot, which is told as a text; for what that takes see RunnerProcess::ask().
  Result<RunnerProcess::Answer> look(int slot, protocol::Operation operation, std::uint64_t touched_bytes);
  std::string_view told();
  Result<Counters> count_from_outside(int slot, const std::vector<std::string>& metrics);
  // The sample, and what the runtime said of it; nothing but the result is to be used where its outcome is not ok.
  Result<RunnerProcess::Answer> take(const SamplePlan& plan);
  Result<RunResult> lay_out(int slot, std::uint8_t poison);
  Result<RunResult> set_geometry(int slot);
  std::uint64_t fingerprint(const Slot& slot, const std::vector<BufferImage>& images) const;
  std::uint64_t mapped() const;

  std::optional<RunnerProcess> process_;
  std::vector<Parameter> parameters_;
  std::uint64_t sentinel_seed_;
  SessionKind kind_;
  std::array<std::optional<Slot>, protocol::kSlots> slots_;
};

}  // namespace kagent::runner
