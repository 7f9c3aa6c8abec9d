// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_runtime/counters.h"

#include <algorithm>
#include <cstdint>

#include "runner/cuda_runtime/cupti_library.h"

namespace kagent::runner::cuda {
namespace {

// Calls of CUPTI in a row; after the first failure nothing more is called, since going on has crashed it.
class Calls {
 public:
  template <class Function, class Parameters>
  bool operator()(const char* name, Function function, Parameters& parameters) {
    if (!problem_.empty()) return false;
    const CUptiResult result = function(&parameters);
    if (result != CUPTI_SUCCESS) problem_ = std::string(name) + ": " + explain(result);
    return problem_.empty();
  }
  const std::string& problem() const { return problem_; }

 private:
  std::string problem_;
};
#define KAGENT_CALL(calls, function, parameters) calls(#function, cupti().function, parameters)

template <class Parameters>
Parameters sized(std::size_t size) {
  Parameters parameters{};
  parameters.structSize = size;
  return parameters;
}
#define KAGENT_PARAMETERS(type) sized<type>(type##_STRUCT_SIZE)

std::vector<const char*> pointers(const std::vector<std::string>& names) {
  std::vector<const char*> result;
  for (const std::string& name : names) result.push_back(name.c_str());
  return result;
}

// The host's half: knows the chip's metrics, and what has to be collected for them.
class Host {
 public:
  Host(Calls& calls, const std::string& chip, const std::uint8_t* availability) : calls_(calls) {
    auto parameters = KAGENT_PARAMETERS(CUpti_Profiler_Host_Initialize_Params);
    parameters.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    parameters.pChipName = chip.c_str();
    parameters.pCounterAvailabilityImage = availability;
    if (KAGENT_CALL(calls_, cuptiProfilerHostInitialize, parameters)) object_ = parameters.pHostObject;
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() {
    if (!object_) return;
    auto parameters = KAGENT_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params);
    parameters.pHostObject = object_;
    cupti().cuptiProfilerHostDeinitialize(&parameters);
  }

  // One unknown name would fail the whole request.
  std::vector<std::string> supported(const std::vector<std::string>& metrics) const {
    std::vector<std::string> result;
    for (const std::string& name : metrics) {
      if (!object_) break;
      auto parameters = KAGENT_PARAMETERS(CUpti_Profiler_Host_GetMetricProperties_Params);
      parameters.pHostObject = object_;
      parameters.pMetricName = name.c_str();
      if (cupti().cuptiProfilerHostGetMetricProperties(&parameters) == CUPTI_SUCCESS) result.push_back(name);
    }
    return result;
  }

  // All metrics in one request: one by one they take four times the passes.
  std::vector<std::uint8_t> configure(const std::vector<std::string>& metrics) {
    auto names = pointers(metrics);
    auto add = KAGENT_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
    add.pHostObject = object_;
    add.ppMetricNames = names.data();
    add.numMetrics = names.size();
    KAGENT_CALL(calls_, cuptiProfilerHostConfigAddMetrics, add);
    auto size = KAGENT_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize_Params);
    size.pHostObject = object_;
    if (!KAGENT_CALL(calls_, cuptiProfilerHostGetConfigImageSize, size)) return {};
    std::vector<std::uint8_t> image(size.configImageSize);
    auto get = KAGENT_PARAMETERS(CUpti_Profiler_Host_GetConfigImage_Params);
    get.pHostObject = object_;
    get.configImageSize = image.size();
    get.pConfigImage = image.data();
    KAGENT_CALL(calls_, cuptiProfilerHostGetConfigImage, get);
    return image;
  }

  std::map<std::string, double> evaluate(const std::vector<std::uint8_t>& data, std::size_t range,
                                         const std::vector<std::string>& metrics) {
    auto names = pointers(metrics);
    std::vector<double> values(metrics.size());
    auto parameters = KAGENT_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    parameters.pHostObject = object_;
    parameters.pCounterDataImage = data.data();
    parameters.counterDataImageSize = data.size();
    parameters.rangeIndex = range;
    parameters.ppMetricNames = names.data();
    parameters.numMetrics = names.size();
    parameters.pMetricValues = values.data();
    std::map<std::string, double> result;
    if (!KAGENT_CALL(calls_, cuptiProfilerHostEvaluateToGpuValues, parameters)) return result;
    for (std::size_t i = 0; i < metrics.size(); ++i) result[metrics[i]] = values[i];
    return result;
  }

