// SPDX-License-Identifier: Apache-2.0
#include "toolchain/compile_command.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "toolchain/clean_environment.h"
#include "util/files.h"

namespace kagent::toolchain {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

// A compile database in a folder of its own, laid out as CMake writes it.
class Database : public testing::Test {
 protected:
  void write(const std::string& text) { ASSERT_TRUE(util::write_file_atomically(file(), text)); }

  static std::string entry(const std::string& command, const std::string& source, const std::string& output = {}) {
    return "{\n  \"directory\": \"/build\",\n  \"command\": " + nlohmann::json(command).dump() +
           ",\n  \"file\": " + nlohmann::json(source).dump() +
           (output.empty() ? "" : ",\n  \"output\": " + nlohmann::json(output).dump()) + "\n}";
  }
  // The options of a command line, for a source that it names.
  Words options(const std::string& command, const std::string& source = "/s/a.cpp") {
    write("[\n" + entry(command, source) + "\n]");
    const auto found = find_compile_command(file(), source, "");
    EXPECT_TRUE(found) << found.error().message;
    return found ? found->options : Words{};
  }
  fs::path file() const { return folder_.path() / "compile_commands.json"; }

  util::TemporaryFolder folder_;
  CleanEnvironment environment_;
};

TEST_F(Database, leaves_out_what_is_not_an_option_of_the_compilation) {
  EXPECT_THAT(options("/usr/bin/c++ -DA=1 -I/s/inc -O3 -MD -MT x.o -MF x.o.d -o x.o -c /s/a.cpp"),
              ElementsAre("-DA=1", "-I/s/inc", "-O3"));
  EXPECT_THAT(options("/usr/bin/c++ -O3 -fdiagnostics-color=always -fcolor-diagnostics -MMD -MP -MQ x -save-temps=obj "
                      "-ox.o -c /s/a.cpp"),
              ElementsAre("-O3"));
}

TEST_F(Database, keeps_precompiled_headers_warnings_and_values_that_look_like_something_else) {
  EXPECT_THAT(options("/usr/bin/c++ -Winvalid-pch -include /b/cmake_pch.hxx -isystem /s/a.cpp -Xclang -c -D A=2 "
                      "--param max-unroll-times=4 -c /s/a.cpp -o x.o"),
              ElementsAre("-Winvalid-pch", "-include", "/b/cmake_pch.hxx", "-isystem", "/s/a.cpp", "-Xclang", "-c",
                          "-DA=2", "--param", "max-unroll-times=4"));
}

TEST_F(Database, has_the_include_folders_of_the_environment_behind_its_own) {
  ::setenv("CPATH", "/opt/a:/s:", 1);
  ::setenv("CPLUS_INCLUDE_PATH", "/opt/b", 1);
  const Words words = options("/usr/bin/c++ -I/s -O3 -c /s/a.cpp -o x.o");
  EXPECT_THAT(words, ElementsAre("-I/s", "-O3", "-isystem", "/opt/a", "-isystem", ".", "-isystem", "/opt/b"));
}

TEST_F(Database, undoes_the_quoting_of_json_and_of_the_shell) {
  EXPECT_THAT(options(R"(/usr/bin/c++ -DS=\"a\ b\" "-DT=\"x y\"" '-DU={1,2}' -DW=\\ -c "/s/my \"k\"\\ä.cpp")",
                      R"(/s/my "k"\ä.cpp)"),
              ElementsAre("-DS=\"a b\"", "-DT=\"x y\"", "-DU={1,2}", "-DW=\\"));
}

TEST_F(Database, finds_the_compiler_behind_launchers) {
  for (const std::string launcher :
       {"/usr/bin/ccache ", "ccache compiler_check=content ", "distcc ", "/opt/x/sccache ", "/s/tools/launch.sh ",
        "/usr/bin/cmake -E env A=b ccache ", "/usr/bin/cmake -E time ", "nice -n 10 ",
        "/usr/bin/cmake -E __run_co_compile --launcher=ccache --tidy=clang-tidy --source=/s/a.cpp -- "}) {
    write("[\n" + entry(launcher + "/usr/bin/g++ -O2 -c /s/a.cpp -o a.o", "/s/a.cpp") + "\n]");
    const auto found = find_compile_command(file(), "/s/a.cpp", "");
    ASSERT_TRUE(found) << launcher << found.error().message;
    EXPECT_EQ(found->compiler, "/usr/bin/g++") << launcher;
    EXPECT_THAT(found->options, ElementsAre("-O2")) << launcher;
  }
}

TEST_F(Database, passes_over_a_link_to_a_launcher_in_the_compilers_name) {
  fs::create_symlink("/usr/bin/ccache", folder_.path() / "g++");
  write("[\n" + entry((folder_.path() / "g++").string() + " -c /s/a.cpp", "/s/a.cpp") + "\n]");
  EXPECT_EQ(find_compile_command(file(), "/s/a.cpp", "")->compiler, "/usr/bin/g++");
}

