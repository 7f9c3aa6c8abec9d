// SPDX-License-Identifier: Apache-2.0
#include "loop/course.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace kagent::loop {
namespace {

constexpr std::size_t kShownHashes = 4;

std::string listed(const std::vector<std::string>& hashes) {
  if (hashes.empty()) return "none";
  std::string text;
  for (std::size_t i = 0; i < std::min(hashes.size(), kShownHashes); ++i)
    text += (i == 0 ? "" : ", ") + util::clean(hashes[i].substr(0, 12));
  return hashes.size() > kShownHashes ? fmt::format("{} and {} more", text, hashes.size() - kShownHashes) : text;
}

}  // namespace

std::filesystem::path Course::file_in(const std::filesystem::path& folder) {
  return folder / "course.jsonl";
}

void Course::record(const std::filesystem::path& folder, const CourseBeginning& beginning) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto file = file_in(folder);
  file_ = util::Descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
  if (!file_)
    trouble_ = file.string() + ": " + std::strerror(errno);
  else
    write(course_line(beginning));
}

Result<Course> Course::replay(const std::filesystem::path& folder) {
  auto text = util::read_file(file_in(folder));
  if (!text) return std::unexpected(text.error());
  Course course;
  course.replaying_ = true;
  for (std::size_t start = 0; start < text->size();) {
    const std::size_t end = text->find('\n', start);
    if (end == std::string::npos) break;  // cut off when the run was killed
    std::string line = text->substr(start, end - start);
    std::string kind = course_kind(line);
    course.steps_.push_back({std::move(kind), std::move(line)});
    start = end + 1;
  }
  if (course.steps_.empty()) return failure(file_in(folder).string() + " is empty", "name another recorded run");
  try {
    course.beginning_ = read_beginning(course.steps_.front().line);
  } catch (const UserError& broken) {
    return failure(file_in(folder).string() + ": " + broken.what(), broken.fix());
  }
  course.taken_ = 1;
  return course;
}

// Whole lines, so that a run that is killed leaves a record that ends early and is good up to there.
void Course::write(const std::string& line) {
  if (!file_) return;
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(file_.get(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      trouble_ = std::string("the record of the run: ") + std::strerror(errno);
      file_.close();
      return;
    }
    done += static_cast<std::size_t>(wrote);
  }
}

void Course::depart(const std::string& what, const std::string& fix) const {
  throw Departure(fmt::format("step {} of the record: {}", taken_, what), fix);
}

const std::string& Course::next(const std::string& kind, const std::string& what) {
  if (is_used_up()) throw RecordEnds("the record ends before " + what);
  const Step& step = steps_[taken_];
  if (step.kind != kind)
    depart(fmt::format("recorded is '{}', and the replay goes on with {}", util::clean(step.kind, 40), what));
  ++taken_;
  return step.line;
}

bool Course::is_used_up() const {
  if (!replaying_) return false;
  if (taken_ >= steps_.size()) return true;
  return steps_[taken_].kind == "end" && read_end(steps_[taken_].line).interrupted;
}

double Course::elapsed_s(const Budget& budget) {
  if (replaying_) return read_clock(next("clock", "a look at the clock"));
  const double elapsed = budget.elapsed().count();
  write(clock_line(elapsed));
  return elapsed;
}

void Course::note_meanwhile() {
  write(meanwhile_line());
}

bool Course::takes_meanwhile() {
  if (taken_ >= steps_.size() || steps_[taken_].kind != "meanwhile") return false;
  ++taken_;
  return true;
}

IncumbentFound Course::incumbent(const std::function<IncumbentFound()>& find) {
  if (replaying_) return read_incumbent(next("incumbent", "the choice of the incumbent"));
  IncumbentFound found = find();
  write(course_line(found));
  return found;
}

AnalysisFound Course::analysis(const std::string& parent, const std::function<AnalysisFound()>& find) {
  if (replaying_) return take_analysis(parent);
  AnalysisFound found = find();
  if (file_) write(course_line(parent, found));
  return found;
}

AnalysisFound Course::take_analysis(const std::string& parent) {
  std::string recorded;
  AnalysisFound found = read_analysis(next("analysis", "the analysis of a parent"), recorded);
  if (recorded != parent)
    depart(fmt::format("candidates were made of {}, and now of {}",
                       recorded.empty() ? "the baseline" : listed({recorded}),
                       parent.empty() ? "the baseline" : listed({parent})));
  return found;
}

std::vector<Evaluated> Course::batch(const std::vector<std::string>& asked,
                                     const std::function<std::vector<Evaluated>()>& find) {
  if (replaying_) return take_batch(asked);
  std::vector<Evaluated> found = find();
  if (file_) write(course_line(asked, found));
  return found;
}

std::vector<Evaluated> Course::take_batch(const std::vector<std::string>& asked) {
  std::vector<std::string> recorded;
  std::vector<Evaluated> found = read_batch(next("batch", "candidates " + listed(asked)), recorded);
  if (recorded != asked) depart(fmt::format("the candidates were {}, and are now {}", listed(recorded), listed(asked)));
  return found;
}

JudgedFinalist Course::judged(const std::string& candidate, const std::function<JudgedFinalist()>& find) {
  if (replaying_) return take_judged(candidate);
  JudgedFinalist found = find();
  if (file_ && !found.interrupted) write(course_line(candidate, found));
  return found;
}

JudgedFinalist Course::take_judged(const std::string& candidate) {
  std::string recorded;
  const std::string& line = next("judged", "the judging of " + listed({candidate}));
  JudgedFinalist judged;
  try {
    judged = read_judged(line, recorded);
  } catch (const UserError& error) {
    depart(error.what(), error.fix());
  }
  if (recorded != candidate)
    depart(fmt::format("the finalist was {}, and is now {}", listed({recorded}), listed({candidate})));
  return judged;
}

void Course::end(const CourseEnd& end) {
  if (!replaying_) return write(course_line(end));
  if (is_used_up()) return;  // it was cut short, and was followed up to there
  const CourseEnd recorded = read_end(next("end", "the end of the run"));
  if (recorded == end) return;
  if (recorded.reason != end.reason)
    depart(fmt::format("the run ended because of '{}', and now of '{}'", util::clean(recorded.reason, 200),
                       util::clean(end.reason, 200)));
  if (recorded.variant != end.variant || recorded.trials != end.trials)
    depart(fmt::format("the run ended with {} trials and '{}', and now with {} and '{}'", recorded.trials,
                       util::clean(recorded.variant, 200), end.trials, util::clean(end.variant, 200)));
  if (recorded.input_tokens != end.input_tokens || recorded.output_tokens != end.output_tokens)
    depart(fmt::format("the run used {} tokens, and now {}", recorded.input_tokens + recorded.output_tokens,
                       end.input_tokens + end.output_tokens));
  depart("what was decided of the candidates is not what the run decided");
}

std::string digest_of(const std::vector<Trial>& trials) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += fmt::format("{}:{},", part.size(), part); };
  for (const Trial& trial : trials) {
    const Candidate& candidate = trial.candidate;
    for (const std::string& part :
         {trial.candidate_hash, trial.object_hash, std::string(name(trial.outcome)), trial.detail, trial.reflection,
          candidate.parent, candidate.second_parent, candidate.change, candidate.hypothesis, candidate.role})
      add(part);
    add(trial.score ? fmt::format("{:a}", *trial.score) : "");
  }
  return util::sha256(text);
}

}  // namespace kagent::loop
