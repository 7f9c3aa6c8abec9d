// SPDX-License-Identifier: Apache-2.0

// A fake of NVIDIA's driver library: one device whose memory is the process's own and whose work is done at once. It
// shows what the runtime and the driver's side do without a GPU; what a GPU does, only a GPU shows.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda.h>
#include <sys/mman.h>

namespace {

// What is left behind by the last work: every later call says so.
int sticky = 0;
// A file's name in the environment would not reach a runner: what the fake does is chosen by what was loaded.
constexpr std::size_t kTotalBytes = std::size_t{8} << 30;
constexpr std::size_t kGranule = std::size_t{2} << 20;
std::size_t used = 0;

struct Function {
  std::string name;
};
struct Event {
  std::chrono::steady_clock::time_point at;
};

CUresult result() {
  return static_cast<CUresult>(sticky);
}

unsigned char* bytes(CUdeviceptr at) {
  return reinterpret_cast<unsigned char*>(at);
}

template <class T>
T argument(void** arguments, int index) {
  T value;
  std::memcpy(&value, arguments[index], sizeof value);
  return value;
}

void fill_sentinels(void** a) {
  auto* const mapping = argument<unsigned char*>(a, 0);
  const auto seed = argument<std::uint64_t>(a, 1), end = argument<std::uint64_t>(a, 3);
  for (auto at = argument<std::uint64_t>(a, 2); at < end; ++at)
    mapping[at] = static_cast<unsigned char>(((at + seed) * 0x9E37'79B9'7F4A'7C15) >> 56);
}

void gather(void** a) {
  const auto* const data = argument<const unsigned char*>(a, 0);
  const auto size = argument<std::uint64_t>(a, 1), first = argument<std::uint64_t>(a, 2),
             step = argument<std::uint64_t>(a, 3), count = argument<std::uint64_t>(a, 4),
             rest = argument<std::uint64_t>(a, 5);
  auto* const to = argument<unsigned char*>(a, 6);
  for (std::uint64_t line = 0; line < count; ++line) std::memcpy(to + line * 64, data + (first + line * step) * 64, 64);
  std::memcpy(to + count * 64, data + size - rest, rest);
}

// y = 2 x, and the number of elements added to total: the kernel of style kernel that the fake knows.
void scale(void** a) {
  const auto* const x = argument<const float*>(a, 0);
  auto* const y = argument<float*>(a, 1);
  auto* const total = argument<double*>(a, 2);
  const int n = argument<int>(a, 3);
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
  *total += n;
}

}  // namespace

extern "C" {

// What a candidate of the tests makes the device say from now on.
void fake_cuda_leave_error(int error) {
  sticky = error;
}

CUresult cuInit(unsigned) {
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  *version = FAKE_DRIVER_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OF_THE_FAKE";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "as the fake says";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  std::strncpy(name, "Fake \"GPU\"", static_cast<std::size_t>(length));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice) {
  for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(i * 17);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR            ? 9
           : attribute == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN ? 232448
                                                                                : 1 << 20;
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t* total, CUdevice) {
  *total = kTotalBytes;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(&sticky);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = nullptr;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext) {
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  return result();
}
CUresult cuCtxResetPersistingL2Cache() {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  // The runtime's own fat binary, or what the tests take for device code.
  static const char kOwn[] = {0x50, static_cast<char>(0xED), 0x55, static_cast<char>(0xBA)};
  if (std::memcmp(image, kOwn, 4) != 0 && std::memcmp(image, "fake", 4) != 0) return CUDA_ERROR_INVALID_IMAGE;
  *module = reinterpret_cast<CUmodule>(new int(0));
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  delete reinterpret_cast<int*>(module);
  return result();
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  const std::string wanted = name;
  if (!wanted.starts_with("kagent_") && wanted != "scale") return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(new Function{wanted});
  return CUDA_SUCCESS;
}
CUresult cuModuleGetGlobal(CUdeviceptr* memory, size_t* size, CUmodule, const char* name) {
  alignas(16) static float taps[8];
  if (std::string(name) != "_ZN3ops4tapsE") return CUDA_ERROR_NOT_FOUND;
  *memory = reinterpret_cast<CUdeviceptr>(taps);
  *size = sizeof taps;
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
  *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        CUstream, void** arguments, void**) {
  if (sticky != 0) return result();
  const std::string& name = reinterpret_cast<Function*>(function)->name;
  if (name == "kagent_fill_sentinels") fill_sentinels(arguments);
  if (name == "kagent_gather") gather(arguments);
  if (name == "scale") scale(arguments);
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig*, CUfunction, void**, void**) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemGetInfo(size_t* free, size_t* total) {
  *free = kTotalBytes - used;
  *total = kTotalBytes;
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr* memory, size_t size) {
  void* const made = std::aligned_alloc(512, (size + 511) / 512 * 512 + 512);
  *memory = reinterpret_cast<CUdeviceptr>(made);
  return made != nullptr ? result() : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFree(CUdeviceptr memory) {
  std::free(bytes(memory));
  return result();
}
CUresult cuMemHostAlloc(void** memory, size_t size, unsigned) {
  *memory = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  return CUDA_SUCCESS;
}
CUresult cuMemHostRegister(void*, size_t, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t size) {
  std::memcpy(bytes(to), from, size);
  return result();
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t size) {
  std::memcpy(to, bytes(from), size);
  return result();
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream) {
  std::memcpy(bytes(to), bytes(from), size);
  return result();
}
CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t size, CUstream) {
  std::memset(bytes(at), value, size);
  return result();
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
  *stream = reinterpret_cast<CUstream>(&used);
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream) {
  return result();
}
CUresult cuStreamBeginCapture(CUstream, CUstreamCaptureMode) {
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}
CUresult cuStreamEndCapture(CUstream, CUgraph*) {
  return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
}
CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(new Event{});
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream) {
  reinterpret_cast<Event*>(event)->at = std::chrono::steady_clock::now();
  return result();
}
CUresult cuEventSynchronize(CUevent) {
  return result();
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  *milliseconds =
      std::chrono::duration<float, std::milli>(reinterpret_cast<Event*>(end)->at - reinterpret_cast<Event*>(begin)->at)
          .count();
  return result();
}
CUresult cuGraphInstantiate(CUgraphExec*, CUgraph, unsigned long long) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGraphUpload(CUgraphExec, CUstream) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGraphLaunch(CUgraphExec, CUstream) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGraphExecDestroy(CUgraphExec) {
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph) {
  return CUDA_SUCCESS;
}

// Reserved addresses are inaccessible until memory is put there, as on a GPU.
CUresult cuMemGetAllocationGranularity(size_t* granule, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  *granule = kGranule;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* at, size_t size, size_t, CUdeviceptr, unsigned long long) {
  void* const mapped = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *at = reinterpret_cast<CUdeviceptr>(mapped);
  return mapped != MAP_FAILED ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemAddressFree(CUdeviceptr at, size_t size) {
  ::munmap(bytes(at), size);
  return CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t, const CUmemAllocationProp*, unsigned long long) {
  *handle = 1;
  return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle) {
  return CUDA_SUCCESS;
}
CUresult cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long) {
  return CUDA_SUCCESS;
}
CUresult cuMemUnmap(CUdeviceptr, size_t) {
  return CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr at, size_t size, const CUmemAccessDesc*, size_t) {
  return ::mprotect(bytes(at), size, PROT_READ | PROT_WRITE) == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}
}
