// SPDX-License-Identifier: Apache-2.0
#include "loop/workbench.h"

#include <random>

#include <fmt/core.h>

#include "build_step/launcher_source.h"
#include "loop/dispatch_check.h"
#include "util/files.h"
#include "util/hash.h"

namespace kagent::loop {
namespace {

namespace fs = std::filesystem;

Result<fs::path> empty_folder(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  fs::create_directories(folder, error);
  if (error) return failure(folder.string() + ": " + error.message(), "make the folder writable, or free space");
  return folder;
}

// A binary of the project's own code, which must compile.
Result<Binary> compile_own(toolchain::Toolchain& toolchain, const std::string& what, const std::string& text,
                           const fs::path& folder, const std::optional<Launch>& launch = {}) {
  auto work = empty_folder(folder);
  if (!work) return std::unexpected(work.error());
  auto compiled = toolchain.compile({text, *work, launch});
  if (!compiled) return std::unexpected(compiled.error());
  if (compiled->outcome != Outcome::ok)
    return failure(fmt::format("{} cannot be compiled:\n{}", what, compiled->diagnostics),
                   "correct it; then build again");
  return compiled->binary;
}

}  // namespace

Candidate as_candidate(const Variant& variant) {
  Candidate candidate{variant.source, {}, "variant", {}};
  candidate.launch = variant.evidence.launch;
  return candidate;
}

std::uint64_t secret_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

Result<std::unique_ptr<Workbench>> Workbench::open(const build_step::KernelContext& context,
                                                   const WorkbenchOptions& options, ProgressObserver& progress) {
  std::unique_ptr<Workbench> bench(new Workbench);
  bench->context_ = context;
  bench->options_ = options;
  bench->folder_ = options.state_folder / "candidates" / context.request.kernel / context.architecture;
  auto platform = open_platform(context, options);
  if (!platform) return std::unexpected(platform.error());
  bench->platform_ = std::move(*platform);
  bench->limits_.allow_unsandboxed = options.allow_unsandboxed;

  const bool device_code = context.spec.style == Style::kernel;
  bench->built_spec_ = device_code ? build_step::as_launcher(context.spec) : context.spec;
  progress.on_event(Preparing{"compiling the baseline"});
  if (auto done = bench->compile_baseline(); !done) return std::unexpected(done.error());

  if (is_dispatched(context.request))
    if (auto done = check_dispatch(context, options, bench->folder_ / "renamed"); !done)
      return std::unexpected(done.error());

  if (const auto& reference = context.spec.reference) {
    progress.on_event(Preparing{"compiling the reference"});
    auto reference_text = util::read_file(reference->source);
    if (!reference_text) return std::unexpected(reference_text.error());
    auto binary = compile_own(*bench->platform_.reference_toolchain, reference->source.string(), *reference_text,
                              bench->folder_ / "reference");
    if (!binary) return std::unexpected(binary.error());
    bench->reference_ = std::move(*binary);
  }

  progress.on_event(Preparing{"checking the baseline"});
  auto suite = bench->make_suite(bench->spec(), bench->baseline_, secret_seed());
  if (!suite) return std::unexpected(suite.error());
  bench->suite_ = std::move(*suite);
  bench->limits_.step = bench->suite_->step_limit();
  return bench;
}

// Under the name that candidates give it, so that a candidate that changes nothing is the same object.
Result<void> Workbench::compile_baseline() {
  const std::string name = context_.request.source.filename().string();
  const std::string text = fmt::format("#line 1 \"{}\"\n", name) + context_.source_text;
  auto built = compile_own(toolchain(), context_.request.source.string(), as_built_text(text, context_.spec.launch),
                           folder_ / "baseline");
  if (!built) return std::unexpected(built.error());
  built_baseline_ = std::move(*built);
  baseline_ = built_baseline_;
  if (!platform_.quick_toolchain) return {};
  auto quick = compile_own(*platform_.quick_toolchain, context_.request.source.string(), text,
                           folder_ / "baseline-device", context_.spec.launch);
  if (!quick) return std::unexpected(quick.error());
  baseline_ = std::move(*quick);
  return {};
}

std::string Workbench::as_built_text(const std::string& text, const std::optional<Launch>& launch) const {
  if (context_.spec.style != Style::kernel) return text;
  return build_step::launcher_source(context_.spec, text, context_.request.source.filename().string(),
                                     launch ? *launch : *context_.spec.launch);
}

Result<VerificationSuite> Workbench::make_suite(const KernelSpec& spec, const Binary& baseline, std::uint64_t seed) {
  const OwnPrograms programs{*platform_.runner, baseline, *platform_.reference_runner, reference_};
  return VerificationSuite::prepare(spec, programs, seed, limits_);
}

Result<VerificationSuite> Workbench::fresh_suite(std::uint64_t seed) {
  return make_suite(built_spec_, built_baseline_, seed);
}

profiler::Ceilings Workbench::ceilings() const {
  return profiler::cached_ceilings(options_.state_folder / "ceilings.json", platform_.device, platform_.ceilings);
}

Result<VerificationReport> Workbench::verify_as_built(const Binary& binary) {
  if (!platform_.quick_toolchain) return suite_->verify(binary, runner());
  auto suite = fresh_suite(secret_seed());
  if (!suite) return std::unexpected(suite.error());
  return suite->verify(binary, runner());
}

MeasurementOptions Workbench::measuring() const {
  MeasurementOptions options;
  options.limits = limits_;
  options.seed = secret_seed();
  if (platform_.gpu) options.gpu = platform_.gpu->uuid;
  return options;
}

fs::path Workbench::folder(const Candidate& candidate) const {
  const std::string text = render(candidate, context_.request.source.filename().string());
  return folder_ / util::sha256(text).substr(0, 16);
}

Result<CompileResult> Workbench::compile(const Candidate& candidate) {
  if (!platform_.quick_toolchain) return compile_as_built(candidate);
  auto work = empty_folder(folder(candidate));
  if (!work) return std::unexpected(work.error());
  const std::string text = render(candidate, context_.request.source.filename().string());
  return platform_.quick_toolchain->compile(
      {text, *work, candidate.launch ? candidate.launch : context_.spec.launch, candidate.tunables});
}

Result<CompileResult> Workbench::compile_as_built(const Candidate& candidate) {
  auto work = empty_folder(platform_.quick_toolchain ? folder(candidate) / "as-built" : folder(candidate));
  if (!work) return std::unexpected(work.error());
  const std::string text = render(candidate, context_.request.source.filename().string());
  return platform_.toolchain->compile({as_built_text(text, candidate.launch), *work});
}

Result<CompileResult> Workbench::compile_with_lines(const Candidate* candidate) {
  if (!platform_.line_toolchain) return failure("the build's compiler notes no places in the source");
  auto work = empty_folder((candidate ? folder(*candidate) : folder_ / "baseline") / "with-lines");
  if (!work) return std::unexpected(work.error());
  const std::string name = context_.request.source.filename().string();
  const std::string text =
      candidate ? render(*candidate, name) : fmt::format("#line 1 \"{}\"\n", name) + context_.source_text;
  const auto& launch = candidate && candidate->launch ? candidate->launch : context_.spec.launch;
  return platform_.line_toolchain->compile({as_built_text(text, launch), *work});
}

void Workbench::drop_binaries() const {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder_, error)) {
    const bool executable = (entry.status(error).permissions() & fs::perms::owner_exec) != fs::perms::none;
    if (entry.is_regular_file(error) && (executable || entry.path().extension() == ".o"))
      fs::remove(entry.path(), error);
  }
}

}  // namespace kagent::loop
