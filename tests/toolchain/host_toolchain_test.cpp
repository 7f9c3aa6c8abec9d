// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host_toolchain.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolchain/host_fixture.h"
#include "values/candidate.h"

namespace kagent::toolchain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class HostToolchain : public HostFixture {
 protected:
  std::string failure_of(const std::string& source, Toolchain* toolchain = nullptr) {
    const CompileResult result = compile(source, toolchain);
    EXPECT_EQ(result.outcome, Outcome::compile_failed);
    return result.diagnostics;
  }
  std::string output_of(const std::string& source) {
    const CompileResult result = compile(source);
    EXPECT_EQ(result.outcome, Outcome::ok) << result.diagnostics;
    return run(result.binary);
  }
  std::string hash_of(const std::string& source) { return compile(source).binary.object_hash; }
};

TEST_F(HostToolchain, makes_a_program_that_calls_the_entry) {
  const CompileResult result = compile(kKernel);
  ASSERT_EQ(result.outcome, Outcome::ok) << result.diagnostics;
  EXPECT_EQ(result.binary.symbol, "_Z5scalePKfPfi");
  EXPECT_EQ(result.binary.object_hash.size(), 64u);
  EXPECT_EQ(run(result.binary), "2 4 6");
}

TEST_F(HostToolchain, calls_a_function_in_a_namespace_and_one_with_c_linkage) {
  options_.entry = "a::b::scale";
  EXPECT_EQ(output_of("namespace a::b { " + std::string(kKernel) + " }"), "2 4 6");
  EXPECT_EQ(output_of("namespace a::b { extern \"C\" " + std::string(kKernel) + " }"), "2 4 6");
}

TEST_F(HostToolchain, passes_sizes_and_scalars_in_their_own_types) {
  options_.parameters[2].dtype = DType::int64;
  EXPECT_THAT(failure_of(kKernel), HasSubstr("kernel.json asks for 'scale(const float* x, float* y, long n)'"));
}

TEST_F(HostToolchain, says_where_a_source_does_not_compile) {
  const std::string text = failure_of("void scale(const float* x, float* y, int n) {\n  y[0] = z;\n}\n");
  EXPECT_THAT(text, HasSubstr("scale.cpp:2:10: error: "));
  EXPECT_THAT(text, HasSubstr("  > 2 |   y[0] = z;"));
  EXPECT_THAT(text, Not(HasSubstr(folder_.path().string())));
}

TEST_F(HostToolchain, counts_lines_as_the_proposer_sees_them) {
  const Candidate candidate{
      "void scale(const float* x, float* y, int n) {\n  y[0] = z;\n}\n", {{"BLOCK", 4}, {"UNROLL", 2}}, {}, {}};
  const std::string text = failure_of(render(candidate, "scale.cpp"));
  EXPECT_THAT(text, HasSubstr("scale.cpp:2:10: error: "));
  EXPECT_THAT(text, HasSubstr("  > 2 |   y[0] = z;"));
}

TEST_F(HostToolchain, keeps_source_object_program_and_log_in_the_work_folder) {
  const auto toolchain = make_host_toolchain(options_);
  const fs::path work = work_folder();
  const auto result = toolchain->compile({kKernel, work});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->binary.executable.parent_path(), work);
  EXPECT_EQ(util::read_file(work / "scale.cpp").value(), kKernel);
  EXPECT_THAT(util::read_file(work / "compile.log").value(), HasSubstr("/usr/bin/c++"));
  EXPECT_TRUE(fs::exists(work / "candidate.o"));
}

TEST_F(HostToolchain, gives_warnings_of_a_source_that_compiles) {
  options_.command.options.push_back("-Wall");
  const CompileResult result = compile("void scale(const float*, float*, int) { int unused; }\n");
  EXPECT_EQ(result.outcome, Outcome::ok);
  EXPECT_THAT(result.diagnostics, HasSubstr("scale.cpp:1:45: warning: unused variable"));
}

TEST_F(HostToolchain, explains_what_a_source_that_is_not_self_contained_needs) {
  const std::string text =
      failure_of("float helper(float); void scale(const float* x, float* y, int) { y[0] = helper(x[0]); }");
  EXPECT_THAT(text, HasSubstr("not self-contained: nothing defines 'helper(float)'"));
  EXPECT_THAT(text, HasSubstr("\"libraries\""));
}

