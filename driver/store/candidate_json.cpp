// SPDX-License-Identifier: Apache-2.0
#include "store/candidate_json.h"

#include "store/json_object.h"
#include "store/launch_json.h"

namespace kagent::store {
namespace {

bool has_details(const Candidate& candidate) {
  const Usage& usage = candidate.usage;
  return candidate.launch || !candidate.own_tunables.empty() || !candidate.own_constraints.empty() ||
         !candidate.parent.empty() || !candidate.second_parent.empty() || !candidate.change.empty() ||
         !candidate.bottleneck.empty() || candidate.expected_speedup || !candidate.role.empty() ||
         !candidate.model.empty() || usage.input_tokens > 0 || usage.output_tokens > 0 || usage.cost > 0 ||
         usage.seconds > 0;
}

template <class Read>
Result<void> guarded(Read read) {
  try {
    read();
    return {};
  } catch (const Flaw& flaw) {
    return failure(util::clean(flaw.what(), 500));
  } catch (const Json::exception& error) {
    return failure(util::clean(error.what(), 500));
  }
}

std::vector<Tunable> read_tunables(Object& object, const std::string& key) {
  std::vector<Tunable> tunables;
  Object inner = object.object(key);
  inner.each([&](const std::string& name) {
    const Json& values = inner.at(name);
    if (!values.is_array()) throw Flaw(inner.place(name) + " is not an array");
    Tunable tunable{name, {}};
    for (const Json& value : values) {
      if (!value.is_number_integer()) throw Flaw(inner.place(name) + " holds something that is not an integer");
      tunable.values.push_back(value.get<std::int64_t>());
    }
    tunables.push_back(std::move(tunable));
  });
  return tunables;
}

}  // namespace

std::string details_json(const Candidate& candidate) {
  if (!has_details(candidate)) return {};
  OrderedJson own = OrderedJson::object(), constraints = OrderedJson::array();
  for (const Tunable& tunable : candidate.own_tunables) own[text(tunable.name)] = tunable.values;
  for (const std::string& constraint : candidate.own_constraints) constraints.push_back(text(constraint));
  const OrderedJson root{
      {"launch", write(candidate.launch)},
      {"own_tunables", std::move(own)},
      {"own_constraints", std::move(constraints)},
      {"parent", text(candidate.parent)},
      {"second_parent", text(candidate.second_parent)},
      {"change", text(candidate.change)},
      {"bottleneck", text(candidate.bottleneck)},
      {"expected_speedup", candidate.expected_speedup ? number(*candidate.expected_speedup) : OrderedJson()},
      {"role", text(candidate.role)},
      {"model", text(candidate.model)},
      {"usage", write(candidate.usage)}};
  return root.dump();
}

Result<void> read_details(std::string_view json, Candidate& candidate) {
  if (json.empty()) return {};
  return guarded([&] {
    const Json root = parse_strictly(json);
    Object object(root, "");
    candidate.launch = read_launch(object, "launch");
    candidate.own_tunables = read_tunables(object, "own_tunables");
    const Json& constraints = object.at("own_constraints");
    if (!constraints.is_array()) throw Flaw("/own_constraints is not an array");
    candidate.own_constraints = constraints.get<std::vector<std::string>>();
    candidate.parent = object.string("parent");
    candidate.second_parent = object.string("second_parent");
    candidate.change = object.string("change");
    candidate.bottleneck = object.string("bottleneck");
    if (!object.at("expected_speedup").is_null()) candidate.expected_speedup = object.number("expected_speedup");
    candidate.role = object.string("role");
    candidate.model = object.string("model");
    candidate.usage = read_usage(object.object("usage"));
    object.finish();
  });
}

std::string case_times_json(const std::vector<CaseTimes>& cases) {
  if (cases.empty()) return {};
  OrderedJson list = OrderedJson::array();
  for (const CaseTimes& one : cases)
    list.push_back({{"case", text(one.case_name)},
                    {"weight", number(one.weight)},
                    {"baseline_ns", number(one.baseline_ns)},
                    {"candidate_ns", number(one.candidate_ns)}});
  return list.dump();
}

Result<void> read_case_times(std::string_view json, std::vector<CaseTimes>& cases) {
  if (json.empty()) return {};
  return guarded([&] {
    const Json list = parse_strictly(json);
    if (!list.is_array()) throw Flaw("the times are not an array");
    for (std::size_t i = 0; i < list.size(); ++i) {
      Object one(list[i], "/" + std::to_string(i));
      cases.push_back(
          {one.string("case"), one.number("weight"), one.number("baseline_ns"), one.number("candidate_ns")});
      one.finish();
    }
  });
}

}  // namespace kagent::store