TEST_F(Database, takes_a_compiler_of_any_name) {
  fs::create_symlink("/usr/bin/g++", folder_.path() / "mpicxx");
  write("[\n" + entry((folder_.path() / "mpicxx").string() + " -isystem /opt/gcc -c /s/a.cpp", "/s/a.cpp") + "\n]");
  const auto found = find_compile_command(file(), "/s/a.cpp", "");
  EXPECT_EQ(found->compiler, folder_.path() / "mpicxx");
  EXPECT_THAT(found->options, ElementsAre("-isystem", "/opt/gcc"));
}

TEST_F(Database, says_so_when_the_compiler_is_gone) {
  write("[\n" + entry("/nonexistent/g++ -c /s/a.cpp", "/s/a.cpp") + "\n]");
  EXPECT_THAT(find_compile_command(file(), "/s/a.cpp", "").error().message, HasSubstr("'/nonexistent/g++'"));
}

TEST_F(Database, expands_response_files_within_each_other) {
  ASSERT_TRUE(util::write_file_atomically(folder_.path() / "in.rsp",
                                          "-I/s/a -DX=\\\"q\\\"\n@" + (folder_.path() / "deep.rsp").string()));
  ASSERT_TRUE(util::write_file_atomically(folder_.path() / "deep.rsp", "-O2 '-DY=a b'"));
  EXPECT_THAT(options("/usr/bin/c++ @" + (folder_.path() / "in.rsp").string() + " @missing.rsp -c /s/a.cpp"),
              ElementsAre("-I/s/a", "-DX=\"q\"", "-O2", "-DY=a b", "@missing.rsp"));
}

TEST_F(Database, expands_the_options_file_in_which_cmake_puts_include_folders_for_nvcc) {
  const fs::path nvcc = folder_.path() / "nvcc";
  ASSERT_TRUE(util::write_file_atomically(nvcc, "#!/bin/sh\n"));
  ASSERT_TRUE(util::write_file_atomically(folder_.path() / "includes.rsp", "-I/s/inc -I\"/s/sp ace\" -isystem=/t"));
  const std::string command = nvcc.string() + " -forward-unknown-to-host-compiler -DA=1 --options-file " +
                              (folder_.path() / "includes.rsp").string() +
                              " --generate-code=arch=compute_90,code=[sm_90] -x cu -rdc=true -c /s/a.cu -o a.cu.o";
  EXPECT_THAT(options(command, "/s/a.cu"),
              ElementsAre("-forward-unknown-to-host-compiler", "-DA=1", "-I/s/inc", "-I/s/sp ace", "-isystem", "/t",
                          "--generate-code=arch=compute_90,code=[sm_90]", "-x", "cu", "-rdc=true"));
  EXPECT_THAT(options(nvcc.string() + " --options-file missing.rsp -c /s/a.cu", "/s/a.cu"),
              ElementsAre("--options-file", "missing.rsp"));
}

TEST_F(Database, ends_on_a_response_file_that_names_itself) {
  ASSERT_TRUE(
      util::write_file_atomically(folder_.path() / "loop.rsp", "-O2 @" + (folder_.path() / "loop.rsp").string()));
  EXPECT_FALSE(options("/usr/bin/c++ @" + (folder_.path() / "loop.rsp").string() + " -c /s/a.cpp").empty());
}

TEST_F(Database, tells_configurations_apart_by_their_definition) {
  const auto line = [](const std::string& config, const std::string& flag) {
    return "/usr/bin/c++ -DCMAKE_INTDIR=\\\"" + config + "\\\" " + flag + " -o CMakeFiles/t.dir/" + config +
           "/a.cpp.o -c /s/Release/a.cpp";
  };
  write("[\n" + entry(line("Debug", "-g"), "/s/Release/a.cpp") + ",\n" +
        entry(line("Release", "-O3"), "/s/Release/a.cpp") + "\n]");
  EXPECT_THAT(find_compile_command(file(), "/s/Release/a.cpp", "Debug")->options,
              ElementsAre("-DCMAKE_INTDIR=\"Debug\"", "-g"));
  EXPECT_THAT(find_compile_command(file(), "/s/Release/a.cpp", "Release")->options,
              ElementsAre("-DCMAKE_INTDIR=\"Release\"", "-O3"));
  const auto missing = find_compile_command(file(), "/s/Release/a.cpp", "MinSizeRel");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("'MinSizeRel'"));
}