TEST_F(HostToolchain, links_the_libraries_of_the_rules) {
  const std::string source =
      "extern \"C\" const char* zlibVersion(); void scale(const float* x, float* y, int) { y[0] = zlibVersion()[0] != "
      "0; y[1] = x[1]; y[2] = 0; }";
  EXPECT_THAT(failure_of(source), HasSubstr("'zlibVersion'"));
  options_.libraries = {"stdc++fs", "cub", "thrust"};  // two of which are headers alone
  EXPECT_EQ(output_of(kKernel), "2 4 6");
}

TEST_F(HostToolchain, takes_relative_includes_from_the_baselines_folder) {
  write(project() / "src" / "twice.h", "inline float twice(float a) { return 2 * a; }\n");
  write(project() / "src" / "deep" / "x.h", "");
  EXPECT_EQ(output_of("#include \"twice.h\"\nvoid scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) "
                      "y[i] = twice(x[i]); }"),
            "2 4 6");
}

TEST_F(HostToolchain, adds_no_folder_for_relative_includes_that_the_build_has_already) {
  options_.command.options = {"-iquote", (project() / "src").string(), "-O2"};
  EXPECT_THAT(make_host_toolchain(options_)->flags(),
              testing::StartsWith("/usr/bin/c++ -iquote " + (project() / "src").string() + " -O2"));
}

TEST_F(HostToolchain, takes_relative_options_from_the_builds_folder) {
  fs::create_directories(build() / "inc");
  write(build() / "inc" / "factor.h", "#define FACTOR 3\n");
  options_.command.options = {"-O2", "-Iinc", "-x", "c++"};
  EXPECT_EQ(output_of("#include <factor.h>\nvoid scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) "
                      "y[i] = FACTOR * x[i]; }"),
            "3 6 9");
}

TEST_F(HostToolchain, takes_a_baseline_with_spaces_in_its_path) {
  options_.source = project() / "my src" / "my scale.cpp";
  write(options_.source.parent_path() / "f.h", "#define FACTOR 3\n");
  EXPECT_EQ(output_of("#include \"f.h\"\nvoid scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) "
                      "y[i] = FACTOR * x[i]; }"),
            "3 6 9");
}

TEST_F(HostToolchain, uses_a_precompiled_header_without_complaint) {
  const fs::path header = build() / "CMakeFiles" / "ops.dir" / "cmake_pch.hxx";
  write(header, "#define FACTOR 3\n");
  util::Command precompile;
  precompile.argv = {"/usr/bin/c++",  "-O2", "-Winvalid-pch",         "-x", "c++-header",
                     header.string(), "-o",  header.string() + ".gch"};
  precompile.environment = util::minimal_environment();
  ASSERT_TRUE(util::run(precompile)->ok());
  options_.command.options = {"-O2", "-Winvalid-pch", "-Werror", "-include", header.string()};
  EXPECT_EQ(
      output_of("void scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = FACTOR * x[i]; }"),
      "3 6 9");
}

TEST_F(HostToolchain, carries_the_options_to_the_link) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{"-O2", "-fopenmp"},
                                                  {"-O2", "-flto"},
                                                  {"-O1", "-fsanitize=undefined"},
                                                  {"-O3", "-march=native"},
                                                  {"-g", "-fPIC"},
                                                  {"-O2", "-fvisibility=hidden"}}) {
    options_.command.options = options;
    EXPECT_EQ(output_of("#ifdef _OPENMP\n#include <omp.h>\n#endif\nvoid scale(const float* x, float* y, int n) "
                        "{\n#pragma omp parallel for\n"
                        "for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n"),
              "2 4 6")
        << options.back();
  }
}

TEST_F(HostToolchain, links_position_dependent_objects_too) {
  options_.command.options = {"-O2", "-fno-pie", "-fno-pic"};
  const std::string source =
      "static const float table[] = {2, 3, 4, 5}; static const float* volatile p = table;\n"
      "void scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = p[0] * x[i] * (table[i] / "
      "table[i]); }";
  const auto toolchain = make_host_toolchain(options_);
  EXPECT_EQ(run(compile(source, toolchain.get()).binary), "2 4 6");
  EXPECT_EQ(run(compile(source, toolchain.get()).binary), "2 4 6");
}

TEST_F(HostToolchain, works_with_clang) {
  if (!fs::exists("/usr/bin/clang++")) GTEST_SKIP() << "clang is not installed";
  options_.command.compiler = "/usr/bin/clang++";
  EXPECT_EQ(output_of(kKernel), "2 4 6");
  EXPECT_THAT(failure_of("void scale(const float* x, float* y, int n) {\n  y[0] = z;\n}\n"),
              HasSubstr("scale.cpp:2:10: error: "));
  EXPECT_THAT(make_host_toolchain(options_)->compiler(), testing::MatchesRegex("clang\\+\\+ [0-9.]+.*"));
}

