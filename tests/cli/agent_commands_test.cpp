// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "loop/planted_project.h"
#include "util/sandbox.h"

// The real program on a real project: each step of a session is a process of its own.
namespace kagent::loop {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

struct Ran {
  int code = 0;
  std::string out, err;
};

class AgentCommandsTest : public ::testing::Test {
 protected:
  AgentCommandsTest() {
    const KernelRequest request = project_.request();
    const json root{{"format", 1},
                    {"kernel", request.kernel},
                    {"target", request.target},
                    {"source", request.source.string()},
                    {"language", "cxx"},
                    {"golden", request.golden.string()},
                    {"project_dir", request.project_dir.string()},
                    {"build_dir", request.build_dir.string()},
                    {"compile_commands", request.compile_commands.string()},
                    {"compiler", "/usr/bin/c++"},
                    {"config", ""},
                    {"tune", "PICK"},
                    {"proposer", "agent"},
                    {"outputs", {{{"architecture", "native"}, {"generated", project_.generated().string()}}}},
                    {"rounds", 3},
                    {"width", 2},
                    {"time_budget_s", 600},
                    {"min_gain", 0.02},
                    {"require_tuned", false},
                    {"require_reviewed", false},
                    {"remote_variants", false},
                    {"allow_unsandboxed", !util::sandbox_state().available}};
    project_.write("build/kagent/ops/scale/request.json", root.dump());
    project_.write("build/good.cpp",
                   "#include \"scale.h\"\n"
                   "void scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n");
    project_.write("build/wrong.json",
                   R"({"hypothesis": "h", "edits": [{"search": "nothing like it", "replace": ""}]})");
  }

  Ran kagent(const std::string& arguments) const {
    const std::string command =
        "cd '" + project_.root().string() + "' && '" KAGENT_PROGRAM "' " + arguments + " >build/out 2>build/err";
    const int status = std::system(command.c_str());
    const auto read = [this](const char* name) { return require(util::read_file(project_.build() / name)); };
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }
  Ran agent(const std::string& step, const std::string& more = "") const {
    return kagent("agent " + step + " scale " + more + " --runtime '" KAGENT_RUNTIME "'");
  }

  PlantedProject project_;
};

TEST_F(AgentCommandsTest, a_session_goes_from_brief_to_finish_in_processes_of_its_own) {
  EXPECT_EQ(agent("submit", "build/good.cpp --source").code, 2);
  Ran ran = agent("brief");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("void scale(const float* x, float* y, int n)"));
  ran = agent("brief", "--json");
  const json task = json::parse(ran.out);
  EXPECT_EQ(task["session"]["rounds"], 3);
  EXPECT_GT(task["cases"][0]["baseline_ns"], 0);
  EXPECT_EQ(task["answer_schema"]["type"], "object");

  ran = agent("submit", "build/wrong.json build/nothing.txt");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("nothing.txt"));
  ran = agent("submit", "build/wrong.json");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("not_found"));

  EXPECT_EQ(agent("submit", "build/good.cpp --source --output-tokens -1").code, 2);
  ran = agent("submit",
              "build/good.cpp --source --model 'by hand' --json --input-tokens 900 --output-tokens 100 --cost 0.25");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json report = json::parse(ran.out);
  ASSERT_EQ(report["accepted"].size(), 1u) << ran.out;
  EXPECT_GT(report["accepted"][0]["over_baseline"], 2);
  EXPECT_THAT(project_.shell("git branch --list 'kagent/*'"),
              HasSubstr(report["accepted"][0]["reference"].get<std::string>()));

  ran = agent("status");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("rounds    2 of 3"));
  EXPECT_THAT(ran.out,
              HasSubstr("1000 (900 read, 0 of them cached, 100 written) and 0.25 in cost, reported by the agent"));
  EXPECT_EQ(json::parse(agent("status", "--json").out)["session"]["reported_by_agent"]["output_tokens"], 100);
  EXPECT_THAT(kagent("show scale g001").out,
              HasSubstr("900 tokens read, 100 written, 0.25 in cost, as the agent reported"));
  ran = agent("finish");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("over the baseline (finished by the agent after 2 rounds"));
  EXPECT_THAT(agent("status").out, HasSubstr("no session is open"));
  EXPECT_EQ(agent("finish").code, 2);
}

