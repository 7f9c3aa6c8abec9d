// SPDX-License-Identifier: Apache-2.0
#include "toolchain/compile_command.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/stat.h>

#include "toolchain/command_line.h"
#include "util/descriptor.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* kConfigureAgain = "configure the build again with CMAKE_EXPORT_COMPILE_COMMANDS=ON";

// The file mapped into memory: reading megabytes for one entry would cost more than finding it. CMake replaces the file
// by renaming, so it cannot shrink under the mapping.
class MappedFile {
 public:
  static Result<MappedFile> open(const fs::path& path) {
    const util::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) return unreadable(path, errno);
    if (!S_ISREG(status.st_mode)) return unreadable(path, EINVAL);
    MappedFile mapped;
    if (status.st_size == 0) return mapped;
    void* address =
        ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.get(), 0);
    if (address == MAP_FAILED) return unreadable(path, errno);
    mapped.text_ = {static_cast<const char*>(address), static_cast<std::size_t>(status.st_size)};
    return mapped;
  }
  MappedFile(MappedFile&& other) noexcept : text_(std::exchange(other.text_, {})) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() {
    if (!text_.empty()) ::munmap(const_cast<char*>(text_.data()), text_.size());
  }
  std::string_view text() const { return text_; }

 private:
  MappedFile() = default;
  static std::unexpected<StageError> unreadable(const fs::path& path, int code) {
    return failure("cannot read the compile database '" + path.string() + "': " + std::generic_category().message(code),
                   kConfigureAgain);
  }
  std::string_view text_;
};

struct Entry {
  std::string directory, file, output, command;
  std::vector<std::string> arguments;  // instead of `command`
};

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<Entry> entry_of(const json& object) {
  if (!object.is_object()) return std::nullopt;
  Entry entry{
      text_of(object, "directory"), text_of(object, "file"), text_of(object, "output"), text_of(object, "command"), {}};
  if (const auto found = object.find("arguments"); found != object.end() && found->is_array())
    for (const json& word : *found)
      if (word.is_string()) entry.arguments.push_back(word.get<std::string>());
  return entry;
}

std::string escape_json(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

// The entries that name `source` in CMake's own layout: braces on lines of their own, which no string can contain.
std::vector<Entry> find_entries(std::string_view text, const fs::path& source) {
  std::vector<Entry> entries;
  const std::string needle = "\"file\": " + escape_json(source.string());
  std::size_t from = 0;
  while (from < text.size()) {
    const void* hit = ::memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
    if (hit == nullptr) break;
    const auto at = static_cast<std::size_t>(static_cast<const char*>(hit) - text.data());
    const std::size_t begin = text.rfind("\n{", at), end = text.find("\n}", at);
    from = at + needle.size();
    if (begin == text.npos || end == text.npos) continue;
    const json object = json::parse(text.substr(begin, end + 2 - begin), nullptr, false);
    if (auto entry = entry_of(object); entry && entry->file == source.string()) entries.push_back(*std::move(entry));
  }
  return entries;
}

// The same for a file that something else than CMake wrote.
Result<std::vector<Entry>> find_entries_anywhere(std::string_view text, const fs::path& source, const fs::path& file) {
  const json all = json::parse(text, nullptr, false);
  if (!all.is_array())
    return failure("the compile database '" + file.string() + "' is not a JSON array", kConfigureAgain);
  std::vector<Entry> entries;
  for (const json& object : all)
    if (auto entry = entry_of(object))
      if ((fs::path(entry->directory) / entry->file).lexically_normal() == source.lexically_normal())
        entries.push_back(*std::move(entry));
  return entries;
}

// CMake escapes '$' in the database as if a build tool would read it: "\\$$" for one.
std::vector<std::string> words_of(const Entry& entry) {
  if (!entry.arguments.empty()) return entry.arguments;
  std::vector<std::string> words = util::split_shell_words(entry.command);
  for (std::string& word : words)
    for (std::size_t at = word.find("$$"); at != word.npos; at = word.find("$$", at + 1)) word.erase(at, 1);
  return words;
}

// The configuration that a multi-config generator defines for the entry, or nothing.
std::optional<std::string> config_of(const std::vector<std::string>& words) {
  constexpr std::string_view kDefinition = "-DCMAKE_INTDIR=\"";
  for (const std::string& word : words)
    if (word.starts_with(kDefinition) && word.ends_with('"') && word.size() > kDefinition.size())
      return word.substr(kDefinition.size(), word.size() - kDefinition.size() - 1);
  return std::nullopt;
}

// The entry of `config`. One entry without any sign of a configuration serves every one.
const Entry* choose(const std::vector<Entry>& entries, const std::string& config) {
  if (config.empty()) return &entries.front();
  for (const Entry& entry : entries)
    if (config_of(words_of(entry)) == config) return &entry;
  for (const Entry& entry : entries)
    if (("/" + entry.output).find("/" + config + "/") != std::string::npos) return &entry;
  return entries.size() == 1 && !config_of(words_of(entries.front())) ? &entries.front() : nullptr;
}

}  // namespace

Result<CompileCommand> find_compile_command(const fs::path& compile_commands, const fs::path& source,
                                            const std::string& config) {
  const auto mapped = MappedFile::open(compile_commands);
  if (!mapped) return std::unexpected(mapped.error());
  std::vector<Entry> entries = find_entries(mapped->text(), source);
  if (entries.empty()) {
    auto found = find_entries_anywhere(mapped->text(), source, compile_commands);
    if (!found) return std::unexpected(found.error());
    entries = *std::move(found);
  }
  if (entries.empty())
    return failure("'" + source.string() + "' is not in the compile database '" + compile_commands.string() + "'",
                   kConfigureAgain);
  const Entry* entry = choose(entries, config);
  if (entry == nullptr)
    return failure("the compile database '" + compile_commands.string() + "' has no entry of '" + source.string() +
                       "' for the configuration '" + config + "'",
                   kConfigureAgain);
  return parse_command_line(entry->directory, words_of(*entry), entry->file);
}

}  // namespace kagent::toolchain
