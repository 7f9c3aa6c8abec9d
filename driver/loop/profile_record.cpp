// SPDX-License-Identifier: Apache-2.0
#include "loop/profile_record.h"

#include <nlohmann/json.hpp>

#include "util/files.h"

namespace kagent::loop {
namespace {

using Json = nlohmann::json;

Json to_json(const ProfileRecord& record) {
  Json cases = Json::object(), usage = Json::array();
  for (const auto& [name, one] : record.cases)
    cases[name] = {{"time_ns", one.time_ns}, {"kernels", one.kernels}, {"problem", one.problem}};
  for (const DeviceUsage& one : record.usage)
    usage.push_back({{"kernel", one.kernel},
                     {"registers", one.registers},
                     {"shared_bytes", one.shared_bytes},
                     {"stack_bytes", one.stack_bytes},
                     {"spill_store_bytes", one.spill_store_bytes},
                     {"spill_load_bytes", one.spill_load_bytes},
                     {"barriers", one.barriers}});
  return {{"cases", cases},
          {"usage", usage},
          {"device",
           {{"name", record.device.name},
            {"multiprocessors", record.device.multiprocessors},
            {"registers_per_multiprocessor", record.device.registers_per_multiprocessor},
            {"threads_per_multiprocessor", record.device.threads_per_multiprocessor},
            {"shared_bytes_per_multiprocessor", record.device.shared_bytes_per_multiprocessor}}}};
}

ProfileRecord from_json(const Json& json) {
  ProfileRecord record;
  for (const auto& [name, one] : json.at("cases").items()) {
    ProfileRecord::OfCase& of_case = record.cases[name];
    of_case.time_ns = one.at("time_ns").get<double>();
    of_case.problem = one.at("problem").get<std::string>();
    for (const Json& kernel : one.at("kernels")) {
      auto& counters = of_case.kernels.emplace_back();
      // A counter that nothing happened for is NaN, which JSON writes as null.
      for (const auto& [metric, value] : kernel.items())
        if (value.is_number()) counters[metric] = value.get<double>();
    }
  }
  for (const Json& one : json.at("usage")) {
    DeviceUsage usage;
    usage.kernel = one.at("kernel").get<std::string>();
    usage.registers = one.at("registers").get<int>();
    usage.shared_bytes = one.at("shared_bytes").get<std::int64_t>();
    usage.stack_bytes = one.at("stack_bytes").get<std::int64_t>();
    usage.spill_store_bytes = one.at("spill_store_bytes").get<std::int64_t>();
    usage.spill_load_bytes = one.at("spill_load_bytes").get<std::int64_t>();
    usage.barriers = one.at("barriers").get<int>();
    record.usage.push_back(std::move(usage));
  }
  const Json& device = json.at("device");
  record.device.name = device.at("name").get<std::string>();
  record.device.multiprocessors = device.at("multiprocessors").get<int>();
  record.device.registers_per_multiprocessor = device.at("registers_per_multiprocessor").get<int>();
  record.device.threads_per_multiprocessor = device.at("threads_per_multiprocessor").get<int>();
  record.device.shared_bytes_per_multiprocessor = device.at("shared_bytes_per_multiprocessor").get<std::int64_t>();
  return record;
}

}  // namespace

std::optional<ProfileRecord> read_profile(const std::filesystem::path& file) {
  const auto text = util::read_file(file);
  if (!text) return std::nullopt;
  try {
    return from_json(Json::parse(*text));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void write_profile(const std::filesystem::path& file, const ProfileRecord& record) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  (void)util::write_file_atomically(file, to_json(record).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::filesystem::path profile_file(const std::filesystem::path& state_folder, const std::string& kernel,
                                   const std::string& architecture, const std::string& candidate_hash) {
  const std::string folder = candidate_hash.empty() ? "baseline" : candidate_hash.substr(0, 16);
  return state_folder / "candidates" / kernel / architecture / "profiles" / (folder + ".json");
}

}  // namespace kagent::loop
