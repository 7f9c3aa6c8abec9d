// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host_toolchain.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "toolchain/diagnostics.h"
#include "toolchain/signature.h"
#include "toolchain/symbols.h"
#include "toolchain/tool_process.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/subprocess.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

constexpr const char* kObject = "candidate.o";
constexpr const char* kProgram = "candidate";
constexpr const char* kLog = "compile.log";

// Absolute paths that the options refer to, so that the sandbox shows them. Definitions are only text.
std::vector<fs::path> paths_in(const CompileCommand& command) {
  constexpr std::array<std::string_view, 10> kPrefixes = {"-isystem",  "-iquote", "-idirafter", "-include", "-imacros",
                                                          "-isysroot", "-I",      "-L",         "-B",       "@"};
  std::vector<fs::path> paths;
  for (std::string_view word : command.options) {
    if (word.starts_with("-D") || word.starts_with("-U")) continue;
    if (word.starts_with('-')) {
      const auto prefix =
          std::ranges::find_if(kPrefixes, [&](std::string_view known) { return word.starts_with(known); });
      if (prefix != kPrefixes.end())
        word.remove_prefix(prefix->size());
      else if (const auto equals = word.find('='); equals != word.npos)
        word.remove_prefix(equals + 1);
      else
        continue;
    }
    if (word.empty()) continue;
    std::error_code error;
    const fs::path path = (command.directory / word).lexically_normal();
    if (fs::is_directory(path, error)) paths.push_back(path);
    // A header given by -include may have its compiled form beside it.
    else if (fs::exists(path, error))
      paths.push_back(path.parent_path());
  }
  return paths;
}

ToolProcess make_tool_process(const HostToolchainOptions& options) {
  ToolProcess process;
  process.working_folder = options.command.directory;
  process.visible = options.visible;
  process.covered = options.covered;
  process.time_limit = options.time_limit;
  process.allow_unsandboxed = options.allow_unsandboxed;
  process.visible.push_back(options.command.directory);
  process.visible.push_back(options.source.parent_path());
  process.visible.push_back(options.runtime.parent_path());
  for (auto& paths : {paths_in(options.command), installation_of(options.command.compiler)})
    process.visible.insert(process.visible.end(), paths.begin(), paths.end());
  return process;
}

// Options that the call shim has to share with the candidate: they choose the machine.
bool chooses_machine(const std::string& option) {
  return option == "-m32" || option == "-m64" || option == "-mx32" || option.starts_with("--target=") ||
         option.starts_with("--sysroot=");
}

class HostToolchain final : public Toolchain {
 public:
  explicit HostToolchain(HostToolchainOptions options)
      : options_(std::move(options)), process_(make_tool_process(options_)) {
    process_.visible.push_back(shims_.path());
  }

  Result<CompileResult> compile(const CompileJob& job) override;
  std::string compiler() const override;
  std::string flags() const override;

 private:
  // What one compile() is about: files, log and time.
  struct Work {
    const CompileJob& job;
    fs::path source, object, program;  // as the tools see them
    std::string log;
    std::string warnings;
  };

  Result<std::optional<CompileResult>> make_object(Work& work);
  Result<std::string> list_symbols(const Work& work, bool readable);
  Result<std::vector<Symbol>> symbols_of(const Work& work);
  // The entry's mangled name, or why the object cannot stand in for the baseline's.
  EntryLookup examine(const std::vector<Symbol>& symbols);
  Result<fs::path> shim_for(const std::string& mangled);
  Result<std::optional<CompileResult>> link(Work& work, const fs::path& shim);
  Result<util::Finished> run(Work& work, const Words& words);
  CompileResult failed(const Work& work, const util::Finished& finished, const char* tool) const;
  Result<CompileResult> finish(const Work& work, CompileResult result) const;

  HostToolchainOptions options_;
  util::TemporaryFolder shims_{"kagent-shim"};
  ToolProcess process_;
  std::atomic<bool> no_pie_ = false;                      // learnt from the first program that does not link otherwise
  std::mutex mutex_;                                      // of the members below
  std::optional<std::pair<std::string, fs::path>> shim_;  // mangled name and object
  std::vector<Symbol> baseline_;                          // of the first source that compiled
  std::string baseline_entry_;
};

