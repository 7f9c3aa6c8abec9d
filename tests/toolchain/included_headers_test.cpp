// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolchain/host_toolchain.h"
#include "util/files.h"

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
    const auto found = included_headers({folder_.path(), "/usr/bin/c++", std::move(options)}, folder_.path() / "k.cpp");
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(std::vector<fs::path>{});
  }
  util::TemporaryFolder folder_;
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

TEST_F(IncludedHeaders, have_names_with_spaces_dollars_and_hashes) {
  write("my $h#.h", "");
  write("k.cpp", "#include \"my $h#.h\"\n");
  EXPECT_THAT(headers(), ElementsAre(folder_.path() / "my $h#.h"));
}

TEST_F(IncludedHeaders, leave_cmakes_precompiled_header_out_but_not_what_it_includes) {
  write("CMakeFiles/t.dir/cmake_pch.hxx", "#include \"" + (folder_.path() / "p.h").string() + "\"\n");
  write("p.h", "");
  write("k.cpp", "");
  EXPECT_THAT(headers({"-include", (folder_.path() / "CMakeFiles/t.dir/cmake_pch.hxx").string()}),
              ElementsAre(folder_.path() / "p.h"));
}

TEST_F(IncludedHeaders, are_none_for_a_source_without_includes) {
  write("k.cpp", "int a;\n");
  EXPECT_THAT(headers(), IsEmpty());
}

TEST_F(IncludedHeaders, name_a_missing_one) {
  write("k.cpp", "#include \"none.h\"\n");
  const auto found = included_headers({folder_.path(), "/usr/bin/c++", {}}, folder_.path() / "k.cpp");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("k.cpp:1:10: fatal error: none.h: No such file or directory"));
}

}  // namespace
}  // namespace kagent::toolchain
