// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/json_output.h"
#include "cli/variants.h"
#include "loop/sanitizer_check.h"
#include "store/evidence_json.h"
#include "store/variant_name.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

struct ShowOptions {
  KernelOptions kernel;
  std::string generation;
  bool source = false;
};

void line(const std::string& name, const std::string& text) {
  std::string clean = util::clean(text, 4000);
  while (clean.ends_with('\n')) clean.pop_back();
  if (clean.empty()) return;
  // Further lines of a longer text stay under the first.
  for (std::size_t at = 0; (at = clean.find('\n', at)) != std::string::npos; at += 15)
    clean.replace(at, 1, "\n" + std::string(14, ' '));
  fmt::print("  {:<12}{}\n", name, clean);
}

void print_cases(const std::string& against, const Decision& decision) {
  fmt::print("  over {}: {} ({} to {} at {:g} %)\n", against, speedup(decision.ratio), speedup(decision.high),
             speedup(decision.low), decision.confidence * 100);
  for (const CaseRatio& one : decision.cases)
    fmt::print("    {:<24} {:>14.1f} ns -> {:>14.1f} ns  {} ({} to {}), {} pairs, weight {:g}\n",
               util::clean(one.case_name, 100), one.incumbent_ns, one.candidate_ns, speedup(one.ratio),
               speedup(one.high), speedup(one.low), one.pairs, one.weight);
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& one : lines) text += (text.empty() ? "" : "; ") + one;
  return text;
}

// Of models as their providers tell, of agents as these report themselves.
std::string usage_text(const Evidence& evidence) {
  const Usage& usage = evidence.usage;
  const bool by_agent = evidence.proposer == "agent";
  if (by_agent && usage.input_tokens + usage.output_tokens == 0 && usage.cost == 0) return "no usage was reported";
  return fmt::format("{} tokens read, {} written, {:.4g} in cost{}", usage.input_tokens, usage.output_tokens,
                     usage.cost, by_agent ? ", as the agent reported" : "");
}

void print(const Variant& variant) {
  const Evidence& evidence = variant.evidence;
  fmt::print("{} {} {}\n", evidence.kernel, evidence.architecture, store::generation_name(evidence.generation));
  line("where", variant.reference);
  line("parent", evidence.parent);
  line("created", evidence.created + " by kagent " + evidence.kagent_version + ", proposer " + evidence.proposer);
  if (!evidence.reviewed) line("review", "the first of its architecture when it was accepted: nobody had confirmed it");
  if (!evidence.model.empty()) line("model", evidence.model + ": " + usage_text(evidence));
  line("hypothesis", evidence.hypothesis);
  line("reflection", evidence.reflection);
  std::string tunables;
  for (const auto& [name, value] : evidence.tunables)
    tunables += fmt::format("{}{}={}", tunables.empty() ? "" : " ", name, value);
  line("tunables", tunables);
  print_cases("the baseline", evidence.against_baseline);
  if (evidence.parent != "baseline") print_cases(parent_name(evidence), evidence.against_incumbent);
  line("verified", joined(evidence.expected_from));
  for (const auto& [output, error] : evidence.max_error_over_bound)
    line("error", fmt::format("{}: {:.3g} of what is allowed", output, error));
  for (const DeviceUsage& one : evidence.device_usage)
    line("uses", fmt::format("{}: {} registers, {} bytes of shared memory, {} bytes spilled", one.kernel, one.registers,
                             one.shared_bytes, one.spill_store_bytes + one.spill_load_bytes));
  line("sanitizer", loop::in_words(evidence.sanitizer));
  line("machine", evidence.device);
  line("driver", evidence.driver);
  line("compiler", evidence.compiler);
  line("flags", evidence.flags);
  line("sandbox", evidence.sandbox);
  line("source", evidence.source_name + ", SHA-256 " + evidence.source_hash);
  line("key", evidence.key.hash());
}

// A terminal gets clean text; a file or a pipe gets the very bytes that are built.
void print_source(const std::string& source) {
  const std::string text = ::isatty(STDOUT_FILENO) == 1 ? util::clean(source, source.size()) : source;
  std::fwrite(text.data(), 1, text.size(), stdout);
}

Variant chosen(const KeptVariants& kept, const ShowOptions& options, const std::string& architecture) {
  const std::string& kernel = options.kernel.kernel;
  if (!options.generation.empty()) return find_variant(kept, kernel, architecture, options.generation);
  if (auto variant = in_use(kept, kernel, architecture)) return std::move(*variant);
  throw UserError("no variant of " + kernel + " for " + architecture + " is in use: builds take the baseline",
                  "name a generation: kagent show " + kernel + " g001; kagent log " + kernel + " lists them");
}

int show(const ShowOptions& options) {
  const KeptVariants kept = open_kept(options.kernel);
  const auto found = architectures(kept, options.kernel);
  if (options.source && found.size() > 1)
    throw UserError("there are variants for several architectures", "name one with --architecture");
  auto all = nlohmann::ordered_json::array();
  for (const std::string& architecture : found) {
    const Variant variant = chosen(kept, options, architecture);
    if (options.source)
      print_source(variant.source);
    else if (options.kernel.json)
      all.push_back({{"reference", variant.reference},
                     {"evidence", nlohmann::ordered_json::parse(store::to_json(variant.evidence))}});
    else
      print(variant);
  }
  if (options.kernel.json && !options.source) print_json(all);
  return kDone;
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = app.add_subcommand("show", "The evidence for one variant: times, errors, machine, hypothesis");
  add_kernel_options(*command, options->kernel);
  command->add_option("generation", options->generation, "g002, a branch, or variants/...; left out: what builds take");
  command->add_flag("--source", options->source, "Print the variant's source instead")->excludes("--json");
  add_example(*command, "kagent show softmax g002");
  command->callback([options, &action] { action = [options] { return show(*options); }; });
}

}  // namespace kagent::cli
