// SPDX-License-Identifier: Apache-2.0
#include "loop/replay.h"

#include <algorithm>
#include <ranges>

#include <fmt/core.h>

#include "loop/course.h"
#include "loop/proposers.h"
#include "proposer/model/models.h"
#include "store/lesson_store.h"
#include "util/files.h"
#include "util/text.h"

namespace kagent::loop {
namespace {

namespace fs = std::filesystem;
namespace model = proposer::model;

fs::path before_file(const fs::path& folder) {
  return folder / "before.sqlite";
}

Result<Course> record_for(const build_step::KernelContext& context, const fs::path& folder) {
  auto course = Course::replay(folder);
  if (!course) return course;
  const CourseBeginning& beginning = course->beginning();
  const std::string& kernel = context.request.kernel;
  if (beginning.kernel != kernel || beginning.architecture != context.architecture)
    return failure(fmt::format("{} is the record of {} on {}, and not of {} on {}", folder.string(),
                               util::clean(beginning.kernel, 100), util::clean(beginning.architecture, 100), kernel,
                               context.architecture),
                   "name a run of this kernel and architecture");
  if (beginning.key != context.key.hash())
    return failure(fmt::format("{} is the record of a run with other inputs of {} (source, headers, definitions, spec, "
                               "golden data or reference)",
                               folder.string(), kernel),
                   "check out the state that the run began with, at " + util::clean(beginning.started, 40));
  return course;
}

// The state that the run began with, in a folder that goes away with the replay.
Result<void> lay_out(const fs::path& folder, const fs::path& state) {
  if (!fs::exists(before_file(folder)))
    return failure(before_file(folder).string() + " is missing: the record does not say what the run began with",
                   "replay the whole folder of a run");
  std::error_code error;
  fs::copy_file(before_file(folder), state / "trials.sqlite", error);
  if (error) return failure(before_file(folder).string() + ": " + error.message());
  return {};
}

}  // namespace

Result<void> keep_beginning(const fs::path& folder, const std::vector<Trial>& trials,
                            const std::optional<store::Conclusion>& conclusion, const std::vector<Lesson>& lessons) {
  {
    auto store = store::TrialStore::open(before_file(folder));
    if (!store) return std::unexpected(store.error());
    for (const Trial& trial : trials)
      if (auto added = store->add(trial); !added) return std::unexpected(added.error());
    if (conclusion)
      if (auto done = store->conclude(*conclusion); !done) return done;
  }
  auto store = store::LessonStore::open(before_file(folder));
  if (!store) return std::unexpected(store.error());
  // Given newest first, and read newest first again.
  for (const Lesson& lesson : std::views::reverse(lessons))
    if (auto done = store->add(lesson); !done) return done;
  return {};
}

Result<std::optional<fs::path>> recorded_run(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  const std::string name = Course::file_in({}).string();
  for (auto at = fs::recursive_directory_iterator(folder, error); !error && at != fs::recursive_directory_iterator();
       at.increment(error))
    if (at->path().filename() == name) found.push_back(at->path().parent_path());
  if (error) return failure("cannot look into " + folder.string() + ": " + error.message(), "name a recorded run");
  if (found.size() > 1) {
    std::ranges::sort(found);
    return failure(fmt::format("{} holds the records of {} runs", folder.string(), found.size()),
                   "name the folder of one, such as the newest: " + found.back().string());
  }
  if (found.empty()) return std::optional<fs::path>();
  return std::optional(found.front());
}

Result<CourseBeginning> recorded_beginning(const fs::path& folder) {
  auto course = Course::replay(folder);
  if (!course) return std::unexpected(course.error());
  return course->beginning();
}

Result<ReplayReport> replay_run(const build_step::KernelContext& context, store::VariantStore& variants,
                                const fs::path& folder, ProgressObserver& progress,
                                const std::function<bool()>& interrupted) {
  auto course = record_for(context, folder);
  if (!course) return std::unexpected(course.error());
  const util::TemporaryFolder state;
  if (auto done = lay_out(folder, state.path()); !done) return std::unexpected(done.error());
  auto exchanges = model::read_exchanges(folder, model::NoExchanges::allowed);
  if (!exchanges) return std::unexpected(exchanges.error());

  ReplayReport report;
  report.beginning = course->beginning();
  report.exchanges = static_cast<int>(exchanges->size());
  report.steps = course->steps();
  const CourseBeginning& beginning = report.beginning;
  const model::RoleModels models = model::replay_models(std::move(*exchanges), model::ReplayCheck::order_alone,
                                                        {.tokens = beginning.tokens, .money = beginning.money});
  TuningOptions options;
  options.bench.state_folder = state.path();
  options.rounds = beginning.rounds;
  options.width = beginning.width;
  options.population = beginning.population;
  options.time_budget = std::chrono::seconds(beginning.time_budget_s);
  options.min_gain = beginning.min_gain;
  options.goal_speedup = beginning.goal_speedup;
  options.again = true;
  options.replayed = &*course;
  options.proposer.name = beginning.proposer;
  options.proposers = [&models](const ProposerChoice& choice, const model::GiveUp&) {
    // The run gave up where its exchanges end, if it had not done asking anyway.
    return proposers_of(models, choice.name, [replay = models.replay] { return replay->left() == 0; });
  };
  const std::function<bool()> ended = [&] { return interrupted() || course->is_used_up(); };
  try {
    report.result = require(tune(context, variants, options, progress, ended));
    if (interrupted()) return failure("the replay was interrupted");
    report.complete = !report.result.interrupted;
    if (report.complete && models.replay->left() > 0)
      report.departure =
          fmt::format("{} of {} recorded answers were not asked for", models.replay->left(), report.exchanges);
  } catch (const RecordEnds&) {
    report.complete = false;
  } catch (const Departure& departure) {
    report.departure = departure.what();
    if (!departure.fix().empty()) report.departure += " (" + departure.fix() + ")";
  }
  report.other_prompts = models.replay->differing();
  report.other_prompt = models.replay->first_differing();
  return report;
}

}  // namespace kagent::loop
