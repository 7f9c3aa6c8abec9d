// SPDX-License-Identifier: Apache-2.0
#include "toolchain/cuda_toolchain.h"

#include <algorithm>
#include <array>
#include <set>
#include <system_error>

#include "toolchain/call_shim.h"
#include "toolchain/diagnostics.h"
#include "toolchain/nvcc_command.h"
#include "toolchain/nvcc_host_text.h"
#include "toolchain/program_toolchain.h"
#include "toolchain/ptxas_report.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

// Whether `text` is "sm_90", "sm_90a" or "sm_100f".
bool is_architecture(const std::string& text) {
  if (!text.starts_with("sm_")) return false;
  std::string_view rest = std::string_view(text).substr(3);
  if (!rest.empty() && (rest.back() == 'a' || rest.back() == 'f')) rest.remove_suffix(1);
  return rest.size() >= 2 && rest.find_first_not_of("0123456789") == rest.npos;
}

// A value of an nvcc option whose values are lists, and that a shell reads: quoted, so that commas and spaces in it are
// its own.
std::string list_value(const std::string& value) {
  const bool plain = std::ranges::all_of(value, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./+-=").find(c) != std::string_view::npos;
  });
  return plain ? value : "\"" + value + "\"";
}

// What makes `folder` the source's own to #include "...", as the build has it: some characters get through to the host
// compiler in no way, and such a folder is searched like any other.
std::string include_option(const std::string& folder) {
  if (folder.find_first_of("$`\"'\\") != folder.npos) return "-I" + folder;
  return "-Xcompiler=-iquote," + list_value(folder);
}

// Options that mean something for the link as well: everything but the input's language.
Words link_options(const Words& options) {
  Words result;
  const Words kept = without_architectures(options);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] == "-x")
      ++i;
    else
      result.push_back(kept[i]);
  }
  return result;
}

std::string generate_code(const std::string& architecture) {
  return "--generate-code=arch=compute_" + architecture.substr(std::min<std::size_t>(3, architecture.size())) +
         ",code=[" + architecture + "]";
}

// Folders that nvcc needs beside its own: the toolkit, and the host compiler that the options name.
std::vector<fs::path> installations(const CudaToolchainOptions& options) {
  std::vector<fs::path> folders;
  if (!options.toolkit.empty()) folders.push_back(options.toolkit);
  for (const std::string& option : options.command.options)
    if (constexpr std::string_view kHost = "-ccbin="; option.starts_with(kHost)) {
      const fs::path host = options.command.directory / option.substr(kHost.size());
      const auto found = installation_of(host);
      folders.insert(folders.end(), found.begin(), found.end());
    }
  return folders;
}

class CudaToolchain final : public ProgramToolchain {
 public:
  explicit CudaToolchain(CudaToolchainOptions options)
      : ProgramToolchain(options, installations(options)), options_(std::move(options)) {}

  Result<CompileResult> compile(const CompileJob& job) override;
  std::string compiler() const override;
  std::string flags() const override;

 protected:
  Language language() const override { return Language::cuda; }
  Words object_words(const Work& work) const override;
  Result<std::string> shim_text(const std::string& mangled, const std::string& returns) const override {
    return cuda_call_shim(mangled, options_.parameters, returns == "cudaError_t");
  }
  Words shim_words(const fs::path& source, const fs::path& object) const override;
  Words link_words(const Work& work, const fs::path& shim, bool no_pie) const override;
  std::string messages(const Work& work, const util::Finished& finished) const override;
  Outcome outcome_of(const std::string& messages) const override;
  Result<std::optional<CompileResult>> inspect(Work& work, std::vector<Symbol>& symbols, Binary& binary) override;
  Result<std::string> object_hash(const Work& work) const override;

 private:
  // An intermediate file that nvcc left in the work folder: ".ptx", ".cudafe1.cpp".
  fs::path intermediate(const fs::path& work_folder, std::string_view ending) const;
  std::string intermediate_text(const fs::path& work_folder, std::string_view ending) const;
  void keep_only_cubin(const fs::path& work_folder) const;
  std::string result_problem(const std::string& returns);

  const CudaToolchainOptions options_;
  std::mutex mutex_;
  std::optional<std::string> baseline_returns_;  // of the first source that was looked at
};

