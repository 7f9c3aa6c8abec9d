// SPDX-License-Identifier: Apache-2.0
#include "toolchain/nvrtc_toolchain.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "toolchain/diagnostic_kind.h"
#include "toolchain/diagnostics.h"
#include "toolchain/nvrtc_pool.h"
#include "toolchain/nvrtc_source.h"
#include "toolchain/ptxas_report.h"
#include "toolchain/signature.h"
#include "toolchain/tool_process.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"
#include "values/instance.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

constexpr const char* kCubin = "candidate.cubin";
constexpr const char* kLog = "compile.log";

// <toolkit>/bin/nvcc, or whatever link leads there.
fs::path toolkit_of(const NvrtcToolchainOptions& options) {
  if (!options.toolkit.empty()) return options.toolkit;
  std::error_code error;
  const fs::path compiler = fs::canonical(options.command.compiler, error);
  return error ? fs::path() : compiler.parent_path().parent_path();
}

// Folders that an -I names, so that the sandbox shows them.
std::vector<fs::path> include_folders(const std::vector<std::string>& options) {
  std::vector<fs::path> folders;
  for (const std::string& option : options) {
    if (option.starts_with("-I")) folders.emplace_back(option.substr(2));
    if (option.starts_with("--pre-include=")) folders.push_back(fs::path(option.substr(14)).parent_path());
  }
  return folders;
}

// "ops::detail::" of "ops::detail::scale" and "ops::" of that.
std::string space_around(const std::string& name) {
  const std::size_t colons = name.size() < 3 ? name.npos : name.rfind("::", name.size() - 3);
  return colons == name.npos ? "" : name.substr(0, colons + 2);
}

// Whether NVRTC says that the name expression names nothing. It quotes it with blanks of its own.
bool is_unknown(const std::string& expression, std::string log) {
  std::erase(log, ' ');
  return log.find("Inputnameexpressionwas:\"" + expression + "\"") != log.npos;
}

CompileResult rejected(Outcome outcome, std::string diagnostics) {
  CompileResult result;
  result.outcome = outcome;
  result.diagnostics = std::move(diagnostics);
  return result;
}

CompileResult compile_failure(std::string diagnostics) {
  return rejected(Outcome::compile_failed, std::move(diagnostics));
}

// Threads of a block, where they do not depend on sizes; 0 where they do.
int block_threads(const Launch& launch, const std::map<std::string, std::int64_t>& values) {
  constexpr std::int64_t kMost = 1 << 20;
  const auto lookup = [&values](std::string_view name) -> const std::int64_t* {
    const auto found = values.find(std::string(name));
    return found != values.end() ? &found->second : nullptr;
  };
  std::int64_t threads = 1;
  for (const Expression& extent : launch.block) {
    const auto value = extent.evaluate(lookup);
    if (!value || *value < 0) return 0;
    threads = std::min(threads * std::min(*value, kMost), kMost);
  }
  return static_cast<int>(threads);
}

class NvrtcToolchain final : public Toolchain {
 public:
  explicit NvrtcToolchain(NvrtcToolchainOptions options)
      : options_(std::move(options)),
        flags_(nvrtc_flags(options_.command)),
        words_(make_words()),
        pool_(pool_options()) {
    for (const Parameter& parameter : options_.parameters)
      if (parameter.constant_memory) constants_.push_back(parameter.name);
    std::erase_if(options_.parameters, [](const Parameter& parameter) { return parameter.constant_memory; });
  }

  Result<CompileResult> compile(const CompileJob& job) override;
  std::string compiler() const override;
  std::string flags() const override;

 private:
  struct Work {
    const CompileJob& job;
    const Launch& launch;
    std::string instance;
    std::set<std::string> tunables;  // names
    std::string log;
  };

