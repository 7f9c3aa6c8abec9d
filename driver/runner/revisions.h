// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kagent::runner {

// Where the contents of one source change from call to call. A process that holds those of an earlier revision needs no
// more than what changed since, which for large inputs is a small part.
class Revisions {
 public:
  struct Stretch {
    std::uint64_t offset = 0, length = 0;  // bytes
  };
  // The revision that a process holds, of which source.
  struct Held {
    std::uint64_t source = 0, number = 0;
  };

  Revisions();

  // Changes of this parameter are noted here from now on, and there are no others.
  void follow(const std::string& parameter) { followed_.insert(parameter); }
  void begin();  // of the next revision
  void note(const std::string& parameter, Stretch changed);

  Held now() const { return {source_, number_}; }
  // In order, without overlaps; nothing where the whole has to be sent: the parameter is not followed, the contents
  // were another source's, or it was too long ago.
  std::optional<std::vector<Stretch>> since(const Held& held, const std::string& parameter) const;

 private:
  std::uint64_t source_, number_ = 0;
  std::set<std::string> followed_;
  std::deque<std::map<std::string, std::vector<Stretch>>> changes_;  // the last is that of number_
};

}  // namespace kagent::runner
