// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/golden_folder.h"
#include "spec/spec.h"

namespace kagent::spec {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = KAGENT_SOURCE_DIR;

std::vector<fs::path> corpus(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kSource / "tests/spec/corpus" / folder))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// "accepted" or "rejected" by the schema, for each file.
std::map<std::string, std::string> ask_schema(const std::vector<fs::path>& files) {
  std::vector<std::string> command{KAGENT_TEST_PYTHON, kSource / "tests/spec/validate.py",
                                   kSource / "cmake/kernel.schema.json"};
  command.insert(command.end(), files.begin(), files.end());
  std::map<std::string, std::string> answers;
  const std::string output = output_of(command);
  for (std::size_t start = 0; start < output.size();) {
    const std::size_t end = output.find('\n', start);
    const std::string line = output.substr(start, end - start);
    const std::string path = line.substr(9, line.find(".json") + 5 - 9);
    answers[path] = line.substr(0, 8);
    start = end + 1;
  }
  return answers;
}

void expect_schema(const std::string& folder, const std::string& answer) {
  const auto files = corpus(folder);
  ASSERT_FALSE(files.empty());
  const auto answers = ask_schema(files);
  for (const fs::path& file : files)
    EXPECT_EQ(answers.contains(file) ? answers.at(file) : "no answer", answer) << file.filename();
}

void expect_reader(const std::string& folder, bool accepted) {
  const GoldenFolder golden;
  for (const fs::path& file : corpus(folder)) {
    golden.write("kernel.json", util::read_file(file).value());
    const auto spec = load(golden.path());
    EXPECT_EQ(spec.has_value(), accepted) << file.filename() << (spec ? "" : ": " + spec.error().message);
  }
}

TEST(Schema, AcceptsEveryValidFile) {
  expect_schema("valid", "accepted");
}
TEST(Schema, TheReaderAcceptsEveryValidFile) {
  expect_reader("valid", true);
}
TEST(Schema, RejectsEveryInvalidFile) {
  expect_schema("invalid", "rejected");
}
TEST(Schema, TheReaderRejectsEveryInvalidFile) {
  expect_reader("invalid", false);
}
TEST(Schema, AcceptsWhatOnlyTheReaderCanSee) {
  expect_schema("invalid-semantic", "accepted");
}
TEST(Schema, TheReaderRejectsWhatTheSchemaCannotSee) {
  expect_reader("invalid-semantic", false);
}

TEST(Schema, TheKernelsOfTheProjectAreValid) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kSource / "golden"))
    if (fs::exists(entry.path() / "kernel.json")) files.push_back(entry.path() / "kernel.json");
  ASSERT_FALSE(files.empty());
  const auto answers = ask_schema(files);
  for (const fs::path& file : files) {
    EXPECT_EQ(answers.at(file), "accepted") << file;
    const auto spec = load(file.parent_path());
    EXPECT_TRUE(spec) << (spec ? "" : spec.error().message);
  }
}

TEST(Schema, ListsTheEdgeInputsThatExist) {
  const std::string schema = util::read_file(kSource / "cmake/kernel.schema.json").value();
  const std::size_t start = schema.find("\"skip\": {"), end = schema.find("\"why\": {", start);
  const std::string listed = schema.substr(start, end - start);
  for (const std::string& name : edge_names()) EXPECT_THAT(listed, ::testing::HasSubstr("\"" + name + "\""));
  const auto quotes = static_cast<std::size_t>(std::count(listed.begin(), listed.end(), '"'));
  // Beside the names: "skip", "type", "array", "uniqueItems", "items", "enum".
  EXPECT_EQ(quotes, 2 * (edge_names().size() + 6));
}

TEST(Schema, TheDocumentationNamesEveryEdgeInput) {
  const std::string text = util::read_file(kSource / "docs/spec.md").value();
  for (const std::string& name : edge_names()) EXPECT_THAT(text, ::testing::HasSubstr("`" + name + "`"));
}

}  // namespace
}  // namespace kagent::spec
