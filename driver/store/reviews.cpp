// SPDX-License-Identifier: Apache-2.0
#include "store/reviews.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "util/files.h"
#include "util/lock.h"
#include "util/text.h"

namespace kagent::store {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 1;

fs::path file_of(const VariantStore& store) {
  return store.state_folder() / "reviews.json";
}

bool is_of(const Review& review, const std::string& kernel, const std::string& architecture) {
  return (kernel.empty() || review.kernel == kernel) && (architecture.empty() || review.architecture == architecture);
}

Result<std::vector<Review>> read(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::vector<Review>();
  auto text = util::read_file(file);
  if (!text) return std::unexpected(text.error());
  std::vector<Review> found;
  try {
    const auto root = nlohmann::json::parse(*text);
    if (root.at("format") != kFormat) return failure("'" + file.string() + "' has the format of another kagent");
    for (const auto& entry : root.at("reviews"))
      found.push_back({entry.at("kernel").get<std::string>(), entry.at("architecture").get<std::string>(),
                       entry.at("generation").get<int>(), entry.at("reference").get<std::string>(),
                       entry.at("source_hash").get<std::string>(), entry.at("since").get<std::string>()});
  } catch (const nlohmann::json::exception& error) {
    return failure("'" + file.string() + "', which records reviews, is damaged: " + util::clean(error.what(), 300),
                   "delete it, then confirm again with kagent review");
  }
  return found;
}

Result<void> write(const fs::path& file, const std::vector<Review>& reviews) {
  auto entries = nlohmann::ordered_json::array();
  for (const Review& review : reviews)
    entries.push_back({{"kernel", review.kernel},
                       {"architecture", review.architecture},
                       {"generation", review.generation},
                       {"reference", review.reference},
                       {"source_hash", review.source_hash},
                       {"since", review.since}});
  const nlohmann::ordered_json root{{"format", kFormat}, {"reviews", std::move(entries)}};
  return util::write_file_atomically(file, root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Result<util::FileLock> lock(const VariantStore& store, const std::string& what) {
  std::error_code error;
  fs::create_directories(store.state_folder(), error);
  return util::FileLock::acquire(store.state_folder() / "reviews.lock", what);
}

}  // namespace

Result<std::vector<Review>> reviews(const VariantStore& store, const std::string& kernel,
                                    const std::string& architecture) {
  auto found = read(file_of(store));
  if (found) std::erase_if(*found, [&](const Review& review) { return !is_of(review, kernel, architecture); });
  return found;
}

Result<void> confirm(VariantStore& store, const Variant& variant) {
  const Evidence& evidence = variant.evidence;
  auto held = lock(store, "confirms a variant of " + evidence.kernel);
  if (!held) return std::unexpected(held.error());
  auto found = read(file_of(store));
  if (!found) return std::unexpected(found.error());
  const bool there = std::ranges::any_of(*found, [&](const Review& review) {
    return is_of(review, evidence.kernel, evidence.architecture) && review.source_hash == evidence.source_hash;
  });
  if (there) return {};
  found->push_back({evidence.kernel, evidence.architecture, evidence.generation, variant.reference,
                    evidence.source_hash, util::utc_now()});
  if (auto done = write(file_of(store), *found); !done) return done;
  return store.touch_stamp();
}

Result<int> withdraw(VariantStore& store, const std::string& kernel, const std::string& architecture) {
  auto held = lock(store, "takes back reviews of " + kernel);
  if (!held) return std::unexpected(held.error());
  auto found = read(file_of(store));
  if (!found) return std::unexpected(found.error());
  const auto count = std::erase_if(*found, [&](const Review& one) { return is_of(one, kernel, architecture); });
  if (count == 0) return 0;
  if (auto done = write(file_of(store), *found); !done) return std::unexpected(done.error());
  if (auto done = store.touch_stamp(); !done) return std::unexpected(done.error());
  return static_cast<int>(count);
}

Result<bool> is_known(const VariantStore& store, const std::string& architecture) {
  auto confirmed = reviews(store, "", architecture);
  if (!confirmed) return std::unexpected(confirmed.error());
  if (!confirmed->empty()) return true;
  auto kernels = store.kernels();
  if (!kernels) return std::unexpected(kernels.error());
  std::vector<std::string> broken;  // named where variants are listed for people
  for (const std::string& kernel : *kernels)
    for (VariantPlace place : {VariantPlace::working_tree, VariantPlace::local_branch}) {
      auto variants = store.list(kernel, architecture, place, &broken);
      if (!variants) return std::unexpected(variants.error());
      for (const Variant& variant : *variants)
        if (is_reviewed(variant, {})) return true;
    }
  return false;
}

}  // namespace kagent::store
