// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host_toolchain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "toolchain/call_shim.h"
#include "toolchain/program_toolchain.h"
#include "toolchain/signature.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

class HostToolchain final : public ProgramToolchain {
 public:
  explicit HostToolchain(HostToolchainOptions options) : ProgramToolchain(options, {}), options_(std::move(options)) {}

  std::string compiler() const override;
  std::string flags() const override;

 protected:
  Language language() const override { return Language::cxx; }
  Words object_words(const Work& work) const override { return compile_words(options_, work.source, work.object); }
  Result<std::string> shim_text(const std::string& mangled, const std::string&) const override {
    return call_shim(mangled, options_.parameters);
  }
  Words shim_words(const fs::path& source, const fs::path& object) const override;
  Words link_words(const Work& work, const fs::path& shim, bool no_pie) const override;
  std::string messages(const Work&, const util::Finished& finished) const override { return finished.standard_error; }
  Result<std::optional<CompileResult>> inspect(Work& work, std::vector<Symbol>& symbols, Binary& binary) override;

 private:
  const HostToolchainOptions options_;
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

Words HostToolchain::shim_words(const fs::path& source, const fs::path& object) const {
  Words words = {options_.command.compiler.string(), "-O2", "-fPIC", "-w"};
  std::ranges::copy_if(options_.command.options, std::back_inserter(words), chooses_machine);
  words.insert(words.end(), {"-c", source.string(), "-o", object.string()});
  return words;
}

Words HostToolchain::link_words(const Work& work, const fs::path& shim, bool no_pie) const {
  Words words = {options_.command.compiler.string()};
  words.insert(words.end(), options_.command.options.begin(), options_.command.options.end());
  // The options may name a language, which would be taken for that of the objects.
  words.insert(words.end(), {"-fdiagnostics-color=never", "-x", "none", work.object.string(), shim.string(),
                             options_.runtime.string(), "-pthread"});
  std::ranges::copy(library_words(options_.libraries), std::back_inserter(words));
  if (no_pie) words.push_back("-no-pie");
  words.insert(words.end(), {"-o", work.program.string()});
  return words;
}

Result<std::optional<CompileResult>> HostToolchain::inspect(Work&, std::vector<Symbol>& symbols, Binary&) {
  if (options_.isolated)
    if (std::string problem = state_problem(symbols); !problem.empty())
      return rejection(Outcome::compile_failed, std::move(problem));
  return std::nullopt;
}

std::string HostToolchain::compiler() const {
  const std::string text = version_text();
  return text.empty() ? options_.command.compiler.filename().string() : compiler_version(text);
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
