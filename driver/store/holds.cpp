// SPDX-License-Identifier: Apache-2.0
#include "store/holds.h"

#include <nlohmann/json.hpp>

#include "util/files.h"
#include "util/text.h"

namespace kagent::store {
namespace {

constexpr int kFormat = 1;

}  // namespace

Result<std::vector<Hold>> read_holds(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::vector<Hold>();
  auto text = util::read_file(file);
  if (!text) return std::unexpected(text.error());
  std::vector<Hold> holds;
  try {
    const auto root = nlohmann::json::parse(*text);
    if (root.at("format") != kFormat) return failure("'" + file.string() + "' has the format of another kagent");
    for (const auto& entry : root.at("holds"))
      holds.push_back({entry.at("kernel").get<std::string>(), entry.at("architecture").get<std::string>(),
                       entry.at("generation").get<int>(), entry.at("reference").get<std::string>(),
                       entry.at("source_hash").get<std::string>(), entry.at("since").get<std::string>()});
  } catch (const nlohmann::json::exception& error) {
    return failure("'" + file.string() + "', which records rollbacks, is damaged: " + util::clean(error.what(), 300),
                   "delete it, then roll back again what should stay out of builds");
  }
  return holds;
}

Result<void> write_holds(const std::filesystem::path& file, const std::vector<Hold>& holds) {
  auto entries = nlohmann::ordered_json::array();
  for (const Hold& hold : holds)
    entries.push_back({{"kernel", hold.kernel},
                       {"architecture", hold.architecture},
                       {"generation", hold.generation},
                       {"reference", hold.reference},
                       {"source_hash", hold.source_hash},
                       {"since", hold.since}});
  const nlohmann::ordered_json root{{"format", kFormat}, {"holds", std::move(entries)}};
  return util::write_file_atomically(file, root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace kagent::store
