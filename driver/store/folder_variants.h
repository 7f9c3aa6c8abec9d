// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "store/variant_name.h"
#include "values/error.h"
#include "values/variant.h"

namespace kagent::store {

// Far above any source; a larger file is refused unread.
constexpr std::size_t kLargestSourceBytes = 16 << 20;

// The variant that lies in a folder as variant.json and its source. Nothing if there is no variant.json.
Result<std::optional<Variant>> read_folder(const std::filesystem::path& folder, const std::string& kernel,
                                           const std::string& architecture, VariantPlace place,
                                           const std::string& reference);

// Puts a variant into a folder below `project`, source first: between the two files it reads as edited, never as
// another variant. Refuses, unless forced, to replace a source that is not the one recorded beside it; and to write
// through symbolic links. Returns the files.
Result<std::vector<std::filesystem::path>> write_folder(const std::filesystem::path& project,
                                                        const std::filesystem::path& folder, const Variant& variant,
                                                        bool force);

// Variants without git: <state>/variants/<kernel>/<architecture>/g<NNN>-<hash8>/, one folder a variant.
std::vector<VariantName> folder_names(const std::filesystem::path& state, const std::string& kernel,
                                      const std::string& architecture);
std::filesystem::path folder_of(const std::filesystem::path& state, const VariantName& name);
// The folder appears with both files in it, or not at all.
Result<void> create_folder(const std::filesystem::path& state, const VariantName& name, const Variant& variant);

// Names of the folders in a folder; nothing if it is missing.
std::vector<std::string> subfolders(const std::filesystem::path& folder);

}  // namespace kagent::store
