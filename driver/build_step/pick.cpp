// SPDX-License-Identifier: Apache-2.0
#include "build_step/pick.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "build_step/generated_source.h"
#include "store/reviews.h"
#include "util/files.h"

namespace kagent::build_step {
namespace {

namespace fs = std::filesystem;

fs::path folder(const KernelRequest& request) {
  return request.file.parent_path();
}

// The file that holds the baseline and, where several levels have variants, the dispatcher; nothing if there is one
// output, which then is the baseline or the variant itself.
const BuildOutput* dispatch_output(const KernelRequest& request) {
  for (const BuildOutput& output : request.outputs)
    if (output.is_dispatcher()) return &output;
  return nullptr;
}

// As Make and Ninja read a path in a depfile.
std::string depfile_escaped(const fs::path& path) {
  std::string text;
  for (char character : path.string()) {
    if (character == ' ' || character == '#') text += '\\';
    if (character == '$') text += '$';
    text += character;
  }
  return text;
}

Result<void> write(const fs::path& file, const std::string& text) {
  auto written = util::write_file_if_different(file, text);
  if (!written) return std::unexpected(written.error());
  return {};
}

Result<void> write_choices(const Pick& pick) {
  nlohmann::ordered_json root{{"format", 1}, {"choices", nlohmann::json::array()}};
  for (const Choice& choice : pick.choices) {
    nlohmann::ordered_json entry{{"architecture", choice.architecture}};
    if (choice.variant) {
      entry["variant"] = choice.variant->reference;
      entry["symbol"] = choice.variant->evidence.symbol;
    }
    root["choices"].push_back(std::move(entry));
  }
  return write(folder(pick.request) / "choice.json",
               root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

bool hides_symbols(const Pick& pick) {
  const auto& options = pick.contexts.front().command.options;
  return std::ranges::find(options, "-fvisibility=hidden") != options.end();
}

Result<void> write_dispatch(const Pick& pick, const BuildOutput& main) {
  std::vector<DispatchedLevel> levels;
  std::string symbol;
  for (const Choice& choice : pick.choices) {
    if (!choice.variant) continue;
    symbol = choice.variant->evidence.symbol;
    levels.push_back(
        {choice.architecture, isolated_name(pick.request.target, pick.request.kernel, choice.architecture)});
  }
  if (levels.empty()) return write(main.generated, baseline_source(pick.request.source));
  Dispatcher dispatcher = dispatcher_source(pick.request.source, pick.contexts.front().spec.entry, symbol,
                                            pick.request.target, pick.request.kernel, levels, hides_symbols(pick));
  if (auto done = write(main.generated.parent_path() / "dispatch.inc", dispatcher.resolver); !done) return done;
  return write(main.generated, dispatcher.source);
}

}  // namespace

Result<selection::Inputs> selection_inputs(const KernelContext& context, const store::VariantStore& variants) {
  const std::string& kernel = context.request.kernel;
  selection::Inputs inputs;
  inputs.kernel = kernel;
  inputs.architecture = context.architecture;
  inputs.key = context.key;
  inputs.remote_variants = context.request.remote_variants;
  auto gather = [&](VariantPlace place, std::vector<Variant>& list) -> Result<void> {
    auto found = variants.list(kernel, context.architecture, place, &inputs.broken);
    if (!found) return std::unexpected(found.error());
    list = std::move(*found);
    return {};
  };
  if (auto done = gather(VariantPlace::working_tree, inputs.working_tree); !done) return std::unexpected(done.error());
  if (auto done = gather(VariantPlace::local_branch, inputs.local_branches); !done)
    return std::unexpected(done.error());
  if (inputs.remote_variants)
    if (auto done = gather(VariantPlace::remote_branch, inputs.remote_branches); !done)
      return std::unexpected(done.error());
  auto holds = variants.holds(kernel, context.architecture);
  if (!holds) return std::unexpected(holds.error());
  inputs.holds = std::move(*holds);
  inputs.require_reviewed = context.request.require_reviewed;
  auto reviews = store::reviews(variants, kernel, context.architecture);
  if (!reviews) return std::unexpected(reviews.error());
  inputs.reviews = std::move(*reviews);
  return inputs;
}

Result<Pick> pick(const KernelRequest& request, const store::VariantStore& variants) {
  Pick result{request, {}, {}};
  for (const BuildOutput& output : request.outputs) {
    if (output.is_dispatcher()) continue;
    auto context = load_context(request, output);
    if (!context) return std::unexpected(context.error());
    auto inputs = selection_inputs(*context, variants);
    if (!inputs) return std::unexpected(inputs.error());
    result.choices.push_back(selection::choose(*inputs));
    result.contexts.push_back(std::move(*context));
  }
  return result;
}

Result<void> write_sources(const Pick& pick) {
  const BuildOutput* main = dispatch_output(pick.request);
  for (std::size_t i = 0; i < pick.contexts.size(); ++i) {
    const Choice& choice = pick.choices[i];
    std::string text = choice.variant ? choice.variant->source
                       : main         ? "// Written by kagent: no variant for this architecture.\n"
                                      : baseline_source(pick.request.source);
    if (auto done = write(pick.contexts[i].generated, text); !done) return done;
  }
  if (main)
    if (auto done = write_dispatch(pick, *main); !done) return done;
  return write_choices(pick);
}

Result<void> write_depfile(const Pick& pick, const store::VariantStore& variants, const fs::path& depfile,
                           const fs::path& stamp) {
  const KernelRequest& request = pick.request;
  std::set<fs::path> files{request.file, request.source, request.compile_commands};
  for (const KernelContext& context : pick.contexts) {
    files.insert(context.headers.begin(), context.headers.end());
    files.insert(context.spec.files.begin(), context.spec.files.end());
  }
  for (std::size_t i = 0; i < pick.choices.size(); ++i) {
    const std::string& architecture = pick.contexts[i].architecture;
    for (fs::path& file : variants.watched_files(request.kernel, architecture, request.remote_variants))
      files.insert(std::move(file));
  }
  std::string text = depfile_escaped(stamp) + ":";
  for (const fs::path& file : files) text += " \\\n  " + depfile_escaped(file);
  if (auto done = util::write_file_atomically(depfile, text + "\n"); !done) return done;
  return util::write_file_atomically(stamp, "");
}

std::string describe(const KernelRequest& request, const Choice& choice) {
  std::string text = fmt::format("{} ({}, {}): ", request.kernel, request.target, choice.architecture);
  if (choice.variant)
    return text +
           fmt::format("{}, {:.2f}x", choice.variant->reference, 1 / choice.variant->evidence.against_baseline.ratio);
  const std::string why = choice.considered.empty() ? "no variant" : choice.considered.front().reason;
  return text + "baseline (" + why + ")";
}

Result<std::optional<std::string>> chosen_symbol(const KernelRequest& request, const std::string& architecture) {
  const fs::path file = folder(request) / "choice.json";
  auto text = util::read_file(file);
  if (!text) return std::unexpected(text.error());
  auto root = nlohmann::json::parse(*text, nullptr, false);
  try {
    for (const auto& choice : root.at("choices"))
      if (choice.at("architecture") == architecture && choice.contains("symbol"))
        return choice.at("symbol").get<std::string>();
  } catch (const nlohmann::json::exception& error) {
    return failure(file.string() + ": " + error.what(), "build again, or delete it");
  }
  return std::optional<std::string>{};
}

}  // namespace kagent::build_step
