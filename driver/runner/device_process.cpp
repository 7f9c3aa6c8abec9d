// SPDX-License-Identifier: Apache-2.0
#include "runner/device_process.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "runner/call_filter.h"
#include "runner/channel.h"
#include "runner/device_program.h"
#include "runner/secret.h"
#include "runner/tick_clock.h"
#include "util/files.h"

namespace kagent::runner {

namespace {

// The driver's library opens each device several times, and files of the system.
constexpr int kOpenFiles = 1024;
// Nothing of CUDA's needs files; the private /tmp is memory.
constexpr std::uint64_t kFileBytes = std::uint64_t{64} << 20;
// A tool may keep its notes there.
constexpr std::uint64_t kToolFileBytes = std::uint64_t{1} << 30;
// What the driver's library itself holds on the host, pinned memory and its view of the device included.
constexpr std::uint64_t kDriverBytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kMostModuleBytes = std::uint64_t{512} << 20;

// The profiler's folder as it is named, and as the name resolves: toolkits lie outside of what the sandbox shows, and
// behind links.
std::vector<std::filesystem::path> profiler_folders(const std::filesystem::path& named) {
  std::error_code error;
  const auto real = std::filesystem::canonical(named, error);
  if (error) return {};
  return {named, real};
}

}  // namespace

DeviceProcesses::DeviceProcesses(const CudaRunnerOptions& options)
    : options_(options),
      start_filter_(device_start_filter()),
      call_filter_(device_call_filter()),
      environment_(device_environment(options.device.uuid)) {
  if (options_.profiler.empty()) options_.profiler = KAGENT_CUPTI_FOLDER;
}

Result<DeviceProcess> DeviceProcesses::start(const std::filesystem::path& program, const RunnerLimits& limits) const {
  return start({}, {}, program, limits, true);
}

Result<DeviceProcess> DeviceProcesses::start_under(const std::vector<std::string>& words,
                                                   const std::vector<std::filesystem::path>& also,
                                                   const std::filesystem::path& program,
                                                   const RunnerLimits& limits) const {
  return start(words, also, program, limits, false);
}

Result<DeviceProcess> DeviceProcesses::start(std::vector<std::string> words,
                                             const std::vector<std::filesystem::path>& also,
                                             const std::filesystem::path& program, const RunnerLimits& limits,
                                             bool filtered) const {
  if (!start_filter_) return std::unexpected(start_filter_.error());
  if (!call_filter_) return std::unexpected(call_filter_.error());
  if (!options_.sandbox.available && !limits.allow_unsandboxed)
    return failure("candidates run in a sandbox only, and there is none: " + options_.sandbox.description,
                   "install bubblewrap, or set KAGENT_ALLOW_UNSANDBOXED=ON to run them without");
  std::error_code error;
  if (!std::filesystem::is_regular_file(program, error))
    return failure("there is no program '" + program.string() + "' to run", "compile it again");
  const std::uint64_t seed = secret_number();
  const bool counts = limits.reads_counters && options_.sandbox.available;
  const std::string& second = counts ? *start_filter_ : *call_filter_;
  auto channel = Channel::make(filtered ? second : std::string(), TickClock::instance().source(), 0, seed);
  if (!channel) return std::unexpected(channel.error());
  if (!filtered) channel->ask_for_orderly_exit();

  const std::filesystem::path file = std::filesystem::absolute(program).lexically_normal();
  util::Command command;
  command.argv = std::move(words);
  command.argv.push_back(file.string());
  command.working_folder = "/";
  command.environment = environment_;
  command.limits.memory_bytes = limits.memory_bytes + kDriverBytes;
  command.limits.tasks = most_threads() + 3;  // bubblewrap's processes
  command.limits.file_size_bytes = filtered ? kFileBytes : kToolFileBytes;
  command.limits.open_files = kOpenFiles;
  command.cpus = limits.cpus;
  command.descriptors = channel->child_descriptors();
  if (filtered) command.seccomp_program = *start_filter_;
  if (options_.sandbox.available) {
    std::vector<std::filesystem::path> seen = also;
    seen.push_back(file);
    if (limits.reads_counters)
      for (const auto& folder : profiler_folders(options_.profiler)) seen.push_back(folder);
    command = sandboxed_with_device(command, options_.sandbox, seen);
  }
  auto child = util::Child::start(command);
  if (!child) return std::unexpected(child.error());
  channel->forget_child_descriptors();

  ProcessKind kind;
  kind.device = true;
  kind.ends_by_itself = !filtered;
  kind.device_works = [program = options_.kernel_runner, uuid = options_.device.uuid]() -> Result<void> {
    const auto devices = probe_devices(program);
    if (!devices) return std::unexpected(devices.error());
    if (std::ranges::find(*devices, uuid, &Device::uuid) == devices->end())
      return failure("the GPU " + uuid + " is no longer there", "look for 'Xid' in 'dmesg'");
    return {};
  };
  own_processes_->fetch_add(1);
  kind.presence = std::shared_ptr<void>(nullptr, [counter = own_processes_](void*) { counter->fetch_sub(1); });
  return DeviceProcess{RunnerProcess(std::move(*child), options_.sandbox.available, std::move(*channel), limits,
                                     kDriverBytes, std::move(kind)),
                       seed};
}

Result<RunResult> load_module(RunnerProcess& process, const Binary& binary, const std::vector<Parameter>& parameters) {
  const auto code = util::read_file(binary.cubin);
  if (!code) return std::unexpected(code.error());
  if (code->empty() || code->size() > kMostModuleBytes)
    return failure(fmt::format("the device code '{}' has {} bytes", binary.cubin.string(), code->size()),
                   "compile it again");
  if (binary.symbol.size() >= protocol::kMostSymbol)
    return failure(fmt::format("the name of the kernel in the device code is {} characters long", binary.symbol.size()),
                   "give it a shorter one");
  protocol::Module module{};
  module.total_bytes = code->size();
  module.parameters = static_cast<std::uint32_t>(parameters.size());
  std::memcpy(module.symbol, binary.symbol.data(), binary.symbol.size());
  std::vector<protocol::Constant> constants;
  for (std::uint32_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].constant_memory) continue;
    protocol::Constant constant{};
    constant.parameter = i;
    const auto symbol = binary.constant_symbols.find(parameters[i].name);
    const std::string& name = symbol != binary.constant_symbols.end() ? symbol->second : parameters[i].name;
    if (name.size() >= sizeof constant.symbol || constants.size() == protocol::kMostConstants)
      return failure("'" + name + "' cannot be a __constant__: too many, or its name is too long",
                     fmt::format("use at most {}", protocol::kMostConstants));
    std::memcpy(constant.symbol, name.data(), name.size());
    constants.push_back(constant);
  }
  module.constants = static_cast<std::uint32_t>(constants.size());

  protocol::Request request{};
  request.operation = protocol::Operation::load_module;
  for (std::uint64_t at = 0; at < code->size(); at += protocol::kAreaBytes) {
    module.offset = at;
    module.length = std::min<std::uint64_t>(protocol::kAreaBytes, code->size() - at);
    std::memcpy(process.area().data(), code->data() + at, module.length);
    std::vector<std::byte> entries(sizeof module + constants.size() * sizeof(protocol::Constant));
    std::memcpy(entries.data(), &module, sizeof module);
    std::memcpy(entries.data() + sizeof module, constants.data(), entries.size() - sizeof module);
    auto answer = process.ask(request, entries, code->size());
    if (!answer) return std::unexpected(answer.error());
    if (answer->result.outcome != Outcome::ok) return answer->result;
  }
  return RunResult{};
}

}  // namespace kagent::runner
