// SPDX-License-Identifier: Apache-2.0
#include "build_step/request.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "util/files.h"
#include "util/text.h"

namespace kagent::build_step {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFormat = 1;

std::optional<TuneMode> parse_tune(const std::string& text) {
  if (text == "PICK") return TuneMode::pick;
  if (text == "MISSING") return TuneMode::missing;
  if (text == "ALWAYS") return TuneMode::always;
  return std::nullopt;
}

std::optional<Language> parse_language(const std::string& text) {
  if (text == "cxx") return Language::cxx;
  if (text == "cuda") return Language::cuda;
  return std::nullopt;
}

// Throws json::exception where a field is missing or has another type.
KernelRequest parse(const json& root) {
  KernelRequest request;
  request.kernel = root.at("kernel").get<std::string>();
  request.target = root.at("target").get<std::string>();
  request.source = root.at("source").get<std::string>();
  request.golden = root.at("golden").get<std::string>();
  request.project_dir = root.at("project_dir").get<std::string>();
  request.build_dir = root.at("build_dir").get<std::string>();
  request.compile_commands = root.at("compile_commands").get<std::string>();
  request.config = root.at("config").get<std::string>();
  for (const json& output : root.at("outputs"))
    request.outputs.push_back(
        {output.at("architecture").get<std::string>(), output.at("generated").get<std::string>()});
  request.proposer = root.at("proposer").get<std::string>();
  if (const auto settings = root.find("model_settings"); settings != root.end())
    request.model_settings = settings->get<std::map<std::string, std::string>>();
  request.rounds = root.at("rounds").get<int>();
  request.width = root.at("width").get<int>();
  request.time_budget = std::chrono::seconds(root.at("time_budget_s").get<long>());
  request.min_gain = root.at("min_gain").get<double>();
  request.require_tuned = root.at("require_tuned").get<bool>();
  request.require_reviewed = root.at("require_reviewed").get<bool>();
  request.remote_variants = root.at("remote_variants").get<bool>();
  request.allow_unsandboxed = root.at("allow_unsandboxed").get<bool>();
  return request;
}

}  // namespace

Result<KernelRequest> load_request(const fs::path& file) {
  auto text = util::read_file(file);
  if (!text) return std::unexpected(text.error());
  const std::string fix = "configure the project again: this file is written by kagent_optimize_kernel()";
  json root = json::parse(*text, nullptr, false);
  if (!root.is_object()) return failure(file.string() + ": not a JSON object", fix);
  try {
    if (root.at("format").get<int>() != kFormat)
      return failure(fmt::format("{}: format {} is not {}: CMake package and kagent are of different versions",
                                 file.string(), root.at("format").dump(), kFormat),
                     fix);
    KernelRequest request = parse(root);
    request.file = fs::absolute(file);
    auto tune = parse_tune(root.at("tune").get<std::string>());
    if (!tune) return failure(file.string() + ": tune is none of PICK, MISSING, ALWAYS", fix);
    request.tune = *tune;
    auto language = parse_language(root.value("language", "cxx"));
    if (!language) return failure(file.string() + ": language is neither cxx nor cuda", fix);
    request.language = *language;
    if (request.outputs.empty()) return failure(file.string() + ": no outputs", fix);
    return request;
  } catch (const json::exception& error) {
    return failure(file.string() + ": " + error.what(), fix);
  }
}

Result<std::vector<KernelRequest>> find_requests(const fs::path& build_folder, const std::string& kernel,
                                                 const std::string& target) {
  std::vector<KernelRequest> found;
  std::set<std::string> others;
  std::error_code error;
  for (const auto& of_target : fs::directory_iterator(build_folder / "kagent", error)) {
    if (!of_target.is_directory()) continue;
    for (const auto& of_kernel : fs::directory_iterator(of_target.path(), error)) {
      fs::path file = of_kernel.path() / "request.json";
      if (!fs::exists(file)) continue;
      auto request = load_request(file);
      if (!request) return std::unexpected(request.error());
      others.insert(request->kernel);
      if ((kernel.empty() || request->kernel == kernel) && (target.empty() || request->target == target))
        found.push_back(std::move(*request));
    }
  }
  if (others.empty())
    return failure(fmt::format("no kernels in the build tree {}", fs::absolute(build_folder).string()),
                   "name the build tree of a project that calls kagent_optimize_kernel() with --build DIR");
  if (found.empty()) {
    std::vector<std::string> names(others.begin(), others.end());
    std::string near = util::nearest(kernel, names);
    return failure(fmt::format("no kernel '{}'{} in {}", kernel, target.empty() ? "" : " of target " + target,
                               fs::absolute(build_folder).string()),
                   near.empty() ? fmt::format("one of: {}", fmt::join(names, ", ")) : "did you mean " + near + "?");
  }
  std::ranges::sort(found, {}, [](const KernelRequest& request) { return std::tie(request.kernel, request.target); });
  return found;
}

}  // namespace kagent::build_step
