// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "store/variant_store.h"
#include "values/error.h"
#include "values/review.h"
#include "values/variant.h"

// What people confirmed: records in the state folder, as rollbacks are. No branch is touched.
namespace kagent::store {

// Of a kernel and architecture; all where a name is empty. A file that cannot be read is an error.
Result<std::vector<Review>> reviews(const VariantStore& store, const std::string& kernel,
                                    const std::string& architecture);
// Confirms a variant; confirming it again changes nothing. Touches the stamp.
Result<void> confirm(VariantStore& store, const Variant& variant);
// Takes back what was confirmed for a kernel and architecture; how many there were. Touches the stamp.
Result<int> withdraw(VariantStore& store, const std::string& kernel, const std::string& architecture);

// Whether any variant of any kernel for this architecture is reviewed: the architecture is a known one.
Result<bool> is_known(const VariantStore& store, const std::string& architecture);

}  // namespace kagent::store
