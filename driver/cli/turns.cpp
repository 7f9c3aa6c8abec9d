// SPDX-License-Identifier: Apache-2.0
#include "cli/turns.h"

#include <optional>

#include <fmt/core.h>

#include "build_step/pick.h"
#include "cli/command.h"
#include "cli/kernels.h"
#include "loop/interrupt.h"
#include "util/text.h"

namespace kagent::cli {

bool Turns::attempt(const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const UserError& error) {
    ++errors_;
    complain(error);
    return false;
  }
}

void Turns::take(const std::function<void()>& work) {
  ++taken_;
  attempt(work);
}

void Turns::leave_out(const build_step::KernelContext& context, const StageError& why) {
  fmt::print(stderr, "kagent: {} ({}, {}) is not {}: {}\n", context.request.kernel, context.request.target,
             context.architecture, done_, util::clean(why.message));
  if (left_out_++ == 0) first_ = why;
}

void Turns::of_choices(const std::vector<KernelRequest>& requests, const ChoiceWork& work) {
  for (const KernelRequest& request : requests) {
    if (loop::interrupted()) return;
    std::optional<build_step::Pick> pick;
    std::optional<store::VariantStore> variants;
    const auto choose = [&] {
      variants = open_variants(request);
      pick = require(build_step::pick(request, *variants));
    };
    if (!attempt(choose)) continue;
    for (std::size_t i = 0; i < pick->contexts.size() && !loop::interrupted(); ++i) {
      const build_step::KernelContext& context = pick->contexts[i];
      take([&] {
        if (const auto why = machine_obstacle(context)) return leave_out(context, *why);
        work(context, pick->choices[i], *variants);
      });
    }
  }
}

int Turns::code(int code) const {
  if (errors_ > 0) return kWrongUse;
  if (left_out_ > 0 && left_out_ == taken_) throw UserError("nothing was " + done_, first_.fix);
  return code;
}

}  // namespace kagent::cli
