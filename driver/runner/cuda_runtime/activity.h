// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "values/kernel_trace.h"

namespace kagent::runner::cuda {

// What the device does is recorded while this lives, by CUPTI's Activity API: without hardware counters, and so without
// the permission for them. Kernels run as concurrently as ever. One at a time in a process.
class ActivityTrace {
 public:
  ActivityTrace();
  ActivityTrace(const ActivityTrace&) = delete;
  ActivityTrace& operator=(const ActivityTrace&) = delete;
  ~ActivityTrace();

  struct Recorded {
    std::vector<TracedWork> work;  // at most 1000
    std::string problem;           // why it is not to be believed
  };
  // What the device did since this was called last. All work has to be done.
  Recorded take();
  // Why nothing is recorded.
  const std::string& problem() const { return problem_; }

 private:
  std::string problem_;
};

}  // namespace kagent::runner::cuda
