// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "store/repository_fixture.h"
#include "util/hash.h"

// The real program on real repositories: log, show, diff, rollback and promote.
namespace kagent::store {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

struct Ran {
  int code = 0;
  std::string out, err;
};

class VariantCommandsTest : public RepositoryTest {
 protected:
  VariantCommandsTest() {
    VariantStore store = open();
    for (int i = 1; i <= 3; ++i) {
      NewVariant variant = example("int optimised_" + std::to_string(i) + ";\n");
      variant.evidence.key.source = util::sha256("int baseline;\n");
      variant.evidence.against_baseline.ratio = 1.0 / (1 + i * 0.25);
      variant.evidence.against_incumbent.ratio = 1.0 / 1.1;
      if (i > 1) variant.parent_branch = branches.back();
      branches.push_back(add(store, variant));
    }
  }

  Ran kagent(const std::string& arguments) const { return kagent_in(root, arguments); }
  Ran kagent_in(const fs::path& where, const std::string& arguments) const {
    const fs::path out = folder.path() / "out", err = folder.path() / "err";
    const std::string command = "cd '" + where.string() + "' && '" KAGENT_PROGRAM "' " + arguments + " >'" +
                                out.string() + "' 2>'" + err.string() + "'";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(err)};
  }
  json kagent_json(const std::string& arguments) const {
    const Ran ran = kagent(arguments + " --json");
    EXPECT_EQ(ran.code, 0) << ran.err;
    return json::parse(ran.out);
  }

  std::vector<std::string> branches;
};

TEST_F(VariantCommandsTest, log_lists_the_generations_newest_first) {
  const Ran ran = kagent("log softmax");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, testing::StartsWith("softmax x86-64-v3\n  g003  1.75x over baseline, 1.10x over g002"));
  EXPECT_THAT(ran.out, HasSubstr(branches[0]));
  EXPECT_LT(ran.out.find("g002 "), ran.out.find("g001 "));
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b")));
  EXPECT_EQ(kagent("log").out, ran.out);
  EXPECT_EQ(kagent_in(root / "golden/softmax", "log softmax").out, ran.out);
}

TEST_F(VariantCommandsTest, log_as_json_names_places_and_holds) {
  ASSERT_EQ(kagent("rollback softmax").code, 0);
  const json log = kagent_json("log softmax");
  ASSERT_EQ(log["variants"].size(), 3u);
  EXPECT_EQ(log["variants"][0]["reference"], branches[2]);
  EXPECT_EQ(log["variants"][0]["place"], "local branch");
  EXPECT_TRUE(log["variants"][0]["held_since"].is_string());
  EXPECT_TRUE(log["variants"][1]["held_since"].is_null());
  EXPECT_EQ(log["broken"].size(), 0u);
}

TEST_F(VariantCommandsTest, log_names_what_cannot_be_used) {
  git("branch kagent/softmax/x86-64-v3/g009-00000000 main");
  const Ran ran = kagent("log softmax");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("g009-00000000"));
  EXPECT_THAT(ran.out, HasSubstr("g003"));
  const Ran shown = kagent("show softmax g009");
  EXPECT_EQ(shown.code, 2);
  EXPECT_THAT(shown.err, HasSubstr("cannot be used: kagent/softmax/x86-64-v3/g009-00000000: "));
  EXPECT_THAT(shown.err, HasSubstr("there are g003"));
  EXPECT_THAT(kagent("show softmax g010").err, HasSubstr("there is no variant 'g010'"));
}

TEST_F(VariantCommandsTest, an_unknown_kernel_is_wrong_use_and_the_nearest_is_named) {
  for (const char* command : {"log", "show", "diff", "rollback", "promote", "review"}) {
    const Ran ran = kagent(std::string(command) + " sofmax");
    EXPECT_EQ(ran.code, 2) << command;
    EXPECT_THAT(ran.err, HasSubstr("did you mean 'softmax'?")) << command;
    EXPECT_EQ(kagent(std::string(command) + " softmax --architecture sm_90").code, 2);
    EXPECT_EQ(kagent(std::string(command) + " '../x'").code, 2);
    EXPECT_THAT(kagent(std::string(command) + " --help").out, HasSubstr("Example:\n  kagent " + std::string(command)));
  }
}

TEST_F(VariantCommandsTest, show_prints_the_evidence_of_what_is_in_use_or_asked_for) {
  const Ran newest = kagent("show softmax");
  EXPECT_EQ(newest.code, 0) << newest.err;
  for (const char* part : {"softmax x86-64-v3 g003", "over the baseline: 1.75x", "over g002: 1.10x", "training",
                           "larger blocks", "Some CPU", "bubblewrap", "BLOCK=128"})
    EXPECT_THAT(newest.out, HasSubstr(part));
  EXPECT_THAT(kagent("show softmax g001").out, HasSubstr("softmax x86-64-v3 g001"));
  EXPECT_THAT(kagent("show softmax " + branches[1]).out, HasSubstr("softmax x86-64-v3 g002"));
  EXPECT_EQ(kagent("show softmax g002 --source").out, "int optimised_2;\n");
  EXPECT_EQ(kagent("show softmax g002 --source --json").code, 2);
  EXPECT_EQ(kagent_json("show softmax g002")[0]["evidence"]["generation"], 2);
  const Ran missing = kagent("show softmax g007");
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("g003, g002, g001"));
}

