// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runner/revisions.h"
#include "util/sandbox.h"
#include "values/binary.h"
#include "values/case_data.h"
#include "values/kernel_spec.h"
#include "values/kernel_trace.h"
#include "values/run_result.h"

namespace kagent::runner {

// Where a buffer lies in its block of whole pages, which has sentinels on both sides.
enum class Placement {
  aligned,       // starts at a multiple of 64 bytes, plus `offset_elements`
  end_of_block,  // ends where an inaccessible page starts (rounded down to the parameter's alignment)
};

struct CallLayout {
  Placement placement = Placement::aligned;
  int offset_elements = 0;               // shifts every buffer by so many elements (kept to a declared alignment)
  std::uint8_t poison = 0xA5;            // fills outputs and workspaces before the call
  const Revisions* revisions = nullptr;  // of the inputs, where their source tells what it changes
};

struct SamplePlan {
  std::vector<int> slots;      // the prepared slots that the calls go round, in this order
  int repetitions = 1;         // calls in the sample
  bool cold = true;            // sweep the caches before each call (outside the clock) or not at all
  std::uint8_t poison = 0x5A;  // outputs are poisoned before the sample
  // On a GPU, with warm caches: the calls are captured into one graph, which takes the time between launches out of
  // the sample. Code that cannot be captured is launched call by call; RunResult::by_graph says which it was.
  bool graph = false;
};

struct RunnerLimits {
  std::chrono::milliseconds start{10'000};
  std::chrono::milliseconds step{10'000};               // one call, or one sample
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // beyond the buffers that kagent itself asks for
  std::vector<int> cpus;                                // where the candidate runs; empty: anywhere
  bool allow_unsandboxed = false;
  // For Session::count() and trace(). Of device code: in the sandbox the process may do what the profiler needs, such
  // as removing files of its own; what it may never do is refused as ever. What runs so is looked at, not judged.
  bool reads_counters = false;
};

struct Counters {
  RunResult result;                                    // of the call
  std::vector<std::map<std::string, double>> kernels;  // in the order of launching
  std::string problem;
};

// One live, isolated process that holds one binary. Every step has its time limit; after an outcome other than ok the
// process is dead and later steps answer launch_failed. A StageError means that the machine failed, not the candidate.
class Session {
 public:
  virtual ~Session() = default;

  // Lays out the arguments of one call under the number `slot` (0..63), replacing what was there: buffers are
  // allocated, inputs copied in, outputs and workspaces poisoned.
  virtual Result<RunResult> prepare(int slot, const CallInputs& inputs, const CallLayout& layout) = 0;
  // New contents of the same shapes at the same addresses; inout restored, outputs poisoned again. `revisions` as in
  // CallLayout.
  virtual Result<RunResult> refill(int slot, const CallInputs& inputs, std::uint8_t poison,
                                   const Revisions* revisions) = 0;
  // One call; inout buffers are NOT restored by it.
  virtual Result<RunResult> call(int slot) = 0;
  // `repetitions` calls, inout buffers restored before each (outside the clock). child_time is the sum over the calls.
  virtual Result<RunResult> sample(const SamplePlan& plan) = 0;
  // The buffers (inputs too, to see whether they were changed) as they are now; of large workspaces only whether
  // their guards are intact. Empty if the process died, or was ended
  // because what the slot's last call left has changed since it returned: ask with a step to learn how.
  virtual Result<std::vector<BufferImage>> read(int slot) = 0;
  // The same without the contents of inputs, which may be most of the memory: their images have a shape and no bytes.
  virtual Result<std::vector<BufferImage>> read_written(int slot) { return read(slot); }
  // Hardware counters of one call: of device code under CUPTI's names, of each kernel that it launches; of host code
  // under ProcessorCounters' names, of the whole call as if it were one kernel. Where they cannot be read `problem`
  // says why; counters are for diagnosis, and never decide.
  virtual Result<Counters> count(int slot, const std::vector<std::string>& metrics);
  // What device code does during one call with swept caches, inout buffers restored before it. Needs no permission for
  // counters. Where it cannot be seen, or the call fails, the trace's `problem` says why. In a process in which nothing
  // is counted: a profiler that failed is not to be asked for anything else.
  virtual Result<KernelTrace> trace(int slot);
  // Gives the slot's memory back.
  virtual Result<RunResult> release(int slot) = 0;
};

class Runner {
 public:
  virtual ~Runner() = default;
  // Parameters in the entry's order, with the dtypes that the binary has (all-double for a reference).
  // A process that cannot even start its code answers the first step with its outcome.
  virtual Result<std::unique_ptr<Session>> start(const Binary& binary, const std::vector<Parameter>& parameters,
                                                 const RunnerLimits& limits) = 0;
};

// Runs host code: a process for each session, in the sandbox where there is one. Safe to call from several threads.
std::unique_ptr<Runner> make_host_runner(const util::SandboxState& sandbox = util::sandbox_state());

}  // namespace kagent::runner
