// SPDX-License-Identifier: Apache-2.0
#include "toolchain/nvcc_command.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolchain/clean_environment.h"
#include "toolchain/command_line.h"
#include "util/files.h"

namespace kagent::toolchain {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using Words = std::vector<std::string>;

// nvcc in a folder of its own: only its name counts.
class NvccCommand : public testing::Test {
 protected:
  NvccCommand() {
    fs::create_directories(folder_.path() / "bin");
    if (!util::write_file_atomically(compiler(), "")) ADD_FAILURE();
  }
  fs::path compiler() const { return folder_.path() / "bin" / "nvcc"; }
  CompileCommand parse(Words words) {
    words.insert(words.begin(), compiler().string());
    words.insert(words.end(), {"-c", "/s/k.cu", "-o", "k.o"});
    auto command = parse_command_line(folder_.path(), words, "/s/k.cu");
    EXPECT_TRUE(command) << command.error().message;
    return command.value_or(CompileCommand{});
  }
  util::TemporaryFolder folder_;
  CleanEnvironment environment_;
};

TEST(NvccOptions, have_one_spelling_each) {
  EXPECT_THAT(canonical_nvcc_options(
                  {"-D", "A=1", "-D=B", "--define-macro", "C", "-I", "/x y", "--include-path=/z", "-isystem=/q"}),
              ElementsAre("-DA=1", "-DB", "-DC", "-I/x y", "-I/z", "-isystem", "/q"));
  EXPECT_THAT(canonical_nvcc_options({"--std=c++17", "-std", "c++20", "-O", "2", "--optimize=3"}),
              ElementsAre("-std=c++17", "-std=c++20", "-O2", "-O3"));
  EXPECT_THAT(
      canonical_nvcc_options({"-Xcompiler", "-fPIC,-Wall", "--compiler-options=-MD", "--device-debug", "-dc", "-x=cu"}),
      ElementsAre("-Xcompiler=-fPIC,-Wall", "-Xcompiler=-MD", "-G", "-rdc=true", "-x", "cu"));
}

TEST(NvccOptions, lose_outputs_dependency_files_and_intermediate_files) {
  EXPECT_THAT(canonical_nvcc_options({"-c", "-o", "k.o", "-MD", "-MT", "k.o", "-MF", "k.d", "--keep", "--keep-dir",
                                      "/x", "-res-usage", "--dryrun"}),
              IsEmpty());
}

TEST(NvccOptions, lose_architectures_in_every_spelling) {
  for (const Words& words :
       {Words{"-arch=sm_90"}, Words{"-arch", "compute_90", "-code", "sm_90,compute_90"},
        Words{"--gpu-architecture=all-major", "-dlto"}, Words{"-gencode", "arch=compute_80,code=sm_80"},
        Words{"--generate-code=arch=compute_80,code=[compute_80,sm_80]", "-gencode=arch=compute_90,code=sm_90"}})
    EXPECT_THAT(without_architectures(canonical_nvcc_options(words)), IsEmpty());
  EXPECT_THAT(without_architectures(canonical_nvcc_options({"-rdc", "true", "-arch=sm_90", "-DX"})),
              ElementsAre("-rdc=true", "-DX"));
}

TEST_F(NvccCommand, reads_option_files_that_do_not_end) {
  ASSERT_TRUE(util::write_file_atomically(folder_.path() / "a.rsp", "-I\"/a b\" -isystem=/sys --options-file=a.rsp"));
  const Words options = parse({"--options-file=a.rsp", "-O3"}).options;
  ASSERT_GT(options.size(), 4u);
  EXPECT_EQ(options.front(), "-I/a b");
  EXPECT_EQ(options.back(), "-O3");
}

TEST_F(NvccCommand, of_cmake_is_understood) {
  const CompileCommand command = parse({"-forward-unknown-to-host-compiler", "-DFOO=\"a b\"", "-DNDEBUG", "-O3",
                                        "-std=c++17", "--generate-code=arch=compute_90,code=[sm_90]",
                                        "-Xcompiler=-fPIC", "-MD", "-MT", "k.o", "-MF", "k.d", "-x", "cu"});
  EXPECT_THAT(command.options,
              ElementsAre("-forward-unknown-to-host-compiler", "-DFOO=\"a b\"", "-DNDEBUG", "-O3", "-std=c++17",
                          "--generate-code=arch=compute_90,code=[sm_90]", "-Xcompiler=-fPIC", "-x", "cu"));
  EXPECT_EQ(command.standard(), "c++17");
  EXPECT_THAT(command.definitions(), ElementsAre("-DFOO=\"a b\""));
  EXPECT_TRUE(command.optimised());
}

TEST_F(NvccCommand, is_found_behind_a_launcher) {
  const auto command = parse_command_line(
      folder_.path(), {"/usr/bin/ccache", compiler().string(), "-O3", "-x", "cu", "-dc", "/s/k.cu", "-o", "k.o"},
      "/s/k.cu");
  ASSERT_TRUE(command);
  EXPECT_EQ(command->compiler, compiler());
  EXPECT_THAT(command->options, ElementsAre("-O3", "-x", "cu", "-rdc=true"));
}

// What conda's packages and containers set.
TEST_F(NvccCommand, has_what_the_environment_adds_to_every_call) {
  ::setenv("NVCC_PREPEND_FLAGS", " -ccbin=/opt/g++  -D A=\"x y\"", 1);
  ::setenv("NVCC_APPEND_FLAGS", "-allow-unsupported-compiler\t-lineinfo", 1);
  ::setenv("NVCC_CCBIN", "/other/g++", 1);
  EXPECT_THAT(parse({"-O3", "-x", "cu"}).options, ElementsAre("-ccbin=/opt/g++", "-DA=\"x y\"", "-O3", "-x", "cu",
                                                              "-allow-unsupported-compiler", "-lineinfo"));
  ::unsetenv("NVCC_PREPEND_FLAGS");
  ::unsetenv("NVCC_APPEND_FLAGS");
  EXPECT_THAT(parse({"-O3"}).options, ElementsAre("-ccbin=/other/g++", "-O3"));
  EXPECT_THAT(parse({"-O3", "--compiler-bindir", "/own"}).options, ElementsAre("-O3", "-ccbin=/own"));
}

TEST_F(NvccCommand, is_optimised_unless_it_is_for_a_device_debugger) {
  EXPECT_TRUE(parse({"-g"}).optimised());
  EXPECT_FALSE(parse({"-O3", "-G"}).optimised());
  EXPECT_FALSE(parse({"--device-debug"}).optimised());
}

}  // namespace
}  // namespace kagent::toolchain
