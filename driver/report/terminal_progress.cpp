// SPDX-License-Identifier: Apache-2.0
#include "report/terminal_progress.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/wording.h"

namespace kagent::report {
namespace {

constexpr int kFewestColumns = 20;

// Live lines must not wrap, or they could not be erased: so no more than fits, and nothing whose width on the screen is
// not known.
std::string fitted(const std::string& line, int columns) {
  std::string text;
  for (char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;
    text += byte < 0x80 ? c : '?';
  }
  const auto limit = static_cast<std::size_t>(std::max(columns, kFewestColumns) - 1);
  if (text.size() > limit) text = text.substr(0, limit - 3) + "...";
  return text;
}

}  // namespace

TerminalProgress::~TerminalProgress() {
  const std::string text = erased();
  std::fwrite(text.data(), 1, text.size(), terminal_.stream);
  std::fflush(terminal_.stream);
}

void TerminalProgress::on_event(const ProgressEvent& event) {
  std::visit([this](const auto& specific) { take(specific); }, event);
}

std::string TerminalProgress::erased() const {
  std::string text;
  for (std::size_t i = 0; i < drawn_; ++i) text += "\x1b[1A\x1b[2K";
  return text;
}

std::vector<std::string> TerminalProgress::live_lines() const {
  std::vector<std::string> lines;
  if (running_) {
    const auto passed = std::chrono::duration_cast<std::chrono::seconds>(terminal_.now() - started_);
    std::string head = fmt::format("{} ({})", one_line(run_.kernel), one_line(run_.architecture));
    if (round_ > 0) head += fmt::format("  round {} of {}", round_, run_.rounds);
    if (counts_.measured > 0) head += "  best " + speedup_text(counts_.best_ratio);
    head += passed < run_.time_budget ? "  " + clock_text(run_.time_budget - passed) + " left" : "  time is up";
    lines.push_back(head);
  }
  if (running_ && counts_.proposed > 0) {
    std::string stages = fmt::format("  {} proposed > {} compiled > {} verified > {} measured", counts_.proposed,
                                     counts_.compiled, counts_.verified, counts_.measured);
    if (const std::string failures = failures_text(counts_); !failures.empty()) stages += ", " + failures;
    lines.push_back(stages);
  }
  if (!doing_.empty()) lines.push_back("  " + doing_);
  return lines;
}

void TerminalProgress::redraw(const std::string& lasting) {
  std::string text = erased();
  if (!lasting.empty()) text += lasting + "\n";
  const int columns = terminal_.columns();
  const std::vector<std::string> lines = live_lines();
  for (const std::string& line : lines) text += fitted(line, columns) + "\n";
  drawn_ = lines.size();
  std::fwrite(text.data(), 1, text.size(), terminal_.stream);
  std::fflush(terminal_.stream);
}

void TerminalProgress::take(const RunStarted& event) {
  run_ = event;
  started_ = terminal_.now();
  counts_ = {};
  round_ = 0;
  doing_.clear();
  running_ = true;
  redraw(started_text(event));
}

void TerminalProgress::take(const Preparing& event) {
  doing_ = one_line(event.step);
  redraw();
}

void TerminalProgress::take(const RoundStarted& event) {
  round_ = event.round;
  doing_ = "proposing, compiling and verifying";
  redraw();
}

void TerminalProgress::take(const StageCounts& event) {
  counts_ = event;
  redraw();
}

void TerminalProgress::take(const MeasuringFinalist& event) {
  doing_ = fmt::format("measuring against {}: pair {} of {}", one_line(event.against), event.pair, event.pairs);
  redraw();
}

void TerminalProgress::take(const CheckingFinalist& event) {
  doing_ = "checking under " + one_line(event.tool);
  redraw();
}

void TerminalProgress::take(const FinalistChecked& event) {
  doing_.clear();
  redraw("compute-sanitizer: " + one_line(event.result));
}

void TerminalProgress::take(const Accepted& event) {
  doing_.clear();
  redraw("accepted " + one_line(event.reference) + ": " + accepted_text(event));
}

void TerminalProgress::take(const Rejected& event) {
  doing_.clear();
  redraw("not kept: " + one_line(event.decision.reason));
}

void TerminalProgress::take(const Answered& event) {
  redraw(answers_text(event.counts));
}

void TerminalProgress::take(const Warning& event) {
  redraw("warning: " + one_line(event.text));
}

void TerminalProgress::take(const RunFinished& event) {
  running_ = false;
  doing_.clear();
  redraw(one_line(run_.kernel) + ": " + finished_text(event));
}

}  // namespace kagent::report