TEST_F(AgentCommandsTest, a_session_that_ended_by_itself_is_told_by_the_exit_code) {
  ASSERT_EQ(agent("brief", "--rounds 1").code, 0);
  ASSERT_EQ(agent("submit", "build/wrong.json").code, 0);
  for (const char* step : {"brief", "status"}) EXPECT_EQ(agent(step).code, 1) << step;
  const Ran ran = agent("submit", "build/good.cpp --source");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("kagent agent finish scale"));
  EXPECT_EQ(agent("finish").code, 0);
}

TEST_F(AgentCommandsTest, wrong_use_names_the_fix) {
  EXPECT_EQ(kagent("agent").code, 2);
  const Ran ran = kagent("agent brief scales");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("did you mean scale?"));
  EXPECT_EQ(agent("brief", "--architecture sm_90").code, 2);
}

TEST_F(AgentCommandsTest, the_protocol_takes_what_an_agent_reports_and_refuses_what_it_does_not_know) {
  project_.write(
      "build/calls",
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})"
      "\n"
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit_candidate","arguments":{"answer":"a","usage":{"output_tokens":-1}}}})"
      "\n"
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"submit_candidate","arguments":{"answer":"a","usages":{}}}})"
      "\n"
      R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"submit_candidate","arguments":{"answer":"a","usage":{"input_tokens":70,"output_tokens":7}}}})"
      "\n");
  // Its input stays open until the last answer is there.
  const std::string command = "cd '" + project_.root().string() +
                              "' && mkfifo build/open || exit 1\n"
                              "'" KAGENT_PROGRAM "' mcp scale --runtime '" KAGENT_RUNTIME
                              "' <build/open >build/out 2>build/err &\n"
                              "exec 3>build/open && cat build/calls >&3\n"
                              "until grep -q '\"id\":3' build/out; do kill -0 $! || exit 1; done\n"
                              "exec 3>&-\n"
                              "wait $!\n";
  const int status = std::system(command.c_str());
  const std::string out = require(util::read_file(project_.build() / "out"));
  EXPECT_EQ(status, 0) << out << require(util::read_file(project_.build() / "err"));
  EXPECT_THAT(out, HasSubstr("'usage/output_tokens' is no number of tokens"));
  EXPECT_THAT(out, HasSubstr("did you mean usage?"));
  EXPECT_THAT(out, HasSubstr(R"("input_tokens":70)"));
}

TEST_F(AgentCommandsTest, a_public_client_library_of_the_protocol_can_use_it) {
  const std::string command = std::string("cd '") + project_.root().string() +
                              "' && \"${KAGENT_TEST_PYTHON:-python3}\" '" +
                              KAGENT_MCP_CLIENT "' '" KAGENT_PROGRAM "' mcp scale --build build --runtime '" +
                              KAGENT_RUNTIME "' >build/out 2>build/err";
  const int status = std::system(command.c_str());
  const std::string out = require(util::read_file(project_.build() / "out"));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) GTEST_SKIP() << "there is no Python";
  if (out.starts_with("skipped: ")) GTEST_SKIP() << "the Python package mcp is not installed: " << out;
  EXPECT_EQ(status, 0) << out << require(util::read_file(project_.build() / "err"));
  EXPECT_THAT(out, HasSubstr("spoke "));
}

TEST_F(AgentCommandsTest, a_population_that_nobody_breeds_is_refused_with_what_to_do_instead) {
  Ran ran = kagent("optimize scale --population 3 --runtime '" KAGENT_RUNTIME "'");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("kagent agent brief --crossover"));
  ran = kagent("optimize scale --population 3 --proposer search --json --runtime '" KAGENT_RUNTIME "'");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "[]\n") << "what other kernels came to is printed all the same";
  EXPECT_THAT(ran.err, HasSubstr("'search' writes none"));
  EXPECT_THAT(ran.err, HasSubstr("--proposer"));
  EXPECT_EQ(kagent("optimize scale --generations 3").code, 2);
  EXPECT_EQ(kagent("optimize scale --population 3 --generations 3 --rounds 2").code, 2);
}

}  // namespace
}  // namespace kagent::loop
