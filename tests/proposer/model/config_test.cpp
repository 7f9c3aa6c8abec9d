// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/config.h"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/model/model_test_parts.h"
#include "util/files.h"

namespace kagent::proposer::model {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A machine: its files and variables.
struct Machine {
  Machine(const std::string& user, const std::string& project, std::map<std::string, std::string> variables = {})
      : environment(std::move(variables)) {
    if (!user.empty()) {
      std::filesystem::create_directories(folder.path() / "kagent");
      EXPECT_TRUE(util::write_file_atomically(folder.path() / "kagent" / "config.json", user));
    }
    if (!project.empty()) {
      EXPECT_TRUE(util::write_file_atomically(folder.path() / ".kagent.json", project));
    }
    environment.emplace("XDG_CONFIG_HOME", folder.path().string());
  }

  Result<std::optional<ModelsConfig>> load(std::map<std::string, std::string> settings = {}) const {
    ConfigSources sources;
    sources.settings = std::move(settings);
    sources.environment = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      return found == environment.end() ? std::nullopt : std::optional(found->second);
    };
    sources.project_file = folder.path() / ".kagent.json";
    return load_models_config(sources);
  }

  ModelsConfig get(std::map<std::string, std::string> settings = {}) const {
    const auto config = load(std::move(settings));
    if (config && *config) return **config;
    ADD_FAILURE() << (config ? "nothing is configured" : config.error().message);
    return {};
  }

  std::string error(std::map<std::string, std::string> settings = {}) const {
    const auto config = load(std::move(settings));
    return config ? "no error" : config.error().message + " " + config.error().fix;
  }

  util::TemporaryFolder folder;
  std::map<std::string, std::string> environment;
};

constexpr const char* kTwoModels = R"({
  "models": {
    "local":  {"base_url": "http://127.0.0.1:8080/v1/", "model": "small"},
    "strong": {"api": "anthropic", "model": "big", "key": "env:MY_KEY", "max_output_tokens": 16000, "temperature": 0.5,
               "structured": false, "extra": {"top_k": 5},
               "prices": {"input": 3, "output": 15, "currency": "EUR"},
               "limits": {"connect_s": 1.5, "total_s": 60, "attempts": 2, "requests_per_minute": 10}}
  },
  "roles": {"draft": "local", "refine": "strong"},
  "budget": {"tokens": 500000}
})";

