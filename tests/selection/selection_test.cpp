// SPDX-License-Identifier: Apache-2.0
#include "selection/selection.h"

#include <gmock/gmock.h>

#include "util/hash.h"

namespace kagent::selection {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

KernelKey current_key() {
  return {.source = "s",
          .headers = {{"tile.h", "h"}},
          .definitions = "d",
          .standard = "gnu++20",
          .spec = "k",
          .golden = {{"x.npy", "g"}}};
}

Variant variant(VariantPlace place, int generation, const std::string& reference) {
  Variant result{place, reference, {}, "int v" + std::to_string(generation) + ";\n"};
  result.evidence.kernel = "softmax";
  result.evidence.architecture = "x86-64-v3";
  result.evidence.generation = generation;
  result.evidence.key = current_key();
  result.evidence.source_name = "softmax.cpp";
  result.evidence.source_hash = util::sha256(result.source);
  return result;
}

Variant branch(int generation) {
  return variant(VariantPlace::local_branch, generation, "g" + std::to_string(generation));
}

Hold hold(const Variant& variant) {
  return {"softmax",
          "x86-64-v3",
          variant.evidence.generation,
          variant.reference,
          variant.evidence.source_hash,
          "2026-01-31T12:00:00Z"};
}

Inputs inputs() {
  Inputs result;
  result.kernel = "softmax";
  result.architecture = "x86-64-v3";
  result.key = current_key();
  return result;
}

std::string chosen(const Choice& choice) {
  return choice.variant ? choice.variant->reference : "baseline";
}

std::vector<std::string> reasons(const Choice& choice) {
  std::vector<std::string> result;
  for (const Consideration& one : choice.considered) result.push_back(one.reference + ": " + one.reason);
  return result;
}

TEST(Selection, takes_the_baseline_where_there_is_no_variant) {
  const Choice choice = choose(inputs());
  EXPECT_EQ(chosen(choice), "baseline");
  EXPECT_EQ(choice.architecture, "x86-64-v3");
  EXPECT_THAT(reasons(choice), ElementsAre("baseline: there is no variant"));
  EXPECT_TRUE(choice.considered.back().taken);
}

TEST(Selection, looks_at_the_working_tree_then_local_then_remote_branches) {
  Inputs all = inputs();
  all.remote_variants = true;
  all.remote_branches = {variant(VariantPlace::remote_branch, 9, "origin/g9")};
  EXPECT_EQ(chosen(choose(all)), "origin/g9");
  all.local_branches = {branch(2), branch(1)};
  EXPECT_EQ(chosen(choose(all)), "g2");
  all.working_tree = {variant(VariantPlace::working_tree, 1, "variants/softmax/x86-64-v3")};
  const Choice choice = choose(all);
  EXPECT_EQ(chosen(choice), "variants/softmax/x86-64-v3");
  EXPECT_THAT(reasons(choice),
              ElementsAre("variants/softmax/x86-64-v3: matches", StartsWith("g2: not looked at: variants/softmax"),
                          StartsWith("g1: not looked at"), StartsWith("origin/g9: not looked at")));
}

TEST(Selection, never_takes_a_remote_variant_unless_asked_to) {
  Inputs all = inputs();
  all.remote_branches = {variant(VariantPlace::remote_branch, 1, "origin/g1")};
  const Choice choice = choose(all);
  EXPECT_EQ(chosen(choice), "baseline");
  EXPECT_THAT(choice.considered.front().reason, HasSubstr("KAGENT_REMOTE_VARIANTS"));
  EXPECT_FALSE(has_result(all));
}

struct Staleness {
  const char* name;
  void (*change)(KernelKey&);
  const char* reason;
};

TEST(Selection, names_what_made_a_variant_stale_and_takes_the_next) {
  const Staleness cases[] = {
      {"source", [](KernelKey& key) { key.source = "?"; }, "stale: the source changed"},
      {"header", [](KernelKey& key) { key.headers["tile.h"] = "?"; }, "stale: header tile.h changed"},
      {"new header", [](KernelKey& key) { key.headers["more.h"] = "?"; }, "stale: header more.h is new"},
      {"less headers", [](KernelKey& key) { key.headers.clear(); }, "stale: header tile.h is gone"},
      {"definitions", [](KernelKey& key) { key.definitions = "?"; },
       "stale: the definitions changed: 'd' was there, '?' is now"},
      {"standard", [](KernelKey& key) { key.standard = "gnu++23"; }, "stale: the language standard changed"},
      {"spec", [](KernelKey& key) { key.spec = "?"; }, "stale: kernel.json changed"},
      {"golden", [](KernelKey& key) { key.golden["x.npy"] = "?"; }, "stale: golden file x.npy changed"},
  };
  for (const Staleness& one : cases) {
    SCOPED_TRACE(one.name);
    Inputs all = inputs();
    one.change(all.key);
    Variant fitting = branch(1);
    fitting.evidence.key = all.key;
    all.local_branches = {branch(2), fitting};
    const Choice choice = choose(all);
    EXPECT_EQ(chosen(choice), "g1");
    EXPECT_THAT(choice.considered.front().reason, StartsWith(one.reason));
    all.local_branches.pop_back();
    EXPECT_EQ(chosen(choose(all)), "baseline");
    EXPECT_FALSE(has_result(all));
  }
}

TEST(Selection, never_takes_a_file_that_is_not_the_measured_one) {
  Inputs all = inputs();
  all.working_tree = {variant(VariantPlace::working_tree, 1, "tree")};
  all.working_tree[0].source += "// edited\n";
  const Choice choice = choose(all);
  EXPECT_EQ(chosen(choice), "baseline");
  EXPECT_THAT(choice.considered.front().reason, HasSubstr("softmax.cpp was edited"));
  EXPECT_FALSE(has_result(all));
}

TEST(Selection, takes_evidence_of_something_else_for_broken) {
  const std::pair<const char*, void (*)(Evidence&)> cases[] = {
      {"kernel", [](Evidence& evidence) { evidence.kernel = "other"; }},
      {"architecture", [](Evidence& evidence) { evidence.architecture = "x86-64-v4"; }},
      {"path", [](Evidence& evidence) { evidence.source_name = "../softmax.cpp"; }},
      {"absolute path", [](Evidence& evidence) { evidence.source_name = "/etc/passwd"; }},
      {"no name", [](Evidence& evidence) { evidence.source_name = ""; }},
      {"hidden", [](Evidence& evidence) { evidence.source_name = ".."; }},
      {"quote", [](Evidence& evidence) { evidence.source_name = "a\".cpp"; }},
      {"newline", [](Evidence& evidence) { evidence.source_name = "a\n.cpp"; }},
      {"itself", [](Evidence& evidence) { evidence.source_name = "variant.json"; }},
      {"generation", [](Evidence& evidence) { evidence.generation = 0; }},
  };
  for (const auto& [name, change] : cases) {
    SCOPED_TRACE(name);
    Inputs all = inputs();
    all.local_branches = {branch(1)};
    change(all.local_branches[0].evidence);
    const Choice choice = choose(all);
    EXPECT_EQ(chosen(choice), "baseline");
    EXPECT_THAT(choice.considered.front().reason, StartsWith("broken: "));
  }
}

TEST(Selection, reports_what_could_not_be_read) {
  Inputs all = inputs();
  all.broken = {"kagent/softmax/x86-64-v3/g002-1a2b3c4d: variant.json: /kernel is missing"};
  EXPECT_THAT(reasons(choose(all)),
              ElementsAre("kagent/softmax/x86-64-v3/g002-1a2b3c4d: broken: variant.json: /kernel is missing",
                          "baseline: no variant fits"));
}

TEST(Selection, honours_a_rollback_and_says_how_to_undo_it) {
  Inputs all = inputs();
  all.local_branches = {branch(3), branch(2), branch(1)};
  all.holds = {hold(branch(3))};
  const Choice choice = choose(all);
  EXPECT_EQ(chosen(choice), "g2");
  EXPECT_EQ(choice.considered.front().reason,
            "held back by a rollback on 2026-01-31T12:00:00Z; kagent rollback softmax --release");
  all.holds = {hold(branch(3)), hold(branch(2)), hold(branch(1))};
  EXPECT_EQ(chosen(choose(all)), "baseline");
  // It is a result all the same: nothing has to be tuned again.
  EXPECT_TRUE(has_result(all));
}

TEST(Selection, holds_the_same_source_under_any_generation_and_at_any_remote) {
  Inputs all = inputs();
  all.remote_variants = true;
  Variant again = branch(4);
  again.source = branch(3).source;
  again.evidence.source_hash = util::sha256(again.source);
  all.local_branches = {again};
  all.remote_branches = {again};
  all.remote_branches[0].place = VariantPlace::remote_branch;
  all.holds = {hold(branch(3))};
  EXPECT_EQ(chosen(choose(all)), "baseline");
}

TEST(Selection, does_not_hold_what_the_user_put_into_the_working_tree) {
  Inputs all = inputs();
  all.working_tree = {variant(VariantPlace::working_tree, 3, "tree")};
  all.holds = {hold(all.working_tree[0])};
  EXPECT_EQ(chosen(choose(all)), "tree");
}

TEST(Selection, ignores_holds_of_other_kernels_and_architectures) {
  Inputs all = inputs();
  all.local_branches = {branch(1)};
  all.holds = {hold(branch(1)), hold(branch(1))};
  all.holds[0].kernel = "other";
  all.holds[1].architecture = "x86-64";
  EXPECT_EQ(chosen(choose(all)), "g1");
}

Variant unreviewed(int generation) {
  Variant result = branch(generation);
  result.evidence.reviewed = false;
  return result;
}

Review review(const Variant& variant) {
  return {"softmax", "x86-64-v3", variant.evidence.generation, variant.reference, variant.evidence.source_hash, "2026"};
}

TEST(Selection, takes_what_nobody_has_reviewed_and_says_so) {
  Inputs given = inputs();
  given.local_branches = {unreviewed(1)};
  const Choice choice = choose(given);
  ASSERT_TRUE(choice.variant);
  EXPECT_THAT(choice.considered.front().reason, StartsWith("matches; nobody has reviewed it"));
  given.reviews = {review(given.local_branches.front())};
  EXPECT_EQ(choose(given).considered.front().reason, "matches");
}

TEST(Selection, leaves_out_what_nobody_has_reviewed_where_that_is_required) {
  Inputs given = inputs();
  given.local_branches = {unreviewed(2), branch(1)};
  given.require_reviewed = true;
  const Choice choice = choose(given);
  ASSERT_TRUE(choice.variant);
  EXPECT_EQ(choice.variant->reference, "g1");
  EXPECT_THAT(choice.considered.front().reason, StartsWith("not reviewed: "));
  given.reviews = {review(given.local_branches.front())};
  EXPECT_EQ(choose(given).variant->reference, "g2");
}

TEST(Selection, a_confirmation_holds_for_the_reviewed_source_alone) {
  Inputs given = inputs();
  given.local_branches = {unreviewed(2)};
  given.require_reviewed = true;
  given.reviews = {review(branch(1))};
  EXPECT_FALSE(choose(given).variant);
  EXPECT_TRUE(has_result(given));
}

TEST(Selection, a_remote_branch_has_to_be_confirmed_here) {
  Inputs given = inputs();
  given.remote_branches = {variant(VariantPlace::remote_branch, 1, "origin/g1")};
  given.remote_variants = true;
  given.require_reviewed = true;
  EXPECT_FALSE(choose(given).variant);
  given.reviews = {review(given.remote_branches.front())};
  EXPECT_TRUE(choose(given).variant);
}

}  // namespace
}  // namespace kagent::selection
