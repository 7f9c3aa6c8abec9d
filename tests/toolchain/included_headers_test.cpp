// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolchain/host_toolchain.h"
#include "util/files.h"
#include "util/subprocess.h"

namespace kagent::toolchain {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class IncludedHeaders : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_.path() / name).parent_path());
    ASSERT_TRUE(util::write_file_atomically(folder_.path() / name, text));
  }
  std::vector<fs::path> headers(std::vector<std::string> options = {}) {
    const auto found =
        included_headers({folder_.path(), compiler_, std::move(options)}, folder_.path() / "k.cpp", own_);
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(std::vector<fs::path>{});
  }
  // A compiler at <prefix>/bin that has its own headers (my_limits.h among them) at <prefix>/headers.
  void install_compiler(const std::string& prefix) {
    write(prefix + "/headers/my_limits.h", "");
    write(prefix + "/bin/g++",
          "#!/bin/sh\nexec /usr/bin/g++ -idirafter '" + (folder_.path() / prefix / "headers").string() + "' \"$@\"\n");
    compiler_ = folder_.path() / prefix / "bin/g++";
    fs::permissions(compiler_, fs::perms::owner_all);
  }
  // The system's GCC, copied to another prefix, where it looks for its own headers.
  void copy_compiler(const std::string& prefix) {
    std::string own_headers = printed({"/usr/bin/g++", "-print-file-name=include"});
    const fs::path from = fs::path(own_headers.substr(0, own_headers.find('\n'))).parent_path();
    const fs::path to = folder_.path() / prefix / "lib" / from.lexically_relative("/usr/lib");
    fs::create_directories(to);
    fs::create_directories(folder_.path() / prefix / "bin");
    fs::copy(from / "include", to / "include", fs::copy_options::recursive);
    for (const auto& entry : fs::directory_iterator(from))
      if (entry.is_regular_file()) fs::create_symlink(entry.path(), to / entry.path().filename());
    compiler_ = folder_.path() / prefix / "bin/g++";
    fs::copy(fs::canonical("/usr/bin/g++"), compiler_);
  }
  std::string printed(std::vector<std::string> argv) {
    util::Command command;
    command.argv = std::move(argv);
    command.environment = util::minimal_environment();
    const auto finished = util::run(command);
    EXPECT_TRUE(finished && finished->ok());
    return finished ? finished->standard_output : "";
  }
  util::TemporaryFolder folder_;
  std::vector<fs::path> own_;  // folders of the project
  fs::path compiler_ = "/usr/bin/c++";
};

TEST_F(IncludedHeaders, are_those_of_the_project_sorted_and_once_each) {
  write("b.h", "#include \"sub/a.h\"\n");
  write("sub/a.h", "#pragma once\n#include <vector>\n");
  write("k.cpp", "#include <cmath>\n#include \"b.h\"\n#include \"sub/../sub/a.h\"\n");
  EXPECT_THAT(headers(), ElementsAre(folder_.path() / "b.h", folder_.path() / "sub/a.h"));
}

TEST_F(IncludedHeaders, follow_the_builds_definitions_and_folders) {
  write("inc/x.h", "");
  write("inc/y.h", "");
  write("k.cpp", "#ifdef X\n#include <x.h>\n#else\n#include <y.h>\n#endif\n");
  EXPECT_THAT(headers({"-Iinc", "-DX"}), ElementsAre(folder_.path() / "inc/x.h"));
  EXPECT_THAT(headers({"-Iinc"}), ElementsAre(folder_.path() / "inc/y.h"));
}

TEST_F(IncludedHeaders, leave_system_folders_out) {
  write("sys/x.h", "");
  write("k.cpp", "#include <x.h>\n");
  EXPECT_THAT(headers({"-isystem", (folder_.path() / "sys").string()}), IsEmpty());
}

TEST_F(IncludedHeaders, of_the_project_count_also_where_an_option_calls_them_system_headers) {
  write("sys/x.h", "");
  write("k.cpp", "#include <x.h>\n");
  own_ = {folder_.path()};
  EXPECT_THAT(headers({"-isystem", (folder_.path() / "sys").string()}), ElementsAre(folder_.path() / "sys/x.h"));
}