TEST_F(VariantCommandsTest, text_of_a_branch_cannot_steer_the_terminal) {
  VariantStore store = open();
  NewVariant variant = example("int evil; // \x1b[2J\n");
  variant.evidence.hypothesis = "\x1b]0;title\x07 clears \x1b[2J the screen";
  variant.evidence.device = "cpu\x1b[31m";
  add(store, variant);
  for (const char* command : {"log softmax", "show softmax", "diff softmax"})
    EXPECT_THAT(kagent(command).out, Not(HasSubstr("\x1b"))) << command;
}

TEST_F(VariantCommandsTest, diff_compares_with_the_baseline_or_between_generations) {
  const std::string first =
      "--- a/baseline/softmax.cpp\n+++ b/g003/softmax.cpp\n@@ -1 +1 @@\n-int baseline;\n+int optimised_3;\n";
  EXPECT_EQ(kagent("diff softmax").out, first);
  EXPECT_EQ(kagent("diff softmax baseline g003").out, first);
  EXPECT_THAT(kagent("diff softmax g001").out, HasSubstr("-int baseline;\n+int optimised_1;"));
  EXPECT_THAT(kagent("diff softmax g001 g002").out, HasSubstr("-int optimised_1;\n+int optimised_2;"));
  EXPECT_EQ(kagent("diff softmax g001 g001").out, "");
  EXPECT_THAT(kagent_json("diff softmax g001 g002")[0]["patch"].get<std::string>(), HasSubstr("+int optimised_2;"));
  // The baseline moved on since: it is still on the branch.
  write(root / "kernels/softmax.cpp", "int new_baseline;\n");
  commit_all("moved on");
  EXPECT_EQ(kagent("diff softmax").out, first);
}

TEST_F(VariantCommandsTest, diff_of_several_architectures_says_which_is_which) {
  NewVariant other = example("int optimised_elsewhere;\n");
  other.evidence.architecture = "x86-64-v4";
  other.evidence.key.source = util::sha256("int baseline;\n");
  VariantStore store = open();
  add(store, other);
  const std::string both = kagent("diff softmax").out;
  EXPECT_THAT(both, HasSubstr("--- a/x86-64-v3/baseline/softmax.cpp\n+++ b/x86-64-v3/g003/softmax.cpp\n"));
  EXPECT_THAT(both, HasSubstr("+++ b/x86-64-v4/g001/softmax.cpp\n"));
  EXPECT_THAT(kagent("diff softmax --architecture x86-64-v4").out, HasSubstr("+++ b/g001/softmax.cpp\n"));
}

TEST_F(VariantCommandsTest, rollback_goes_back_step_by_step_and_is_undone_by_release) {
  const std::string before = untouched() + git("for-each-ref");
  Ran ran = kagent("rollback softmax");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("builds take g002 from now on; held back: g003"));
  EXPECT_THAT(ran.out, HasSubstr("kagent rollback softmax --release"));
  EXPECT_THAT(kagent("log softmax").out, HasSubstr("held back by a rollback on 2"));
  EXPECT_THAT(kagent("show softmax").out, HasSubstr("g002"));
  EXPECT_THAT(kagent("rollback softmax").out, HasSubstr("builds take g001"));
  EXPECT_THAT(kagent("rollback softmax").out, HasSubstr("builds take baseline"));
  ran = kagent("rollback softmax");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("take the baseline already"));
  EXPECT_EQ(kagent("show softmax").code, 2);
  EXPECT_THAT(kagent("rollback softmax --to g002").out, HasSubstr("builds take g002"));
  EXPECT_THAT(kagent("rollback softmax --release").out, HasSubstr("1 let back in, builds take g003"));
  EXPECT_EQ(untouched() + git("for-each-ref"), before);
}

TEST_F(VariantCommandsTest, rollback_refuses_what_would_do_nothing_or_makes_no_sense) {
  EXPECT_EQ(kagent("rollback softmax --to g009").code, 2);
  EXPECT_EQ(kagent("rollback softmax --to nonsense").code, 2);
  EXPECT_EQ(kagent("rollback softmax --to g001 --release").code, 2);
  ASSERT_EQ(kagent("promote softmax").code, 0);
  const Ran ran = kagent("rollback softmax --to g001");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("variants/softmax/x86-64-v3 in the working tree holds g003"));
  EXPECT_THAT(ran.err, HasSubstr("kagent promote softmax g001"));
  EXPECT_EQ(kagent_json("log softmax")["variants"][1]["held_since"], nullptr);
}

TEST_F(VariantCommandsTest, rollback_as_json_says_what_is_taken) {
  const json answer = kagent_json("rollback softmax --to baseline");
  EXPECT_EQ(answer[0]["taken"], "baseline");
  EXPECT_EQ(answer[0]["held"].size(), 3u);
}

