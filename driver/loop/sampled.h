// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "values/error.h"
#include "values/outcome.h"

namespace kagent::loop {

// Why sampling ended early: the user asked for an end, this machine or the project's own code failed (`error`), or the
// candidate did (`outcome`).
struct Stop {
  bool interrupted = false;
  std::optional<StageError> error;
  Outcome outcome = Outcome::ok;
  std::string detail;

  static Stop interruption() { return {true, std::nullopt, Outcome::ok, {}}; }
  static Stop machine(StageError error) { return {false, std::move(error), Outcome::ok, {}}; }
  static Stop candidate(Outcome outcome, std::string detail) {
    return {false, std::nullopt, outcome, std::move(detail)};
  }
};

template <class T>
using Sampled = std::expected<T, Stop>;

}  // namespace kagent::loop
