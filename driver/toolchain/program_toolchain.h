// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "toolchain/program_options.h"
#include "toolchain/signature.h"
#include "toolchain/symbols.h"
#include "toolchain/tool_process.h"
#include "toolchain/toolchain.h"
#include "util/files.h"
#include "util/subprocess.h"
#include "values/kernel_request.h"

namespace kagent::toolchain {

// The way from a source to a program that the runner can start: object, symbols, call of the entry, link. What differs
// between compilers is left to the derived class; its functions may be called from several threads at once.
class ProgramToolchain : public Toolchain {
 public:
  Result<CompileResult> compile(const CompileJob& job) override;

 protected:
  using Words = std::vector<std::string>;

  // What one compile() is about: files, log and time.
  struct Work {
    const CompileJob& job;
    std::filesystem::path source, object, program;  // as the tools see them
    std::string log;
    std::string warnings;
    std::string output;   // of the compiler that made the object
    std::string returns;  // type of the entry's result, where it is known
  };

  // `visible`: folders beside those that the options name.
  ProgramToolchain(const ProgramOptions& options, const std::vector<std::filesystem::path>& visible);

  virtual Words object_words(const Work& work) const = 0;
  virtual Result<std::string> shim_text(const std::string& mangled, const std::string& returns) const = 0;
  // Words that compile the shim, which share nothing with the candidate's but what chooses the machine: link-time
  // optimisation could see through the call that is measured.
  virtual Words shim_words(const std::filesystem::path& source, const std::filesystem::path& object) const = 0;
  virtual Words link_words(const Work& work, const std::filesystem::path& shim, bool no_pie) const = 0;
  // What the tool has to say to people, out of all that it printed.
  virtual std::string messages(const Work& work, const util::Finished& finished) const = 0;
  // What a failed tool's messages mean for the candidate.
  virtual Outcome outcome_of(const std::string& messages) const;
  // Looks at the object: why it is refused, or nothing and what the binary is to say of it. May add to what is known of
  // the symbols.
  virtual Result<std::optional<CompileResult>> inspect(Work& work, std::vector<Symbol>& symbols, Binary& binary) = 0;
  virtual Result<std::string> object_hash(const Work& work) const;
  virtual Language language() const = 0;

  // What the compiler prints of itself; empty if it cannot be run.
  std::string version_text() const;

 private:
  Result<std::optional<CompileResult>> make_object(Work& work);
  Result<std::string> list_symbols(const Work& work, bool readable);
  Result<std::vector<Symbol>> symbols_of(const Work& work);
  // The entry's mangled name, or why the object cannot stand in for the baseline's.
  EntryLookup examine(const std::vector<Symbol>& symbols);
  Result<std::filesystem::path> shim_for(const std::string& mangled, const std::string& returns);
  Result<std::optional<CompileResult>> link(Work& work, const std::filesystem::path& shim);
  Result<util::Finished> run(Work& work, const Words& words);
  CompileResult failed(const Work& work, const util::Finished& finished, const char* tool) const;
  Result<CompileResult> finish(const Work& work, CompileResult result) const;

  const ProgramOptions options_;
  util::TemporaryFolder shims_{"kagent-shim"};
  ToolProcess process_;
  std::atomic<bool> no_pie_ = false;  // learnt from the first program that does not link otherwise
  std::mutex mutex_;                  // of the members below
  std::optional<std::pair<std::string, std::filesystem::path>> shim_;  // what it calls, and its object
  std::vector<Symbol> baseline_;                                       // of the first source that compiled
  std::string baseline_entry_;
};

CompileResult rejection(Outcome outcome, std::string diagnostics);

// Compiler output distilled, with lines counted like that, the classes of its errors, and advice where there is some.
std::string distilled(const std::string& output, std::string_view text, const std::filesystem::path& source);

// The words that link rules.libraries: none for those that are headers alone (cub, thrust, cutlass).
std::vector<std::string> library_words(const std::vector<std::string>& libraries);

// Whether an option has to be given to every compile of one program: it chooses the machine.
bool chooses_machine(const std::string& option);

}  // namespace kagent::toolchain