TEST_F(VariantCommandsTest, promote_writes_the_best_variant_for_review) {
  const Ran ran = kagent("promote softmax");
  EXPECT_EQ(ran.code, 0) << ran.err;
  const fs::path source = root / "variants/softmax/x86-64-v3/softmax.cpp";
  EXPECT_EQ(read(source), "int optimised_3;\n");
  EXPECT_THAT(ran.out, HasSubstr(source.string()));
  EXPECT_EQ(kagent("promote softmax g001").code, 0);
  EXPECT_EQ(read(source), "int optimised_1;\n");
  EXPECT_EQ(kagent_json("promote softmax")[0]["reference"], branches[2]);
  write(source, "int mine;\n");
  const Ran refused = kagent("promote softmax");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--force"));
  EXPECT_EQ(read(source), "int mine;\n");
  EXPECT_EQ(kagent("promote softmax --force").code, 0);
  EXPECT_EQ(read(source), "int optimised_3;\n");
}

TEST_F(VariantCommandsTest, promote_does_not_bring_back_what_was_rolled_back) {
  ASSERT_EQ(kagent("rollback softmax").code, 0);
  EXPECT_EQ(kagent_json("promote softmax")[0]["reference"], branches[1]);
}

TEST_F(VariantCommandsTest, review_confirms_what_nobody_has_looked_at_and_takes_it_back) {
  VariantStore store = open();
  NewVariant fresh = example("int never_seen;\n");
  fresh.evidence.architecture = "x86-64-v4";
  fresh.evidence.reviewed = false;
  add(store, fresh);
  const std::string before = untouched() + git("for-each-ref");
  EXPECT_EQ(kagent("review softmax --architecture x86-64-v3").code, 0);
  Ran ran = kagent("review softmax --architecture x86-64-v4");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("not reviewed"));
  EXPECT_THAT(kagent("show softmax --architecture x86-64-v4").out, HasSubstr("nobody had confirmed it"));
  ran = kagent("review softmax g001 --architecture x86-64-v4 --confirm");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("confirmed"));
  EXPECT_TRUE(kagent_json("review softmax --architecture x86-64-v4")[0]["reviewed"].get<bool>());
  EXPECT_THAT(kagent("review softmax --architecture x86-64-v4 --withdraw").out, HasSubstr("1 taken back"));
  EXPECT_EQ(kagent("review softmax --architecture x86-64-v4").code, 1);
  EXPECT_EQ(kagent("review softmax --confirm --withdraw").code, 2);
  EXPECT_EQ(untouched() + git("for-each-ref"), before);
}

TEST_F(VariantCommandsTest, a_checked_out_branch_is_what_is_in_use) {
  git("checkout -q " + branches[0]);
  EXPECT_THAT(kagent("show softmax").out, HasSubstr("softmax x86-64-v3 g001"));
  EXPECT_THAT(kagent("log softmax").out, HasSubstr("variants/softmax/x86-64-v3"));
}

TEST_F(VariantCommandsTest, a_project_that_is_named_counts_and_not_the_build_tree_beside) {
  const json request{{"format", 1},
                     {"kernel", "softmax"},
                     {"target", "ops"},
                     {"source", (root / "kernels/softmax.cpp").string()},
                     {"golden", (root / "golden/softmax").string()},
                     {"project_dir", root.string()},
                     {"build_dir", (root / "build").string()},
                     {"compile_commands", (root / "build/compile_commands.json").string()},
                     {"compiler", "/usr/bin/c++"},
                     {"config", ""},
                     {"outputs", {{{"architecture", "x86-64-v3"}, {"generated", (root / "build/g.cpp").string()}}}},
                     {"tune", "PICK"},
                     {"proposer", "search"},
                     {"model_settings", json::object()},
                     {"rounds", 1},
                     {"width", 1},
                     {"time_budget_s", 1},
                     {"min_gain", 0.01},
                     {"require_tuned", false},
                     {"require_reviewed", false},
                     {"remote_variants", false},
                     {"allow_unsandboxed", true}};
  write(root / "build/kagent/ops/softmax/request.json", request.dump());
  const fs::path other = folder.path() / "other";
  make(other);
  EXPECT_EQ(kagent("log softmax").code, 0);
  EXPECT_EQ(kagent("log softmax --project '" + other.string() + "'").code, 2);
  EXPECT_EQ(kagent("log softmax --project /nowhere").code, 2);
  EXPECT_EQ(kagent_in(other, "log softmax --project '" + root.string() + "'").code, 0);
  EXPECT_EQ(kagent("log softmax --project '" + other.string() + "' --build '" + (root / "build").string() + "'").code,
            0);
}

TEST_F(VariantCommandsTest, outside_of_everything_is_wrong_use_with_a_fix) {
  const fs::path empty = folder.path() / "empty";
  make(empty);
  const Ran ran = kagent_in(empty, "log softmax");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("there is no variant of 'softmax'"));
  EXPECT_EQ(kagent_in(empty, "log").code, 0);
  EXPECT_EQ(kagent("log softmax --project /nowhere").code, 2);
}

}  // namespace
}  // namespace kagent::store
