// SPDX-License-Identifier: Apache-2.0
#include "toolchain/program_toolchain.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "toolchain/compiler_folders.h"
#include "toolchain/diagnostic_kind.h"
#include "toolchain/diagnostics.h"
#include "util/hash.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

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

// Where the compiler's own files lie. One in /usr shows them all; another may be a wrapper around a third.
std::vector<fs::path> installations(const CompileCommand& command) {
  std::vector<fs::path> folders = installation_of(command.compiler);
  if (folders.empty()) return folders;
  const std::vector<fs::path> wrapped = installation_of(wrapped_compiler(command));
  folders.insert(folders.end(), wrapped.begin(), wrapped.end());
  return folders;
}

ToolProcess make_tool_process(const ProgramOptions& options) {
  ToolProcess process;
  process.working_folder = options.command.directory;
  process.visible = options.visible;
  process.covered = options.covered;
  process.time_limit = options.time_limit;
  process.allow_unsandboxed = options.allow_unsandboxed;
  process.visible.push_back(options.command.directory);
  process.visible.push_back(options.source.parent_path());
  process.visible.push_back(options.runtime.parent_path());
  for (auto& paths : {paths_in(options.command), installations(options.command)})
    process.visible.insert(process.visible.end(), paths.begin(), paths.end());
  return process;
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

}  // namespace

bool chooses_machine(const std::string& option) {
  return option == "-m32" || option == "-m64" || option == "-mx32" || option.starts_with("--target=") ||
         option.starts_with("--sysroot=");
}

std::vector<std::string> library_words(const std::vector<std::string>& libraries) {
  constexpr std::array<std::string_view, 3> kHeadersOnly = {"cub", "cutlass", "thrust"};
  std::vector<std::string> words;
  for (const std::string& library : libraries)
    if (std::ranges::find(kHeadersOnly, library) == kHeadersOnly.end()) words.push_back("-l" + library);
  return words;
}

std::string distilled(const std::string& output, std::string_view text, const fs::path& source) {
  const std::string name = source.filename().string();
  const DiagnosticsContext context{counted_text(text, name), source.string(), name};
  return distil(output, context) + classified(diagnose(output, context));
}

CompileResult rejection(Outcome outcome, std::string diagnostics) {
  CompileResult result;
  result.outcome = outcome;
  result.diagnostics = std::move(diagnostics);
  return result;
}

Result<util::Finished> ProgramToolchain::run(Work& work, const Words& words) {
  auto finished = process_.run(words, work.job.work_folder);
  work.log += "$ " + util::quote_shell_words(words) + "\n";
  if (finished) work.log += util::clean(finished->standard_output + finished->standard_error, 256 * 1024);
  return finished;
}

ProgramToolchain::ProgramToolchain(const ProgramOptions& options, const std::vector<fs::path>& visible)
    : options_(options), process_(make_tool_process(options_)) {
  process_.visible.insert(process_.visible.end(), visible.begin(), visible.end());
  process_.visible.push_back(shims_.path());
}

Outcome ProgramToolchain::outcome_of(const std::string&) const {
  return Outcome::compile_failed;
}

Result<std::string> ProgramToolchain::object_hash(const Work& work) const {
  return util::sha256_file(work.job.work_folder / kObject);
}

CompileResult ProgramToolchain::failed(const Work& work, const util::Finished& finished, const char* tool) const {
  const std::string limit = limit_reached(finished, options_.time_limit);
  std::string text = limit.empty() ? "" : "the " + std::string(tool) + " " + limit + "\n";
  const std::string said = messages(work, finished);
  text += distilled(said, work.job.source_text, work.source);
  return rejection(outcome_of(said), text.empty() ? "the " + std::string(tool) + " failed without a message" : text);
}

Result<std::optional<CompileResult>> ProgramToolchain::make_object(Work& work) {
  const fs::path source = work.job.work_folder / work.source.filename();
  if (auto written = util::write_file_atomically(source, work.job.source_text); !written)
    return std::unexpected(written.error());
  // nvcc's -lineinfo notes it in the object.
  std::error_code ignored;
  fs::last_write_time(source, fs::file_time_type{}, ignored);
  const auto finished = run(work, object_words(work));
  if (!finished) return std::unexpected(finished.error());
  if (!finished->ok()) return failed(work, *finished, "compiler");
  work.output = finished->standard_output + finished->standard_error;
  if (const std::string said = messages(work, *finished); !said.empty())
    work.warnings = distilled(said, work.job.source_text, work.source);
  return std::nullopt;
}

Result<std::string> ProgramToolchain::list_symbols(const Work& work, bool readable) {
  Words words = {"nm", "-p", work.object.string()};
  if (readable) words.insert(words.begin() + 1, "-C");
  auto finished = process_.run(words, work.job.work_folder);
  if (!finished) return std::unexpected(finished.error());
  if (finished->ok()) return std::move(finished->standard_output);
  return failure("nm cannot read '" + work.object.string() + "': " + util::clean(finished->standard_error, 300),
                 "install binutils; with clang, leave link-time optimisation (-flto) off");
}

