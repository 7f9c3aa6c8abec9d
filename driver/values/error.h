// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace kagent {

// A stage could not do its job (no compiler, disk full, broken file). A candidate that fails is an Outcome, not this.
struct StageError {
  std::string message;  // one line: what happened, with the value that caused it
  std::string fix;      // one line: what the user can do; empty if nothing is known
};

template <class T>
using Result = std::expected<T, StageError>;

inline std::unexpected<StageError> failure(std::string message, std::string fix = {}) {
  return std::unexpected(StageError{std::move(message), std::move(fix)});
}

// The user asked for something that cannot be done as asked. Thrown by cli/ and loop/, caught once in cli/.
class UserError : public std::runtime_error {
 public:
  explicit UserError(const std::string& message, std::string fix = {})
      : std::runtime_error(message), fix_(std::move(fix)) {}
  explicit UserError(const StageError& error) : UserError(error.message, error.fix) {}
  const std::string& fix() const { return fix_; }

 private:
  std::string fix_;
};

// The value, or its StageError as a UserError: for the callers that have no other answer than to stop.
template <class T>
T require(Result<T>&& result) {
  if (!result) throw UserError(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// A broken invariant of kagent itself. Caught once in cli/.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace kagent
