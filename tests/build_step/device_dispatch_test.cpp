// SPDX-License-Identifier: Apache-2.0
#include "build_step/device_dispatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/files.h"
#include "util/subprocess.h"

namespace kagent::build_step {
namespace {

using ::testing::HasSubstr;

// A program whose devices are made up: the generated text is host code, and what it asks CUDA for is answered here.
constexpr char kFakeRuntime[] = R"(
enum cudaError_t { cudaSuccess, cudaErrorNoDevice };
enum cudaDeviceAttr { cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor };
extern "C" cudaError_t cudaGetDevice(int*);
extern "C" cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int);
)";

constexpr char kKernel[] = R"(
#include "kernel.h"
const char* ops::which(const float*, Moved moved) { return moved.there ? "baseline" : "argument lost"; }
// Macros of the kernel's own reach to the end of what is compiled.
#define device no
#define major no
#define minor no
#define chosen no
#define kept no
#define arguments no
#define Result no
#define used no
#define hidden no
)";

constexpr char kHeader[] = R"(
struct Moved {
  bool there = true;
  Moved() = default;
  Moved(const Moved&) = delete;
  Moved(Moved&& other) { other.there = false; }
};
namespace ops { const char* which(const float* x, Moved moved); }
)";

constexpr char kVariants[] = R"(
#include "kernel.h"
extern "C" const char* kagent_ops_which_sm_80(const float*, Moved moved) { return moved.there ? "sm_80" : "lost"; }
extern "C" const char* kagent_ops_which_sm_90a(const float*, Moved moved) { return moved.there ? "sm_90a" : "lost"; }
)";

// Prints what is called on the given device, twice, and how often it was looked up.
constexpr char kMain[] = R"(
#include <cstdio>
#include <cstdlib>
#include "cuda_runtime_api.h"
#include "kernel.h"
static int device, capability, lookups, failing;
cudaError_t cudaGetDevice(int* result) { *result = device; return failing ? cudaErrorNoDevice : cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int* result, cudaDeviceAttr which, int) {
  ++lookups;
  *result = which == cudaDevAttrComputeCapabilityMajor ? capability / 10 : capability % 10;
  return cudaSuccess;
}
int main(int count, char** words) {
  for (int i = 1; i + 1 < count; i += 2) {
    device = std::atoi(words[i]);
    capability = std::atoi(words[i + 1]);
    failing = device == 1000;
    lookups = 0;
    const char* first = ops::which(nullptr, Moved());
    const char* second = ops::which(nullptr, Moved());
    std::printf("%s %s %d;", first, second, lookups);
  }
}
)";

class DeviceDispatcher : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(util::write_file_atomically(folder_.path() / name, text));
  }
  std::string shell(const std::string& line) {
    util::Command command;
    command.argv = {"/bin/sh", "-ec", line};
    command.working_folder = folder_.path();
    command.environment = util::minimal_environment();
    auto finished = util::run(command);
    if (!finished) return finished.error().message;
    return finished->standard_output + finished->standard_error;
  }
  void write_program(const std::string& symbol, bool hidden = false) {
    write("cuda_runtime_api.h", std::string("#pragma once\n") + kFakeRuntime);
    write("kernel.h", std::string("#pragma once\n") + kHeader);
    write("kernel.cpp", kKernel);
    write("variants.cpp", kVariants);
    write("main.cpp", kMain);
    const Dispatcher dispatcher = device_dispatcher_source(
        {.target = "ops",
         .kernel = "which",
         .baseline = "#include \"kernel.cpp\"",
         .entry = "ops::which",
         .symbol = symbol,
         .hidden = hidden,
         .variants = {{"sm_80", "kagent_ops_which_sm_80"}, {"sm_90a", "kagent_ops_which_sm_90a"}}});
    write("generated.cpp", dispatcher.source);
    write("dispatch.inc", dispatcher.resolver);
  }
  static constexpr const char* kCompile = "c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -O2 -I. ";
  util::TemporaryFolder folder_;
};

TEST_F(DeviceDispatcher, CallsTheVariantOfExactlyTheCurrentDevice) {
  write_program("");
  EXPECT_EQ(shell(std::string(kCompile) + "generated.cpp variants.cpp main.cpp -o app; ./app 0 80 1 90 2 86 3 120"),
            "sm_80 sm_80 2;sm_90a sm_90a 2;baseline baseline 2;baseline baseline 2;");
}

TEST_F(DeviceDispatcher, KeepsWhatItFoundForADeviceAndLooksUpOneBeyondItsTable) {
  write_program("");
  EXPECT_EQ(shell(std::string(kCompile) + "generated.cpp variants.cpp main.cpp -o app; ./app 1 90 0 80 1 90 64 80"),
            "sm_90a sm_90a 2;sm_80 sm_80 2;sm_90a sm_90a 0;sm_80 sm_80 4;");
}

TEST_F(DeviceDispatcher, CallsTheBaselineWithoutADeviceAndAsksAgain) {
  write_program("");
  EXPECT_EQ(shell(std::string(kCompile) + "generated.cpp variants.cpp main.cpp -o app; ./app 1000 90 0 90"),
            "baseline baseline 0;sm_90a sm_90a 2;");
}

TEST_F(DeviceDispatcher, TakesTheEntrysPlaceInASharedLibraryThatHidesItsSymbols) {
  write_program("_ZN3ops5whichEPKf5Moved", true);
  EXPECT_EQ(shell(std::string(kCompile) +
                  "-fPIC -shared -fvisibility=hidden -Wl,-z,now generated.cpp variants.cpp -o libops.so;"
                  "c++ -std=c++17 -I. main.cpp -o app -rdynamic -L. -lops -Wl,-rpath,. -Wl,-z,now; ./app 0 80"),
            "sm_80 sm_80 2;");
}

TEST_F(DeviceDispatcher, IsDeclaredByItsTypeWhereTheSymbolIsNotKnown) {
  write_program("");
  EXPECT_THAT(shell(std::string(kCompile) + "-c generated.cpp -o generated.o; nm generated.o"),
              HasSubstr(" i _ZN3ops5whichEPKf5Moved\n"));
}

}  // namespace
}  // namespace kagent::build_step
