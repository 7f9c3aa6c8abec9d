// SPDX-License-Identifier: Apache-2.0
#include "values/review.h"

#include <algorithm>

namespace kagent {

bool is_reviewed(const Variant& variant, const std::vector<Review>& reviews) {
  const Evidence& evidence = variant.evidence;
  if (variant.place == VariantPlace::working_tree) return true;
  if (variant.place == VariantPlace::local_branch && evidence.reviewed) return true;
  return std::ranges::any_of(reviews, [&](const Review& review) {
    return review.kernel == evidence.kernel && review.architecture == evidence.architecture &&
           review.source_hash == evidence.source_hash;
  });
}

}  // namespace kagent