// "g++ 12.2.0" out of "c++ (Debian 12.2.0-14) 12.2.0\nCopyright ... Free Software Foundation" and the like.
std::string compiler_version(const std::string& output) {
  std::string line = util::clean(output.substr(0, output.find('\n')), 200);
  constexpr std::string_view kClang = "clang version ";
  if (const std::size_t at = line.find(kClang); at != line.npos) {
    const std::string version = line.substr(at + kClang.size());
    return "clang++ " + version.substr(0, version.find(' '));
  }
  if (output.find("Free Software Foundation") != output.npos) return "g++ " + line.substr(line.rfind(' ') + 1);
  return line;
}

// What messages count lines from: a rendered candidate has its tunables on top, then "#line 1".
std::string_view counted_text(std::string_view text) {
  std::string_view rest = text;
  while ((rest.starts_with("#define ") || rest.starts_with("#undef ")) && rest.find('\n') != rest.npos)
    rest.remove_prefix(rest.find('\n') + 1);
  return rest.starts_with("#line 1 ") ? rest.substr(std::min(rest.find('\n'), rest.size() - 1) + 1) : text;
}

std::string distilled(const std::string& output, std::string_view text, const fs::path& source) {
  return distil(output, {counted_text(text), source.string(), source.filename().string()});
}

CompileResult compile_failure(std::string diagnostics) {
  CompileResult result;
  result.outcome = Outcome::compile_failed;
  result.diagnostics = std::move(diagnostics);
  return result;
}

Result<util::Finished> HostToolchain::run(Work& work, const Words& words) {
  auto finished = process_.run(words, work.job.work_folder);
  work.log += "$ " + util::quote_shell_words(words) + "\n";
  if (finished) work.log += util::clean(finished->standard_output + finished->standard_error, 256 * 1024);
  return finished;
}

CompileResult HostToolchain::failed(const Work& work, const util::Finished& finished, const char* tool) const {
  const std::string limit = limit_reached(finished, options_.time_limit);
  std::string text = limit.empty() ? "" : "the " + std::string(tool) + " " + limit + "\n";
  text += distilled(finished.standard_error, work.job.source_text, work.source);
  return compile_failure(text.empty() ? "the " + std::string(tool) + " failed without a message" : text);
}

Result<std::optional<CompileResult>> HostToolchain::make_object(Work& work) {
  const fs::path source = work.job.work_folder / work.source.filename();
  if (auto written = util::write_file_atomically(source, work.job.source_text); !written)
    return std::unexpected(written.error());
  const auto finished = run(work, compile_words(options_, work.source, work.object));
  if (!finished) return std::unexpected(finished.error());
  if (!finished->ok()) return failed(work, *finished, "compiler");
  if (!finished->standard_error.empty())
    work.warnings = distilled(finished->standard_error, work.job.source_text, work.source);
  return std::nullopt;
}

Result<std::string> HostToolchain::list_symbols(const Work& work, bool readable) {
  Words words = {"nm", "-p", work.object.string()};
  if (readable) words.insert(words.begin() + 1, "-C");
  auto finished = process_.run(words, work.job.work_folder);
  if (!finished) return std::unexpected(finished.error());
  if (finished->ok()) return std::move(finished->standard_output);
  return failure("nm cannot read '" + work.object.string() + "': " + util::clean(finished->standard_error, 300),
                 "install binutils; with clang, leave link-time optimisation (-flto) off");
}

Result<std::vector<Symbol>> HostToolchain::symbols_of(const Work& work) {
  const auto plain = list_symbols(work, false);
  if (!plain) return std::unexpected(plain.error());
  {
    // Most candidates show the names of the baseline and no other: nm need not run again to read them.
    const std::lock_guard lock(mutex_);
    std::vector<Symbol> symbols = parse_symbols(*plain, *plain);
    if (!baseline_.empty() && take_readable_names(symbols, baseline_)) return symbols;
  }
  const auto readable = list_symbols(work, true);
  if (!readable) return std::unexpected(readable.error());
  return parse_symbols(*plain, *readable);
}

