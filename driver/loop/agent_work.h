// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "loop/agent_session.h"
#include "loop/history.h"
#include "loop/run_scope.h"
#include "loop/workbench.h"
#include "store/trial_store.h"

namespace kagent::loop {

// What one step of a session needs to run candidates, under the kernel's lock; made anew in each. Throws UserError.
struct AgentSession::Work {
  Work(const AgentSession& session, const SessionRecord& record);

  TuningOptions options;
  store::TrialStore trials;
  Budget budget;
  Course course;  // a session has none
  RunScope scope;
  History history;
  std::unique_ptr<Workbench> bench;
};

}  // namespace kagent::loop