  std::vector<std::string> make_words() const;
  WorkerPoolOptions pool_options() const;
  Result<WorkerAnswer> ask(Work& work, std::string source, const std::string& instance,
                           std::vector<std::string> symbols = {});
  Result<WorkerAnswer> ask_for_kernel(Work& work);
  std::string distilled(const Work& work, const WorkerAnswer& answer) const;
  Result<std::string> add_missing_values(Work& work, std::map<std::string, std::int64_t>& values);
  std::string entry_problem(const std::string& lowered_name) const;
  std::string limit_problem(const Work& work, const WorkerAnswer& answer,
                            const std::map<std::string, std::int64_t>& values) const;
  Result<CompileResult> make(Work& work);

  NvrtcToolchainOptions options_;
  std::vector<std::string> constants_;  // parameters in constant memory; options_.parameters are the passed ones
  NvrtcFlags flags_;
  std::vector<std::string> words_;
  mutable WorkerPool pool_;
};

std::vector<std::string> NvrtcToolchain::make_words() const {
  std::vector<std::string> words = {"-arch=" + options_.architecture};
  words.insert(words.end(), flags_.taken.begin(), flags_.taken.end());
  // Relative includes find their files beside the baseline, and the toolkit's own headers come last, as for nvcc.
  words.push_back("-I" + options_.source.parent_path().string());
  const fs::path toolkit = toolkit_of(options_);
  for (const char* folder : {"include", "include/cccl"}) words.push_back("-I" + (toolkit / folder).string());
  words.insert(words.end(), {"--ptxas-options=-v", "-no-cache", "--modify-stack-limit=false",
                             // A constexpr function without annotation is no host function only because of that.
                             "--device-as-default-execution-space"});
  return words;
}

WorkerPoolOptions NvrtcToolchain::pool_options() const {
  WorkerPoolOptions pool;
  pool.worker = options_.worker;
  pool.time_limit = options_.time_limit;
  pool.workers = options_.workers;
  pool.allow_unsandboxed = options_.allow_unsandboxed;
  pool.view.read_only = options_.visible;
  pool.view.covered = options_.covered;
  const auto show = [&pool](const std::vector<fs::path>& paths) {
    pool.view.read_only.insert(pool.view.read_only.end(), paths.begin(), paths.end());
  };
  show({options_.worker.parent_path(), options_.source.parent_path(), toolkit_of(options_)});
  show(include_folders(words_));
  show(installation_of(options_.command.compiler));
  // The sandbox shows the system as it is, and can make no place for a part of it.
  std::erase_if(pool.view.read_only, [](const fs::path& path) { return path.string().starts_with("/usr/"); });
  return pool;
}

// The kernel compiled, with the names of its constants. Each lies in the entry's namespace or in one around it, which
// NVRTC does not look into by itself.
Result<WorkerAnswer> NvrtcToolchain::ask_for_kernel(Work& work) {
  std::vector<std::string> spaces(constants_.size(), space_around(options_.entry));
  std::optional<WorkerAnswer> first;
  for (;;) {
    std::vector<std::string> expressions;
    for (std::size_t i = 0; i < constants_.size(); ++i) expressions.push_back("&" + spaces[i] + constants_[i]);
    auto answer = ask(work, work.job.source_text, work.instance, expressions);
    if (!answer || answer->ok) return answer;
    bool is_elsewhere = false;
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      if (spaces[i].empty() || !is_unknown(expressions[i], answer->log)) continue;
      spaces[i] = space_around(spaces[i]);
      is_elsewhere = true;
    }
    if (!first) first = *std::move(answer);
    if (!is_elsewhere) return *std::move(first);
  }
}

Result<WorkerAnswer> NvrtcToolchain::ask(Work& work, std::string source, const std::string& instance,
                                         std::vector<std::string> symbols) {
  const WorkerJob job{options_.source.filename().string(),
                      std::move(source),
                      words_,
                      instance,
                      leading_headers(work.job.source_text, work.tunables),
                      std::move(symbols)};
  auto answer = pool_.compile(job);
  work.log += "$ nvrtc " + util::quote_shell_words(words_) + " " + instance + "\n";
  if (answer)
    work.log += util::clean(answer->log, 256 * 1024) + (answer->problem.empty() ? "" : answer->problem + "\n");
  return answer;
}