EntryLookup HostToolchain::examine(const std::vector<Symbol>& symbols) {
  const std::lock_guard lock(mutex_);
  if (std::string problem = symbol_problem(symbols, baseline_); !problem.empty())
    return {std::nullopt, std::move(problem)};
  EntryLookup lookup = find_entry(symbols, options_.entry, options_.parameters);
  if (lookup.symbol && !baseline_entry_.empty() && lookup.symbol->mangled != baseline_entry_)
    return {std::nullopt, "the entry's symbol changed from '" + baseline_entry_ + "' to '" + lookup.symbol->mangled +
                              "': its callers would no longer find it"};
  return lookup;
}

Result<fs::path> HostToolchain::shim_for(const std::string& mangled) {
  const std::lock_guard lock(mutex_);
  if (shim_ && shim_->first == mangled) return shim_->second;
  const auto text = call_shim(mangled, options_.parameters);
  if (!text) return std::unexpected(text.error());
  const std::string name = util::sha256(mangled).substr(0, 16);
  if (auto written = util::write_file_atomically(shims_.path() / (name + ".cpp"), *text); !written)
    return std::unexpected(written.error());
  const fs::path source = process_.seen(shims_.path()) / (name + ".cpp");
  // Not with the candidate's options: link-time optimisation could see through the call that is measured.
  Words words = {options_.command.compiler.string(), "-O2", "-fPIC", "-w"};
  std::ranges::copy_if(options_.command.options, std::back_inserter(words), chooses_machine);
  words.insert(words.end(), {"-c", source.string(), "-o", (source.parent_path() / (name + ".o")).string()});
  const auto finished = process_.run(words, shims_.path());
  if (!finished) return std::unexpected(finished.error());
  if (!finished->ok())
    return failure("the compiler '" + options_.command.compiler.string() +
                       "' cannot compile the call of the entry: " + distilled(finished->standard_error, *text, source),
                   "a parameter's dtype may not exist for this compiler");
  shim_ = {mangled, shims_.path() / (name + ".o")};
  return shim_->second;
}

std::string explain_link_failure(const std::string& output) {
  const auto missing = undefined_references(output);
  if (missing.empty()) return {};
  std::string text = "the source is not self-contained: nothing defines ";
  for (std::size_t i = 0; i < missing.size() && i < 8; ++i) text += (i > 0 ? ", '" : "'") + missing[i] + "'";
  return text + (missing.size() > 8 ? ", ..." : "") +
         ". A kernel's source is measured alone: define it in the source or a header, or name the library it comes "
         "from in "
         "\"rules\": {\"libraries\": [...]} of kernel.json\n";
}

Result<std::optional<CompileResult>> HostToolchain::link(Work& work, const fs::path& shim) {
  const auto words = [&](bool no_pie) {
    Words result = {options_.command.compiler.string()};
    result.insert(result.end(), options_.command.options.begin(), options_.command.options.end());
    // The options may name a language, which would be taken for that of the objects.
    result.insert(result.end(), {"-fdiagnostics-color=never", "-x", "none", work.object.string(), shim.string(),
                                 options_.runtime.string(), "-pthread"});
    for (const std::string& library : options_.libraries) result.push_back("-l" + library);
    if (no_pie) result.push_back("-no-pie");
    result.insert(result.end(), {"-o", work.program.string()});
    return result;
  };
  const bool no_pie = no_pie_;
  auto finished = run(work, words(no_pie));
  if (finished && !finished->ok() && !no_pie && wants_no_pie(finished->standard_error)) {
    finished = run(work, words(true));
    if (finished && finished->ok()) no_pie_ = true;
  }
  if (!finished) return std::unexpected(finished.error());
  if (finished->ok()) return std::nullopt;
  CompileResult result = failed(work, *finished, "linker");
  result.diagnostics = explain_link_failure(finished->standard_error) + result.diagnostics;
  return result;
}

// The record beside the files; the outcome does not depend on it.
Result<CompileResult> HostToolchain::finish(const Work& work, CompileResult result) const {
  if (auto written = util::write_file_atomically(work.job.work_folder / kLog, work.log); !written)
    return std::unexpected(written.error());
  return result;
}