 private:
  Calls& calls_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

// The device's half: collects what the host's configuration asks for.
class Target {
 public:
  Target(Calls& calls, CUcontext context) : calls_(calls) {
    auto parameters = KAGENT_PARAMETERS(CUpti_RangeProfiler_Enable_Params);
    parameters.ctx = context;
    if (KAGENT_CALL(calls_, cuptiRangeProfilerEnable, parameters)) object_ = parameters.pRangeProfilerObject;
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  ~Target() {
    if (!object_) return;
    auto parameters = KAGENT_PARAMETERS(CUpti_RangeProfiler_Disable_Params);
    parameters.pRangeProfilerObject = object_;
    cupti().cuptiRangeProfilerDisable(&parameters);
  }

  // The counter data of every kernel that `call` launches.
  std::vector<std::uint8_t> collect(const std::vector<std::string>& metrics, const std::vector<std::uint8_t>& config,
                                    const std::function<void()>& call) {
    std::vector<std::uint8_t> data = counter_data(metrics);
    auto set = KAGENT_PARAMETERS(CUpti_RangeProfiler_SetConfig_Params);
    set.pRangeProfilerObject = object_;
    set.configSize = config.size();
    set.pConfig = config.data();
    set.counterDataImageSize = data.size();
    set.pCounterDataImage = data.data();
    set.range = CUPTI_AutoRange;
    set.replayMode = CUPTI_KernelReplay;
    set.maxRangesPerPass = kMostKernels;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    KAGENT_CALL(calls_, cuptiRangeProfilerSetConfig, set);
    auto start = KAGENT_PARAMETERS(CUpti_RangeProfiler_Start_Params);
    start.pRangeProfilerObject = object_;
    if (!KAGENT_CALL(calls_, cuptiRangeProfilerStart, start)) return {};
    call();
    auto stop = KAGENT_PARAMETERS(CUpti_RangeProfiler_Stop_Params);
    stop.pRangeProfilerObject = object_;
    KAGENT_CALL(calls_, cuptiRangeProfilerStop, stop);
    auto decode = KAGENT_PARAMETERS(CUpti_RangeProfiler_DecodeData_Params);
    decode.pRangeProfilerObject = object_;
    KAGENT_CALL(calls_, cuptiRangeProfilerDecodeData, decode);
    return data;
  }

  std::size_t ranges(const std::vector<std::uint8_t>& data) {
    auto parameters = KAGENT_PARAMETERS(CUpti_RangeProfiler_GetCounterDataInfo_Params);
    parameters.pCounterDataImage = data.data();
    parameters.counterDataImageSize = data.size();
    return KAGENT_CALL(calls_, cuptiRangeProfilerGetCounterDataInfo, parameters) ? parameters.numTotalRanges : 0;
  }

 private:
  std::vector<std::uint8_t> counter_data(const std::vector<std::string>& metrics) {
    auto names = pointers(metrics);
    auto size = KAGENT_PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize_Params);
    size.pRangeProfilerObject = object_;
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = kMostKernels;
    size.maxNumRangeTreeNodes = kMostKernels;
    if (!KAGENT_CALL(calls_, cuptiRangeProfilerGetCounterDataSize, size)) return {};
    std::vector<std::uint8_t> data(size.counterDataSize);
    auto initialise = KAGENT_PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    initialise.pRangeProfilerObject = object_;
    initialise.counterDataSize = data.size();
    initialise.pCounterData = data.data();
    KAGENT_CALL(calls_, cuptiRangeProfilerCounterDataImageInitialize, initialise);
    return data;
  }

  Calls& calls_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

std::string chip_name(Calls& calls) {
  auto parameters = KAGENT_PARAMETERS(CUpti_Device_GetChipName_Params);
  return KAGENT_CALL(calls, cuptiDeviceGetChipName, parameters) ? parameters.pChipName : "";
}

std::vector<std::uint8_t> counter_availability(Calls& calls, CUcontext context) {
  auto parameters = KAGENT_PARAMETERS(CUpti_Profiler_GetCounterAvailability_Params);
  parameters.ctx = context;
  if (!KAGENT_CALL(calls, cuptiProfilerGetCounterAvailability, parameters)) return {};
  std::vector<std::uint8_t> image(parameters.counterAvailabilityImageSize);
  parameters.pCounterAvailabilityImage = image.data();
  KAGENT_CALL(calls, cuptiProfilerGetCounterAvailability, parameters);
  return image;
}

// The profiler is initialised while this lives.
class Profiling {
 public:
  explicit Profiling(Calls& calls) {
    auto parameters = KAGENT_PARAMETERS(CUpti_Profiler_Initialize_Params);
    on_ = KAGENT_CALL(calls, cuptiProfilerInitialize, parameters);
  }
  Profiling(const Profiling&) = delete;
  Profiling& operator=(const Profiling&) = delete;
  ~Profiling() {
    if (!on_) return;
    auto parameters = KAGENT_PARAMETERS(CUpti_Profiler_DeInitialize_Params);
    cupti().cuptiProfilerDeInitialize(&parameters);
  }

 private:
  bool on_ = false;
};

}  // namespace

CounterReadings read_counters(CUcontext context, const std::vector<std::string>& metrics,
                              const std::function<void()>& call) {
  CounterReadings readings;
  readings.problem = cupti().problem;
  if (!readings.problem.empty()) return readings;
  Calls calls;
  const Profiling profiling(calls);
  const std::string chip = chip_name(calls);
  const auto availability = counter_availability(calls, context);
  Host host(calls, chip, availability.data());
  const std::vector<std::string> known = host.supported(metrics);
  if (calls.problem().empty() && known.empty()) readings.problem = chip + " has none of the metrics";
  if (!calls.problem().empty() || known.empty()) {
    if (readings.problem.empty()) readings.problem = calls.problem();
    return readings;
  }
  const auto config = host.configure(known);
  Target target(calls, context);
  if (calls.problem().empty()) {
    const auto data = target.collect(known, config, call);
    const std::size_t count = calls.problem().empty() ? target.ranges(data) : 0;
    for (std::size_t range = 0; range < count; ++range) readings.kernels.push_back(host.evaluate(data, range, known));
  }
  readings.problem = calls.problem();
  if (!readings.problem.empty())
    readings.kernels.clear();
  else if (readings.kernels.empty())
    readings.problem = "the call launched no kernel";
  return readings;
}

}  // namespace kagent::runner::cuda
