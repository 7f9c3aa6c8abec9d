// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace kagent {

// How a candidate's way through the stages ended. A failed candidate is data: stored, counted, tested.
enum class Outcome {
  ok,                 // passed every stage that was asked of it
  gate_rejected,      // refused before compiling: host-code policy, signature, edits
  compile_failed,     // the compiler or linker refused it, or took too long
  limits_exceeded,    // needs more registers, threads or shared memory than the device has
  launch_failed,      // the kernel or its process could not be started
  timed_out,          // did not return within its time limit; killed
  crashed,            // ended by a signal or an exit of its own
  illegal_access,     // device code touched memory that is not its own
  misaligned_access,  // device code used an address that the access width does not allow
  device_fault,       // any other error that device code left behind: a trap, a failed assertion, a bad instruction
  memory_exceeded,    // allocated past its limit, or more than the device has
  output_exceeded,    // printed more than its limit
  policy_violation,   // tried a forbidden system call (process, socket, file for writing, ...)
  wrong_result,       // outputs disagree, were not written, or something outside of them was
  unstable,           // outputs differ between repeated runs on the same inputs
  sanitizer_error,    // compute-sanitizer found an error in device code whose results are right
  duplicate,          // the same binary as a trial that is on record
  slower,             // measured: slower than the incumbent, or left behind in racing
  same,               // measured: no difference that matters
  ambiguous,          // measured: the interval is too wide to say; the incumbent stays
};

// The enumerator's own name, as stored and printed ("compile_failed").
std::string_view name(Outcome outcome);
// Inverse of name(); nothing if there is no such outcome.
std::optional<Outcome> parse_outcome(std::string_view text);

}  // namespace kagent
