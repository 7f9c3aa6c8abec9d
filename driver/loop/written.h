// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "values/brief.h"
#include "values/candidate.h"
#include "values/error.h"
#include "values/kernel_spec.h"
#include "values/trial.h"

namespace kagent::loop {

// The candidate of an answer in the published form, applied to its parent; the error is for whoever wrote it. What the
// parent's tunables were set to stays, as far as the answer does not bring others.
Result<Candidate> written_answer(const std::string& text, const ParentSource& parent, const KernelSpec& spec);
// The candidate that a source by itself is: with its own defaults.
Result<Candidate> written_source(const std::string& source, const ParentSource& parent);

// How different two candidates are in structure, for Archive.
double structural_distance(const Candidate& a, const Candidate& b);

// The project's lessons, newest first; none where they cannot be read: they are advice.
std::vector<Lesson> known_lessons(const std::filesystem::path& state_folder);
// Keeps what these trials taught.
void keep_lessons(const std::filesystem::path& state_folder, const std::vector<Trial>& trials, double parent_ratio,
                  const std::string& pattern, const std::vector<std::string>& features);

}  // namespace kagent::loop
