// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop/budget.h"
#include "loop/course_text.h"
#include "util/descriptor.h"
#include "values/candidate.h"
#include "values/error.h"
#include "values/progress.h"
#include "values/trial.h"

namespace kagent::loop {

// A replay does otherwise than its record, or the record is no record. The text says at which step.
class Departure : public UserError {
 public:
  using UserError::UserError;
};

// A replay came to where the run was interrupted, killed or failed.
class RecordEnds : public UserError {
 public:
  using UserError::UserError;
};

// Everything that a run found out by compiling, running, measuring and looking at the clock, in order, in
// "course.jsonl" beside its exchanges with models. With what it began with, a run is a function of the two: one that
// takes them from the record, and compiles and measures nothing, decides the same again, or ends with a Departure.
//
// Not for use by several threads.
class Course {
 public:
  // Begins a record in a folder. What cannot be written costs the record and nothing else: see trouble().
  void record(const std::filesystem::path& folder, const CourseBeginning& beginning);
  static Result<Course> replay(const std::filesystem::path& folder);
  static std::filesystem::path file_in(const std::filesystem::path& folder);

  bool replays() const { return replaying_; }
  // Of a replay.
  const CourseBeginning& beginning() const { return beginning_; }
  std::size_t steps() const { return steps_.size(); }
  // Whether the run that is replayed found out nothing more: it was interrupted, or failed.
  bool is_used_up() const;
  // Why there is no record, or only a part of one; empty while there is.
  const std::string& trouble() const { return trouble_; }

  // What `find` finds out, which is written down where there is a record; in a replay what the record says instead.
  IncumbentFound incumbent(const std::function<IncumbentFound()>& find);
  AnalysisFound analysis(const std::string& parent, const std::function<AnalysisFound()>& find);
  // Of a replay without the candidates themselves.
  std::vector<Evaluated> batch(const std::vector<std::string>& asked,
                               const std::function<std::vector<Evaluated>()>& find);
  JudgedFinalist judged(const std::string& candidate, const std::function<JudgedFinalist()>& find);
  // Seconds of the run at a point where they decide something.
  double elapsed_s(const Budget& budget);
  // That the search measures a batch while an answer is waited for; and whether it did, in a replay.
  void note_meanwhile();
  bool takes_meanwhile();
  // A replay has to end as its run did.
  void end(const CourseEnd& end);

 private:
  struct Step {
    std::string kind, line;
  };
  void write(const std::string& line);
  AnalysisFound take_analysis(const std::string& parent);
  std::vector<Evaluated> take_batch(const std::vector<std::string>& asked);
  JudgedFinalist take_judged(const std::string& candidate);
  const std::string& next(const std::string& kind, const std::string& what);
  [[noreturn]] void depart(const std::string& what, const std::string& fix = {}) const;

  util::Descriptor file_;
  bool replaying_ = false;
  CourseBeginning beginning_;
  std::vector<Step> steps_;
  std::size_t taken_ = 0;
  std::string trouble_;
};

// What became of every candidate, as one hash: equal if and only if all that was decided of them is.
std::string digest_of(const std::vector<Trial>& trials);

}  // namespace kagent::loop
