// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "values/progress.h"

namespace kagent::report {

// One plain line for each thing that matters, each starting with the kernel's name: for pipes, logs and CI. Counts are
// said once a round.
class PlainProgress final : public ProgressObserver {
 public:
  explicit PlainProgress(std::FILE* stream) : stream_(stream) {}
  void on_event(const ProgressEvent& event) override;

 private:
  void show(const RunStarted& event);
  void show(const Preparing& event);
  void show(const RoundStarted& event);
  void show(const StageCounts& event);
  void show(const MeasuringFinalist& event);
  void show(const CheckingFinalist& event);
  void show(const FinalistChecked& event);
  void show(const Accepted& event);
  void show(const Rejected& event);
  void show(const Answered& event);
  void show(const Warning& event);
  void show(const RunFinished& event);
  void say(const std::string& text);
  void say_counts();

  std::FILE* stream_;
  std::string prefix_;
  int rounds_ = 0;
  std::optional<StageCounts> unsaid_;
  std::string measured_against_;  // of the measurement that was last said
  int last_pair_ = 0;
};

}  // namespace kagent::report
