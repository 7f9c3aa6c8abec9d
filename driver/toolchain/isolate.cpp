// SPDX-License-Identifier: Apache-2.0
#include "toolchain/isolate.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <vector>

#include "toolchain/symbols.h"
#include "util/subprocess.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

constexpr std::chrono::minutes kTimeLimit{5};
// Listings of objects with large template libraries.
constexpr std::uint64_t kListingBytes = 64 << 20;

Result<std::string> run_tool(Words words) {
  util::Command command;
  command.argv = std::move(words);
  command.environment = util::minimal_environment();
  command.limits.wall = kTimeLimit;
  command.limits.output_bytes = kListingBytes;
  auto finished = util::run(command);
  if (!finished) return failure(finished.error().message, "install binutils");
  if (finished->ok()) return std::move(finished->standard_output);
  return failure(command.argv.front() + " failed: " + util::clean(finished->standard_error, 600));
}

Result<std::vector<Symbol>> symbols_of(const fs::path& object) {
  const auto plain = run_tool({"nm", "-p", object.string()});
  if (!plain) return std::unexpected(plain.error());
  const auto readable = run_tool({"nm", "-p", "-C", object.string()});
  if (!readable) return std::unexpected(readable.error());
  return parse_symbols(*plain, *readable);
}

// What the merged object has to define before it is renamed.
Result<void> check_merged(const fs::path& merged, const std::string& symbol) {
  const auto symbols = symbols_of(merged);
  if (!symbols) return std::unexpected(symbols.error());
  for (const Symbol& found : *symbols)
    if (found.kind == 'u')
      return failure(
          "'" + util::clean(found.demangled, 200) + "' is shared by the whole process and cannot be isolated",
          "compile the objects with -fno-gnu-unique");
  const bool present = std::ranges::any_of(
      *symbols, [&](const Symbol& found) { return found.mangled == symbol && found.kind >= 'A' && found.kind <= 'Z'; });
  if (symbol.empty() || present) return {};
  return failure("no object defines '" + symbol + "'", "compile the objects with -fno-lto, and check the entry's name");
}

// Whatever a tool left out would be merged with the rest of the program without a word.
Result<void> check_isolated(const fs::path& object, const std::string& new_name) {
  const auto symbols = symbols_of(object);
  if (!symbols) return std::unexpected(symbols.error());
  for (const Symbol& found : *symbols)
    if (found.is_global() && found.mangled != new_name)
      return failure("'" + util::clean(found.demangled, 200) + "' is still visible after isolating");
  return {};
}

}  // namespace

Result<void> isolate_symbols(std::span<const fs::path> objects, const std::string& symbol, const std::string& new_name,
                             const fs::path& output) {
  fs::path merged = output;
  merged += ".merged";
  Words merge = {"ld", "-r", "--force-group-allocation", "-o", merged.string()};
  for (const fs::path& object : objects) merge.push_back(object.string());
  const auto isolate = [&]() -> Result<void> {
    if (auto done = run_tool(merge); !done) return std::unexpected(done.error());
    if (auto checked = check_merged(merged, symbol); !checked) return checked;
    Words hide = {"objcopy"};
    // A name that nothing has: objcopy hides symbols only when it is told which to keep.
    hide.push_back("--keep-global-symbol=" + (symbol.empty() ? std::string("kagent.none") : new_name));
    if (!symbol.empty()) hide.push_back("--redefine-sym=" + symbol + "=" + new_name);
    hide.insert(hide.end(), {merged.string(), output.string()});
    if (auto done = run_tool(hide); !done) return std::unexpected(done.error());
    return check_isolated(output, symbol.empty() ? std::string() : new_name);
  };
  auto result = isolate();
  std::error_code ignored;
  fs::remove(merged, ignored);
  if (!result) fs::remove(output, ignored);
  return result;
}

Result<std::string> symbol_of(const fs::path& object, const std::string& function) {
  const auto symbols = symbols_of(object);
  if (!symbols) return std::unexpected(symbols.error());
  std::string found;
  for (const Symbol& symbol : *symbols) {
    const bool is_it = symbol.is_function() && symbol.demangled.starts_with(function + "(");
    if (is_it && !found.empty())
      return failure("'" + object.string() + "' defines '" + function + "' more than once",
                     "give them different names");
    if (is_it) found = symbol.mangled;
  }
  if (found.empty()) return failure("'" + object.string() + "' does not define '" + function + "'");
  return found;
}

}  // namespace kagent::toolchain
