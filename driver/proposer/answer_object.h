// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <string>

#include "proposer/answer.h"

namespace kagent::proposer {

// Reads the object of answer.schema.json, code in it included. A lone member around it ({"answer": {...}}) is passed.
// `no_object` if it has no member of the schema's.
std::expected<Answer, AnswerProblem> read_answer_object(const std::string& strict_json);

}  // namespace kagent::proposer
