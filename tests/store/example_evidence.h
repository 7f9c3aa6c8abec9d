// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "util/hash.h"
#include "values/variant.h"

namespace kagent::store {

// Evidence with something in every field.
inline Evidence example_evidence(const std::string& source = "int optimised;\n") {
  Evidence evidence;
  evidence.kernel = "softmax";
  evidence.architecture = "x86-64-v3";
  evidence.generation = 1;
  evidence.parent = "baseline";
  evidence.key = {.source = util::sha256("baseline"),
                  .headers = {{"src/tile.h", util::sha256("tile")}},
                  .definitions = util::sha256("-DX=1"),
                  .standard = "gnu++20",
                  .spec = util::sha256("spec"),
                  .golden = {{"x.npy", util::sha256("x")}}};
  evidence.source_name = "softmax.cpp";
  evidence.source_hash = util::sha256(source);
  evidence.object_hash = util::sha256("object");
  evidence.symbol = "_Z15softmax_forwardPKfPfii";
  evidence.flags = "g++ -O3 -std=gnu++20";
  evidence.compiler = "g++ 12.2.0";
  evidence.device = "Some CPU, 2 cores, x86-64-v3";
  evidence.sandbox = "bubblewrap 0.8.0";
  evidence.tunables = {{"BLOCK", 128}, {"NEGATIVE", -9223372036854775807 - 1}};
  evidence.launch =
      Launch{.grid = {*Expression::parse("ceil_div(rows, 4)"), *Expression::parse("1"), *Expression::parse("1")},
             .block = {*Expression::parse("BLOCK"), *Expression::parse("1"), *Expression::parse("1")},
             .cluster = std::nullopt,
             .shared_memory = *Expression::parse("4 * BLOCK"),
             .instance = "softmax_rows<float, BLOCK>"};
  evidence.device_usage = {{"softmax_rows", 40, 1024, 16, 8, 4, 1}};
  evidence.driver = "CUDA 13.0";
  evidence.sanitizer = {{"racecheck", "no answer within 30 s"}};
  evidence.counters_before = {{"registers", 32}};
  evidence.counters_after = {{"registers", 40}};
  evidence.model = "some-model";
  evidence.usage = {.input_tokens = 1000, .cached_tokens = 600, .output_tokens = 200, .cost = 0.25, .seconds = 3.5};
  CaseRatio timed{.case_name = "training",
                  .weight = 0.8,
                  .incumbent_ns = 1234.5678901234567,
                  .candidate_ns = 867.1,
                  .ratio = 0.1 + 0.2,
                  .low = 0.29,
                  .high = 0.31,
                  .pairs = 21,
                  .comparison = Comparison::faster};
  evidence.against_baseline = {.comparison = Comparison::faster,
                               .accepted = true,
                               .ratio = 1.0 / 1.42,
                               .low = 0.69,
                               .high = 0.72,
                               .confidence = 0.99,
                               .cases = {timed},
                               .reason = "faster by 30 %"};
  evidence.against_incumbent = evidence.against_baseline;
  evidence.expected_from = {"training: reference"};
  evidence.max_error_over_bound = {{"y", 0.25}};
  evidence.proposer = "search";
  evidence.hypothesis = "larger blocks keep the row in the first cache";
  evidence.reflection = "it did";
  evidence.created = "2026-01-31T12:00:00Z";
  evidence.kagent_version = "0.1.0";
  return evidence;
}

}  // namespace kagent::store
