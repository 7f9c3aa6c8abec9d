// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "build_step/kernel_context.h"
#include "store/variant_store.h"
#include "values/choice.h"
#include "values/error.h"
#include "values/kernel_request.h"

namespace kagent::cli {

// The kernels of a command and their architectures, one after another: what is wrong with one is said, and the others
// have their turn all the same.
class Turns {
 public:
  // `done` says what happens to a kernel in a turn: "checked".
  explicit Turns(std::string done) : done_(std::move(done)) {}

  // Runs `work`. A UserError ends it alone, and is said. True if there was none.
  bool attempt(const std::function<void()>& work);
  // The same of what is done to one kernel for one architecture.
  void take(const std::function<void()>& work);
  // Called in a turn: says that nothing is done, and why.
  void leave_out(const build_step::KernelContext& context, const StageError& why);
  // A turn for each thing that a build compiles and this machine runs, until a person interrupts.
  using ChoiceWork = std::function<void(const build_step::KernelContext&, const Choice&, const store::VariantStore&)>;
  void of_choices(const std::vector<KernelRequest>& requests, const ChoiceWork& work);

  // How the command ends: `code` if every turn went well, else kWrongUse. Throws UserError where all were left out.
  int code(int code) const;

 private:
  std::string done_;
  int taken_ = 0, left_out_ = 0, errors_ = 0;
  StageError first_;  // why the first was left out
};

}  // namespace kagent::cli
