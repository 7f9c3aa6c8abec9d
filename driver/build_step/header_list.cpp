// SPDX-License-Identifier: Apache-2.0
#include "build_step/header_list.h"

#include <nlohmann/json.hpp>

#include "toolchain/host_toolchain.h"
#include "util/files.h"
#include "util/hash.h"

namespace kagent::build_step {
namespace {

namespace fs = std::filesystem;

// Counted up when other headers count: lists of before are then asked for again.
constexpr char kRules[] = "2";

// Over everything that decides which headers are included.
Result<std::string> fingerprint(const toolchain::CompileCommand& command, const std::string& source_hash,
                                const std::vector<fs::path>& headers) {
  std::string text = std::string(kRules) + "\n" + command.compiler.string() + "\n" + source_hash + "\n";
  for (const std::string& option : command.options) text += option + "\n";
  for (const fs::path& header : headers) {
    auto hash = util::sha256_file(header);
    if (!hash) return std::unexpected(hash.error());
    text += header.string() + " " + *hash + "\n";
  }
  return util::sha256(text);
}

// The cached list, if it still describes what is on disk.
std::optional<std::vector<fs::path>> cached(const toolchain::CompileCommand& command, const std::string& source_hash,
                                            const fs::path& cache_file) {
  auto text = util::read_file(cache_file);
  if (!text) return std::nullopt;
  auto root = nlohmann::json::parse(*text, nullptr, false);
  if (!root.is_object() || !root.contains("headers") || !root["headers"].is_array()) return std::nullopt;
  std::vector<fs::path> headers;
  for (const auto& header : root["headers"]) {
    if (!header.is_string()) return std::nullopt;
    headers.emplace_back(header.get<std::string>());
  }
  auto now = fingerprint(command, source_hash, headers);
  if (!now || root.value("fingerprint", "") != *now) return std::nullopt;
  return headers;
}

// `path` below `folder`, or nothing.
std::optional<std::string> relative_to(const fs::path& path, const fs::path& folder) {
  if (folder.empty()) return std::nullopt;
  const fs::path relative = path.lexically_normal().lexically_relative(folder.lexically_normal());
  if (relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative.generic_string();
}

}  // namespace

std::vector<std::string> portable_names(const std::vector<fs::path>& paths, const OwnFolders& own) {
  std::vector<std::string> names;
  std::map<std::string, int> outside;
  for (const fs::path& path : paths) {
    const auto below = relative_to(path, own.build), inside = relative_to(path, own.project);
    // Either folder may lie in the other: the inner one names the path.
    if (below && (!inside || below->size() < inside->size())) {
      names.push_back("${BUILD}/" + *below);
    } else if (inside) {
      names.push_back(*inside);
    } else {
      std::string name = path.filename().string();
      if (const int number = ++outside[name]; number > 1) name += "#" + std::to_string(number);
      names.push_back(std::move(name));
    }
  }
  return names;
}

Result<HeaderList> list_headers(const toolchain::CompileCommand& command, const fs::path& source,
                                const std::string& source_hash, const OwnFolders& own, const fs::path& cache_file) {
  HeaderList list;
  if (auto known = cached(command, source_hash, cache_file)) {
    list.paths = std::move(*known);
  } else {
    auto headers = toolchain::included_headers(command, source, {own.project, own.build});
    if (!headers) return std::unexpected(headers.error());
    list.paths = std::move(*headers);
    auto print = fingerprint(command, source_hash, list.paths);
    if (!print) return std::unexpected(print.error());
    nlohmann::ordered_json root{{"fingerprint", *print}, {"headers", nlohmann::json::array()}};
    for (const fs::path& path : list.paths) root["headers"].push_back(path.string());
    // Only a cache: without it the compiler is asked again.
    (void)util::write_file_if_different(cache_file, root.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  const std::vector<std::string> names = portable_names(list.paths, own);
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto hash = util::sha256_file(list.paths[i]);
    if (!hash) return std::unexpected(hash.error());
    list.hashes[names[i]] = *hash;
  }
  return list;
}

}  // namespace kagent::build_step
