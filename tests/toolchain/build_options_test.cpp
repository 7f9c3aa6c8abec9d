// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "toolchain/host_toolchain.h"
#include "util/files.h"
#include "util/subprocess.h"
#include "util/text.h"

namespace kagent::toolchain {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Not;
using Words = std::vector<std::string>;

// Everything that has gone wrong for somebody: options by language and configuration, SHELL: options, options of the
// source, precompiled headers, spaces and quotes.
constexpr const char* kProject = R"(
cmake_minimum_required(VERSION 3.25)
project(p LANGUAGES C CXX)
add_library(ops STATIC a.cpp b.c "my kernel.cpp")
set_target_properties(ops PROPERTIES CXX_STANDARD 20 CXX_EXTENSIONS ON POSITION_INDEPENDENT_CODE ON)
target_compile_options(ops PRIVATE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno> $<$<COMPILE_LANGUAGE:C>:-fgnu89-inline>
  $<$<CONFIG:Release>:-funroll-loops> "SHELL:--param max-unroll-times=4" "SHELL:-include \"${CMAKE_CURRENT_SOURCE_DIR}/forced.h\"")
target_compile_definitions(ops PRIVATE PLAIN VALUE=3 "TEXT=\"a b\"" $<$<COMPILE_LANGUAGE:CXX>:ONLY_CXX>)
target_include_directories(ops PRIVATE inc "with space" SYSTEM PRIVATE sys)
target_precompile_headers(ops PRIVATE <cmath>)
set_source_files_properties(a.cpp "my kernel.cpp" PROPERTIES COMPILE_OPTIONS "-fno-trapping-math;$<$<CONFIG:Debug>:-DSOURCE_DEBUG>"
  COMPILE_DEFINITIONS "OF_SOURCE=1")
)";

struct Generator {
  const char* name;
  const char* config;
};

class BuildOptions : public testing::TestWithParam<Generator> {
 protected:
  void SetUp() override {
    for (const char* folder : {"inc", "with space", "sys"}) fs::create_directories(source() / folder);
    for (const char* file : {"a.cpp", "b.c", "my kernel.cpp", "forced.h"})
      ASSERT_TRUE(util::write_file_atomically(source() / file, ""));
    ASSERT_TRUE(util::write_file_atomically(source() / "CMakeLists.txt", kProject));
    util::Command configure;
    configure.argv = {"cmake",
                      "-G",
                      GetParam().name,
                      "-S",
                      source().string(),
                      "-B",
                      (folder_.path() / "b").string(),
                      "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                      "-DCMAKE_COLOR_DIAGNOSTICS=ON",
                      "-DCMAKE_CXX_COMPILER_LAUNCHER=/usr/bin/env;CCACHE_X=1"};
    if (!multi_config()) configure.argv.push_back(std::string("-DCMAKE_BUILD_TYPE=") + GetParam().config);
    configure.environment = util::minimal_environment();
    const auto finished = util::run(configure);
    ASSERT_TRUE(finished && finished->ok()) << (finished ? finished->standard_error : finished.error().message);
  }
  bool multi_config() const { return std::string(GetParam().name).find("Multi") != std::string::npos; }
  fs::path source() const { return folder_.path() / "s"; }
  fs::path database() const { return folder_.path() / "b" / "compile_commands.json"; }

  // The command as the build runs it, by a full parse.
  Words build_words(const fs::path& file) const {
    for (const auto& entry : nlohmann::json::parse(util::read_file(database()).value())) {
      const std::string command = entry.at("command");
      const bool fits = !multi_config() ||
                        command.find("CMAKE_INTDIR=\\\\\\\"" + std::string(GetParam().config)) != std::string::npos ||
                        command.find("CMAKE_INTDIR=\\\"" + std::string(GetParam().config)) != std::string::npos;
      if (entry.at("file") == file.string() && fits) return util::split_shell_words(command);
    }
    ADD_FAILURE() << "no entry of " << file;
    return {};
  }

  util::TemporaryFolder folder_;
};

// What may differ between the build's command and a candidate's, on either side.
Words without_files(Words words, const std::string& source) {
  Words kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool with_value = word == "-o" || word == "-MT" || word == "-MF" || word == "-iquote";
    if (with_value) ++i;
    const bool alone = word == "-MD" || word == "-c" || word == source || word.starts_with("-ffile-prefix-map=") ||
                       word.starts_with("-frandom-seed=") || word.starts_with("-fdiagnostics-color");
    if (!with_value && !alone) kept.push_back(word);
  }
  return kept;
}

TEST_P(BuildOptions, are_those_of_the_build_word_by_word) {
  for (const char* name : {"a.cpp", "my kernel.cpp"}) {
    const fs::path file = source() / name;
    const auto command = find_compile_command(database(), file, multi_config() ? GetParam().config : "");
    ASSERT_TRUE(command) << command.error().message;
    HostToolchainOptions options;
    options.command = *command;
    options.source = file;
    Words build = build_words(file);
    build.erase(build.begin(), std::ranges::find(build, "/usr/bin/c++"));
    const Words candidate = without_files(compile_words(options, "/w/k.cpp", "/w/k.o"), "/w/k.cpp");
    EXPECT_EQ(candidate, without_files(build, file.string()));

    EXPECT_THAT(candidate, Contains("-fno-math-errno"));
    EXPECT_THAT(candidate, Not(Contains("-fgnu89-inline")));
    EXPECT_THAT(candidate, Contains("max-unroll-times=4"));
    EXPECT_THAT(candidate, Contains("-fno-trapping-math"));
    EXPECT_THAT(candidate, Contains("-DTEXT=\"a b\""));
    EXPECT_THAT(candidate, Contains("-I" + (source() / "with space").string()));
    EXPECT_THAT(candidate, Contains((source() / "forced.h").string()));
    EXPECT_THAT(candidate, Contains("-Winvalid-pch"));
    const bool release = std::string(GetParam().config) == "Release";
    EXPECT_EQ(std::ranges::count(candidate, "-funroll-loops"), release ? 1 : 0);
    EXPECT_EQ(std::ranges::count(candidate, "-DSOURCE_DEBUG"), release ? 0 : 1);
    EXPECT_EQ(command->standard(), "gnu++20");
    EXPECT_EQ(command->optimised(), release);
    EXPECT_THAT(command->definitions(), Contains("-DOF_SOURCE=1"));
    EXPECT_THAT(command->definitions(), Not(Contains("-DNDEBUG")));
  }
}

INSTANTIATE_TEST_SUITE_P(Generators, BuildOptions,
                         testing::Values(Generator{"Ninja", "Release"}, Generator{"Ninja", "Debug"},
                                         Generator{"Unix Makefiles", "Release"},
                                         Generator{"Ninja Multi-Config", "Release"},
                                         Generator{"Ninja Multi-Config", "Debug"}),
                         [](const auto& tried) {
                           std::string name = std::string(tried.param.name) + "_" + tried.param.config;
                           std::erase_if(name, [](char c) { return c == ' ' || c == '-'; });
                           return name;
                         });

}  // namespace
}  // namespace kagent::toolchain
