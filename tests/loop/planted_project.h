// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "build_step/kernel_context.h"
#include "store/variant_store.h"
#include "toolchain/host_toolchain.h"
#include "util/files.h"
#include "util/subprocess.h"
#include "values/progress.h"

namespace kagent::loop {

// A project in a git repository of its own, with one kernel whose fastest tunable is planted: `scale` does WORK times
// the work that it needs, so that WORK = 1 is the best and every value is correct.
class PlantedProject {
 public:
  PlantedProject() {
    write("src/scale.h", "void scale(const float* x, float* y, int n);\n");
    write("src/scale.cpp", R"(#include "scale.h"
#ifndef WORK
#define WORK 40
#endif
#ifndef SPARE
#define SPARE 0
#endif
void scale(const float* x, float* y, int n) {
  constexpr int work = WORK;
  for (int i = 0; i < n; ++i) {
    float value = x[i];
    for (int k = 1; k < work; ++k) {
      volatile float kept = value;
      value = kept;
    }
    y[i] = 2 * value + SPARE * 0;
  }
}
)");
    write("golden/scale/kernel.json", R"({
  "kernel": "scale", "style": "launcher", "entry": "scale",
  "parameters": [
    {"name": "x", "kind": "input", "dtype": "float32", "shape": ["n"]},
    {"name": "y", "kind": "output", "dtype": "float32", "shape": ["n"]},
    {"name": "n", "kind": "size", "dtype": "int32"}
  ],
  "cases": [
    {"name": "small", "sizes": {"n": 100}},
    {"name": "large", "sizes": {"n": 20000}, "timed": true}
  ],
  "reference": {"source": "reference.cpp", "function": "scale_reference"},
  "tunables": {"WORK": [40, 20, 10, 1]},
  "goal": {"min_gain": 0.02}
})");
    write("golden/scale/reference.cpp",
          "void scale_reference(const double* x, double* y, int n) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n");
    write_compile_commands("-O2 -std=c++17");
    shell(
        "git init -q -b main . && git config user.name Tester && git config user.email tester@example.org && "
        "printf 'build/\\n' > .gitignore && git add . && git commit -qm start");
  }

  std::filesystem::path root() const { return folder_.path() / "project"; }
  std::filesystem::path build() const { return root() / "build"; }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = root() / name;
    std::filesystem::create_directories(file.parent_path());
    ASSERT_TRUE(util::write_file_atomically(file, text));
  }
  // As CMake writes it for the generated source.
  void write_compile_commands(const std::string& flags) const {
    write("build/compile_commands.json",
          "[\n{\n  \"directory\": \"" + build().string() + "\",\n  \"command\": \"/usr/bin/c++ " + flags +
              " -o scale.cpp.o -c " + generated().string() + "\",\n  \"file\": \"" + generated().string() + "\"\n}\n]");
  }
  std::string shell(const std::string& line) const {
    util::Command command;
    command.argv = {"/bin/sh", "-ec", line};
    command.working_folder = root();
    command.environment = util::minimal_environment();
    auto finished = util::run(command);
    EXPECT_TRUE(finished && finished->ok()) << line << "\n" << (finished ? finished->standard_error : "");
    return finished ? finished->standard_output : "";
  }

  std::filesystem::path generated() const { return build() / "kagent/ops/scale/scale.cpp"; }
  KernelRequest request() const {
    KernelRequest request;
    request.file = build() / "kagent/ops/scale/request.json";
    request.kernel = "scale";
    request.target = "ops";
    request.source = root() / "src/scale.cpp";
    request.golden = root() / "golden/scale";
    request.project_dir = root();
    request.build_dir = build();
    request.compile_commands = build() / "compile_commands.json";
    request.outputs = {{"native", generated()}};
    return request;
  }
  build_step::KernelContext context() const {
    std::filesystem::create_directories(generated().parent_path());
    return require(build_step::load_context(request(), request().outputs.front()));
  }
  store::VariantStore variants() const { return require(store::VariantStore::open(root(), build())); }

 private:
  util::TemporaryFolder folder_;
};

// Keeps what a run tells.
class RecordingObserver : public ProgressObserver {
 public:
  void on_event(const ProgressEvent& event) override { events.push_back(event); }
  template <class Event>
  std::vector<Event> all() const {
    std::vector<Event> found;
    for (const ProgressEvent& event : events)
      if (const Event* one = std::get_if<Event>(&event)) found.push_back(*one);
    return found;
  }
  std::vector<ProgressEvent> events;
};

}  // namespace kagent::loop
