// SPDX-License-Identifier: Apache-2.0
#include "loop/sanitizer_check.h"

#include <array>
#include <utility>

#include <fmt/core.h>

namespace kagent::loop {
namespace {

using runner::SanitizerResult;
using runner::SanitizerTool;
using SanitizerVerdict = SanitizerResult::Verdict;

constexpr std::array kTools{SanitizerTool::memcheck, SanitizerTool::racecheck, SanitizerTool::initcheck,
                            SanitizerTool::synccheck};
// A tool makes an access tens to hundreds of times slower.
constexpr std::int64_t kMostElements = std::int64_t{1} << 20;

SanitizerResult ask(SanitizerTool tool, const Binary& binary, const SanitizerSubject& subject,
                    const SanitizerCheckOptions& options) {
  return runner::sanitize(binary, subject.parameters, subject.inputs, {tool}, options.runner, options.how).front();
}

std::string counted(int errors) {
  return fmt::format("{} error{}", errors, errors == 1 ? "" : "s");
}

// What the tool says in the end. The project's own source may have errors that nobody minds: a finalist is held to have
// no more.
std::string judged(const SanitizerResult& result, const SanitizerSubject& subject, const SanitizerCheckOptions& options,
                   SanitizerReport& report) {
  if (result.verdict == SanitizerVerdict::clean) return "clean";
  if (result.verdict == SanitizerVerdict::unfinished) return result.detail;
  std::string found = counted(result.error_count) + ": " + result.detail;
  const SanitizerResult own = ask(result.tool, subject.baseline, subject, options);
  if (own.verdict == SanitizerVerdict::errors && own.error_count >= result.error_count)
    return fmt::format("{} (the baseline has {})", found, counted(own.error_count));
  if (report.outcome == Outcome::ok) {
    report.outcome = Outcome::sanitizer_error;
    report.detail = fmt::format("compute-sanitizer {}: {}", runner::name(result.tool), found);
  }
  return found;
}

}  // namespace

SanitizerReport check_under_sanitizer(const SanitizerSubject& subject, const SanitizerCheckOptions& options,
                                      ProgressObserver& progress) {
  SanitizerReport report;
  const auto deadline = std::chrono::steady_clock::now() + options.total;
  for (const SanitizerTool tool : kTools) {
    const std::string name(runner::name(tool));
    if (options.interrupted && options.interrupted()) {
      report.interrupted = true;
      return report;
    }
    if (report.outcome != Outcome::ok) {
      report.tools[name] = "not asked any more";
      continue;
    }
    if (!report.tools.empty() && std::chrono::steady_clock::now() >= deadline) {
      report.tools[name] = fmt::format("not asked: the tools before it took {:g} s",
                                       std::chrono::duration<double>(options.total).count());
      continue;
    }
    if (!options.how.sanitizer.empty()) progress.on_event(CheckingFinalist{"compute-sanitizer " + name});
    report.tools[name] = judged(ask(tool, subject.finalist, subject, options), subject, options, report);
  }
  progress.on_event(FinalistChecked{in_words(report.tools)});
  return report;
}

std::string in_words(const std::map<std::string, std::string>& tools) {
  std::vector<std::pair<std::string, std::string>> groups;  // names, what they say
  for (const SanitizerTool tool : kTools) {
    const auto found = tools.find(std::string(runner::name(tool)));
    if (found == tools.end()) continue;
    if (!groups.empty() && groups.back().second == found->second)
      groups.back().first += ", " + found->first;
    else
      groups.emplace_back(found->first, found->second);
  }
  std::string words;
  for (const auto& [names, says] : groups) words += (words.empty() ? "" : "; ") + names + ": " + says;
  return words;
}

const Check& check_for_sanitizer(const std::vector<Check>& checks) {
  const Check* chosen = nullptr;
  for (const Check& one : checks) {
    const bool fits = one.elements <= kMostElements;
    if (!chosen ||
        (fits ? one.elements > chosen->elements || chosen->elements > kMostElements : one.elements < chosen->elements))
      chosen = &one;
  }
  return *chosen;
}

}  // namespace kagent::loop
