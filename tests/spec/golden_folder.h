// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "spec/npy.h"
#include "spec/spec.h"
#include "util/files.h"
#include "util/text.h"

namespace kagent::spec {

// What a command prints; the test fails if it exits with something else than 0.
inline std::string output_of(const std::vector<std::string>& words) {
  FILE* pipe = popen(util::quote_shell_words(words).c_str(), "r");
  std::string text;
  char buffer[4096];
  while (const std::size_t got = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << util::quote_shell_words(words);
  return text;
}

// A golden folder in a temporary place, with the files that the tests' kernel.json name.
class GoldenFolder {
 public:
  GoldenFolder() {
    std::filesystem::create_directories(path() / "sub");
    Tensor tensor = make_tensor(DType::float32, {2, 3});
    for (int i = 0; i < 6; ++i) tensor.set(i, i + 0.5);
    EXPECT_TRUE(write_npy(path() / "x.npy", tensor));
    EXPECT_TRUE(write_npy(path() / "sub" / "y.npy", tensor));
    EXPECT_TRUE(write_npy(path() / "y.npy", tensor));
    EXPECT_TRUE(write_npy(folder_.path() / "outside.npy", tensor));
    std::filesystem::create_symlink(folder_.path() / "outside.npy", path() / "outside.npy");
    write("broken.npy", "\x93NUMPY\x01");
    write("reference.cpp", "void scale_reference();\n");
  }

  std::filesystem::path path() const { return folder_.path() / "golden"; }
  void write(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(util::write_file_atomically(path() / name, text));
  }
  Result<KernelSpec> load_text(const std::string& json) const {
    write("kernel.json", json);
    return load(path());
  }
  // The message, without the file's name at the start of each line; "accepted" if there is none.
  std::string problems_of(const std::string& json) const {
    const auto spec = load_text(json);
    if (spec) return "accepted";
    std::string message = spec.error().message;
    const std::string prefix = (path() / "kernel.json").string() + ": ";
    for (std::size_t at = 0; (at = message.find(prefix, at)) != std::string::npos;) message.erase(at, prefix.size());
    return message;
  }

 private:
  util::TemporaryFolder folder_;
};

// A small kernel.json with more keys put in.
inline std::string scale_json(const std::string& more = "", const std::string& parameters = "",
                              const std::string& in_case = "") {
  return R"({"kernel": "scale", "entry": "scale", "parameters": [
    {"name": "x", "kind": "input", "dtype": "float32", "shape": ["rows", "cols"]},
    {"name": "y", "kind": "output", "dtype": "float32", "shape": ["rows", "cols"]},
    {"name": "rows", "kind": "size", "dtype": "int32"},
    {"name": "cols", "kind": "size", "dtype": "int32"})" +
         parameters + R"(], "cases": [{"name": "only", "sizes": {"rows": 2, "cols": 3}, "timed": true)" + in_case +
         "}]" + more + "}";
}

}  // namespace kagent::spec
