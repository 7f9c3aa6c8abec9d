// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_runtime/calls.h"

#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/cuda_runtime/activity.h"
#include "runner/cuda_runtime/activity_record.h"
#include "runner/cuda_runtime/counters.h"
#include "runner/cuda_runtime/kernel_module.h"
#include "runner/runtime/system.h"
#include "runner/ticks.h"

// Made for each entry of launcher style: arguments[i] is the buffer's device address, the stream, or leads to the value
// of parameter i. Launches, and returns cudaGetLastError(). In kagent-cuda-runner it launches the module's kernel.
extern "C" int kagent_cuda_call(void* const* arguments);

namespace kagent::runner::cuda {

using protocol::Reply;
using protocol::ReplyKind;
using protocol::Request;

const Slot* current_slot = nullptr;

namespace {

// Longer than launching takes, even on a busy host; a call that waits for the device itself is held up so long.
constexpr std::uint64_t kBlockLimitNs = 5'000'000;
// A host may be interrupted for longer once or twice; a call that waits does it every time.
constexpr int kMostExpired = 3;
// Written, then read, so that no line of the call's own is left in the L2 cache, nor a dirty one of the sweep's.
constexpr std::uint64_t kSweepFactor = 2;
// The first calls under the profiler wait for what it sets up; the last is told.
constexpr int kTracedCalls = 3;
constexpr unsigned kSweepThreads = 256, kSweepBlocksPerMultiprocessor = 8;

CUdeviceptr sweep_memory = 0;
std::uint32_t ticket = 0;
int expired = 0;

std::uint64_t nanoseconds_now() {
  return monotonic_ticks();
}

// What the stream's events say between them.
std::uint64_t elapsed_ns() {
  float milliseconds = 0;
  check(api.cuEventElapsedTime(&milliseconds, context.begin, context.end), "cuEventElapsedTime");
  return milliseconds > 0 ? static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6) : 0;
}

bool prepare_sweep() {
  if (sweep_memory != 0) return true;
  const CUresult result = api.cuMemAlloc(&sweep_memory, kSweepFactor * context.l2_bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return false;
  check(result, "cuMemAlloc for the sweep of the L2 cache");
  context.free_at_start -= kSweepFactor * context.l2_bytes;
  return true;
}

void sweep_l2() {
  // Lines that a call asked to stay do not survive; devices without such lines refuse, which is as good.
  static_cast<void>(api.cuCtxResetPersistingL2Cache());
  const std::uint64_t bytes = kSweepFactor * context.l2_bytes;
  check(api.cuMemsetD8Async(sweep_memory, static_cast<std::uint8_t>(ticket), bytes, context.stream),
        "cuMemsetD8Async of the sweep");
  std::uint64_t count = bytes / 16;
  CUdeviceptr never = sweep_memory;
  void* arguments[] = {&sweep_memory, &count, &never};
  launch(context.sweep, kSweepBlocksPerMultiprocessor * static_cast<unsigned>(context.multiprocessors), kSweepThreads,
         arguments, "sweeping the L2 cache");
}

// Holds the stream until let_go().
void hold_stream() {
  ++ticket;
  if (expired >= kMostExpired) return;
  volatile std::uint32_t* released = context.released;
  volatile std::uint32_t* late = context.expired;
  std::uint64_t limit = kBlockLimitNs;
  void* arguments[] = {&released, &ticket, &limit, &late};
  launch(context.block, 1, 1, arguments, "launching the kernel that blocks the stream");
}

void let_go() {
  __atomic_store_n(context.released, ticket, __ATOMIC_SEQ_CST);
}

void note_expiry() {
  if (*context.expired == ticket) ++expired;
}

void enqueue_call(const Slot& slot) {
  current_slot = &slot;
  if (const int error = kagent_cuda_call(slot.pointers); error != 0) {
    let_go();
    fail(ReplyKind::device_error, error, "the launch");
  }
}

[[noreturn]] void report_late_output() {
  Reply reply{};
  reply.kind = ReplyKind::changed;
  reply.code = static_cast<std::int32_t>(protocol::Change::late_output);
  send(reply);
  leave(1);
}

// The end of the call's stream, then that of everything on the device. With a slot its fingerprint is taken at both.
void wait_for_device(const Slot* slot, std::uint64_t nonce, Reply& reply) {
  check(api.cuEventSynchronize(context.end), "the call");
  std::uint64_t at_end = 0;
  if (slot != nullptr) at_end = fingerprint_of_outputs(*slot, nonce);
  const std::uint64_t before = nanoseconds_now();
  check(api.cuCtxSynchronize(), "work that the call left on the device");
  const std::uint64_t late = nanoseconds_now() - before;
  if (late < reply.late_ns) reply.late_ns = late;
  if (slot == nullptr) return;
  reply.fingerprint = fingerprint_of_outputs(*slot, nonce);
  if (reply.fingerprint != at_end) report_late_output();
}

struct Turn {
  Slot* slots;
  const std::uint32_t* order;
  std::uint32_t count, repetitions;
  Slot& slot(std::uint32_t call) const { return slots[order[call % count]]; }
};

bool has_inouts(const Slot& slot) {
  for (std::uint32_t i = 0; i < slot.count; ++i)
    if (slot.arguments[i].pristine != 0) return true;
  return false;
}

// Whether every call finds what it needs although nothing is restored between them.
bool can_run_together(const Turn& turn) {
  for (std::uint32_t i = 0; i < turn.repetitions; ++i)
    for (std::uint32_t j = 0; j < i && has_inouts(turn.slot(i)); ++j)
      if (turn.order[i % turn.count] == turn.order[j % turn.count]) return false;
  return true;
}

void enqueue_all(const Turn& turn) {
  for (std::uint32_t i = 0; i < turn.repetitions; ++i) {
    copy_constants(turn.slot(i));
    enqueue_call(turn.slot(i));
  }
}

// The calls as one graph; null where they cannot be captured.
CUgraphExec capture(const Turn& turn) {
  if (api.cuStreamBeginCapture(context.stream, CU_STREAM_CAPTURE_MODE_RELAXED) != CUDA_SUCCESS) return nullptr;
  bool all = true;
  for (std::uint32_t i = 0; i < turn.repetitions && all; ++i) {
    copy_constants(turn.slot(i));
    current_slot = &turn.slot(i);
    all = kagent_cuda_call(current_slot->pointers) == 0;
  }
  CUgraph graph = nullptr;
  const bool ended = api.cuStreamEndCapture(context.stream, &graph) == CUDA_SUCCESS && graph != nullptr;
  CUgraphExec executable = nullptr;
  if (ended && all && api.cuGraphInstantiate(&executable, graph, 0) != CUDA_SUCCESS) executable = nullptr;
  if (graph != nullptr) api.cuGraphDestroy(graph);
  if (executable != nullptr) check(api.cuGraphUpload(executable, context.stream), "cuGraphUpload");
  return executable;
}

void sample_together(const Turn& turn, const Request& request, protocol::TickSource source, Reply& reply) {
  for (std::uint32_t i = 0; i < turn.repetitions; ++i) {
    restore_inouts(turn.slot(i));
    poison(turn.slot(i), static_cast<std::uint8_t>(request.poison), false);
  }
  CUgraphExec graph = (request.flags & protocol::kGraph) != 0 ? capture(turn) : nullptr;
  check(api.cuStreamSynchronize(context.stream), "preparing the sample");
  const std::uint64_t begin = ticks(source);
  hold_stream();
  check(api.cuEventRecord(context.begin, context.stream), "cuEventRecord");
  if (graph != nullptr)
    check(api.cuGraphLaunch(graph, context.stream), "launching the calls as a graph");
  else
    enqueue_all(turn);
  check(api.cuEventRecord(context.end, context.stream), "cuEventRecord");
  let_go();
  wait_for_device(&turn.slot(turn.repetitions - 1), request.nonce, reply);
  reply.call_ticks = ticks(source) - begin;
  note_expiry();
  reply.device_ns = elapsed_ns();
  reply.by_graph = graph != nullptr;
  if (graph != nullptr) check(api.cuGraphExecDestroy(graph), "cuGraphExecDestroy");
}

void sample_one_by_one(const Turn& turn, const Request& request, protocol::TickSource source, Reply& reply) {
  for (std::uint32_t i = 0; i < turn.repetitions; ++i) {
    const Slot& slot = turn.slot(i);
    restore_inouts(slot);
    poison(slot, static_cast<std::uint8_t>(request.poison), false);
    copy_constants(slot);
    if ((request.flags & protocol::kCold) != 0) sweep_l2();
    const std::uint64_t begin = ticks(source);
    hold_stream();
    check(api.cuEventRecord(context.begin, context.stream), "cuEventRecord");
    enqueue_call(slot);
    check(api.cuEventRecord(context.end, context.stream), "cuEventRecord");
    let_go();
    wait_for_device(i + 1 == turn.repetitions ? &slot : nullptr, request.nonce, reply);
    reply.call_ticks += ticks(source) - begin;
    note_expiry();
    reply.device_ns += elapsed_ns();
  }
}

// A text for the driver, which ends at its first zero.
void answer(std::string_view text) {
  text = text.substr(0, protocol::kAreaBytes - 1);
  std::memcpy(area, text.data(), text.size());
  area[text.size()] = 0;
}

// As a cold sample makes it, so that what is seen is what is measured.
void call_swept(const Slot& slot, ActivityTrace& activity) {
  restore_inouts(slot);
  copy_constants(slot);
  if (sweep_memory != 0) sweep_l2();
  check(api.cuCtxSynchronize(), "preparing the call");
  static_cast<void>(activity.take());
  hold_stream();
  check(api.cuEventRecord(context.begin, context.stream), "cuEventRecord");
  enqueue_call(slot);
  check(api.cuEventRecord(context.end, context.stream), "cuEventRecord");
  let_go();
  check(api.cuCtxSynchronize(), "the call that is traced");
  note_expiry();
}

}  // namespace

void call(const Slot& slot, std::uint64_t nonce, Reply& reply) {
  copy_constants(slot);
  check(api.cuCtxSynchronize(), "preparing the call");
  reply.late_ns = ~std::uint64_t{0};
  check(api.cuEventRecord(context.begin, context.stream), "cuEventRecord");
  enqueue_call(slot);
  check(api.cuEventRecord(context.end, context.stream), "cuEventRecord");
  wait_for_device(&slot, nonce, reply);
  reply.device_ns = elapsed_ns();
}

void sample(Slot* slots, const Request& request, const std::uint32_t* order, protocol::TickSource source,
            Reply& reply) {
  const Turn turn{slots, order, request.count, request.repetitions};
  const bool cold = (request.flags & protocol::kCold) != 0;
  if (cold && !prepare_sweep()) {
    reply.kind = ReplyKind::no_memory;
    reply.needed_bytes = kSweepFactor * context.l2_bytes;
    return;
  }
  reply.late_ns = ~std::uint64_t{0};
  if (!cold && can_run_together(turn))
    sample_together(turn, request, source, reply);
  else
    sample_one_by_one(turn, request, source, reply);
}

void count(const Slot& slot) {
  std::vector<std::string> metrics;
  std::istringstream names(std::string(reinterpret_cast<const char*>(area), protocol::kMetricsBytes));
  for (std::string name; std::getline(names, name) && !name.empty() && name[0] != '\0';) metrics.push_back(name);
  restore_inouts(slot);
  copy_constants(slot);
  check(api.cuCtxSynchronize(), "preparing the call");
  CUcontext current = nullptr;
  check(api.cuCtxGetCurrent(&current), "cuCtxGetCurrent");
  const CounterReadings readings = read_counters(current, metrics, [&slot] {
    enqueue_call(slot);
    check(api.cuCtxSynchronize(), "the call whose counters are read");
  });
  std::ostringstream text;
  text.precision(17);
  if (!readings.problem.empty()) text << "! " << readings.problem << '\n';
  for (std::size_t kernel = 0; kernel < readings.kernels.size(); ++kernel)
    for (const auto& [metric, value] : readings.kernels[kernel])
      text << kernel << ' ' << metric << ' ' << value << '\n';
  answer(text.str());
}

void trace(const Slot& slot) {
  static_cast<void>(prepare_sweep());  // where there is no memory for it the caches stay warm
  ActivityTrace activity;
  for (int i = 0; i < kTracedCalls && activity.problem().empty(); ++i) call_swept(slot, activity);
  ActivityTrace::Recorded recorded = activity.take();
  // What holds the stream is no part of the call.
  std::erase_if(recorded.work, [](const TracedWork& work) { return work.name == "kagent_block"; });
  if (recorded.problem.empty() && recorded.work.empty()) recorded.problem = "the call launched no kernel";
  answer(describe(std::move(recorded.work), recorded.problem.empty() ? elapsed_ns() : 0, recorded.problem));
}

void forget_calls() {
  expired = 0;
  current_slot = nullptr;
}

}  // namespace kagent::runner::cuda
