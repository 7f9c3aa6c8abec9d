// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include "runner/call_filter.h"
#include "runner/process_session.h"
#include "runner/runner.h"
#include "runner/runner_process.h"
#include "runner/secret.h"
#include "runner/tick_clock.h"
#include "util/sandbox.h"

namespace kagent::runner {

namespace {

// Enough for what libraries read about the machine when they are loaded; a candidate has nothing to open.
constexpr int kOpenFiles = 64;
// The program, its libraries and the runtime's own tables.
constexpr std::uint64_t kProgramBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostSweepBytes = std::uint64_t{64} << 20;

// The sweep has to get code and tables of the candidate's own out of the caches that its core has to itself. The call's
// buffers are flushed line by line, which costs as much as they are large instead of as much as the last cache is (256
// MiB and more on servers). Where a program cannot flush, the sweep has to do it all.
std::uint64_t sweep_bytes() {
  const auto cache = [](int name) { return static_cast<std::uint64_t>(std::max(0L, ::sysconf(name))); };
  const std::uint64_t private_bytes = cache(_SC_LEVEL2_CACHE_SIZE), shared_bytes = cache(_SC_LEVEL3_CACHE_SIZE);
#if defined(__x86_64__) || defined(__aarch64__)
  const std::uint64_t wanted = 2 * (private_bytes > 0 ? private_bytes : std::uint64_t{2} << 20);
  static_cast<void>(shared_bytes);
#else
  const std::uint64_t wanted = 2 * std::max(private_bytes, shared_bytes);
#endif
  return std::min(wanted, kMostSweepBytes);
}

struct Filters {
  std::string start, call;
};

Result<Filters> make_filters() {
  auto start = start_filter();
  if (!start) return std::unexpected(start.error());
  auto call = call_filter();
  if (!call) return std::unexpected(call.error());
  return Filters{std::move(*start), std::move(*call)};
}

class HostRunner final : public Runner {
 public:
  explicit HostRunner(const util::SandboxState& sandbox)
      : sandbox_(sandbox), sweep_bytes_(sweep_bytes()), filters_(make_filters()) {}

  Result<std::unique_ptr<Session>> start(const Binary& binary, const std::vector<Parameter>& parameters,
                                         const RunnerLimits& limits) override;

 private:
  Result<void> check(const Binary& binary, const std::vector<Parameter>& parameters, const RunnerLimits& limits) const;
  util::Command command(const Binary& binary, const RunnerLimits& limits, const Channel& channel) const;

  util::SandboxState sandbox_;
  std::uint64_t sweep_bytes_;
  Result<Filters> filters_;
};

Result<void> HostRunner::check(const Binary& binary, const std::vector<Parameter>& parameters,
                               const RunnerLimits& limits) const {
  if (!filters_) return std::unexpected(filters_.error());
  if (!sandbox_.available && !limits.allow_unsandboxed)
    return failure("candidates run in a sandbox only, and there is none: " + sandbox_.description,
                   "install bubblewrap, or set KAGENT_ALLOW_UNSANDBOXED=ON to run them without");
  std::error_code error;
  if (!std::filesystem::is_regular_file(binary.executable, error))
    return failure("there is no program '" + binary.executable.string() + "' to run", "compile it again");
  if (parameters.size() > protocol::kMostParameters)
    return failure(fmt::format("an entry of {} parameters cannot be called", parameters.size()),
                   fmt::format("use at most {}", protocol::kMostParameters));
  for (const Parameter& parameter : parameters)
    if (parameter.kind == ParameterKind::stream)
      return failure("'" + parameter.name + "' is a stream, which host code does not have");
  return {};
}

util::Command HostRunner::command(const Binary& binary, const RunnerLimits& limits, const Channel& channel) const {
  const std::filesystem::path program = std::filesystem::absolute(binary.executable).lexically_normal();
  util::Command command;
  command.argv = {program.string()};
  command.working_folder = "/";
  command.limits.memory_bytes = limits.memory_bytes + kProgramBytes;
  command.limits.tasks = most_threads() + 3;  // bubblewrap's processes
  command.limits.file_size_bytes = 0;
  command.limits.private_bytes = limits.memory_bytes + kProgramBytes;
  command.limits.open_files = kOpenFiles;
  command.cpus = limits.cpus;
  command.descriptors = channel.child_descriptors();
  command.seccomp_program = filters_->start;
  if (!sandbox_.available) return command;
  return util::sandboxed(command, {.read_only = {program}, .read_write = {}, .covered = {}}, sandbox_);
}

Result<std::unique_ptr<Session>> HostRunner::start(const Binary& binary, const std::vector<Parameter>& parameters,
                                                   const RunnerLimits& limits) {
  if (auto checked = check(binary, parameters, limits); !checked) return std::unexpected(checked.error());
  const std::uint64_t seed = secret_number();
  auto channel = Channel::make(filters_->call, TickClock::instance().source(), sweep_bytes_, seed);
  if (!channel) return std::unexpected(channel.error());
  auto child = util::Child::start(command(binary, limits, *channel));
  if (!child) return std::unexpected(child.error());
  channel->forget_child_descriptors();
  const std::uint64_t own_bytes = kProgramBytes + sweep_bytes_ + protocol::kExchangeBytes;
  RunnerProcess process(std::move(*child), sandbox_.available, std::move(*channel), limits, own_bytes);
  SessionKind kind;
  kind.is_counted = limits.reads_counters;
  return std::make_unique<ProcessSession>(std::move(process), parameters, seed, std::move(kind));
}

}  // namespace

std::uint64_t secret_number() {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

std::unique_ptr<Runner> make_host_runner(const util::SandboxState& sandbox) {
  return std::make_unique<HostRunner>(sandbox);
}

}  // namespace kagent::runner
