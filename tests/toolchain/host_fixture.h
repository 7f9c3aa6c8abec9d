// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "toolchain/host_toolchain.h"
#include "util/files.h"
#include "util/subprocess.h"

namespace kagent::toolchain {

// void scale(const float* x, float* y, int n)
inline constexpr const char* kKernel =
    "void scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n";

// A project with one kernel, in folders of its own, and a runtime that calls the entry once on {1, 2, 3} and prints y.
class HostFixture : public testing::Test {
 protected:
  HostFixture() {
    std::filesystem::create_directories(project() / "src");
    std::filesystem::create_directories(build());
    write(project() / "src" / "scale.cpp", kKernel);
    options_.command = {build(), "/usr/bin/c++", {"-O2"}};
    options_.source = project() / "src" / "scale.cpp";
    options_.runtime = printing_runtime();
    options_.entry = "scale";
    options_.parameters = {parameter("x", ParameterKind::input, DType::float32),
                           parameter("y", ParameterKind::output, DType::float32),
                           parameter("n", ParameterKind::size, DType::int32)};
    options_.visible = {project(), build()};
    // Where nothing works but plain processes, these tests are about everything else.
    options_.allow_unsandboxed = true;
  }

  static Parameter parameter(const std::string& name, ParameterKind kind, DType dtype) {
    Parameter result;
    result.name = name;
    result.kind = kind;
    result.dtype = dtype;
    return result;
  }
  static void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(util::write_file_atomically(path, text)) << path;
  }
  std::filesystem::path project() const { return folder_.path() / "project"; }
  std::filesystem::path build() const { return folder_.path() / "build"; }

  // An empty work folder.
  std::filesystem::path work_folder() {
    const std::filesystem::path folder = folder_.path() / ("work" + std::to_string(works_++));
    std::filesystem::create_directories(folder);
    return folder;
  }
  // Compiles with a toolchain of its own, or with `toolchain`.
  CompileResult compile(const std::string& source, Toolchain* toolchain = nullptr) {
    const auto own = make_host_toolchain(options_);
    const auto result = (toolchain != nullptr ? toolchain : own.get())->compile({source, work_folder()});
    if (!result) ADD_FAILURE() << result.error().message;
    return result.value_or(CompileResult{Outcome::crashed, "", {}, {}});
  }
  // What the program prints.
  static std::string run(const Binary& binary) {
    util::Command command;
    command.argv = {binary.executable.string()};
    command.environment = util::minimal_environment();
    const auto finished = util::run(command);
    return finished && finished->ok() ? finished->standard_output : "failed";
  }
  static const std::filesystem::path& printing_runtime(const std::string& number = "float");

  util::TemporaryFolder folder_;
  HostToolchainOptions options_;
  int works_ = 0;
};

}  // namespace kagent::toolchain
