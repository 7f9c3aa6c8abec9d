// SPDX-License-Identifier: Apache-2.0

// A fake of CUPTI: no counters, and at each flush the records of the same call, on a thread of its own as the real one.

#include <cstring>
#include <thread>

#include "runner/cuda_runtime/activity_record.h"

namespace {

using kagent::runner::cuda::FillRecord;
using kagent::runner::cuda::KernelRecord;

CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
int enabled = 0;

KernelRecord kernel(const char* name, std::uint64_t start, std::uint64_t end) {
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = name;
  record.start = start;
  record.end = end;
  record.gridX = 4, record.gridY = record.gridZ = 1;
  record.blockX = 256, record.blockY = record.blockZ = 1;
  record.registersPerThread = 32;
  return record;
}

template <class Record>
void append(const Record& record, std::uint8_t* buffer, std::size_t& size) {
  std::memcpy(buffer + size, &record, sizeof record);
  size += sizeof record;
}

std::size_t size_of(const CUpti_Activity* record) {
  return record->kind == CUPTI_ACTIVITY_KIND_MEMSET ? sizeof(FillRecord) : sizeof(KernelRecord);
}

void deliver() {
  std::uint8_t* buffer = nullptr;
  std::size_t room = 0, most = 0, size = 0;
  request(&buffer, &room, &most);
  if (buffer == nullptr || room < 4096) return;
  append(kernel("_Z5scalePfi", 2000, FAKE_CUPTI_END), buffer, size);
  append(kernel("kagent_block", 500, 900), buffer, size);
  FillRecord fill{};
  fill.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  fill.start = 1000;
  fill.end = 1500;
  append(fill, buffer, size);
  complete(nullptr, 0, buffer, room, size);
}

}  // namespace

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  request = requested;
  complete = completed;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind) {
  ++enabled;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind) {
  --enabled;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(uint32_t) {
  if (enabled == 3) std::thread(deliver).join();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t size, CUpti_Activity** record) {
  auto* const next = *record == nullptr ? buffer : reinterpret_cast<uint8_t*>(*record) + size_of(*record);
  if (next >= buffer + size) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "as the fake says";
  return CUPTI_SUCCESS;
}

// What counters need: there are none.
#define FAKE_WITHOUT_COUNTERS(name)             \
  CUptiResult name(void*) {                     \
    return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES; \
  }
FAKE_WITHOUT_COUNTERS(cuptiDeviceGetChipName)
FAKE_WITHOUT_COUNTERS(cuptiProfilerInitialize)
FAKE_WITHOUT_COUNTERS(cuptiProfilerDeInitialize)
FAKE_WITHOUT_COUNTERS(cuptiProfilerGetCounterAvailability)
FAKE_WITHOUT_COUNTERS(cuptiProfilerHostInitialize)
FAKE_WITHOUT_COUNTERS(cuptiProfilerHostDeinitialize)
FAKE_WITHOUT_COUNTERS(cuptiProfilerHostGetMetricProperties)
FAKE_WITHOUT_COUNTERS(cuptiProfilerHostConfigAddMetrics)
FAKE_WITHOUT_COUNTERS(cuptiProfilerHostGetConfigImageSize)
FAKE_WITHOUT_COUNTERS(cuptiProfilerHostGetConfigImage)
FAKE_WITHOUT_COUNTERS(cuptiProfilerHostEvaluateToGpuValues)
FAKE_WITHOUT_COUNTERS(cuptiRangeProfilerEnable)
FAKE_WITHOUT_COUNTERS(cuptiRangeProfilerDisable)
FAKE_WITHOUT_COUNTERS(cuptiRangeProfilerStart)
FAKE_WITHOUT_COUNTERS(cuptiRangeProfilerStop)
FAKE_WITHOUT_COUNTERS(cuptiRangeProfilerSetConfig)
FAKE_WITHOUT_COUNTERS(cuptiRangeProfilerDecodeData)
FAKE_WITHOUT_COUNTERS(cuptiRangeProfilerGetCounterDataSize)
FAKE_WITHOUT_COUNTERS(cuptiRangeProfilerGetCounterDataInfo)
FAKE_WITHOUT_COUNTERS(cuptiRangeProfilerCounterDataImageInitialize)
}
