// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_runtime/activity.h"

#include <cstdlib>
#include <mutex>
#include <utility>

#include "runner/cuda_runtime/activity_record.h"
#include "runner/cuda_runtime/cupti_library.h"

namespace kagent::runner::cuda {
namespace {

constexpr CUpti_ActivityKind kKinds[]{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                      CUPTI_ACTIVITY_KIND_MEMSET};
// A record takes about 250 bytes, and a call launches a few kernels.
constexpr std::size_t kBufferBytes = std::size_t{1} << 20, kAlignment = 8;
constexpr std::size_t kMostWork = 1000;

// CUPTI hands buffers over on threads of its own, and nothing else with them.
struct Received {
  std::mutex mutex;
  std::vector<TracedWork> work;
  bool too_much = false, without_times = false;
} received;

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  {
    const std::scoped_lock lock(received.mutex);
    CUpti_Activity* record = nullptr;
    while (valid > 0 && cupti().cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
      auto work = decode(*record);
      if (!work) continue;
      if (work->begin_ns <= 0 || work->end_ns < work->begin_ns)
        received.without_times = true;
      else if (received.work.size() == kMostWork)
        received.too_much = true;
      else
        received.work.push_back(std::move(*work));
    }
  }
  std::free(buffer);
}

}  // namespace

ActivityTrace::ActivityTrace() {
  problem_ = cupti().problem;
  if (!problem_.empty()) return;
  CUptiResult result = cupti().cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
  for (const CUpti_ActivityKind kind : kKinds)
    if (result == CUPTI_SUCCESS) result = cupti().cuptiActivityEnable(kind);
  if (result != CUPTI_SUCCESS) problem_ = "kernels cannot be traced: " + explain(result);
}

ActivityTrace::~ActivityTrace() {
  if (!problem_.empty()) return;
  for (const CUpti_ActivityKind kind : kKinds) cupti().cuptiActivityDisable(kind);
}

ActivityTrace::Recorded ActivityTrace::take() {
  if (!problem_.empty()) return {{}, problem_};
  // Forced: what is not complete by now never will be.
  const CUptiResult result = cupti().cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  std::size_t dropped = 0;
  cupti().cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  const std::scoped_lock lock(received.mutex);
  Recorded recorded{std::exchange(received.work, {}), ""};
  const bool too_much = std::exchange(received.too_much, false);
  const bool without_times = std::exchange(received.without_times, false);
  if (result != CUPTI_SUCCESS)
    recorded.problem = "the trace of kernels cannot be read: " + explain(result);
  else if (too_much)
    recorded.problem = "a call launches more than " + std::to_string(kMostWork) + " kernels";
  else if (dropped > 0)
    recorded.problem = "CUPTI lost " + std::to_string(dropped) + " records of kernels";
  else if (without_times)
    recorded.problem = "CUPTI has no times of the kernels";
  return recorded;
}

}  // namespace kagent::runner::cuda
