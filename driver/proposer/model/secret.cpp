// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/secret.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/descriptor.h"

namespace kagent::proposer::model {
namespace {

// Shorter ones are placeholders of local servers ("none", "EMPTY"); taking them out would spoil ordinary text.
constexpr std::size_t kShortestScrubbed = 8;
// Of a key file. Real keys have some hundred bytes, signed tokens a few thousand.
constexpr std::size_t kLongestKey = 16 * 1024;
constexpr std::string_view kRemoved = "[key removed]";

// A key becomes a header's value: anything else than visible ASCII would break it, or add a header.
bool is_visible_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7F'; });
}

std::string_view trimmed(std::string_view text) {
  const std::string_view space = " \t\r\n";
  const auto first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

Result<Secret> checked(std::string_view text, const std::string& where) {
  const std::string_view key = trimmed(text);
  if (key.empty()) return failure("the key in " + where + " is empty", "put the key there, or take \"key\" out");
  if (!is_visible_ascii(key))
    return failure("the key in " + where + " has spaces, line breaks or characters beyond ASCII inside",
                   "put the key alone there, on one line");
  return Secret(key);
}

Result<Secret> read_key_file(const std::string& path) {
  const std::string where = "the file " + path;
  util::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file)
    return failure("cannot open the key file " + path + ": " + std::generic_category().message(errno),
                   "write the key into it: install -m 600 /dev/null " + path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return failure("the key file " + path + " is no plain file", "name a file that holds the key alone");
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return failure("the key file " + path + " belongs to another user", "make a file of your own");
  if ((status.st_mode & 077) != 0) return failure("others may read the key file " + path, "chmod 600 " + path);
  std::array<char, kLongestKey + 1> buffer;
  std::size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t got = ::read(file.get(), buffer.data() + size, buffer.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  Result<Secret> key = size > kLongestKey ? failure("the key file " + path + " is too long for a key",
                                                    "name a file that holds the key alone")
                                          : checked({buffer.data(), size}, where);
  ::explicit_bzero(buffer.data(), buffer.size());
  return key;
}

}  // namespace

Secret::Secret(std::string_view text) : text_(std::make_unique<char[]>(text.size() + 1)), size_(text.size()) {
  std::ranges::copy(text, text_.get());
}

Secret::Secret(Secret&& other) noexcept : text_(std::move(other.text_)), size_(std::exchange(other.size_, 0)) {}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  wipe();
  text_ = std::move(other.text_);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

Secret::~Secret() {
  wipe();
}

void Secret::wipe() {
  if (text_) ::explicit_bzero(text_.get(), size_);
  text_.reset();
  size_ = 0;
}

void wipe(std::string& text) {
  ::explicit_bzero(text.data(), text.size());
  text.clear();
}

std::string Secret::scrub(std::string text) const {
  if (size_ < kShortestScrubbed) return text;
  for (auto at = text.find(reveal()); at != std::string::npos; at = text.find(reveal(), at + kRemoved.size()))
    text.replace(at, size_, kRemoved);
  return text;
}

bool is_key_source(std::string_view text) {
  return (text.starts_with("env:") && text.size() > 4) || (text.starts_with("file:") && text.size() > 5);
}

Result<Secret> read_key(const std::string& source,
                        const std::function<std::optional<std::string>(const std::string&)>& environment) {
  if (source.empty()) return Secret();
  if (!is_key_source(source))  // perhaps the key itself
    return failure("a key is given that is neither \"env:NAME\" nor \"file:PATH\" (not shown here)",
                   "name the environment variable or the file that holds it");
  if (source.starts_with("env:")) {
    const std::string variable = source.substr(4);
    std::optional<std::string> text = environment(variable);
    if (!text) return failure("the environment variable " + variable + " is not set", "export it with the key in it");
    Result<Secret> key = checked(*text, "the environment variable " + variable);
    model::wipe(*text);
    return key;
  }
  std::string path = source.substr(5);
  if (path.starts_with("~/"))
    if (const auto home = environment("HOME")) path = *home + path.substr(1);
  return read_key_file(path);
}

}  // namespace kagent::proposer::model
