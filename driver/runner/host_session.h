// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/runner.h"
#include "runner/runner_process.h"

namespace kagent::runner {

// What the driver knows of a process that holds host code: the parameters of its entry, and what lies in its slots.
class HostSession final : public Session {
 public:
  HostSession(RunnerProcess process, std::vector<Parameter> parameters, std::uint64_t sentinel_seed);

  Result<RunResult> prepare(int slot, const CallInputs& inputs, const CallLayout& layout) override;
  Result<RunResult> refill(int slot, const CallInputs& inputs, std::uint8_t poison) override;
  Result<RunResult> call(int slot) override;
  Result<RunResult> sample(const SamplePlan& plan) override;
  Result<std::vector<BufferImage>> read(int slot) override;
  Result<RunResult> release(int slot) override;

 private:
  struct Fingerprint {
    std::uint64_t nonce = 0, value = 0;
  };
  struct Slot {
    std::vector<protocol::Block> blocks;
    Sizes sizes;
    std::optional<Fingerprint> written;  // by the last call, and nothing was changed by us since
  };
  // Bytes that go into a buffer's data, or come out of its mapping.
  template <class Byte>
  struct Part {
    std::uint32_t parameter;
    std::uint64_t offset;
    std::span<Byte> bytes;
  };
  Result<Slot*> find(int slot);
  std::vector<Part<const std::byte>> contents_of(const CallInputs& inputs) const;
  template <class Byte>
  Result<RunResult> transfer(int slot, std::vector<Part<Byte>> parts, protocol::Request request);
  Result<RunResult> store(int slot, const CallInputs& inputs, std::optional<std::uint8_t> poison);
  Result<RunResult> lay_out(int slot, std::uint8_t poison);
  std::uint64_t fingerprint(const Slot& slot, const std::vector<BufferImage>& images) const;
  std::uint64_t mapped() const;

  RunnerProcess process_;
  std::vector<Parameter> parameters_;
  std::uint64_t sentinel_seed_;
  std::array<std::optional<Slot>, protocol::kSlots> slots_;
};

}  // namespace kagent::runner
