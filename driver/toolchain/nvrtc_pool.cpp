// SPDX-License-Identifier: Apache-2.0
#include "toolchain/nvrtc_pool.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <expected>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "toolchain/nvrtc_worker/frame.h"
#include "util/descriptor.h"
#include "util/subprocess.h"
#include "util/text.h"

namespace kagent::toolchain {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int kSocket = 3;  // the worker's number of it
// A worker with cub's precompiled header takes 1 GiB; template bombs take all there is.
constexpr std::uint64_t kWorkerMemoryBytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kWorkerFileBytes = std::uint64_t{1} << 30;  // precompiled headers
// NVRTC is asked to stop at the limit, and looks at its clock only now and then; after this it is not asked.
constexpr auto kGrace = std::chrono::seconds(2);
// Loading NVRTC's 110 MB from a slow disk included.
constexpr auto kStart = std::chrono::seconds(60);
constexpr auto kLook = std::chrono::milliseconds(100);

std::string how_it_ended(const util::Finished& finished) {
  std::string said = util::clean(finished.standard_error, 300);
  if (!said.empty()) said = ": " + said;
  switch (finished.ended_by) {
    case util::EndedBy::exit:
      return "ended with status " + std::to_string(finished.code) + said;
    case util::EndedBy::signal:
      return "was ended by " + std::string(::strsignal(finished.code)) + said;
    case util::EndedBy::memory_limit:
      return "needed more than " + std::to_string(kWorkerMemoryBytes >> 30) + " GiB of memory";
    case util::EndedBy::wall_limit:
    case util::EndedBy::task_limit:
    case util::EndedBy::output_limit:
      break;
  }
  return "went beyond its limits";
}

constexpr const char* kTooLong = "took too long";

std::string too_long(std::chrono::milliseconds limit) {
  return "took longer than " + std::to_string(limit.count()) + " ms, and was stopped";
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> texts_of(const json& object, const char* key) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return texts;
  for (const json& text : *found) texts.push_back(text.is_string() ? text.get<std::string>() : std::string());
  return texts;
}

bool truth_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace

class WorkerPool::Worker {
 public:
  static Result<std::unique_ptr<Worker>> start(const WorkerPoolOptions& options) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      return failure("cannot make a socket for the NVRTC worker: " + std::string(::strerror(errno)));
    util::Descriptor ours(ends[0]), theirs(ends[1]);
    util::Command command;
    command.argv = {options.worker.string(), std::to_string(kSocket)};
    command.environment = util::minimal_environment();
    command.limits.memory_bytes = kWorkerMemoryBytes;
    command.limits.file_size_bytes = kWorkerFileBytes;
    command.descriptors = {{theirs.get(), kSocket}};
    if (options.sandbox->available)
      command = util::sandboxed(command, options.view, *options.sandbox);
    else if (!options.allow_unsandboxed)
      return failure("candidates cannot be compiled in isolation here: " + options.sandbox->description,
                     "install bubblewrap, or allow compiling without a sandbox (KAGENT_ALLOW_UNSANDBOXED=ON)");
    auto child = util::Child::start(command);
    if (!child) return std::unexpected(child.error());
    std::unique_ptr<Worker> worker(new Worker(std::move(*child), std::move(ours)));
    // A worker that cannot even begin (the sandbox, a missing library) is no fault of a candidate.
    const auto greeting = worker->exchange({}, Clock::now() + kStart);
    if (!greeting)
      return failure("the NVRTC worker '" + options.worker.string() + "' " + greeting.error(),
                     "see kagent doctor; NVRTC's library must be where kagent was built with it");
    const json told = json::parse(greeting->json, nullptr, false);
    worker->version_ = told.is_object() ? text_of(told, "nvrtc") : std::string();
    return worker;
  }

  int process() const { return child_.pid(); }
  bool is_alive() const { return alive_; }
  const std::string& version() const { return version_; }

  WorkerAnswer compile(const WorkerJob& job, std::chrono::milliseconds time_limit) {
    const json asked = {{"name", job.name},       {"options", job.options}, {"instance", job.instance},
                        {"symbols", job.symbols}, {"headers", job.headers}, {"time_limit_ms", time_limit.count()}};
    const std::string request = encode({asked.dump(-1, ' ', false, json::error_handler_t::replace), job.source});
    const auto answer = exchange(request, Clock::now() + time_limit + kGrace);
    if (answer) return read(*answer, time_limit);
    WorkerAnswer none;
    none.problem = "the compiler " + (answer.error() == kTooLong ? too_long(time_limit) : answer.error());
    return none;
  }

