// SPDX-License-Identifier: Apache-2.0
#include "store/signature.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>

namespace kagent::store {
namespace {

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

std::string configured(git_repository* repository, const std::string& name) {
  git::Config config, snapshot;
  const char* value = nullptr;
  if (git_repository_config(config.out(), repository) != 0 || git_config_snapshot(snapshot.out(), config.get()) != 0 ||
      git_config_get_string(&value, snapshot.get(), name.c_str()) != 0)
    return {};
  return value;
}

// Git takes none of these in a name or address.
std::string usable(std::string text) {
  std::erase_if(text, [](char c) { return c == '<' || c == '>' || static_cast<unsigned char>(c) < 0x20; });
  return text;
}

std::string first_of(std::initializer_list<std::string> texts) {
  for (const std::string& text : texts)
    if (std::string found = usable(text); !found.empty()) return found;
  return {};
}

struct When {
  git_time_t time;
  int offset_minutes;
};

// Git's own form ("1112911993 +0200", with or without @) and ISO 8601; nothing for others.
std::optional<When> parse_date(std::string text) {
  if (text.starts_with('@')) text.erase(0, 1);
  long long seconds = 0;
  char sign = '+';
  int hours = 0, minutes = 0, used = 0;
  const auto offset = [&] { return (sign == '-' ? -1 : 1) * (hours * 60 + minutes); };
  if (std::sscanf(text.c_str(), "%lld %c%2d%2d%n", &seconds, &sign, &hours, &minutes, &used) == 4 &&
      static_cast<std::size_t>(used) == text.size())
    return When{seconds, offset()};
  std::tm parts{};
  char separator = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d%c%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &separator,
                  &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &used) != 7 ||
      (separator != 'T' && separator != ' '))
    return std::nullopt;
  std::string zone = text.substr(static_cast<std::size_t>(used));
  std::erase_if(zone, [](char c) { return c == ':' || c == ' '; });
  hours = minutes = 0;
  if (!zone.empty() && zone != "Z" && std::sscanf(zone.c_str(), "%c%2d%2d", &sign, &hours, &minutes) != 3)
    return std::nullopt;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return When{::timegm(&parts) - offset() * 60, offset()};
}

}  // namespace

git::Signature signature(git_repository* repository, const std::string& role) {
  std::string own = role;
  std::transform(own.begin(), own.end(), own.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
  const std::string name = first_of({variable("GIT_" + role + "_NAME"), configured(repository, own + ".name"),
                                     configured(repository, "user.name"), "kagent"});
  const std::string email = first_of({variable("GIT_" + role + "_EMAIL"), configured(repository, own + ".email"),
                                      configured(repository, "user.email"), variable("EMAIL"), "kagent@localhost"});
  git::Signature result;
  if (const auto when = parse_date(variable("GIT_" + role + "_DATE")))
    git_signature_new(result.out(), name.c_str(), email.c_str(), when->time, when->offset_minutes);
  else
    git_signature_now(result.out(), name.c_str(), email.c_str());
  return result;
}

}  // namespace kagent::store