Result<std::vector<Symbol>> ProgramToolchain::symbols_of(const Work& work) {
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

EntryLookup ProgramToolchain::examine(const std::vector<Symbol>& symbols) {
  const std::lock_guard lock(mutex_);
  if (std::string problem = symbol_problem(symbols, baseline_); !problem.empty())
    return {std::nullopt, std::move(problem)};
  EntryLookup lookup = find_entry(symbols, options_.entry, options_.parameters, language());
  if (lookup.symbol && !baseline_entry_.empty() && lookup.symbol->mangled != baseline_entry_)
    return {std::nullopt, "the entry's symbol changed from '" + baseline_entry_ + "' to '" + lookup.symbol->mangled +
                              "': its callers would no longer find it"};
  return lookup;
}

Result<fs::path> ProgramToolchain::shim_for(const std::string& mangled, const std::string& returns) {
  const std::lock_guard lock(mutex_);
  const std::string what = mangled + " " + returns;
  if (shim_ && shim_->first == what) return shim_->second;
  const auto text = shim_text(mangled, returns);
  if (!text) return std::unexpected(text.error());
  const std::string name = util::sha256(what).substr(0, 16);
  if (auto written = util::write_file_atomically(shims_.path() / (name + ".cpp"), *text); !written)
    return std::unexpected(written.error());
  const fs::path source = process_.seen(shims_.path()) / (name + ".cpp");
  const auto finished = process_.run(shim_words(source, source.parent_path() / (name + ".o")), shims_.path());
  if (!finished) return std::unexpected(finished.error());
  if (!finished->ok())
    return failure("the compiler '" + options_.command.compiler.string() +
                       "' cannot compile the call of the entry: " + distilled(finished->standard_error, *text, source),
                   "a parameter's dtype may not exist for this compiler");
  shim_ = {what, shims_.path() / (name + ".o")};
  return shim_->second;
}

Result<std::optional<CompileResult>> ProgramToolchain::link(Work& work, const fs::path& shim) {
  const bool no_pie = no_pie_;
  auto finished = run(work, link_words(work, shim, no_pie));
  if (finished && !finished->ok() && !no_pie && wants_no_pie(finished->standard_error)) {
    finished = run(work, link_words(work, shim, true));
    if (finished && finished->ok()) no_pie_ = true;
  }
  if (!finished) return std::unexpected(finished.error());
  if (finished->ok()) return std::nullopt;
  CompileResult result = failed(work, *finished, "linker");
  result.diagnostics = explain_link_failure(messages(work, *finished)) + result.diagnostics;
  return result;
}

// The record beside the files; the outcome does not depend on it.
Result<CompileResult> ProgramToolchain::finish(const Work& work, CompileResult result) const {
  if (auto written = util::write_file_atomically(work.job.work_folder / kLog, work.log); !written)
    return std::unexpected(written.error());
  return result;
}

Result<CompileResult> ProgramToolchain::compile(const CompileJob& job) {
  const auto started = std::chrono::steady_clock::now();
  std::error_code error;
  if (!fs::exists(options_.runtime, error))
    return failure("the runner's runtime '" + options_.runtime.string() + "' does not exist", "install kagent again");
  const fs::path seen = process_.seen(job.work_folder);
  Work work{job, seen / options_.source.filename(), seen / kObject, seen / kProgram, {}, {}, {}, {}};
  const auto answer = [&](CompileResult result) {
    result.duration = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - started);
    return finish(work, std::move(result));
  };

  auto rejected = make_object(work);
  if (!rejected) return std::unexpected(rejected.error());
  if (*rejected) return answer(**std::move(rejected));
  auto symbols = symbols_of(work);
  if (!symbols) return std::unexpected(symbols.error());
  Binary binary;
  rejected = inspect(work, *symbols, binary);
  if (!rejected) return std::unexpected(rejected.error());
  if (*rejected) return answer(**std::move(rejected));
  const EntryLookup entry = examine(*symbols);
  if (!entry.symbol) return answer(rejection(Outcome::compile_failed, entry.problem));
  const auto shim = shim_for(entry.symbol->mangled, work.returns);
  if (!shim) return std::unexpected(shim.error());
  rejected = link(work, *shim);
  if (!rejected) return std::unexpected(rejected.error());
  if (*rejected) return answer(**std::move(rejected));

  auto hash = object_hash(work);
  if (!hash) return std::unexpected(hash.error());
  {
    const std::lock_guard lock(mutex_);
    if (baseline_entry_.empty()) std::tie(baseline_entry_, baseline_) = std::pair(entry.symbol->mangled, *symbols);
  }
  binary.executable = job.work_folder / kProgram;
  binary.object_hash = *std::move(hash);
  binary.symbol = entry.symbol->mangled;
  return answer({Outcome::ok, std::move(work.warnings), std::move(binary), {}});
}

std::string ProgramToolchain::version_text() const {
  util::Command version;
  version.argv = {options_.command.compiler.string(), "--version"};
  version.environment = util::minimal_environment();
  version.limits.wall = options_.time_limit;
  auto finished = util::run(version);
  return finished && finished->ok() ? std::move(finished->standard_output) : std::string();
}

}  // namespace kagent::toolchain