TEST_F(IncludedHeaders, leave_out_those_of_a_compiler_that_is_installed_elsewhere) {
  write("k.cpp", "#include <limits.h>\n#include <stddef.h>\n#include \"lib/x.h\"\n");
  write("lib/x.h", "");
  copy_compiler("opt/gcc");
  ASSERT_THAT(printed({compiler_.string(), "-M", (folder_.path() / "k.cpp").string()}), HasSubstr("/opt/gcc/"));
  EXPECT_THAT(headers(), ElementsAre(folder_.path() / "lib/x.h"));
  own_ = {folder_.path()};
  EXPECT_THAT(headers(), ElementsAre(folder_.path() / "lib/x.h")) << "the compiler lies in the project";
}

TEST_F(IncludedHeaders, leave_out_those_that_a_wrapper_of_the_compiler_adds) {
  write("k.cpp", "#include <my_limits.h>\n");
  install_compiler("opt/wrapper");
  EXPECT_THAT(headers(), IsEmpty());
}

TEST_F(IncludedHeaders, count_those_beside_the_compiler_that_are_not_its_own) {
  write("include/x.h", "");
  write("k.cpp", "#include <x.h>\n#include <my_limits.h>\n");
  install_compiler(".");
  EXPECT_THAT(headers({"-I", (folder_.path() / "include").string()}), ElementsAre(folder_.path() / "include/x.h"));
  EXPECT_THAT(headers({"-I" + (folder_.path() / "include").string()}), ElementsAre(folder_.path() / "include/x.h"));
}

TEST_F(IncludedHeaders, leave_out_the_systems_of_another_root) {
  write("root/usr/include/x.h", "");
  write("k.cpp", "#include <x.h>\n");
  for (const std::string option : {"--sysroot=", "-isysroot"})
    EXPECT_THAT(headers({option + (folder_.path() / "root").string()}), IsEmpty()) << option;
  EXPECT_THAT(headers({"-isysroot", (folder_.path() / "root").string()}), IsEmpty());
}

TEST_F(IncludedHeaders, of_the_project_count_whatever_link_leads_to_it) {
  write("real/x.h", "");
  write("k.cpp", "#include <x.h>\n");
  fs::create_directory_symlink(folder_.path() / "real", folder_.path() / "a_long_name_of_a_link");
  own_ = {folder_.path() / "a_long_name_of_a_link"};
  EXPECT_THAT(headers({"-isystem", (folder_.path() / "a_long_name_of_a_link").string()}), testing::SizeIs(1));
}

TEST_F(IncludedHeaders, have_names_with_spaces_dollars_and_hashes) {
  write("my $h#.h", "");
  write("k.cpp", "#include \"my $h#.h\"\n");
  EXPECT_THAT(headers(), ElementsAre(folder_.path() / "my $h#.h"));
}

TEST_F(IncludedHeaders, leave_cmakes_precompiled_header_out_but_not_what_it_includes) {
  write("CMakeFiles/t.dir/cmake_pch.hxx",
        "/* generated by CMake */\n\n#pragma GCC system_header\n#ifdef __cplusplus\n#include \"" +
            (folder_.path() / "my p.h").string() + "\"\n#include <vector>\n#endif // __cplusplus\n");
  write("CMakeFiles/t.dir/cmake_pch.kagent.hxx", "#include \"cmake_pch.hxx\"\n");
  write("my p.h", "#include \"q.h\"\n");
  write("q.h", "");
  write("k.cpp", "std::vector<int> numbers;\n");
  for (const char* wrapper : {"CMakeFiles/t.dir/cmake_pch.hxx", "CMakeFiles/t.dir/cmake_pch.kagent.hxx"})
    EXPECT_THAT(headers({"-include", (folder_.path() / wrapper).string()}),
                ElementsAre(folder_.path() / "my p.h", folder_.path() / "q.h"));
}

TEST_F(IncludedHeaders, are_none_for_a_source_without_includes) {
  write("k.cpp", "int a;\n");
  EXPECT_THAT(headers(), IsEmpty());
}

TEST_F(IncludedHeaders, name_a_missing_one) {
  write("k.cpp", "#include \"none.h\"\n");
  const auto found = included_headers({folder_.path(), "/usr/bin/c++", {}}, folder_.path() / "k.cpp", {});
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("k.cpp:1:10: fatal error: none.h: No such file or directory"));
}

}  // namespace
}  // namespace kagent::toolchain