TEST_F(Database, tells_configurations_apart_by_the_output_where_nothing_is_defined) {
  write("[\n" + entry("/usr/bin/c++ -g -c /s/a.cpp", "/s/a.cpp", "CMakeFiles/t.dir/Debug/a.cpp.o") + ",\n" +
        entry("/usr/bin/c++ -O3 -c /s/a.cpp", "/s/a.cpp", "CMakeFiles/t.dir/Release/a.cpp.o") + "\n]");
  EXPECT_THAT(find_compile_command(file(), "/s/a.cpp", "Release")->options, ElementsAre("-O3"));
}

TEST_F(Database, is_not_misled_by_a_path_that_ends_or_begins_like_the_source) {
  write("[\n" + entry("/usr/bin/c++ -DFIRST \"-DP=\\\"file\\\": \\\"/s/a.cpp\\\"\" -c /x/s/a.cpp", "/x/s/a.cpp") +
        ",\n" + entry("/usr/bin/c++ -DSECOND -c /s/a.cpp", "/s/a.cpp") + "\n]");
  EXPECT_THAT(find_compile_command(file(), "/s/a.cpp", "")->options, ElementsAre("-DSECOND"));
}

TEST_F(Database, reads_a_file_that_something_else_than_cmake_wrote) {
  write(R"([{"file":"../s/a.cpp","arguments":["/usr/bin/c++","-DX=a b","-c","../s/a.cpp"],"directory":"/build"}])");
  EXPECT_THAT(find_compile_command(file(), "/s/a.cpp", "")->options, ElementsAre("-DX=a b"));
}

TEST_F(Database, answers_broken_and_missing_input_with_the_fix) {
  EXPECT_THAT(find_compile_command(file(), "/s/a.cpp", "").error().fix, HasSubstr("CMAKE_EXPORT_COMPILE_COMMANDS"));
  for (const char* text : {"", "[", "{}", "[1, null, {}, {\"file\": 3}]", "[\n{\n  \"file\": \"/s/a.cpp\"\n"}) {
    write(text);
    EXPECT_FALSE(find_compile_command(file(), "/s/a.cpp", "")) << text;
  }
  EXPECT_FALSE(find_compile_command(folder_.path(), "/s/a.cpp", ""));
}

TEST_F(Database, answers_an_entry_without_a_command_or_with_another_input) {
  write("[\n" + entry("", "/s/a.cpp") + "\n]");
  EXPECT_FALSE(find_compile_command(file(), "/s/a.cpp", ""));
  write("[\n" + entry("/usr/bin/c++ -c /s/b.cpp", "/s/a.cpp") + "\n]");
  EXPECT_FALSE(find_compile_command(file(), "/s/a.cpp", ""));
}

TEST_F(Database, finds_an_entry_among_tens_of_thousands) {
  std::string text = "[\n";
  for (int i = 0; i < 20'000; ++i)
    text +=
        entry("/usr/bin/c++ -DI=" + std::to_string(i) + std::string(300, 'x') + " -c /s/f" + std::to_string(i) + ".cpp",
              "/s/f" + std::to_string(i) + ".cpp") +
        (i < 19'999 ? ",\n" : "\n");
  write(text + "]");
  EXPECT_TRUE(find_compile_command(file(), "/s/f19999.cpp", "")->options.front().starts_with("-DI=19999x"));
}

TEST(CompileCommand, gives_definitions_in_order_without_those_of_the_build_type) {
  const CompileCommand command{
      "/", "/usr/bin/c++", {"-DA=1", "-O2", "-UA", "-DNDEBUG", "-DCMAKE_INTDIR=\"Debug\"", "-DNDEBUGGER", "-DA"}};
  EXPECT_THAT(command.definitions(), ElementsAre("-DA=1", "-UA", "-DNDEBUGGER", "-DA"));
}

TEST(CompileCommand, gives_the_last_standard) {
  EXPECT_EQ((CompileCommand{"/", "/c", {"-std=c++17", "-std=gnu++20"}}.standard()), "gnu++20");
  EXPECT_EQ((CompileCommand{"/", "/c", {"-ansi"}}.standard()), "c++98");
  EXPECT_EQ((CompileCommand{"/", "/c", {}}.standard()), "default");
}

TEST(CompileCommand, takes_the_last_optimisation_level) {
  EXPECT_FALSE((CompileCommand{"/", "/c", {"-g"}}.optimised()));
  EXPECT_FALSE((CompileCommand{"/", "/c", {"-O3", "-O0"}}.optimised()));
  EXPECT_FALSE((CompileCommand{"/", "/c", {"-Og"}}.optimised()));
  EXPECT_TRUE((CompileCommand{"/", "/c", {"-O0", "-O2"}}.optimised()));
  EXPECT_TRUE((CompileCommand{"/", "/c", {"-Ofast"}}.optimised()));
}

}  // namespace
}  // namespace kagent::toolchain
