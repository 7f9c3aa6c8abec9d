// SPDX-License-Identifier: Apache-2.0
#include "build_step/pick.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "build_step/device_dispatch.h"
#include "build_step/launcher_source.h"
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

// What a compiler of the build reads.
Result<void> write_source(const Pick& pick, const fs::path& file, const std::string& text) {
  return write(file, pick.request.language == Language::cuda ? with_own_lines(text, file) : text);
}

// The function that other files call: of style "kernel" the generated launcher.
std::string called_function(const KernelSpec& spec) {
  return spec.style == Style::kernel ? launch_function(spec) : spec.entry;
}

Result<void> write_choices(const Pick& pick) {
  nlohmann::ordered_json root{{"format", 1}, {"choices", nlohmann::json::array()}};
  for (std::size_t i = 0; i < pick.choices.size(); ++i) {
    const Choice& choice = pick.choices[i];
    nlohmann::ordered_json entry{{"architecture", choice.architecture}};
    if (choice.variant) {
      entry["variant"] = choice.variant->reference;
      // Of style "kernel" the recorded symbol is that of the kernel, and the launcher is found by its name.
      const KernelSpec& spec = pick.contexts[i].spec;
      entry["function"] = called_function(spec);
      entry["symbol"] = spec.style == Style::launcher ? choice.variant->evidence.symbol : "";
    }
    root["choices"].push_back(std::move(entry));
  }
  return write(folder(pick.request) / "choice.json",
               root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

bool hides_symbols(const Pick& pick) {
  return std::ranges::any_of(pick.contexts.front().command.options, [](const std::string& option) {
    return option == "-fvisibility=hidden" || option == "-Xcompiler=-fvisibility=hidden";
  });
}

// The text that defines the called function with the project's own kernel.
std::string baseline_text(const KernelContext& context, Seen seen = Seen::outside) {
  const fs::path& source = context.request.source;
  if (context.spec.style == Style::launcher) return baseline_source(source);
  return launcher_source(context.spec, context.source_text, source.string(), *context.spec.launch, seen);
}

// The same with the variant.
std::string variant_text(const KernelContext& context, const Variant& variant) {
  if (context.spec.style == Style::launcher) return variant.source;
  const Evidence& evidence = variant.evidence;
  return launcher_source(context.spec, variant.source, evidence.source_name,
                         evidence.launch ? *evidence.launch : *context.spec.launch);
}

Dispatcher dispatcher(const Pick& pick, const std::vector<DispatchedLevel>& levels, const std::string& symbol) {
  const KernelContext& context = pick.contexts.front();
  const KernelRequest& request = pick.request;
  Dispatch dispatch{.target = request.target,
                    .kernel = request.kernel,
                    .baseline = baseline_text(context, Seen::as_compiled),
                    .entry = called_function(context.spec),
                    .symbol = context.spec.style == Style::launcher ? symbol : "",
                    .hidden = hides_symbols(pick),
                    .variants = levels};
  return request.language == Language::cxx ? dispatcher_source(std::move(dispatch))
                                           : device_dispatcher_source(dispatch);
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
  // Without variants the file is there all the same, since the build's rule names it.
  const Dispatcher texts = levels.empty() ? Dispatcher{baseline_text(pick.contexts.front()), "// Nothing to choose.\n"}
                                          : dispatcher(pick, levels, symbol);
  if (auto done = write(main.generated.parent_path() / "dispatch.inc", texts.resolver); !done) return done;
  return write_source(pick, main.generated, texts.source);
}

// Of style "kernel": what callers of the launcher include.
Result<void> write_launcher_header(const Pick& pick) {
  const KernelSpec& spec = pick.contexts.front().spec;
  if (spec.style == Style::launcher) return {};
  return write(folder(pick.request).parent_path() / "include" / launcher_header_name(spec), launcher_header(spec));
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

RenamedBaseline dispatched_baseline(const KernelContext& context) {
  return renamed_baseline(baseline_text(context, Seen::as_compiled), called_function(context.spec));
}

Result<void> write_sources(const Pick& pick) {
  const BuildOutput* main = dispatch_output(pick.request);
  for (std::size_t i = 0; i < pick.contexts.size(); ++i) {
    const Choice& choice = pick.choices[i];
    std::string text = choice.variant ? variant_text(pick.contexts[i], *choice.variant)
                       : main         ? "// Written by kagent: no variant for this architecture.\n"
                                      : baseline_text(pick.contexts[i]);
    if (auto done = write_source(pick, pick.contexts[i].generated, text); !done) return done;
  }
  if (main)
    if (auto done = write_dispatch(pick, *main); !done) return done;
  if (auto done = write_launcher_header(pick); !done) return done;
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

Result<std::optional<ChosenFunction>> chosen_function(const KernelRequest& request, const std::string& architecture) {
  const fs::path file = folder(request) / "choice.json";
  auto text = util::read_file(file);
  if (!text) return std::unexpected(text.error());
  auto root = nlohmann::json::parse(*text, nullptr, false);
  try {
    for (const auto& choice : root.at("choices"))
      if (choice.at("architecture") == architecture && choice.contains("symbol"))
        return ChosenFunction{choice.at("function").get<std::string>(), choice.at("symbol").get<std::string>()};
  } catch (const nlohmann::json::exception& error) {
    return failure(file.string() + ": " + error.what(), "build again, or delete it");
  }
  return std::optional<ChosenFunction>{};
}

}  // namespace kagent::build_step