Result<CompileResult> CudaToolchain::compile(const CompileJob& job) {
  if (!is_nvcc(options_.command.compiler))
    return failure("the CUDA compiler '" + options_.command.compiler.string() + "' is not nvcc",
                   "configure with CMAKE_CUDA_COMPILER=nvcc");
  if (!is_architecture(options_.architecture))
    return failure("'" + options_.architecture + "' is no CUDA architecture", "name one such as sm_90 or sm_90a");
  auto result = ProgramToolchain::compile(job);
  keep_only_cubin(job.work_folder);
  if (result && result->diagnostics.find("Unsupported gpu architecture") != std::string::npos)
    return failure("nvcc '" + options_.command.compiler.string() + "' cannot compile for " + options_.architecture,
                   "leave this architecture out, or use a CUDA Toolkit that has it (nvcc --list-gpu-arch)");
  return result;
}

Words CudaToolchain::object_words(const Work& work) const {
  Words words = cuda_compile_words(options_, work.source, work.object);
  const std::string folder = work.source.parent_path().string();
  // Intermediate files with names of their own, since nvcc's temporary names end up in the object. ptxas's -v is noted
  // in the cubin, and changes nothing else of it.
  words.insert(words.end(), {"--keep", "--keep-dir", folder, "-Xptxas=-v", "-Xcompiler=-frandom-seed=kagent",
                             "-Xcompiler=-fdiagnostics-color=never"});
  if (folder != kSeenWorkFolder)
    words.push_back("-Xcompiler=" + list_value("-ffile-prefix-map=" + folder + "=" + kSeenWorkFolder));
  return words;
}

Words CudaToolchain::shim_words(const fs::path& source, const fs::path& object) const {
  Words words = {options_.command.compiler.string(), "-O2", "-Xcompiler=-fPIC,-w"};
  std::ranges::copy_if(options_.command.options, std::back_inserter(words), [](const std::string& option) {
    return chooses_machine(option) || option.starts_with("-ccbin=");
  });
  words.insert(words.end(), {"-x", "c++", "-c", source.string(), "-o", object.string()});
  return words;
}

Words CudaToolchain::link_words(const Work& work, const fs::path& shim, bool no_pie) const {
  Words words = {options_.command.compiler.string()};
  const Words options = link_options(options_.command.options);
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {generate_code(options_.architecture), "-Xcompiler=-fdiagnostics-color=never",
                             work.object.string(), shim.string(), options_.runtime.string(), "-ldl", "-lpthread"});
  std::ranges::copy(library_words(options_.libraries), std::back_inserter(words));
  if (no_pie) words.push_back("-Xcompiler=-no-pie");
  words.insert(words.end(), {"-o", work.program.string()});
  return words;
}

std::string CudaToolchain::messages(const Work& work, const util::Finished& finished) const {
  std::string rest = without_ptxas_report(finished.standard_output + finished.standard_error);
  if (rest.find(".ptx, line ") == rest.npos) return rest;
  const std::string_view text = counted_text(work.job.source_text, work.source.filename().string());
  return with_source_lines(rest, intermediate_text(work.job.work_folder, ".ptx"), text, work.source.string());
}

Outcome CudaToolchain::outcome_of(const std::string& messages) const {
  return messages.find("uses too much shared data") != messages.npos ? Outcome::limits_exceeded
                                                                     : Outcome::compile_failed;
}

std::string CudaToolchain::result_problem(const std::string& returns) {
  if (!returns.empty() && returns != "void" && returns != "cudaError_t")
    return "the entry '" + options_.entry + "' returns '" + util::clean(returns, 200) +
           "'; it has to return void or cudaError_t";
  const std::lock_guard lock(mutex_);
  if (!baseline_returns_) baseline_returns_ = returns;
  if (*baseline_returns_ == returns) return {};
  return "the entry '" + options_.entry + "' returned '" + *baseline_returns_ + "', which its callers rely on; now '" +
         util::clean(returns, 200) + "'";
}

