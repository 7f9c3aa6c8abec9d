// SPDX-License-Identifier: Apache-2.0
#include "store/profile_record.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string_view>

#include "store/launch_json.h"
#include "util/files.h"

namespace kagent::store {
namespace {

struct NamedKind {
  WorkKind kind;
  const char* name;
};
constexpr NamedKind kKinds[]{{WorkKind::kernel, "kernel"}, {WorkKind::copy, "copy"}, {WorkKind::fill, "fill"}};

OrderedJson json_of(const TracedWork& work) {
  return {{"kind", std::ranges::find(kKinds, work.kind, &NamedKind::kind)->name},
          {"name", text(work.name)},
          {"begin_ns", work.begin_ns},
          {"end_ns", work.end_ns},
          {"grid", work.grid},
          {"block", work.block},
          {"cluster", work.cluster},
          {"registers", work.registers},
          {"static_shared_bytes", work.static_shared_bytes},
          {"dynamic_shared_bytes", work.dynamic_shared_bytes},
          {"local_bytes", work.local_bytes}};
}

OrderedJson json_of(const KernelTrace& trace) {
  OrderedJson work = OrderedJson::array();
  for (const TracedWork& one : trace.work) work.push_back(json_of(one));
  return {{"event_ns", number(trace.event_ns)}, {"work", work}, {"problem", text(trace.problem)}};
}

OrderedJson json_of(const ProfileRecord::OfCase& of_case) {
  OrderedJson kernels = OrderedJson::array();
  for (const auto& counters : of_case.kernels)
    kernels.push_back(object(counters, [](double value) { return number(value); }));
  return {{"time_ns", number(of_case.time_ns)},
          {"kernels", kernels},
          {"problem", text(of_case.problem)},
          {"trace", json_of(of_case.trace)}};
}

OrderedJson json_of(const ProfileRecord& record) {
  const Device& device = record.device;
  OrderedJson lines = OrderedJson::array();
  for (const std::string& line : record.code.lines) lines.push_back(text(line));
  return {{"object_hash", text(record.object_hash)},
          {"cases", object(record.cases, [](const ProfileRecord::OfCase& one) { return json_of(one); })},
          {"usage", write(record.usage)},
          {"code",
           {{"numbers", object(record.code.numbers, [](double value) { return number(value); })},
            {"text", text(record.code.text)},
            {"reason", text(record.code.reason)},
            {"lines", lines}}},
          {"device",
           {{"name", text(device.name)},
            {"multiprocessors", device.multiprocessors},
            {"l2_bytes", device.l2_bytes},
            {"registers_per_multiprocessor", device.registers_per_multiprocessor},
            {"threads_per_multiprocessor", device.threads_per_multiprocessor},
            {"blocks_per_multiprocessor", device.blocks_per_multiprocessor},
            {"shared_bytes_per_multiprocessor", device.shared_bytes_per_multiprocessor}}}};
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::array<std::int64_t, 3> read_extents(Object& object, const std::string& key) {
  const Json& extents = object.at(key);
  std::array<std::int64_t, 3> result{};
  if (!extents.is_array() || extents.size() != result.size()) throw Flaw(object.place(key) + " is not three numbers");
  std::ranges::transform(extents, result.begin(), [](const Json& extent) { return extent.get<std::int64_t>(); });
  return result;
}

TracedWork read_work(Object object) {
  TracedWork work;
  const std::string kind = object.string("kind");
  const auto known = std::ranges::find(kKinds, kind, [](const NamedKind& one) { return std::string_view(one.name); });
  if (known == std::end(kKinds)) throw Flaw(object.place("kind") + " is no kind of work");
  work.kind = known->kind;
  work.name = object.string("name");
  work.begin_ns = object.integer("begin_ns", 0, kMost);
  work.end_ns = object.integer("end_ns", work.begin_ns, kMost);
  work.grid = read_extents(object, "grid");
  work.block = read_extents(object, "block");
  work.cluster = read_extents(object, "cluster");
  work.registers = object.integer("registers", 0, 65535);
  work.static_shared_bytes = object.integer("static_shared_bytes", 0, kMost);
  work.dynamic_shared_bytes = object.integer("dynamic_shared_bytes", 0, kMost);
  work.local_bytes = object.integer("local_bytes", 0, kMost);
  object.finish();
  return work;
}

KernelTrace read_trace(Object object) {
  KernelTrace trace;
  trace.event_ns = object.number("event_ns");
  for (const Json& work : object.at("work")) trace.work.push_back(read_work({work, object.place("work")}));
  trace.problem = object.string("problem");
  object.finish();
  return trace;
}

ProfileRecord::OfCase read_case(Object object) {
  ProfileRecord::OfCase of_case{
      object.number("time_ns"), {}, object.string("problem"), read_trace(object.object("trace"))};
  for (const Json& kernel : object.at("kernels")) {
    Object metrics(kernel, object.place("kernels"));
    auto& counters = of_case.kernels.emplace_back();
    // A counter that nothing happened for is NaN, and no evidence.
    metrics.each([&](const std::string& metric) {
      if (const double value = metrics.number(metric); !std::isnan(value)) counters[metric] = value;
    });
  }
  object.finish();
  return of_case;
}

CodeFacts read_code(Object object) {
  CodeFacts code;
  Object numbers = object.object("numbers");
  numbers.each([&](const std::string& name) { code.numbers[name] = numbers.number(name); });
  code.text = object.string("text");
  code.reason = object.string("reason");
  const Json& lines = object.at("lines");
  if (!lines.is_array()) throw Flaw(object.place("lines") + " is not an array");
  for (const Json& line : lines) code.lines.push_back(line.get<std::string>());
  object.finish();
  return code;
}

int count(Object& object, const std::string& key) {
  return static_cast<int>(object.integer(key, 0, std::numeric_limits<int>::max()));
}

ProfileRecord read(const Json& json) {
  ProfileRecord record;
  Object whole(json, ""), cases = whole.object("cases"), device = whole.object("device");
  record.object_hash = whole.string("object_hash");
  record.code = read_code(whole.object("code"));
  cases.each([&](const std::string& name) { record.cases[name] = read_case(cases.object(name)); });
  record.usage = read_device_usage(whole, "usage");
  record.device.name = device.string("name");
  record.device.multiprocessors = count(device, "multiprocessors");
  record.device.l2_bytes = device.integer("l2_bytes", 0, std::numeric_limits<std::int64_t>::max());
  record.device.registers_per_multiprocessor = count(device, "registers_per_multiprocessor");
  record.device.threads_per_multiprocessor = count(device, "threads_per_multiprocessor");
  record.device.blocks_per_multiprocessor = count(device, "blocks_per_multiprocessor");
  record.device.shared_bytes_per_multiprocessor = count(device, "shared_bytes_per_multiprocessor");
  device.finish();
  whole.finish();
  return record;
}

}  // namespace

std::optional<ProfileRecord> read_profile(const std::filesystem::path& file) {
  const auto text = util::read_file(file);
  if (!text) return std::nullopt;
  try {
    return read(parse_strictly(*text));
  } catch (const Flaw&) {
    return std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void write_profile(const std::filesystem::path& file, const ProfileRecord& record) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  (void)util::write_file_atomically(file, json_of(record).dump(1) + "\n");
}

std::filesystem::path profile_file(const std::filesystem::path& state_folder, const std::string& kernel,
                                   const std::string& architecture, const std::string& candidate_hash) {
  const std::string folder = candidate_hash.empty() ? "baseline" : candidate_hash.substr(0, 16);
  return state_folder / "candidates" / kernel / architecture / "profiles" / (folder + ".json");
}

}  // namespace kagent::store
