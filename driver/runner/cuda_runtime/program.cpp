// SPDX-License-Identifier: Apache-2.0

// kagent-cuda-runner: runs device code of style kernel for the driver, and tells about devices. Holds no code of a
// candidate's on the host's side.

#include <cstdio>
#include <cstring>

#include <unistd.h>

#include "runner/cuda_runtime/calls.h"
#include "runner/cuda_runtime/ceilings.h"
#include "runner/cuda_runtime/driver_api.h"
#include "runner/cuda_runtime/kernel_module.h"
#include "runner/cuda_runtime/nvml.h"
#include "runner/cuda_runtime/serve.h"

namespace kagent::runner::cuda {

namespace {

// As a JSON string.
void print_text(const char* text) {
  std::putchar('"');
  for (; *text != '\0'; ++text) {
    const auto byte = static_cast<unsigned char>(*text);
    if (byte == '"' || byte == '\\')
      std::printf("\\%c", byte);
    else if (byte < 0x20 || byte >= 0x7F)
      std::printf("\\u%04x", byte);
    else
      std::putchar(byte);
  }
  std::putchar('"');
}

int print_error(int code, const char* text) {
  std::printf("{\"code\": %d, \"error\": ", code);
  print_text(text);
  std::printf("}\n");
  return 1;
}

struct Field {
  const char* name;
  CUdevice_attribute attribute;
};
constexpr Field kFields[] = {
    {"major", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {"minor", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {"multiprocessors", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {"l2_bytes", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {"shared_bytes_per_block", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {"shared_bytes_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {"registers_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {"registers_per_block", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {"threads_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {"blocks_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {"clock_khz", CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    {"memory_clock_khz", CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
    {"memory_bus_bits", CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
};

// "GPU-5f3c6b1a-...": as CUDA_VISIBLE_DEVICES and nvidia-smi take it.
void print_uuid(const CUuuid& uuid) {
  std::printf("\"GPU-");
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) std::putchar('-');
    std::printf("%02x", static_cast<unsigned char>(uuid.bytes[i]));
  }
  std::putchar('"');
}

int print_devices() {
  Line why;
  if (const int error = open_driver(why); error != 0) return print_error(error, why.text());
  int count = 0, version = 0;
  api.cuDriverGetVersion(&version);
  if (const CUresult error = api.cuDeviceGetCount(&count); error != CUDA_SUCCESS || count == 0) {
    why << "cuDeviceGetCount: " << (error != CUDA_SUCCESS ? error : CUDA_ERROR_NO_DEVICE);
    return print_error(error != CUDA_SUCCESS ? error : CUDA_ERROR_NO_DEVICE, why.text());
  }
  std::printf("{\"devices\": [");
  for (int index = 0; index < count; ++index) {
    CUdevice device = 0;
    CUuuid uuid{};
    char name[256] = {};
    std::size_t memory = 0;
    api.cuDeviceGet(&device, index);
    api.cuDeviceGetUuid(&uuid, device);
    api.cuDeviceGetName(name, sizeof name - 1, device);
    api.cuDeviceTotalMem(&memory, device);
    std::printf("%s{\"index\": %d, \"driver_version\": %d, \"memory_bytes\": %zu, \"uuid\": ", index > 0 ? ", " : "",
                index, version, memory);
    print_uuid(uuid);
    std::printf(", \"name\": ");
    print_text(name);
    for (const Field& field : kFields) {
      int value = 0;
      api.cuDeviceGetAttribute(&value, field.attribute, device);
      std::printf(", \"%s\": %d", field.name, value);
    }
    std::putchar('}');
  }
  std::printf("]}\n");
  return 0;
}

int print_ceilings() {
  Line why;
  DeviceCeilings ceilings;
  if (const int error = measure_ceilings(ceilings, why); error != 0) return print_error(error, why.text());
  std::printf(
      "{\"bytes_per_s\": %.6g, \"flops_per_s\": %.6g, \"half_flops_per_s\": %.6g, \"tensor_flops_per_s\": %.6g, "
      "\"launch_s\": %.6g}\n",
      ceilings.bytes_per_s, ceilings.flops_per_s, ceilings.half_flops_per_s, ceilings.tensor_flops_per_s,
      ceilings.launch_s);
  return 0;
}

// A StateReply for each byte that comes, until the other end closes.
int watch(const char* uuid) {
  Line why;
  Nvml nvml;
  if (!nvml.open(uuid, why)) return 1;
  char byte = 0;
  while (::read(protocol::kSocket, &byte, 1) == 1) {
    const protocol::StateReply state = nvml.state();
    if (::write(protocol::kSocket, &state, sizeof state) != sizeof state) return 1;
  }
  return 0;
}

}  // namespace

}  // namespace kagent::runner::cuda

extern "C" int kagent_cuda_call(void* const*) {
  return kagent::runner::cuda::launch_kernel(*kagent::runner::cuda::current_slot);
}

int main(int count, char** words) {
  using namespace kagent::runner::cuda;
  if (count == 1) serve_requests();
  if (count == 2 && std::strcmp(words[1], "--devices") == 0) return print_devices();
  if (count == 2 && std::strcmp(words[1], "--ceilings") == 0) return print_ceilings();
  if (count == 3 && std::strcmp(words[1], "--watch") == 0) return watch(words[2]);
  std::fprintf(stderr,
               "usage: %s --devices | --ceilings | --watch UUID\n"
               "without arguments it is started by kagent alone, which talks to it\n",
               words[0]);
  return 2;
}