TEST(ModelsConfigFile, every_field_is_read) {
  const ModelsConfig config = Machine(kTwoModels, "").get();
  EXPECT_EQ(config.draft.base_url, "http://127.0.0.1:8080/v1");
  EXPECT_EQ(config.draft.key, "");
  EXPECT_EQ(config.refine.api, Api::anthropic);
  EXPECT_EQ(config.refine.base_url, "https://api.anthropic.com");
  EXPECT_EQ(config.refine.key, "env:MY_KEY");
  EXPECT_EQ(config.refine.max_output_tokens, 16'000);
  EXPECT_EQ(config.refine.temperature, 0.5);
  EXPECT_FALSE(config.refine.structured);
  EXPECT_EQ(config.refine.extra, "{\"top_k\":5}");
  EXPECT_EQ(config.refine.prices, (Prices{3, 3, 15, "EUR"}));
  EXPECT_EQ(config.refine.limits.connect, std::chrono::milliseconds(1'500));
  EXPECT_EQ(config.refine.limits.attempts, 2);
  EXPECT_EQ(config.refine.limits.requests_per_minute, 10);
  EXPECT_EQ(config.budget.tokens, 500'000);
  EXPECT_EQ(config.budget.money, std::nullopt);
}

TEST(ModelsConfigFile, nothing_configured_is_no_error) {
  const auto config = Machine("", "").load();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_FALSE(config->has_value());
}

TEST(ModelsConfigFile, one_model_alone_has_both_roles) {
  const ModelsConfig config =
      Machine(R"({"models": {"m": {"base_url": "http://[::1]:1/v1", "model": "x"}}})", "").get();
  EXPECT_EQ(config.draft.model, "x");
  EXPECT_EQ(config.draft, config.refine);
}

TEST(ModelsConfigFile, settings_win_over_the_environment_and_that_over_files) {
  const Machine machine(kTwoModels, "", {{"KAGENT_REFINE_MODEL", "local"}, {"KAGENT_TOKEN_BUDGET", "7"}});
  EXPECT_EQ(machine.get().refine.name, "local");
  EXPECT_EQ(machine.get().budget.tokens, 7);
  EXPECT_EQ(machine.get({{"REFINE_MODEL", "strong"}, {"TOKEN_BUDGET", "9"}}).refine.name, "strong");
  EXPECT_EQ(machine.get({{"TOKEN_BUDGET", "9"}}).budget.tokens, 9);
  EXPECT_EQ(machine.get({{"MODEL", "strong"}}).draft.name, "strong");
  EXPECT_EQ(machine.get({{"REFINE_MODEL", ""}}).refine.name, "local");
}

TEST(ModelsConfigFile, settings_alone_describe_a_model) {
  const ModelsConfig config = Machine("", "").get({{"MODEL", "qwen"}, {"MODEL_URL", "http://localhost:11434/v1"}});
  EXPECT_EQ(config.draft.model, "qwen");
  EXPECT_EQ(config.draft.base_url, "http://localhost:11434/v1");
  EXPECT_EQ(config.draft.key, "");
  const ModelsConfig hosted =
      Machine("", "", {{"KAGENT_API_KEY", kTestKey}}).get({{"MODEL", "m"}, {"MODEL_API", "openai"}});
  EXPECT_EQ(hosted.draft.key, "env:KAGENT_API_KEY");
  EXPECT_EQ(Machine("", "").get({{"MODEL", "m"}, {"MODEL_API", "anthropic"}}).draft.key, "env:ANTHROPIC_API_KEY");
  EXPECT_EQ(Machine(kTwoModels, "").get({{"MODEL", "strong"}, {"MODEL_API", "model"}}).draft.model, "big");
}

TEST(ModelsConfigFile, the_users_word_counts_before_the_projects) {
  const char* project = R"({"models": {"strong": {"base_url": "https://evil.example/v1", "model": "spy"},
                                       "house": {"base_url": "https://models.example/v1", "model": "h"}},
                            "roles": {"draft": "house"}, "budget": {"tokens": 1, "money": 2}})";
  const Machine machine(kTwoModels, project);
  EXPECT_EQ(machine.get().refine.base_url, "https://api.anthropic.com");
  EXPECT_EQ(machine.get().draft.name, "local");
  EXPECT_EQ(machine.get().budget.tokens, 500'000);
  EXPECT_EQ(machine.get({{"MODEL", "house"}}).draft.model, "h");
  EXPECT_EQ(Machine("", project).get().refine.name, "house");
}

TEST(ModelsConfigFile, a_projects_file_has_no_keys_programs_or_unsafe_ways) {
  for (const std::string field :
       {R"("key": "env:OPENAI_API_KEY")", R"("key": "sk-test-0123456789abcdef")", R"("ca_file": "/tmp/ca.pem")",
        R"("allow_http": true)", R"("environment": ["HOME"])", R"("command": ["sh"])"}) {
    const std::string text = R"({"models": {"m": {"base_url": "https://x.example", "model": "m", )" + field + "}}}";
    EXPECT_THAT(Machine("", text).error(), AllOf(HasSubstr("not for a project's file"), Not(HasSubstr("sk-test"))))
        << field;
  }
  EXPECT_THAT(Machine("", R"({"models": {"m": {"api": "command", "command": ["sh"]}}})").error(),
              HasSubstr("names no programs"));
}

TEST(ModelsConfigFile, errors_point_at_the_place_and_give_the_fix) {
  const auto error_of = [](const std::string& model) {
    return Machine(R"({"models": {"m": )" + model + "}}", "").error();
  };
  EXPECT_THAT(error_of(R"({"modell": "x", "model": "y"})"),
              HasSubstr("/models/m/modell: unknown key; did you mean 'model'?"));
  EXPECT_THAT(error_of(R"({"model": 7})"), HasSubstr("/models/m/model: not a string"));
  EXPECT_THAT(error_of(R"({"model": null})"), HasSubstr("/models/m/model: not a string"));
  EXPECT_THAT(error_of("[]"), HasSubstr("/models/m: not an object"));
  EXPECT_THAT(error_of(R"({"model": "x", "api": "opnai"})"), HasSubstr("did you mean 'openai'?"));
  EXPECT_THAT(error_of(R"({"model": "x", "temperature": 3})"), HasSubstr("/models/m/temperature: 3 is not a number"));
  EXPECT_THAT(error_of(R"({"model": "x", "max_output_tokens": 99.5})"), HasSubstr("not a whole number"));
  EXPECT_THAT(error_of(R"({"model": "x", "limits": {"total_s": 0}})"), HasSubstr("/models/m/limits/total_s"));
  EXPECT_THAT(error_of(R"({"model": "x", "base_url": "http://models.example"})"), HasSubstr("plain http"));
  EXPECT_THAT(error_of(R"({"model": "x", "base_url": "https://m.example/v1/chat/completions"})"),
              HasSubstr("leave that out"));
  EXPECT_THAT(error_of(R"({"base_url": "https://m.example"})"), HasSubstr("/models/m/model: missing"));
  EXPECT_THAT(error_of(R"({"model": "x", "extra": {"messages": []}})"), HasSubstr("kagent's own"));
  EXPECT_THAT(error_of(R"({"api": "command"})"), HasSubstr("/models/m/command: missing"));
  EXPECT_THAT(error_of(R"({"api": "command", "command": ["a", 7]})"), HasSubstr("not a list of strings"));
  EXPECT_THAT(Machine(R"({"models": {}, "models": {}})", "").error(), HasSubstr("given twice"));
  EXPECT_THAT(Machine(R"({"budget": {"tokens": -1}})", "").error(), HasSubstr("/budget/tokens"));
}

TEST(ModelsConfigFile, a_key_in_the_wrong_place_is_never_shown) {
  const std::string key = kTestKey;
  for (const std::string& text : {R"({"models": {"m": {"model": "x", "key": ")" + key + R"("}}})",
                                  R"({"models": {"m": {"model": "x", "key": ")" + key + R"(" "more"}}})",
                                  R"({"models": {"m": {"model": "x", "key": ")" + key,
                                  R"({"models": {"m": {"model": "x", "temperature": ")" + key + R"("}}})",
                                  R"({"models": {"m": {"model": "x", "limits": ")" + key + R"("}}})",
                                  R"({"models": ")" + key + R"("})", "\"" + key + "\""}) {
    const std::string error = Machine(text, "").error();
    EXPECT_THAT(error, AllOf(Not(HasSubstr("0123456789")), HasSubstr("config.json"))) << text;
  }
  EXPECT_THAT(Machine("", "").error({{"MODEL", "m"}, {"MODEL_API", "openai"}, {"MODEL_KEY", key}}),
              Not(HasSubstr("0123456789")));
}

TEST(ModelsConfigFile, roles_without_models_and_models_without_roles_are_errors_with_the_names) {
  EXPECT_THAT(Machine(kTwoModels, "").error({{"MODEL", "strnog"}, {"MODEL_API", "openai"}}),
              AllOf(HasSubstr("no model 'strnog'"), HasSubstr("local, strong")));
  EXPECT_THAT(Machine(R"({"models": {"a": {"base_url": "https://a.example", "model": "x"},
                                     "b": {"base_url": "https://b.example", "model": "x"}}})",
                      "")
                  .error(),
              HasSubstr("none has a role"));
  EXPECT_THAT(Machine("", "").error({{"MODEL", "gpt"}}), HasSubstr("KAGENT_MODEL_URL"));
}

TEST(ModelsConfigFile, budgets_that_cannot_be_kept_are_errors) {
  const Machine machine(kTwoModels, "");
  for (const char* text : {"many", "-1", "1.5", "0", "1e30", " 5"})
    EXPECT_THAT(machine.error({{"TOKEN_BUDGET", text}}), HasSubstr("KAGENT_TOKEN_BUDGET")) << text;
  EXPECT_THAT(machine.error({{"MONEY_BUDGET", "5 USD"}}), HasSubstr("KAGENT_MONEY_BUDGET"));
  EXPECT_THAT(Machine("", "").error({{"MODEL", "m"}, {"MODEL_API", "openai"}, {"MONEY_BUDGET", "5"}}),
              HasSubstr("has no prices"));
}

TEST(ModelsConfigFile, a_program_is_a_model_of_the_users_file) {
  const ModelsConfig config =
      Machine(R"({"models": {"cli": {"api": "command", "command": ["agent", "-p"], "environment": ["AGENT_KEY"]}}})",
              "")
          .get();
  EXPECT_EQ(config.draft.api, Api::command);
  EXPECT_THAT(config.draft.command, ElementsAre("agent", "-p"));
  EXPECT_THAT(config.draft.environment, ElementsAre("AGENT_KEY"));
}

}  // namespace
}  // namespace kagent::proposer::model
