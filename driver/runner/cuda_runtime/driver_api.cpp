// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_runtime/driver_api.h"

#include <cerrno>
#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

namespace kagent::runner::cuda {

DriverApi api;

Line& Line::operator<<(const char* text) {
  for (; text != nullptr && *text != '\0' && length_ + 1 < sizeof text_; ++text) text_[length_++] = *text;
  return *this;
}

Line& Line::operator<<(unsigned long long number) {
  char digits[24];
  char* at = digits + sizeof digits - 1;
  *at = '\0';
  do *--at = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  return *this << at;
}

Line& Line::operator<<(CUresult error) {
  const char* name = nullptr;
  if (api.cuGetErrorName != nullptr) api.cuGetErrorName(error, &name);
  return *this << (name != nullptr ? name : "CUDA error") << " (" << static_cast<unsigned long long>(error) << ")";
}

namespace {

#define KAGENT_TEXT(name) #name
#define KAGENT_EXPANDED_TEXT(name) KAGENT_TEXT(name)

// The first function that the library does not have; null if it has all.
const char* look_up(void* library) {
  const char* missing = nullptr;
#define KAGENT_LOOK_UP(name)                                                                     \
  api.name = reinterpret_cast<decltype(api.name)>(::dlsym(library, KAGENT_EXPANDED_TEXT(name))); \
  if (api.name == nullptr && missing == nullptr) missing = KAGENT_EXPANDED_TEXT(name);
  KAGENT_DRIVER_FUNCTIONS(KAGENT_LOOK_UP)
#undef KAGENT_LOOK_UP
  return missing;
}

void tell_about_nodes(Line& why) {
  for (const char* node : {"/dev/nvidiactl", "/dev/nvidia-uvm"}) {
    const int file = ::open(node, O_RDWR | O_CLOEXEC);
    if (file < 0)
      why << "; " << node << ": " << std::strerror(errno);
    else
      ::close(file);
  }
}

Line& tell_version(Line& why, int version) {
  return why << static_cast<unsigned long long>(version / 1000) << "."
             << static_cast<unsigned long long>(version % 1000 / 10);
}

}  // namespace

int open_driver(Line& why) {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why << "the NVIDIA driver's library cannot be loaded: " << ::dlerror();
    return -1;
  }
  const char* const missing = look_up(library);
  int version = 0;
  if (api.cuDriverGetVersion != nullptr) api.cuDriverGetVersion(&version);
  // Within a major version every driver runs every toolkit's code, but not its PTX.
  if (missing != nullptr || (version != 0 && version / 1000 < CUDA_VERSION / 1000)) {
    why << "the driver supports CUDA ";
    tell_version(why, version) << ", and kagent was built with ";
    tell_version(why, CUDA_VERSION);
    if (missing != nullptr) why << " (it has no " << missing << ")";
    return CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER;
  }
  const CUresult initialised = api.cuInit(0);
  if (initialised == CUDA_SUCCESS) return 0;
  why << "cuInit: " << initialised;
  tell_about_nodes(why);
  return static_cast<int>(initialised);
}

}  // namespace kagent::runner::cuda
