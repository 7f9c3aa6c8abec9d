// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include "runner/protocol.h"

namespace kagent::runner::cuda {

// The driver's functions that the runtime uses. They are looked up at run time, under the versions that this cuda.h
// names, so that a program starts and explains itself where there is no driver.
// clang-format off
#define KAGENT_DRIVER_FUNCTIONS(X) \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) X(cuDeviceGet) X(cuDeviceGetCount) \
  X(cuDeviceGetName) X(cuDeviceGetUuid) X(cuDeviceGetAttribute) X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain) \
  X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuCtxResetPersistingL2Cache) X(cuModuleLoadData) \
  X(cuModuleUnload) X(cuModuleGetFunction) X(cuModuleGetGlobal) X(cuFuncGetAttribute) X(cuFuncSetAttribute) \
  X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuMemGetInfo) X(cuMemAlloc) X(cuMemFree) X(cuMemHostAlloc) \
  X(cuMemHostRegister) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyDtoDAsync) X(cuMemsetD8Async) \
  X(cuStreamCreate) X(cuStreamSynchronize) X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuEventCreate) \
  X(cuEventRecord) X(cuEventSynchronize) X(cuEventElapsedTime) X(cuGraphInstantiate) X(cuGraphUpload) \
  X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy) X(cuMemGetAllocationGranularity) \
  X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemCreate) X(cuMemRelease) X(cuMemMap) X(cuMemUnmap) \
  X(cuMemSetAccess)
// clang-format on

struct DriverApi {
#define KAGENT_MEMBER(name) decltype(&::name) name = nullptr;
  KAGENT_DRIVER_FUNCTIONS(KAGENT_MEMBER)
#undef KAGENT_MEMBER
};

// Filled by open_driver().
extern DriverApi api;

// A line of text without an allocation. What does not fit is left out.
class Line {
 public:
  Line& operator<<(const char* text);
  Line& operator<<(unsigned long long number);
  Line& operator<<(CUresult error);  // its name and number
  const char* text() const { return text_; }

 private:
  char text_[protocol::kTextBytes] = {};
  unsigned length_ = 0;
};

// Loads the driver's library and initialises it. 0, or an error's number (-1: no library) with the step in `why`.
int open_driver(Line& why);

}  // namespace kagent::runner::cuda
