// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "util/sandbox.h"
#include "values/error.h"

namespace kagent::toolchain {

// One compilation for a worker.
struct WorkerJob {
  std::string name;  // of the source, in messages
  std::string source;
  std::vector<std::string> options;
  std::string instance;                   // name expression of the kernel
  std::vector<std::string> headers;       // worth precompiling
  std::vector<std::string> symbols = {};  // name expressions of variables
};

// What came of it. Not ok, and no log: `problem` says why (the worker died, the time was up, NVRTC itself failed).
struct WorkerAnswer {
  bool ok = false;
  std::string problem;
  std::string log;
  std::string lowered_name;
  std::vector<std::string> lowered_symbols;  // as `symbols`; empty where there is none
  std::string cubin;
  bool precompiled = false;
};

struct WorkerPoolOptions {
  std::filesystem::path worker;
  util::SandboxView view;  // what the workers may see
  std::chrono::milliseconds time_limit{60'000};
  int workers = 0;  // 0: one for each core but one
  bool allow_unsandboxed = false;
  const util::SandboxState* sandbox = &util::sandbox_state();
};

// Processes that compile one job at a time each. They are started when they are first needed, go on living, and are
// replaced when they die or hang. Safe to call from several threads: who finds none free waits.
class WorkerPool {
 public:
  explicit WorkerPool(WorkerPoolOptions options);
  ~WorkerPool();
  // An error where no worker can be started; everything else is an answer.
  Result<WorkerAnswer> compile(const WorkerJob& job);
  // NVRTC's version, "13.0", from a worker.
  Result<std::string> version();
  // Process ids of the workers that are alive now, sandbox included.
  std::vector<int> processes() const;

 private:
  class Worker;
  Result<std::unique_ptr<Worker>> take();
  void give_back(std::unique_ptr<Worker> worker);

  WorkerPoolOptions options_;
  int most_;
  mutable std::mutex mutex_;  // of the members below
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Worker>> idle_;
  std::vector<int> alive_;
  int in_use_ = 0;
};

}  // namespace kagent::toolchain