std::string NvrtcToolchain::distilled(const Work& work, const WorkerAnswer& answer) const {
  const std::string name = options_.source.filename().string();
  const std::string log = util::clean(without_ptxas_report(answer.log), 512 * 1024);
  std::string text = answer.problem.empty() ? "" : answer.problem + "\n";
  const DiagnosticsContext context{counted_text(work.job.source_text, name), name, name};
  if (log.find_first_not_of(" \t\n") != log.npos) text += distil(log, context) + classified(diagnose(log, context));
  return text;
}

// Values of tunables that the geometry needs and the job does not give, from the source's macros. Text: why there are
// none.
Result<std::string> NvrtcToolchain::add_missing_values(Work& work, std::map<std::string, std::int64_t>& values) {
  std::vector<std::string> missing;
  for (const std::string& name : names_of(work.launch)) {
    const bool is_size = std::ranges::any_of(options_.parameters, [&](const Parameter& p) { return p.name == name; });
    if (!is_size && !values.contains(name)) missing.push_back(name);
  }
  if (missing.empty()) return std::string();
  const auto answer = ask(work, values_probe(work.job.source_text), values_instance(missing));
  if (!answer) return std::unexpected(answer.error());
  const auto found = answer->ok ? read_values(answer->lowered_name, missing.size()) : std::nullopt;
  if (!found) {
    std::string names;
    for (const std::string& name : missing) names += (names.empty() ? "'" : ", '") + name + "'";
    return "the geometry uses " + names + ", which the source does not define as macros with constant values";
  }
  for (std::size_t i = 0; i < missing.size(); ++i) values[missing[i]] = (*found)[i];
  return std::string();
}

// Why the compiled kernel cannot be launched with the spec's parameters; empty if it can.
std::string NvrtcToolchain::entry_problem(const std::string& lowered_name) const {
  const auto types = kernel_parameter_types(demangled(lowered_name));
  if (!types) return {};
  const std::vector<Parameter>& parameters = options_.parameters;
  std::string problem = signature_mismatch(*types, parameters);
  for (std::size_t i = 0; problem.empty() && i < types->size(); ++i)
    if (parameters[i].kind == ParameterKind::input && (*types)[i].find("const*") == std::string::npos)
      problem = "parameter " + std::to_string(i + 1) + ": '" + parameters[i].name +
                "' is an input, but the kernel takes '" + (*types)[i] + "' there, which is no pointer to const";
  if (problem.empty()) return {};
  return problem + ": the source has '" + demangled(lowered_name) + "'; kernel.json asks for '" +
         expected_signature(options_.entry, parameters) + "'";
}

// Why no device of the architecture can launch what was compiled; empty if one can. Too much static shared memory is
// where NVRTC fails after its report, without a word about the reason.
std::string NvrtcToolchain::limit_problem(const Work& work, const WorkerAnswer& answer,
                                          const std::map<std::string, std::int64_t>& values) const {
  const std::string launched = answer.lowered_name.empty() ? "" : demangled(answer.lowered_name);
  for (const DeviceUsage& usage : parse_ptxas_report(answer.log, options_.architecture)) {
    const int threads = usage.kernel == launched ? block_threads(work.launch, values) : 0;
    if (std::string problem = launch_problem(usage, threads, options_.architecture); !problem.empty()) return problem;
  }
  return {};
}

