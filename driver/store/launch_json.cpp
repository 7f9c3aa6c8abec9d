// SPDX-License-Identifier: Apache-2.0
#include "store/launch_json.h"

#include <array>

namespace kagent::store {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

OrderedJson write(const std::array<Expression, 3>& extents) {
  return {text(extents[0].text()), text(extents[1].text()), text(extents[2].text())};
}

Expression parse_expression(const Json& value, const std::string& place) {
  if (!value.is_string()) throw Flaw(place + " is not an expression");
  auto parsed = Expression::parse(value.get<std::string>());
  if (!parsed) throw Flaw(place + ": " + parsed.error().message);
  return std::move(*parsed);
}

std::array<Expression, 3> read_extents(Object& object, const std::string& key) {
  const Json& value = object.at(key);
  if (!value.is_array() || value.size() != 3) throw Flaw(object.place(key) + " is not a list of three expressions");
  std::array<Expression, 3> extents;
  for (std::size_t i = 0; i < 3; ++i)
    extents[i] = parse_expression(value[i], object.place(key) + "/" + std::to_string(i));
  return extents;
}

}  // namespace

OrderedJson write(const std::optional<Launch>& launch) {
  if (!launch) return nullptr;
  return {{"grid", write(launch->grid)},
          {"block", write(launch->block)},
          {"cluster", launch->cluster ? write(*launch->cluster) : OrderedJson()},
          {"shared_memory", launch->shared_memory ? OrderedJson(text(launch->shared_memory->text())) : OrderedJson()},
          {"instance", text(launch->instance)}};
}

OrderedJson write(const std::vector<DeviceUsage>& kernels) {
  OrderedJson list = OrderedJson::array();
  for (const DeviceUsage& one : kernels)
    list.push_back({{"kernel", text(one.kernel)},
                    {"registers", one.registers},
                    {"shared_bytes", one.shared_bytes},
                    {"stack_bytes", one.stack_bytes},
                    {"spill_store_bytes", one.spill_store_bytes},
                    {"spill_load_bytes", one.spill_load_bytes},
                    {"barriers", one.barriers}});
  return list;
}

OrderedJson write(const Usage& usage) {
  return {{"input_tokens", usage.input_tokens},
          {"cached_tokens", usage.cached_tokens},
          {"output_tokens", usage.output_tokens},
          {"cost", number(usage.cost)},
          {"seconds", number(usage.seconds)}};
}

std::optional<Launch> read_launch(Object& object, const std::string& key) {
  if (object.at(key).is_null()) return std::nullopt;
  Object inner = object.object(key);
  Launch launch;
  launch.grid = read_extents(inner, "grid");
  launch.block = read_extents(inner, "block");
  if (!inner.at("cluster").is_null()) launch.cluster = read_extents(inner, "cluster");
  if (const Json& shared = inner.at("shared_memory"); !shared.is_null())
    launch.shared_memory = parse_expression(shared, inner.place("shared_memory"));
  launch.instance = inner.string("instance");
  inner.finish();
  return launch;
}

std::vector<DeviceUsage> read_device_usage(Object& object, const std::string& key) {
  const Json& list = object.at(key);
  if (!list.is_array()) throw Flaw(object.place(key) + " is not an array");
  std::vector<DeviceUsage> kernels;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Object one(list[i], object.place(key) + "/" + std::to_string(i));
    kernels.push_back({.kernel = one.string("kernel"),
                       .registers = static_cast<int>(one.integer("registers", 0, 1'000'000)),
                       .shared_bytes = one.integer("shared_bytes", 0, kMost),
                       .stack_bytes = one.integer("stack_bytes", 0, kMost),
                       .spill_store_bytes = one.integer("spill_store_bytes", 0, kMost),
                       .spill_load_bytes = one.integer("spill_load_bytes", 0, kMost),
                       .barriers = static_cast<int>(one.integer("barriers", 0, 1'000'000))});
    one.finish();
  }
  return kernels;
}

Usage read_usage(Object object) {
  Usage usage{.input_tokens = object.integer("input_tokens", 0, kMost),
              .cached_tokens = object.integer("cached_tokens", 0, kMost),
              .output_tokens = object.integer("output_tokens", 0, kMost),
              .cost = object.number("cost"),
              .seconds = object.number("seconds")};
  object.finish();
  return usage;
}

}  // namespace kagent::store
