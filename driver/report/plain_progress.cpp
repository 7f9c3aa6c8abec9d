// SPDX-License-Identifier: Apache-2.0
#include "report/plain_progress.h"

#include <fmt/format.h>

#include "report/wording.h"

namespace kagent::report {

void PlainProgress::on_event(const ProgressEvent& event) {
  std::visit([this](const auto& specific) { show(specific); }, event);
}

void PlainProgress::say(const std::string& text) {
  const std::string line = prefix_ + text + "\n";
  std::fwrite(line.data(), 1, line.size(), stream_);
  std::fflush(stream_);
}

void PlainProgress::say_counts() {
  if (unsaid_) say(counts_text(*unsaid_));
  unsaid_.reset();
}

void PlainProgress::show(const RunStarted& event) {
  prefix_ = one_line(event.kernel) + ": ";
  rounds_ = event.rounds;
  say(started_text(event));
}

void PlainProgress::show(const Preparing& event) {
  say(one_line(event.step));
}

void PlainProgress::show(const RoundStarted& event) {
  say_counts();
  say(rounds_ > 0 ? fmt::format("round {} of {}", event.round, rounds_) : fmt::format("round {}", event.round));
}

void PlainProgress::show(const StageCounts& event) {
  unsaid_ = event;
}

// Pairs count up; a lower number, or another opponent, is another measurement.
void PlainProgress::show(const MeasuringFinalist& event) {
  const bool same = event.against == measured_against_ && event.pair > last_pair_;
  measured_against_ = event.against;
  last_pair_ = event.pair;
  if (same) return;
  say_counts();
  say(fmt::format("measuring against {}, up to {} pairs of processes", one_line(event.against), event.pairs));
}

void PlainProgress::show(const CheckingFinalist& event) {
  say_counts();
  measured_against_.clear();
  say("checking under " + one_line(event.tool));
}

void PlainProgress::show(const FinalistChecked& event) {
  say_counts();
  say("compute-sanitizer: " + one_line(event.result));
}

void PlainProgress::show(const Accepted& event) {
  say_counts();
  measured_against_.clear();
  say("accepted " + one_line(event.reference) + ": " + accepted_text(event));
}

void PlainProgress::show(const Rejected& event) {
  say_counts();
  measured_against_.clear();
  say("not kept: " + one_line(event.decision.reason));
}

void PlainProgress::show(const Answered& event) {
  say(answers_text(event.counts));
}

void PlainProgress::show(const Warning& event) {
  say("warning: " + one_line(event.text));
}

void PlainProgress::show(const RunFinished& event) {
  say_counts();
  say(finished_text(event));
}

}  // namespace kagent::report