Result<CompileResult> NvrtcToolchain::make(Work& work) {
  const auto answer = ask_for_kernel(work);
  if (!answer) return std::unexpected(answer.error());
  if (!answer->ok) {
    if (std::string problem = limit_problem(work, *answer, {}); !problem.empty())
      return rejected(Outcome::limits_exceeded, std::move(problem));
    std::string text = distilled(work, *answer);
    return compile_failure(text.empty() ? "NVRTC failed without a message" : text);
  }
  if (answer->lowered_name.empty()) return compile_failure("the source defines no kernel '" + work.instance + "'");
  if (std::string problem = entry_problem(answer->lowered_name); !problem.empty())
    return compile_failure(std::move(problem));
  std::map<std::string, std::string> constant_symbols;
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    if (i >= answer->lowered_symbols.size() || answer->lowered_symbols[i].empty())
      return compile_failure("the source defines no __constant__ '" + constants_[i] + "'");
    constant_symbols[constants_[i]] = answer->lowered_symbols[i];
  }
  std::map<std::string, std::int64_t> values = work.job.tunables;
  auto missing = add_missing_values(work, values);
  if (!missing) return std::unexpected(missing.error());
  if (!missing->empty()) return compile_failure(*std::move(missing));
  if (std::string problem = limit_problem(work, *answer, values); !problem.empty())
    return rejected(Outcome::limits_exceeded, std::move(problem));

  CompileResult result;
  Binary& binary = result.binary;
  binary.cubin = work.job.work_folder / kCubin;
  if (auto written = util::write_file_atomically(binary.cubin, answer->cubin); !written)
    return std::unexpected(written.error());
  binary.symbol = answer->lowered_name;
  binary.object_hash =
      util::sha256(util::sha256(answer->cubin) + "\n" + binary.symbol + "\n" + geometry_text(work.launch, values));
  binary.launch = work.launch;
  binary.constant_symbols = std::move(constant_symbols);
  binary.tunables = std::move(values);
  binary.device_usage = parse_ptxas_report(answer->log, options_.architecture);
  binary.architecture = options_.architecture;
  result.diagnostics = distilled(work, *answer);
  return result;
}

Result<CompileResult> NvrtcToolchain::compile(const CompileJob& job) {
  const auto started = std::chrono::steady_clock::now();
  if (!job.launch) return failure("a kernel of style \"kernel\" without its launch geometry");
  std::error_code error;
  if (!fs::exists(options_.worker, error))
    return failure("the NVRTC worker '" + options_.worker.string() + "' does not exist",
                   "build kagent where the CUDA Toolkit is installed, and install it again");
  Work work{job, *job.launch, job.launch->instance.empty() ? options_.entry : job.launch->instance, {}, {}};
  for (const auto& [name, value] : job.tunables) work.tunables.insert(name);
  for (const std::string& name : names_of(work.launch)) work.tunables.insert(name);
  if (auto written = util::write_file_atomically(job.work_folder / options_.source.filename(), job.source_text);
      !written)
    return std::unexpected(written.error());
  const bool known = work.launch.instance.empty() || is_instance_of(work.launch.instance, options_.entry);
  auto result = known ? make(work)
                      : Result<CompileResult>(compile_failure("'" + util::clean(work.launch.instance, 100) +
                                                              "' is no instance of '" + options_.entry + "'"));
  if (!result) return result;
  if (auto written = util::write_file_atomically(job.work_folder / kLog, work.log); !written)
    return std::unexpected(written.error());
  result->duration = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - started);
  return result;
}

std::string NvrtcToolchain::compiler() const {
  const auto version = pool_.version();
  return version ? "NVRTC " + *version : std::string("NVRTC");
}

std::string NvrtcToolchain::flags() const {
  std::string text = "nvrtc " + util::quote_shell_words(words_);
  if (!flags_.left_out.empty()) text += " (without " + util::quote_shell_words(flags_.left_out) + ")";
  return text;
}

}  // namespace

std::unique_ptr<Toolchain> make_nvrtc_toolchain(NvrtcToolchainOptions options) {
  return std::make_unique<NvrtcToolchain>(std::move(options));
}

}  // namespace kagent::toolchain
