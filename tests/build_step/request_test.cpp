// SPDX-License-Identifier: Apache-2.0
#include "build_step/request.h"

#include <gmock/gmock.h>

#include "util/files.h"

namespace kagent::build_step {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string request_text(const std::string& kernel, const std::string& target) {
  return R"({"format": 1, "kernel": ")" + kernel + R"(", "target": ")" + target + R"(", "source": "/p/k.cpp",
    "golden": "/p/golden/k", "project_dir": "/p", "build_dir": "/p/build",
    "compile_commands": "/p/build/compile_commands.json", "compiler": "/usr/bin/c++", "config": "",
    "outputs": [{"architecture": "native", "generated": "/p/build/k.cpp"}], "tune": "MISSING", "proposer": "search",
    "rounds": 6, "width": 8, "time_budget_s": 90, "min_gain": 0.02, "require_tuned": true,
    "require_reviewed": true, "remote_variants": false,
    "allow_unsandboxed": false})";
}

class Request : public ::testing::Test {
 protected:
  fs::path write(const std::string& target, const std::string& kernel, const std::string& text) {
    const fs::path file = folder_.path() / "kagent" / target / kernel / "request.json";
    fs::create_directories(file.parent_path());
    EXPECT_TRUE(util::write_file_atomically(file, text));
    return file;
  }
  util::TemporaryFolder folder_;
};

TEST_F(Request, IsReadAsCMakeWritesIt) {
  auto request = load_request(write("ops", "softmax", request_text("softmax", "ops")));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->kernel, "softmax");
  EXPECT_EQ(request->time_budget, std::chrono::seconds(90));
  EXPECT_EQ(request->tune, TuneMode::missing);
  EXPECT_TRUE(request->require_tuned);
  EXPECT_TRUE(request->require_reviewed);
  ASSERT_EQ(request->outputs.size(), 1u);
  EXPECT_EQ(request->outputs[0].generated, "/p/build/k.cpp");
}

TEST_F(Request, SaysTheLanguageOfTheSource) {
  std::string text = request_text("softmax", "ops");
  EXPECT_EQ(load_request(write("ops", "softmax", text))->language, Language::cxx);
  text.insert(1, "\"language\": \"cuda\", ");
  EXPECT_EQ(load_request(write("ops", "softmax", text))->language, Language::cuda);
  text.replace(text.find("cuda"), 4, "hip");
  auto request = load_request(write("ops", "softmax", text));
  ASSERT_FALSE(request);
  EXPECT_THAT(request.error().message, HasSubstr("language"));
}

TEST_F(Request, CarriesTheSettingsOfModels) {
  std::string text = request_text("softmax", "ops");
  EXPECT_TRUE(load_request(write("ops", "softmax", text))->model_settings.empty());
  text.insert(1, R"("model_settings": {"MODEL": "qwen", "MODEL_URL": "http://localhost:8080/v1"}, )");
  auto request = load_request(write("ops", "softmax", text));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->model_settings.at("MODEL"), "qwen");
  text.replace(text.find("\"qwen\""), 6, "7");
  EXPECT_FALSE(load_request(write("ops", "softmax", text)));
}

TEST_F(Request, OfAnotherFormatIsRefused) {
  std::string text = request_text("softmax", "ops");
  text.replace(text.find("1"), 1, "2");
  auto request = load_request(write("ops", "softmax", text));
  ASSERT_FALSE(request);
  EXPECT_THAT(request.error().message, HasSubstr("format 2"));
}

TEST_F(Request, ThatIsBrokenIsAnErrorWithAFix) {
  for (const std::string text : {"", "[]", "{\"format\": 1}", "{"}) {
    auto request = load_request(write("ops", "softmax", text));
    ASSERT_FALSE(request) << text;
    EXPECT_THAT(request.error().fix, HasSubstr("configure")) << text;
  }
}

TEST_F(Request, IsFoundByKernelAndTarget) {
  write("ops", "softmax", request_text("softmax", "ops"));
  write("more", "softmax", request_text("softmax", "more"));
  write("ops", "matmul", request_text("matmul", "ops"));
  EXPECT_EQ(find_requests(folder_.path(), "", "")->size(), 3u);
  EXPECT_EQ(find_requests(folder_.path(), "softmax", "")->size(), 2u);
  EXPECT_EQ(find_requests(folder_.path(), "softmax", "more")->front().target, "more");
}

TEST_F(Request, OfAMistypedKernelNamesTheNearest) {
  write("ops", "softmax", request_text("softmax", "ops"));
  auto found = find_requests(folder_.path(), "sotfmax", "");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().fix, HasSubstr("softmax"));
}

TEST_F(Request, InAFolderThatIsNoBuildTreeIsAnErrorWithAFix) {
  auto found = find_requests(folder_.path(), "", "");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().fix, HasSubstr("--build"));
}

}  // namespace
}  // namespace kagent::build_step
