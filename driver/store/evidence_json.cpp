// SPDX-License-Identifier: Apache-2.0
#include "store/evidence_json.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "store/json_object.h"
#include "store/launch_json.h"

namespace kagent::store {
namespace {

// 1 had no launch, device usage, driver, counters, review, model and usage: of a time when all code was for hosts, by
// the search. 2 had no sanitizer.
constexpr int kFormat = 3;
constexpr std::int64_t kHighestGeneration = 999'999;

OrderedJson write(const KernelKey& key) {
  return {{"source", text(key.source)},
          {"headers", object(key.headers, text)},
          {"definitions", text(key.definitions)},
          {"standard", text(key.standard)},
          {"spec", text(key.spec)},
          {"golden", object(key.golden, text)}};
}

OrderedJson write(const CaseRatio& entry) {
  return {{"case", text(entry.case_name)},
          {"weight", number(entry.weight)},
          {"incumbent_ns", number(entry.incumbent_ns)},
          {"candidate_ns", number(entry.candidate_ns)},
          {"ratio", number(entry.ratio)},
          {"low", number(entry.low)},
          {"high", number(entry.high)},
          {"pairs", entry.pairs},
          {"comparison", std::string(name(entry.comparison))}};
}

OrderedJson write(const Decision& decision) {
  OrderedJson cases = OrderedJson::array();
  for (const CaseRatio& entry : decision.cases) cases.push_back(write(entry));
  return {{"comparison", std::string(name(decision.comparison))},
          {"accepted", decision.accepted},
          {"ratio", number(decision.ratio)},
          {"low", number(decision.low)},
          {"high", number(decision.high)},
          {"confidence", number(decision.confidence)},
          {"reason", text(decision.reason)},
          {"cases", std::move(cases)}};
}

Comparison read_comparison(Object& object) {
  const std::string text = object.string("comparison");
  for (Comparison value : {Comparison::faster, Comparison::slower, Comparison::same, Comparison::ambiguous})
    if (name(value) == text) return value;
  throw Flaw(object.place("comparison") + " '" + text + "' is not one of faster, slower, same, ambiguous");
}

KernelKey read_key(Object object) {
  KernelKey key{.source = object.string("source"),
                .headers = object.strings("headers"),
                .definitions = object.string("definitions"),
                .standard = object.string("standard"),
                .spec = object.string("spec"),
                .golden = object.strings("golden")};
  object.finish();
  return key;
}

// A ratio of times with its interval, as a measurement can give it.
void check_ratio(double ratio, double low, double high, const std::string& place) {
  constexpr double kMost = 1e9;
  if (!(ratio > 1 / kMost && ratio < kMost)) throw Flaw(place + "/ratio is not that of two times");
  if (!(low > 0 && low <= high)) throw Flaw(place + "/low and /high are no interval");
}

CaseRatio read_case(Object object) {
  CaseRatio entry{.case_name = object.string("case"),
                  .weight = object.number("weight"),
                  .incumbent_ns = object.number("incumbent_ns"),
                  .candidate_ns = object.number("candidate_ns"),
                  .ratio = object.number("ratio"),
                  .low = object.number("low"),
                  .high = object.number("high"),
                  .pairs = static_cast<int>(object.integer("pairs", 0, std::numeric_limits<int>::max())),
                  .comparison = read_comparison(object)};
  object.finish();
  check_ratio(entry.ratio, entry.low, entry.high, object.place());
  return entry;
}

Decision read_decision(Object object) {
  Decision decision{.comparison = read_comparison(object),
                    .accepted = object.boolean("accepted"),
                    .ratio = object.number("ratio"),
                    .low = object.number("low"),
                    .high = object.number("high"),
                    .confidence = object.number("confidence"),
                    .cases = {},
                    .reason = object.string("reason")};
  const Json& cases = object.at("cases");
  if (!cases.is_array()) throw Flaw(object.place("cases") + " is not an array");
  for (std::size_t i = 0; i < cases.size(); ++i)
    decision.cases.push_back(read_case({cases[i], object.place("cases") + "/" + std::to_string(i)}));
  object.finish();
  check_ratio(decision.ratio, decision.low, decision.high, object.place());
  if (!decision.accepted) throw Flaw(object.place("accepted") + " is false: nothing that was not accepted is kept");
  return decision;
}

void read_verification(Object object, Evidence& evidence) {
  const Json& lines = object.at("expected_from");
  if (!lines.is_array()) throw Flaw(object.place("expected_from") + " is not an array");
  for (const Json& line : lines) {
    if (!line.is_string()) throw Flaw(object.place("expected_from") + " holds something that is not a string");
    evidence.expected_from.push_back(line.get<std::string>());
  }
  Object errors = object.object("max_error_over_bound");
  errors.each([&](const std::string& name) { evidence.max_error_over_bound[name] = errors.number(name); });
  object.finish();
}

TunableValues read_tunables(Object object) {
  TunableValues values;
  object.each([&](const std::string& name) {
    values[name] =
        object.integer(name, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  });
  return values;
}

std::map<std::string, double> read_numbers(Object object) {
  std::map<std::string, double> numbers;
  object.each([&](const std::string& name) { numbers[name] = object.number(name); });
  return numbers;
}

// What the first format did not have.
void read_additions(Object& object, Evidence& evidence) {
  evidence.reviewed = object.boolean("reviewed");
  evidence.model = object.string("model");
  evidence.usage = read_usage(object.object("usage"));
  evidence.driver = object.string("driver");
  evidence.launch = read_launch(object, "launch");
  evidence.device_usage = read_device_usage(object, "device_usage");
  Object counters = object.object("counters");
  evidence.counters_before = read_numbers(counters.object("before"));
  evidence.counters_after = read_numbers(counters.object("after"));
  counters.finish();
}

Evidence read_evidence(const Json& json) {
  Object object(json, "");
  const std::int64_t format = object.integer("format", 1, 1'000'000);
  if (format > kFormat)
    throw Flaw("format " + std::to_string(format) + " is newer than this kagent, which reads " +
               std::to_string(kFormat));
  Evidence evidence;
  evidence.kernel = object.string("kernel");
  evidence.architecture = object.string("architecture");
  evidence.generation = static_cast<int>(object.integer("generation", 1, kHighestGeneration));
  evidence.parent = object.string("parent");
  evidence.created = object.string("created");
  evidence.kagent_version = object.string("kagent_version");
  evidence.source_name = object.string("source_name");
  evidence.source_hash = object.string("source_hash");
  evidence.object_hash = object.string("object_hash");
  evidence.symbol = object.string("symbol");
  evidence.tunables = read_tunables(object.object("tunables"));
  evidence.against_baseline = read_decision(object.object("against_baseline"));
  evidence.against_incumbent = read_decision(object.object("against_incumbent"));
  read_verification(object.object("verification"), evidence);
  evidence.proposer = object.string("proposer");
  evidence.hypothesis = object.string("hypothesis");
  evidence.reflection = object.string("reflection");
  evidence.compiler = object.string("compiler");
  evidence.flags = object.string("flags");
  evidence.device = object.string("device");
  evidence.sandbox = object.string("sandbox");
  evidence.key = read_key(object.object("key"));
  if (format >= 2) read_additions(object, evidence);
  if (format >= 3) evidence.sanitizer = object.strings("sanitizer");
  object.finish();
  return evidence;
}

}  // namespace

std::string to_json(const Decision& decision) {
  return write(decision).dump(2);
}

std::string to_json(const Evidence& evidence) {
  OrderedJson verification{{"expected_from", OrderedJson::array()},
                           {"max_error_over_bound", object(evidence.max_error_over_bound, number)}};
  for (const std::string& line : evidence.expected_from) verification["expected_from"].push_back(text(line));
  OrderedJson root{
      {"format", kFormat},
      {"kernel", text(evidence.kernel)},
      {"architecture", text(evidence.architecture)},
      {"generation", evidence.generation},
      {"parent", text(evidence.parent)},
      {"created", text(evidence.created)},
      {"kagent_version", text(evidence.kagent_version)},
      {"source_name", text(evidence.source_name)},
      {"source_hash", text(evidence.source_hash)},
      {"object_hash", text(evidence.object_hash)},
      {"symbol", text(evidence.symbol)},
      {"reviewed", evidence.reviewed},
      {"tunables", object(evidence.tunables, [](std::int64_t value) { return OrderedJson(value); })},
      {"launch", write(evidence.launch)},
      {"against_baseline", write(evidence.against_baseline)},
      {"against_incumbent", write(evidence.against_incumbent)},
      {"verification", std::move(verification)},
      {"counters",
       {{"before", object(evidence.counters_before, number)}, {"after", object(evidence.counters_after, number)}}},
      {"device_usage", write(evidence.device_usage)},
      {"sanitizer", object(evidence.sanitizer, text)},
      {"proposer", text(evidence.proposer)},
      {"model", text(evidence.model)},
      {"usage", write(evidence.usage)},
      {"hypothesis", text(evidence.hypothesis)},
      {"reflection", text(evidence.reflection)},
      {"compiler", text(evidence.compiler)},
      {"flags", text(evidence.flags)},
      {"device", text(evidence.device)},
      {"driver", text(evidence.driver)},
      {"sandbox", text(evidence.sandbox)},
      {"key", write(evidence.key)}};
  return root.dump(2) + "\n";
}

Result<Evidence> evidence_from_json(std::string_view text) {
  if (text.size() > kLargestEvidenceBytes)
    return failure("variant.json is larger than " + std::to_string(kLargestEvidenceBytes >> 20) + " MiB");
  try {
    return read_evidence(parse_strictly(text));
  } catch (const Flaw& flaw) {
    return failure("variant.json: " + util::clean(flaw.what(), 500));
  } catch (const Json::exception& error) {
    return failure("variant.json: " + util::clean(error.what(), 500));
  }
}

}  // namespace kagent::store
