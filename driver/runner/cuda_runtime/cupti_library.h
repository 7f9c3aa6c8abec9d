// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cupti_activity.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

namespace kagent::runner::cuda {

// The functions of CUPTI that counters and traces need, by their own names.
struct Cupti {
#define KAGENT_CUPTI_FUNCTIONS(use)                  \
  use(cuptiGetResultString);                         \
  use(cuptiDeviceGetChipName);                       \
  use(cuptiProfilerInitialize);                      \
  use(cuptiProfilerDeInitialize);                    \
  use(cuptiProfilerGetCounterAvailability);          \
  use(cuptiProfilerHostInitialize);                  \
  use(cuptiProfilerHostDeinitialize);                \
  use(cuptiProfilerHostGetMetricProperties);         \
  use(cuptiProfilerHostConfigAddMetrics);            \
  use(cuptiProfilerHostGetConfigImageSize);          \
  use(cuptiProfilerHostGetConfigImage);              \
  use(cuptiProfilerHostEvaluateToGpuValues);         \
  use(cuptiRangeProfilerEnable);                     \
  use(cuptiRangeProfilerDisable);                    \
  use(cuptiRangeProfilerStart);                      \
  use(cuptiRangeProfilerStop);                       \
  use(cuptiRangeProfilerSetConfig);                  \
  use(cuptiRangeProfilerDecodeData);                 \
  use(cuptiRangeProfilerGetCounterDataSize);         \
  use(cuptiRangeProfilerGetCounterDataInfo);         \
  use(cuptiRangeProfilerCounterDataImageInitialize); \
  use(cuptiActivityRegisterCallbacks);               \
  use(cuptiActivityEnable);                          \
  use(cuptiActivityDisable);                         \
  use(cuptiActivityFlushAll);                        \
  use(cuptiActivityGetNextRecord);                   \
  use(cuptiActivityGetNumDroppedRecords)
#define KAGENT_DECLARE(name) decltype(&::name) name = nullptr
  KAGENT_CUPTI_FUNCTIONS(KAGENT_DECLARE);
#undef KAGENT_DECLARE

  std::string problem;  // why it cannot be used; empty if it can
};

// Loaded once for the process, with the two libraries that it opens itself by their bare names.
const Cupti& cupti();

// What a result means, for those that people meet with what to do.
std::string explain(CUptiResult result);

}  // namespace kagent::runner::cuda
