// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "values/progress.h"

namespace kagent::report {

// What the live display needs of a terminal.
struct Terminal {
  std::FILE* stream = nullptr;
  std::function<int()> columns;                                // asked at each redraw, so that resizing works
  std::function<std::chrono::steady_clock::time_point()> now;  // for the time left
};

// A few lines at the bottom that are redrawn in place: round, best so far, time left, stage counts, what is being done.
// Lasting news (accepted, not kept, warnings, the end) scroll by above them. Nothing but the lasting lines is left when
// a run ends or the display is destroyed.
class TerminalProgress final : public ProgressObserver {
 public:
  explicit TerminalProgress(Terminal terminal) : terminal_(std::move(terminal)) {}
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;
  ~TerminalProgress() override;

  void on_event(const ProgressEvent& event) override;

 private:
  void take(const RunStarted& event);
  void take(const Preparing& event);
  void take(const RoundStarted& event);
  void take(const StageCounts& event);
  void take(const MeasuringFinalist& event);
  void take(const CheckingFinalist& event);
  void take(const FinalistChecked& event);
  void take(const Accepted& event);
  void take(const Rejected& event);
  void take(const Answered& event);
  void take(const Warning& event);
  void take(const RunFinished& event);

  std::vector<std::string> live_lines() const;
  std::string erased() const;                    // escape codes that remove the live lines
  void redraw(const std::string& lasting = {});  // writes a lasting line, if any, above the live ones

  Terminal terminal_;
  RunStarted run_;
  std::chrono::steady_clock::time_point started_;
  StageCounts counts_;
  int round_ = 0;
  std::string doing_;
  bool running_ = false;
  std::size_t drawn_ = 0;  // live lines on the screen
};

}  // namespace kagent::report
