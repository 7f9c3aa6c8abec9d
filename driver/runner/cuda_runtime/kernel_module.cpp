// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_runtime/kernel_module.h"

#include <cstdlib>
#include <cstring>

namespace kagent::runner::cuda {

using protocol::Constant;
using protocol::Geometry;
using protocol::Module;
using protocol::ReplyKind;

namespace {

// Beyond this a kernel has to be allowed to ask for it.
constexpr std::uint32_t kCommonSharedBytes = 48 << 10;
// The largest cluster that every device with clusters can have.
constexpr std::uint64_t kPortableCluster = 8;

struct {
  unsigned char* image = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  std::uint32_t parameters = 0;
  std::uint32_t constants = 0;
  std::uint32_t constant_parameters[protocol::kMostConstants] = {};
  CUdeviceptr constant_addresses[protocol::kMostConstants] = {};
  std::size_t constant_bytes[protocol::kMostConstants] = {};
} loaded;

void need(CUresult result, const char* step, const char* symbol) {
  if (result == CUDA_SUCCESS) return;
  Line line;
  line << step << " '" << symbol << "'";
  fail(ReplyKind::bad_module, static_cast<int>(result), line.text());
}

int attribute(CUfunction_attribute which) {
  int value = 0;
  check(api.cuFuncGetAttribute(&value, which, loaded.function), "cuFuncGetAttribute");
  return value;
}

bool is_constant(std::uint32_t parameter) {
  for (std::uint32_t i = 0; i < loaded.constants; ++i)
    if (loaded.constant_parameters[i] == parameter) return true;
  return false;
}

// A launch that cannot be, told before it is tried.
[[noreturn]] void refuse(const char* what, unsigned long long asked, const char* of, unsigned long long most) {
  Line line;
  line << what << asked << of << most;
  std::memcpy(area, line.text(), protocol::kTextBytes);
  protocol::Reply reply{};
  reply.kind = ReplyKind::device_error;
  reply.code = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  send(reply);
  leave(1);
}

}  // namespace

void load_module(const Module& part, const Constant* constants) {
  if (part.offset == 0) {
    unload_module();
    loaded.image = static_cast<unsigned char*>(std::malloc(part.total_bytes));
  }
  if (loaded.image == nullptr || part.offset + part.length > part.total_bytes)
    fail(ReplyKind::bad_module, -1, "no memory for the device code");
  std::memcpy(loaded.image + part.offset, area, part.length);
  if (part.offset + part.length < part.total_bytes) return;
  need(api.cuModuleLoadData(&loaded.module, loaded.image), "cuModuleLoadData for", part.symbol);
  std::free(loaded.image);
  loaded.image = nullptr;
  need(api.cuModuleGetFunction(&loaded.function, loaded.module, part.symbol), "cuModuleGetFunction", part.symbol);
  loaded.parameters = part.parameters;
  loaded.constants = part.constants;
  for (std::uint32_t i = 0; i < part.constants; ++i) {
    loaded.constant_parameters[i] = constants[i].parameter;
    need(api.cuModuleGetGlobal(&loaded.constant_addresses[i], &loaded.constant_bytes[i], loaded.module,
                               constants[i].symbol),
         "cuModuleGetGlobal of __constant__", constants[i].symbol);
  }
}

void unload_module() {
  if (loaded.module != nullptr) check(api.cuModuleUnload(loaded.module), "cuModuleUnload");
  std::free(loaded.image);
  loaded = {};
}

void set_geometry(Slot& slot, const Geometry& geometry) {
  if (loaded.function == nullptr) fail(ReplyKind::bad_module, -1, "a launch without device code");
  slot.geometry = geometry;
  for (std::uint32_t i = 0; i < loaded.constants; ++i) {
    const Argument& argument = slot.arguments[loaded.constant_parameters[i]];
    if (argument.block.data_bytes > loaded.constant_bytes[i])
      refuse("an input of ", argument.block.data_bytes, " bytes for a __constant__ of ", loaded.constant_bytes[i]);
  }
  const unsigned long long threads =
      static_cast<unsigned long long>(geometry.block[0]) * geometry.block[1] * geometry.block[2];
  const int most_threads = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  if (threads > static_cast<unsigned long long>(most_threads))
    refuse("a block of ", threads, " threads; with its registers this kernel can have ",
           static_cast<unsigned long long>(most_threads));
  const int fixed = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  const unsigned long long shared = static_cast<unsigned long long>(fixed) + geometry.shared_bytes;
  if (shared > static_cast<unsigned long long>(context.shared_bytes_per_block))
    refuse("", shared, " bytes of shared memory a block; the device has ",
           static_cast<unsigned long long>(context.shared_bytes_per_block));
  if (shared > kCommonSharedBytes)
    check(api.cuFuncSetAttribute(loaded.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 static_cast<int>(geometry.shared_bytes)),
          "raising the limit on shared memory");
  const auto cluster = static_cast<std::uint64_t>(geometry.cluster[0]) * geometry.cluster[1] * geometry.cluster[2];
  if (cluster > kPortableCluster)
    check(api.cuFuncSetAttribute(loaded.function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
          "allowing a large cluster");
}

void copy_constants(const Slot& slot) {
  for (std::uint32_t i = 0; i < loaded.constants; ++i) {
    const Argument& argument = slot.arguments[loaded.constant_parameters[i]];
    if (argument.block.data_bytes > 0)
      check(api.cuMemcpyDtoDAsync(loaded.constant_addresses[i], argument.data(), argument.block.data_bytes,
                                  context.stream),
            "cuMemcpyDtoDAsync to a __constant__");
  }
}

int launch_kernel(const Slot& slot) {
  const Geometry& g = slot.geometry;
  if (g.grid[0] == 0 || g.grid[1] == 0 || g.grid[2] == 0) return 0;
  void* passed[protocol::kMostParameters];
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < slot.count; ++i) {
    const Argument& argument = slot.arguments[i];
    if (is_constant(i) || argument.block.kind == protocol::BlockKind::stream) continue;
    passed[count++] = argument.is_buffer() ? const_cast<void**>(&slot.pointers[i]) : slot.pointers[i];
  }
  const bool alone = g.cluster[0] == 1 && g.cluster[1] == 1 && g.cluster[2] == 1;  // no cluster, whatever the device
  if (g.cluster[0] == 0 || alone)
    return api.cuLaunchKernel(loaded.function, g.grid[0], g.grid[1], g.grid[2], g.block[0], g.block[1], g.block[2],
                              g.shared_bytes, context.stream, passed, nullptr);
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim.x = g.cluster[0];
  cluster.value.clusterDim.y = g.cluster[1];
  cluster.value.clusterDim.z = g.cluster[2];
  CUlaunchConfig config{};
  config.gridDimX = g.grid[0], config.gridDimY = g.grid[1], config.gridDimZ = g.grid[2];
  config.blockDimX = g.block[0], config.blockDimY = g.block[1], config.blockDimZ = g.block[2];
  config.sharedMemBytes = g.shared_bytes;
  config.hStream = context.stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  return api.cuLaunchKernelEx(&config, loaded.function, passed, nullptr);
}

}  // namespace kagent::runner::cuda