TEST_F(HostToolchain, works_with_a_compiler_outside_of_the_system_folders) {
  const fs::path prefix = folder_.path() / "opt" / "toolchain";
  write(prefix / "lib" / "real-compiler", "#!/bin/sh\nexec /usr/bin/c++ \"$@\"\n");
  write(prefix / "bin" / "g++-99", "#!/bin/sh\nexec \"$(dirname \"$0\")/../lib/real-compiler\" \"$@\"\n");
  for (const char* file : {"lib/real-compiler", "bin/g++-99"}) fs::permissions(prefix / file, fs::perms::owner_all);
  fs::create_directories(folder_.path() / "links");
  fs::create_symlink("../opt/toolchain/bin/g++-99", folder_.path() / "links" / "c++");
  options_.command.compiler = prefix / "bin" / "g++-99";
  EXPECT_EQ(output_of(kKernel), "2 4 6");
}

TEST_F(HostToolchain, works_with_a_wrapper_of_a_compiler_that_is_installed_elsewhere) {
  const fs::path real = folder_.path() / "opt/gcc/bin/g++";
  options_.command.compiler = folder_.path() / "opt/wrapper/bin/g++";
  write(real, "#!/bin/sh\ncase \"$*\" in *-v*) echo \"COLLECT_GCC=$0\" >&2 ;; esac\nexec /usr/bin/c++ \"$@\"\n");
  write(options_.command.compiler, "#!/bin/sh\nexec '" + real.string() + "' \"$@\"\n");
  for (const fs::path& file : {real, options_.command.compiler}) fs::permissions(file, fs::perms::owner_all);
  EXPECT_EQ(output_of(kKernel), "2 4 6");
}

TEST_F(HostToolchain, names_the_compiler) {
  EXPECT_THAT(make_host_toolchain(options_)->compiler(), testing::MatchesRegex("g\\+\\+ [0-9]+\\.[0-9.]+"));
}

TEST_F(HostToolchain, gives_equal_objects_for_equal_programs_in_different_folders) {
  const std::string source =
      "#include <cassert>\n#include <cstring>\nconst char* where = __FILE__;\nnamespace { int hidden(int n) { return n "
      "+ 1; } }\n"
      "void scale(const float* x, float* y, int n) { assert(n > hidden(0)); y[0] = x[0]; }\n";
  for (const std::vector<std::string>& options : {std::vector<std::string>{"-O2"},
                                                  {"-O2", "-g"},
                                                  {"-O0", "-g3"},
                                                  {"-O2", "-DNDEBUG"},
                                                  {"-O2", "-flto"},
                                                  {"-O2", "-g", "-frecord-gcc-switches"},
                                                  {"--coverage"}}) {
    options_.command.options = options;
    const std::string first = hash_of(source);
    EXPECT_EQ(first.size(), 64u);
    EXPECT_EQ(first, hash_of(source)) << options.back();
    EXPECT_NE(first, hash_of(source + "int more;\n")) << options.back();
  }
}

TEST_F(HostToolchain, does_not_let_the_work_folder_show_in_the_object) {
  options_.command.options = {"-O0", "-g3"};
  const CompileResult result = compile("const char* where = __FILE__;\n" + std::string(kKernel));
  EXPECT_THAT(util::read_file(result.binary.executable.parent_path() / "candidate.o").value(),
              Not(HasSubstr("/work0")));
}

TEST_F(HostToolchain, refuses_a_candidate_that_its_callers_would_not_find) {
  const auto toolchain = make_host_toolchain(options_);
  ASSERT_EQ(compile(kKernel + std::string("void other() {}\n"), toolchain.get()).outcome, Outcome::ok);
  EXPECT_THAT(failure_of(kKernel, toolchain.get()), HasSubstr("no longer defines 'other()'"));
  EXPECT_THAT(failure_of("extern \"C\" " + std::string(kKernel) + "void other() {}\n", toolchain.get()),
              HasSubstr("'scale(float const*, float*, int)'"));
  EXPECT_EQ(
      compile(kKernel + std::string("void other() {}\nnamespace own { int more() { return 1; } int used = more(); }\n"),
              toolchain.get())
          .outcome,
      Outcome::ok);
}