Result<CompileResult> HostToolchain::compile(const CompileJob& job) {
  const auto started = std::chrono::steady_clock::now();
  std::error_code error;
  if (!fs::exists(options_.runtime, error))
    return failure("the runner's runtime '" + options_.runtime.string() + "' does not exist", "install kagent again");
  const fs::path seen = process_.seen(job.work_folder);
  Work work{job, seen / options_.source.filename(), seen / kObject, seen / kProgram, {}, {}};
  const auto answer = [&](CompileResult result) {
    result.duration = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - started);
    return finish(work, std::move(result));
  };

  auto rejected = make_object(work);
  if (!rejected) return std::unexpected(rejected.error());
  if (*rejected) return answer(**std::move(rejected));
  const auto symbols = symbols_of(work);
  if (!symbols) return std::unexpected(symbols.error());
  if (options_.isolated)
    if (const std::string problem = state_problem(*symbols); !problem.empty()) return answer(compile_failure(problem));
  const EntryLookup entry = examine(*symbols);
  if (!entry.symbol) return answer(compile_failure(entry.problem));
  const auto shim = shim_for(entry.symbol->mangled);
  if (!shim) return std::unexpected(shim.error());
  rejected = link(work, *shim);
  if (!rejected) return std::unexpected(rejected.error());
  if (*rejected) return answer(**std::move(rejected));

  const auto hash = util::sha256_file(job.work_folder / kObject);
  if (!hash) return std::unexpected(hash.error());
  {
    const std::lock_guard lock(mutex_);
    if (baseline_entry_.empty()) std::tie(baseline_entry_, baseline_) = std::pair(entry.symbol->mangled, *symbols);
  }
  return answer(
      {Outcome::ok, std::move(work.warnings), {job.work_folder / kProgram, *hash, entry.symbol->mangled}, {}});
}

std::string HostToolchain::compiler() const {
  util::Command version;
  version.argv = {options_.command.compiler.string(), "--version"};
  version.environment = util::minimal_environment();
  version.limits.wall = options_.time_limit;
  const auto finished = util::run(version);
  if (!finished || !finished->ok()) return options_.command.compiler.filename().string();
  return compiler_version(finished->standard_output);
}

std::string HostToolchain::flags() const {
  return util::quote_shell_words(
      compile_words(options_, options_.source.filename(), fs::path(options_.source.filename().string() + ".o")));
}

}  // namespace

Words compile_words(const HostToolchainOptions& options, const fs::path& source, const fs::path& object) {
  Words words = {options.command.compiler.string()};
  const Words relative_includes = {"-iquote", options.source.parent_path().string()};
  // The build compiles a copy too, so it mostly has them already.
  if (std::ranges::search(options.command.options, relative_includes).empty())
    words.insert(words.end(), relative_includes.begin(), relative_includes.end());
  words.insert(words.end(), options.command.options.begin(), options.command.options.end());
  // Neither the work folder nor chance may show in the object: __FILE__, debug information, names made up for
  // link-time optimisation.
  if (const std::string folder = source.parent_path().string(); !folder.empty() && folder != kSeenWorkFolder)
    words.push_back("-ffile-prefix-map=" + folder + "=" + kSeenWorkFolder);
  words.insert(words.end(),
               {"-frandom-seed=kagent", "-fdiagnostics-color=never", "-c", source.string(), "-o", object.string()});
  return words;
}

std::unique_ptr<Toolchain> make_host_toolchain(HostToolchainOptions options) {
  return std::make_unique<HostToolchain>(std::move(options));
}

HostToolchainOptions reference_options(const HostToolchainOptions& options, const Reference& reference) {
  HostToolchainOptions result = options;
  result.source = reference.source;
  result.entry = reference.function;
  result.command.directory = reference.source.parent_path();
  result.command.options = {"-O2", "-I", reference.source.parent_path().string()};
  if (const std::string standard = options.command.standard(); standard != "default")
    result.command.options.push_back("-std=" + standard);
  std::ranges::copy_if(options.command.options, std::back_inserter(result.command.options), chooses_machine);
  result.libraries.clear();
  // The user's own code, in the golden folder: it may see what lies beside it.
  result.visible = {reference.source.parent_path()};
  result.covered.clear();
  std::erase_if(result.parameters, [](const Parameter& parameter) { return parameter.kind == ParameterKind::stream; });
  for (Parameter& parameter : result.parameters)
    if (is_floating(parameter.dtype)) parameter.dtype = DType::float64;
  return result;
}

}  // namespace kagent::toolchain
