// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_runtime/ceilings.h"

#include <algorithm>
#include <cstdint>

// Made of ceilings.cu, as the runtime's own kernels are.
asm(R"(
.section .rodata
.balign 64
.globl kagent_ceilings_code
.hidden kagent_ceilings_code
kagent_ceilings_code:
.incbin ")" KAGENT_CEILINGS_CODE R"("
.balign 8
.previous
)");
extern "C" [[gnu::visibility("hidden")]] const unsigned char kagent_ceilings_code[];

namespace kagent::runner::cuda {
namespace {

constexpr int kRuns = 9;
constexpr std::uint64_t kCopyBytes = std::uint64_t{1} << 30;
constexpr unsigned kThreads = 256, kBlocksPerMultiprocessor = 8, kCopyBlocksPerMultiprocessor = 16;
constexpr unsigned kLoads = 4;                               // as in ceilings.cu
constexpr int kAccumulators = 16, kSteps = 20'000;           // as in ceilings.cu
constexpr double kTensorFlops = 4.0 * 2 * 16 * 8 * 16 / 32;  // a thread and step

// Steps in a row; after the first failure nothing more is done.
class Steps {
 public:
  explicit Steps(Line& why) : why_(why) {}
  bool operator()(CUresult result, const char* step) {
    if (error_ == 0 && result != CUDA_SUCCESS) {
      error_ = static_cast<int>(result);
      why_ << step << ": " << result;
    }
    return error_ == 0;
  }
  int error() const { return error_; }

 private:
  Line& why_;
  int error_ = 0;
};

struct Bench {
  Steps& step;
  CUstream stream = nullptr;
  CUevent begin = nullptr, end = nullptr;

  // Shortest of several launches, in seconds; 0 after a failure.
  double seconds(CUfunction function, unsigned blocks, void** arguments) {
    return seconds([&] { return launch(function, blocks, arguments); });
  }

  CUresult launch(CUfunction function, unsigned blocks, void** arguments) const {
    return api.cuLaunchKernel(function, blocks, 1, 1, kThreads, 1, 1, 0, stream, arguments, nullptr);
  }

  template <class Enqueue>
  double seconds(Enqueue enqueue) {
    return seconds(enqueue, [] { return CUDA_SUCCESS; });
  }