TEST_F(HostToolchain, refuses_to_let_a_candidate_take_the_place_of_the_systems_functions) {
  const auto toolchain = make_host_toolchain(options_);
  ASSERT_EQ(compile(kKernel, toolchain.get()).outcome, Outcome::ok);
  EXPECT_THAT(
      failure_of(kKernel + std::string("extern \"C\" int clock_gettime(int, void*) { return 0; }\n"), toolchain.get()),
      HasSubstr("'clock_gettime'"));
  EXPECT_THAT(
      failure_of(kKernel + std::string("void* operator new(unsigned long) { return nullptr; }\n"), toolchain.get()),
      HasSubstr("operator new"));
  EXPECT_THAT(failure_of(kKernel + std::string("int main() { return 0; }\n")), HasSubstr("'main'"));
}

TEST_F(HostToolchain, stops_a_compilation_that_does_not_end) {
  options_.time_limit = std::chrono::milliseconds(500);
  const std::string text = failure_of(
      "template <int N> struct T { static constexpr long v = T<N - 1>::v + T<N - 2>::v; };\n"
      "constexpr long f(long n) { long s = 0; for (long i = 0; i < n; ++i) for (long j = 0; j < 200000; ++j) s += j; "
      "return s; }\n"
      "template <long N> struct L { static constexpr long v = f(N); };\n"
      "long a = L<1>::v + L<2>::v + L<3>::v; template <int N> long sum() { if constexpr (N == 0) return 0; else return "
      "L<N>::v + sum<N - 1>(); }\n"
      "long b = sum<160>();\n" +
      std::string(kKernel));
  EXPECT_THAT(text, HasSubstr("the compiler took longer than 500 ms"));
}

TEST_F(HostToolchain, is_safe_to_call_from_several_threads) {
  const auto toolchain = make_host_toolchain(options_);
  std::vector<fs::path> folders;
  for (int i = 0; i < 4; ++i) folders.push_back(work_folder());
  std::vector<std::string> hashes(folders.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < folders.size(); ++i)
      threads.emplace_back([&, i] {
        const auto result = toolchain->compile({kKernel, folders[i]});
        if (result) hashes[i] = result->binary.object_hash;
      });
  }
  for (const std::string& hash : hashes) {
    EXPECT_EQ(hash, hashes.front());
    EXPECT_EQ(hash.size(), 64u);
  }
}

TEST_F(HostToolchain, says_so_when_the_runtime_is_missing) {
  options_.runtime = "/nonexistent/libkagent_runner.a";
  const auto result = make_host_toolchain(options_)->compile({kKernel, work_folder()});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("/nonexistent/libkagent_runner.a"));
}

TEST_F(HostToolchain, takes_an_empty_source_and_a_source_that_is_no_text) {
  EXPECT_THAT(failure_of(""), HasSubstr("no function 'scale'"));
  EXPECT_FALSE(failure_of(std::string("\xFF\0\x1B[31m", 7)).empty());
}

TEST_F(HostToolchain, shows_its_flags_without_the_files_of_this_machine) {
  options_.command.options = {"-O3", "-DX=a b"};
  EXPECT_THAT(make_host_toolchain(options_)->flags(), HasSubstr("-O3 '-DX=a b'"));
  EXPECT_THAT(make_host_toolchain(options_)->flags(), testing::EndsWith("-c scale.cpp -o scale.cpp.o"));
}

TEST_F(HostToolchain, compiles_the_reference_apart_with_doubles_and_none_of_the_builds_flags) {
  write(project() / "golden" / "reference.cpp", "");
  write(project() / "golden" / "ref.h", "#define TWO 2\n");
  options_.command.options = {"-O0", "-ffast-math", "-DBAD", "-std=gnu++20", "-fopenmp"};
  options_.covered = {project() / "golden"};
  HostToolchainOptions reference = reference_options(options_, {project() / "golden" / "reference.cpp", "ref::scale"});
  EXPECT_EQ(reference.command.standard(), "gnu++20");
  reference.runtime = printing_runtime("double");
  const auto result = make_host_toolchain(reference)->compile(
      {"#include \"ref.h\"\n#if defined BAD || defined __FAST_MATH__\n#error flags\n#endif\n"
       "namespace ref { void scale(const double* x, double* y, int n) { for (int i = 0; i < n; ++i) y[i] = TWO * x[i]; "
       "} }\n",
       work_folder()});
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->outcome, Outcome::ok) << result->diagnostics;
  EXPECT_EQ(run(result->binary), "2 4 6");
}

}  // namespace
}  // namespace kagent::toolchain
