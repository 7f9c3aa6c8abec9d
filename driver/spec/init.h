// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "spec/signature.h"
#include "values/error.h"

namespace kagent::spec {

// A first kernel.json, which loads but rests on guesses, and what the user has to look at.
struct FirstSpec {
  std::string kernel;
  std::string kernel_json;
  std::string reference;                 // skeleton of reference.cpp; does not compile before it was completed
  std::vector<std::string> to_complete;  // one line each: JSON pointer and what is guessed there
};

// Guesses from the entry's signature: pointers to const are inputs, other pointers outputs, integers sizes, floating
// numbers and bool scalars; every shape is all sizes. Macros of the form #ifndef X / #define X 128 become tunables.
// A __global__ function gives style "kernel" with a guessed geometry, a template of one with a guessed instance.
// `kernel` may be empty: the entry's own name.
Result<FirstSpec> first_spec(const std::string& source, const std::string& entry, const std::string& kernel);

// Writes kernel.json and reference.cpp into `folder`, which is made if need be. An error, with nothing written, if one
// of them is there already. Returns the files.
Result<std::vector<std::filesystem::path>> write_first_spec(const std::filesystem::path& folder,
                                                            const FirstSpec& first);

}  // namespace kagent::spec