  // `before` is enqueued ahead of each run and is not timed.
  template <class Enqueue, class Before>
  double seconds(Enqueue enqueue, Before before) {
    double best = 0;
    for (int run = 0; run < kRuns && step.error() == 0; ++run) {
      float milliseconds = 0;
      step(before(), "launching");
      step(api.cuEventRecord(begin, stream), "cuEventRecord");
      step(enqueue(), "launching");
      step(api.cuEventRecord(end, stream), "cuEventRecord");
      step(api.cuEventSynchronize(end), "running a ceiling's kernel");
      step(api.cuEventElapsedTime(&milliseconds, begin, end), "cuEventElapsedTime");
      const double seconds = static_cast<double>(milliseconds) * 1e-3;
      if (run > 0 && (best == 0 || seconds < best)) best = seconds;  // the first warms up
    }
    return step.error() == 0 ? best : 0;
  }
};

// Read + written bytes a second of the fastest way to copy: by blocks that stay, by a block for each tile, by the
// driver's own copy. Which it is differs between devices. 0 after a failure.
double copy_rate(Bench& bench, CUfunction copy, unsigned multiprocessors, CUdeviceptr from, CUdeviceptr to) {
  std::uint64_t count = kCopyBytes / 16;
  void* arguments[] = {&from, &to, &count};
  const auto tiles = static_cast<unsigned>(count / (kThreads * kLoads));
  const double times[] = {bench.seconds(copy, kCopyBlocksPerMultiprocessor * multiprocessors, arguments),
                          bench.seconds(copy, tiles, arguments),
                          bench.seconds([&] { return api.cuMemcpyDtoDAsync(to, from, kCopyBytes, bench.stream); })};
  const double best = *std::ranges::min_element(times);
  return best > 0 ? 2.0 * static_cast<double>(kCopyBytes) / best : 0;
}

}  // namespace

int measure_ceilings(DeviceCeilings& ceilings, Line& why) {
  if (const int error = open_driver(why); error != 0) return error;
  Steps step(why);
  CUdevice device = 0;
  CUcontext primary = nullptr;
  CUmodule module = nullptr;
  CUfunction copy = nullptr, multiply_add = nullptr, half_multiply_add = nullptr, tensor_product = nullptr;
  CUfunction nothing = nullptr;
  int multiprocessors = 0;
  Bench bench{step};
  CUdeviceptr from = 0, to = 0;
  step(api.cuDeviceGet(&device, 0), "cuDeviceGet");
  step(api.cuDevicePrimaryCtxRetain(&primary, device), "cuDevicePrimaryCtxRetain");
  step(api.cuCtxSetCurrent(primary), "cuCtxSetCurrent");
  step(api.cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
       "cuDeviceGetAttribute");
  step(api.cuModuleLoadData(&module, kagent_ceilings_code), "loading the kernels");
  step(api.cuModuleGetFunction(&copy, module, "kagent_copy"), "kagent_copy");
  step(api.cuModuleGetFunction(&multiply_add, module, "kagent_multiply_add"), "kagent_multiply_add");
  step(api.cuModuleGetFunction(&half_multiply_add, module, "kagent_half_multiply_add"), "kagent_half_multiply_add");
  step(api.cuModuleGetFunction(&tensor_product, module, "kagent_tensor_product"), "kagent_tensor_product");
  step(api.cuModuleGetFunction(&nothing, module, "kagent_nothing"), "kagent_nothing");
  step(api.cuStreamCreate(&bench.stream, CU_STREAM_DEFAULT), "cuStreamCreate");
  step(api.cuEventCreate(&bench.begin, CU_EVENT_DEFAULT), "cuEventCreate");
  step(api.cuEventCreate(&bench.end, CU_EVENT_DEFAULT), "cuEventCreate");
  step(api.cuMemAlloc(&from, kCopyBytes), "cuMemAlloc of 1 GiB to copy");
  step(api.cuMemAlloc(&to, kCopyBytes), "cuMemAlloc of 1 GiB to copy to");
  if (step.error() != 0) return step.error();

  const auto blocks = static_cast<unsigned>(multiprocessors);
  ceilings.bytes_per_s = copy_rate(bench, copy, blocks, from, to);
  const double threads = static_cast<double>(kThreads) * kBlocksPerMultiprocessor * multiprocessors;
  int steps = kSteps;
  float factor = 0.999F, addend = 0.001F;
  void* added[] = {&to, &steps, &factor, &addend};
  if (const double s = bench.seconds(multiply_add, kBlocksPerMultiprocessor * blocks, added); s > 0)
    ceilings.flops_per_s = threads * 2 * kAccumulators * kSteps / s;
  // Busy meanwhile, so that the host's time to queue the rest is not measured.
  ceilings.launch_s =
      bench.seconds([&] { return bench.launch(nothing, 1, nullptr); },
                    [&] { return bench.launch(multiply_add, kBlocksPerMultiprocessor * blocks, added); });
  int major = 0, minor = 0;
  step(api.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device), "cuDeviceGetAttribute");
  step(api.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device), "cuDeviceGetAttribute");
  const int capability = 10 * major + minor;
  unsigned half_factor = 0x3BFF3BFF, half_addend = 0x14001400;  // pairs of 0.9995 and 0.001
  void* added_halves[] = {&to, &steps, &half_factor, &half_addend};
  if (capability >= 53)
    if (const double s = bench.seconds(half_multiply_add, kBlocksPerMultiprocessor * blocks, added_halves); s > 0)
      ceilings.half_flops_per_s = threads * 4 * kAccumulators * kSteps / s;
  void* multiplied[] = {&to, &steps};
  if (capability >= 80)
    if (const double s = bench.seconds(tensor_product, kBlocksPerMultiprocessor * blocks, multiplied); s > 0)
      ceilings.tensor_flops_per_s = threads * kTensorFlops * kSteps / s;
  return step.error();
}

}  // namespace kagent::runner::cuda
