// SPDX-License-Identifier: Apache-2.0
#include "values/launch.h"

namespace kagent {

std::vector<const Expression*> expressions_of(const Launch& launch) {
  std::vector<const Expression*> all;
  for (const auto* extents : {&launch.grid, &launch.block})
    for (const Expression& extent : *extents) all.push_back(&extent);
  if (launch.cluster)
    for (const Expression& extent : *launch.cluster) all.push_back(&extent);
  if (launch.shared_memory) all.push_back(&*launch.shared_memory);
  return all;
}

std::set<std::string> names_of(const Launch& launch) {
  std::set<std::string> names;
  for (const Expression* expression : expressions_of(launch))
    names.insert(expression->names().begin(), expression->names().end());
  return names;
}

}  // namespace kagent