Result<std::optional<CompileResult>> CudaToolchain::inspect(Work& work, std::vector<Symbol>& symbols, Binary& binary) {
  binary.architecture = options_.architecture;
  binary.device_usage = parse_ptxas_report(work.output, options_.architecture);
  const auto bounds = parse_thread_bounds(intermediate_text(work.job.work_folder, ".ptx"));
  for (const DeviceUsage& usage : binary.device_usage) {
    const auto bound = bounds.find(usage.kernel);
    const int threads = bound != bounds.end() ? bound->second : 0;
    if (std::string problem = launch_problem(usage, threads, options_.architecture); !problem.empty())
      return rejection(Outcome::limits_exceeded, std::move(problem));
  }
  const std::string host_text = intermediate_text(work.job.work_folder, ".cudafe1.cpp");
  work.returns = result_type(host_text, options_.entry);
  if (work.returns == "cudaError") work.returns = "cudaError_t";
  if (std::string problem = result_problem(work.returns); !problem.empty())
    return rejection(Outcome::compile_failed, std::move(problem));
  // With relocatable device code other files may call them.
  const bool relocatable = std::ranges::any_of(options_.command.options, [](const std::string& option) {
    return option == "-rdc=true" || option == "-dlto" || option == "--dlink-time-opt";
  });
  mark_device_symbols(symbols, relocatable ? std::set<std::string>() : device_functions(host_text));
  return std::nullopt;
}

// The object without the number that nvcc makes of the source's path, which is in names of what is static. In the
// sandbox that path never changes, so this matters only without one.
Result<std::string> CudaToolchain::object_hash(const Work& work) const {
  auto object = util::read_file(work.job.work_folder / work.object.filename());
  if (!object) return std::unexpected(object.error());
  const std::string id = intermediate_text(work.job.work_folder, ".module_id");
  if (id.size() < 8) return util::sha256(*object);
  for (std::size_t at = object->find(id); at != object->npos; at = object->find(id, at + id.size()))
    std::fill_n(object->begin() + static_cast<std::ptrdiff_t>(at), id.size(), '0');
  return util::sha256(*object);
}

fs::path CudaToolchain::intermediate(const fs::path& work_folder, std::string_view ending) const {
  return work_folder / (options_.source.stem().string() + std::string(ending));
}

std::string CudaToolchain::intermediate_text(const fs::path& work_folder, std::string_view ending) const {
  return util::read_file(intermediate(work_folder, ending)).value_or(std::string());
}

// nvcc's intermediate files are many, and megabytes with large headers.
void CudaToolchain::keep_only_cubin(const fs::path& work_folder) const {
  std::error_code error;
  fs::rename(intermediate(work_folder, ".cubin"), work_folder / kCubinName, error);
  constexpr std::array<std::string_view, 7> kEndings = {".ii", ".c", ".cpp", ".gpu", ".ptx", ".fatbin", ".module_id"};
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(work_folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path name = entry->path().filename();
    if (name != options_.source.filename() && name.string().starts_with(options_.source.stem().string() + ".") &&
        std::ranges::find(kEndings, name.extension().string()) != kEndings.end())
      files.push_back(entry->path());
  }
  for (const fs::path& file : files) fs::remove(file, error);
}

std::string CudaToolchain::compiler() const {
  const std::string text = version_text();
  const std::size_t release = text.rfind(", V");
  if (release == text.npos) return options_.command.compiler.filename().string();
  return "nvcc " + util::clean(text.substr(release + 3, text.find_first_of(" \n", release + 3) - release - 3), 60);
}

std::string CudaToolchain::flags() const {
  return util::quote_shell_words(
      cuda_compile_words(options_, options_.source.filename(), fs::path(options_.source.filename().string() + ".o")));
}

}  // namespace

Words cuda_compile_words(const CudaToolchainOptions& options, const fs::path& source, const fs::path& object) {
  Words words = {options.command.compiler.string()};
  const std::string relative_includes = include_option(options.source.parent_path().string());
  const Words own = without_architectures(options.command.options);
  // The build compiles a copy too, so it mostly has them already.
  if (std::ranges::find(own, relative_includes) == own.end()) words.push_back(relative_includes);
  words.insert(words.end(), own.begin(), own.end());
  words.push_back(generate_code(options.architecture));
  if (std::ranges::find(own, "-x") == own.end()) words.insert(words.end(), {"-x", "cu"});
  words.insert(words.end(), {"-c", source.string(), "-o", object.string()});
  return words;
}

std::unique_ptr<Toolchain> make_cuda_toolchain(CudaToolchainOptions options) {
  return std::make_unique<CudaToolchain>(std::move(options));
}

}  // namespace kagent::toolchain
