// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/cuda_errors.h"
#include "runner/cuda_runner.h"
#include "runner/device_program.h"
#include "util/subprocess.h"
#include "util/text.h"

namespace kagent::runner {

namespace {

using nlohmann::json;

// The first initialisation after the machine started takes seconds where nothing keeps the driver loaded.
constexpr auto kProbeTime = std::chrono::seconds(60);

// What the program printed: an object without "error".
Result<json> ask_program(const std::filesystem::path& program, std::vector<std::string> words,
                         const std::string& uuid = {}) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(program, missing))
    return failure("there is no program '" + program.string() + "' to ask about GPUs",
                   "build kagent with KAGENT_CUDA=ON, and install it whole");
  util::Command command;
  command.argv = {program.string()};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.environment = device_environment(uuid);
  command.limits.wall = kProbeTime;
  const auto finished = util::run(command);
  if (!finished) return std::unexpected(finished.error());
  json answer = json::parse(util::clean(finished->standard_output, 1 << 20), nullptr, false);
  if (answer.is_object() && answer.contains("error") && answer["error"].is_string()) {
    const int code = answer.value("code", 0);
    return failure("no GPU can be used: " + answer["error"].get<std::string>(), device_error_fix(code));
  }
  if (finished->ok() && answer.is_object()) return answer;
  const std::string printed = util::clean(finished->standard_error, 500);
  return failure(
      fmt::format("'{} {}' {}{}{}", program.string(), words.front(),
                  finished->ended_by == util::EndedBy::wall_limit
                      ? "did not end within a minute"
                      : fmt::format("ended with {} {}",
                                    finished->ended_by == util::EndedBy::signal ? "signal" : "status", finished->code),
                  printed.empty() ? "" : ": ", printed.substr(0, printed.find('\n'))),
      "run it by hand; 'nvidia-smi' should list the GPU");
}

template <class T>
void take(const json& from, const char* name, T& into) {
  if (const auto found = from.find(name); found != from.end() && found->is_number()) into = found->template get<T>();
}
void take(const json& from, const char* name, std::string& into) {
  if (const auto found = from.find(name); found != from.end() && found->is_string()) into = found->get<std::string>();
}

Device device_of(const json& from) {
  Device device;
  take(from, "index", device.index);
  take(from, "uuid", device.uuid);
  take(from, "name", device.name);
  take(from, "major", device.major);
  take(from, "minor", device.minor);
  take(from, "multiprocessors", device.multiprocessors);
  take(from, "memory_bytes", device.memory_bytes);
  take(from, "l2_bytes", device.l2_bytes);
  take(from, "shared_bytes_per_block", device.shared_bytes_per_block);
  take(from, "shared_bytes_per_multiprocessor", device.shared_bytes_per_multiprocessor);
  take(from, "registers_per_multiprocessor", device.registers_per_multiprocessor);
  take(from, "registers_per_block", device.registers_per_block);
  take(from, "threads_per_multiprocessor", device.threads_per_multiprocessor);
  take(from, "blocks_per_multiprocessor", device.blocks_per_multiprocessor);
  take(from, "clock_khz", device.clock_khz);
  take(from, "memory_clock_khz", device.memory_clock_khz);
  take(from, "memory_bus_bits", device.memory_bus_bits);
  take(from, "driver_version", device.driver_version);
  return device;
}

}  // namespace

Result<std::vector<Device>> probe_devices(const std::filesystem::path& kernel_runner) {
  const auto answer = ask_program(kernel_runner, {"--devices"});
  if (!answer) return std::unexpected(answer.error());
  std::vector<Device> devices;
  if (const auto listed = answer->find("devices"); listed != answer->end() && listed->is_array())
    for (const json& one : *listed) devices.push_back(device_of(one));
  if (devices.empty()) return failure("no GPU can be used: none is listed", device_error_fix(100));
  return devices;
}

Result<DeviceRates> measure_rates(const std::filesystem::path& kernel_runner, const std::string& uuid) {
  const auto answer = ask_program(kernel_runner, {"--ceilings"}, uuid);
  if (!answer) return std::unexpected(answer.error());
  DeviceRates rates;
  take(*answer, "bytes_per_s", rates.bytes_per_s);
  take(*answer, "flops_per_s", rates.flops_per_s);
  take(*answer, "half_flops_per_s", rates.half_flops_per_s);
  take(*answer, "tensor_flops_per_s", rates.tensor_flops_per_s);
  take(*answer, "launch_s", rates.launch_s);
  return rates;
}

}  // namespace kagent::runner
