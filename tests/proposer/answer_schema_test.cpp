// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proposer/answer_object.h"
#include "util/files.h"
#include "util/subprocess.h"

namespace kagent::proposer {
namespace {

const std::vector<std::string> kAccepted = {
    R"({"hypothesis": "h"})",
    R"({"hypothesis": "h", "bottleneck": null, "change": null, "expected_speedup": null, "difficulty": null,
        "tunables": null, "constraints": null, "launch": null, "edits": null, "source": null})",
    R"({"hypothesis": "h", "expected_speedup": 1000, "difficulty": "hard", "more": [1]})",
    R"({"hypothesis": "h", "tunables": [{"name": "A", "values": [-9223372036854775808, 9223372036854775807]}]})",
    R"({"hypothesis": "h", "tunables": [], "constraints": [], "edits": []})",
    R"({"hypothesis": "h", "launch": {"grid": ["n", 2], "block": [32], "cluster": [2], "shared_memory": 0,
        "instance": "k<A>"}})",
    R"({"hypothesis": "h", "launch": {"grid": ["n"], "block": [32], "cluster": null, "shared_memory": null,
        "instance": null}})",
    R"({"hypothesis": "h", "edits": [{"search": "a", "replace": ""}], "constraints": ["A <= 2"]})",
    R"({"hypothesis": "é", "source": "void f() {}"})",
};

const std::vector<std::string> kRejected = {
    R"({})",
    R"({"change": "c"})",
    R"({"hypothesis": null})",
    R"({"hypothesis": ""})",
    R"({"hypothesis": 1})",
    R"({"hypothesis": "h", "bottleneck": 1})",
    R"({"hypothesis": "h", "expected_speedup": 0})",
    R"({"hypothesis": "h", "expected_speedup": 1001})",
    R"({"hypothesis": "h", "expected_speedup": "1.2"})",
    R"({"hypothesis": "h", "difficulty": "medium"})",
    R"({"hypothesis": "h", "tunables": {}})",
    R"({"hypothesis": "h", "tunables": [{"name": "A"}]})",
    R"({"hypothesis": "h", "tunables": [{"name": "A", "values": []}]})",
    R"({"hypothesis": "h", "tunables": [{"name": "A", "values": [1, 1]}]})",
    R"({"hypothesis": "h", "tunables": [{"name": "A", "values": [1.5]}]})",
    R"({"hypothesis": "h", "tunables": [{"name": "A", "values": [9223372036854775808]}]})",
    R"({"hypothesis": "h", "tunables": [{"name": "1A", "values": [1]}]})",
    R"({"hypothesis": "h", "tunables": [{"name": "A", "values": [1], "why": ""}]})",
    R"({"hypothesis": "h", "constraints": [""]})",
    R"({"hypothesis": "h", "constraints": [1]})",
    R"({"hypothesis": "h", "constraints": "A <= 2"})",
    R"({"hypothesis": "h", "launch": {"grid": ["n"]}})",
    R"({"hypothesis": "h", "launch": {"grid": [], "block": [1]}})",
    R"({"hypothesis": "h", "launch": {"grid": [1, 1, 1, 1], "block": [1]}})",
    R"({"hypothesis": "h", "launch": {"grid": [-1], "block": [1]}})",
    R"({"hypothesis": "h", "launch": {"grid": "n", "block": [1]}})",
    R"({"hypothesis": "h", "launch": {"grid": ["n"], "block": [1], "stream": 0}})",
    R"({"hypothesis": "h", "edits": [{"search": "a"}]})",
    R"({"hypothesis": "h", "edits": [{"search": "a", "replace": "b", "line": 3}]})",
    R"({"hypothesis": "h", "edits": ["a"]})",
    R"({"hypothesis": "h", "source": ["a"]})",
};

// "accepted" or "rejected" by a schema, for each document in order.
std::vector<std::string> ask(const std::string& schema, const std::vector<std::string>& documents) {
  const util::TemporaryFolder folder;
  std::ofstream(folder.path() / "schema.json") << schema;
  std::vector<std::string> arguments{KAGENT_TEST_PYTHON, std::string(KAGENT_SOURCE_DIR) + "/tests/spec/validate.py",
                                     folder.path() / "schema.json"};
  for (std::size_t i = 0; i < documents.size(); ++i) {
    arguments.push_back(folder.path() / (std::to_string(i) + ".json"));
    std::ofstream(arguments.back()) << documents[i];
  }
  util::Command command;
  command.argv = arguments;
  command.environment = util::minimal_environment();
  const auto finished = util::run(command);
  EXPECT_TRUE(finished && finished->ok()) << (finished ? finished->standard_error : finished.error().message);
  std::vector<std::string> words;
  std::istringstream lines(finished ? finished->standard_output : std::string());
  for (std::string line; std::getline(lines, line);) words.push_back(line.substr(0, 8));
  return words;
}

TEST(AnswerSchema, accepts_what_the_reader_reads) {
  EXPECT_EQ(ask(std::string(answer_schema()), kAccepted), std::vector<std::string>(kAccepted.size(), "accepted"));
  for (const std::string& document : kAccepted) {
    const auto answer = read_answer_object(document);
    EXPECT_TRUE(answer) << document << "\n" << answer.error().message;
  }
}

TEST(AnswerSchema, rejects_what_the_reader_refuses) {
  const auto words = ask(std::string(answer_schema()), kRejected);
  ASSERT_EQ(words.size(), kRejected.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(words[i], "rejected") << kRejected[i];
    EXPECT_FALSE(read_answer_object(kRejected[i])) << kRejected[i];
  }
}

TEST(AnswerSchema, in_strict_mode_requires_every_member_and_allows_no_other) {
  const std::string schema = strict_answer_schema();
  EXPECT_EQ(ask(schema, {kAccepted[1], kAccepted[0], kAccepted[2]}),
            (std::vector<std::string>{"accepted", "rejected", "rejected"}));
  // Whatever it lets through is read, or refused with a reason.
  const auto parsed = nlohmann::json::parse(schema);
  EXPECT_EQ(parsed["required"].size(), parsed["properties"].size());
  EXPECT_EQ(schema.find("uniqueItems"), schema.npos);
}

}  // namespace
}  // namespace kagent::proposer
