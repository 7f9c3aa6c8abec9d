// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "values/structure.h"

namespace kagent {

// What a word says of a source, wherever it stands.
struct WordMeaning {
  std::string_view space, means, type;  // names in Structure's sets; empty: none
  int vector_bytes = 0;
  bool barrier = false, atomic = false, shuffle = false, stage = false, launch = false;
};

WordMeaning meaning_of(std::string_view word);
// The family of a function of mathematics, whatever its precision: "expf", "__expf", "exp2" and "h2exp" are
// "exponential". Empty if it is none.
std::string_view maths_family(std::string_view call);
// Whether a call or type of this name sorts, keeps containers or allocates memory.
bool is_library_call(std::string_view name);
// Whether a name belongs to the language or to a compiler's builtins, so that it is not the source's own.
bool is_builtin(std::string_view word);
// What an assembler template uses.
void read_assembler(std::string_view text, Structure& structure);

}  // namespace kagent