 private:
  Worker(util::Child child, util::Descriptor socket) : child_(std::move(child)), socket_(std::move(socket)) {}

  // Sends the request and waits for a frame. An error says how the worker ended; it is gone then.
  std::expected<Frame, std::string> exchange(const std::string& request, Clock::time_point until) {
    std::size_t sent = 0;
    for (;;) {
      if (!pass(request, sent)) return dead(how_it_ended(child_.wait()));
      bool broken = false;
      if (auto frame = take_frame(received_, broken)) return *std::move(frame);
      if (broken) return dead("sent nonsense");
      if (const auto ended = child_.poll()) return dead(how_it_ended(*ended));
      if (Clock::now() >= until) return dead(kTooLong);
      child_.wait_for_news(socket_.get(), kLook);
    }
  }

  // Sends and receives what can be without waiting; false if the other end is closed.
  bool pass(const std::string& request, std::size_t& sent) {
    while (sent < request.size()) {
      const ssize_t count =
          ::send(socket_.get(), request.data() + sent, request.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno != EAGAIN) return false;
      if (count <= 0) break;
      sent += static_cast<std::size_t>(count);
    }
    std::array<char, 65536> buffer;
    for (;;) {
      const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno == EAGAIN;
      if (count == 0) return false;
      received_.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

  std::unexpected<std::string> dead(std::string how) {
    child_.kill();
    alive_ = false;
    return std::unexpected(std::move(how));
  }

  WorkerAnswer read(const Frame& frame, std::chrono::milliseconds time_limit) {
    const json told = json::parse(frame.json, nullptr, false);
    WorkerAnswer answer;
    if (!told.is_object()) {
      answer.problem = "the compiler " + dead("sent nonsense").error();
      return answer;
    }
    answer.ok = truth_of(told, "ok");
    answer.problem = text_of(told, "problem");
    answer.log = text_of(told, "log");
    answer.lowered_name = text_of(told, "lowered_name");
    answer.lowered_symbols = texts_of(told, "lowered_symbols");
    answer.precompiled = truth_of(told, "precompiled");
    answer.cubin = frame.bytes;
    if (truth_of(told, "timed_out")) answer.problem = "the compiler " + too_long(time_limit);
    // What it has left behind in its own heap is not known.
    if (!answer.problem.empty()) {
      child_.kill();
      alive_ = false;
    }
    return answer;
  }

  util::Child child_;
  util::Descriptor socket_;
  std::string received_, version_;
  bool alive_ = true;
};

WorkerPool::WorkerPool(WorkerPoolOptions options) : options_(std::move(options)), most_(options_.workers) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (most_ <= 0) most_ = std::max(1, cores - 1);
}

WorkerPool::~WorkerPool() = default;

Result<std::unique_ptr<WorkerPool::Worker>> WorkerPool::take() {
  {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return in_use_ < most_; });
    ++in_use_;
    if (!idle_.empty()) {
      auto worker = std::move(idle_.back());
      idle_.pop_back();
      return worker;
    }
  }
  auto worker = Worker::start(options_);
  const std::lock_guard lock(mutex_);
  if (worker) {
    alive_.push_back((*worker)->process());
  } else {
    --in_use_;
    freed_.notify_one();
  }
  return worker;
}

void WorkerPool::give_back(std::unique_ptr<Worker> worker) {
  const std::lock_guard lock(mutex_);
  --in_use_;
  if (worker->is_alive())
    idle_.push_back(std::move(worker));
  else
    std::erase(alive_, worker->process());
  freed_.notify_one();
}

Result<WorkerAnswer> WorkerPool::compile(const WorkerJob& job) {
  auto worker = take();
  if (!worker) return std::unexpected(worker.error());
  WorkerAnswer answer = (*worker)->compile(job, options_.time_limit);
  give_back(std::move(*worker));
  return answer;
}

Result<std::string> WorkerPool::version() {
  auto worker = take();
  if (!worker) return std::unexpected(worker.error());
  std::string version = (*worker)->version();
  give_back(std::move(*worker));
  return version;
}

std::vector<int> WorkerPool::processes() const {
  const std::lock_guard lock(mutex_);
  return alive_;
}

}  // namespace kagent::toolchain
