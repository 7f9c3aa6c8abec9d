// SPDX-License-Identifier: Apache-2.0

// The driver's side and the runtime together, with a fake of NVIDIA's driver library in place of a GPU.

#include "runner/cuda_runner.h"

#include <cstdlib>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "runner/cuda_errors.h"
#include "runner/cuda_session.h"
#include "runner/device_program.h"
#include "util/files.h"

namespace kagent::runner {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;

class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

bool write(const std::filesystem::path& file, const std::string& contents) {
  std::ofstream stream(file, std::ios::binary);
  stream << contents;
  return stream.flush().good();
}

// How many processes this one started that it has not seen end.
int children() {
  const std::string parent = fmt::format("PPid:\t{}", ::getpid());
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream status(entry.path() / "status");
    for (std::string line; std::getline(status, line);) found += line == parent;
  }
  return found;
}

class FakeGpu : public testing::TestWithParam<bool> {
 protected:
  static constexpr bool kSandboxed = true;

  void SetUp() override {
    if (GetParam() && !util::sandbox_state().available) GTEST_SKIP() << util::sandbox_state().description;
    const auto devices = probe_devices(kernel_runner());
    ASSERT_TRUE(devices) << devices.error().message;
    limits_.allow_unsandboxed = true;
    options_ = {.device = devices->front(),
                .kernel_runner = kernel_runner(),
                .sandbox = GetParam() ? util::sandbox_state() : util::SandboxState{},
                .warm = 1,
                .profiler = KAGENT_FAKE_CUPTI,
                .look = 0ms};
    runner_ = make_cuda_runner(options_);
  }

  std::unique_ptr<Session> launcher() { return start({KAGENT_FAKE_CANDIDATE, "", ""}, launcher_parameters()); }
  std::unique_ptr<Session> kernel(const std::string& symbol = "scale", const Launch& how = launch("n", "256")) {
    return start(device_binary(code_, symbol, how), kernel_parameters());
  }
  std::unique_ptr<Session> start(const Binary& binary, const std::vector<Parameter>& parameters) {
    return started(*runner_, binary, parameters, limits_);
  }
  // How one call of the launcher ends in this mode.
  RunResult outcome_of(int mode, const CallLayout& layout = {}) {
    const auto session = launcher();
    if (session == nullptr) return {};
    const RunResult prepared = done(session->prepare(0, call_inputs(100, mode), layout));
    return prepared.outcome == Outcome::ok ? done(session->call(0)) : prepared;
  }

  const Environment fake_{"LD_LIBRARY_PATH", KAGENT_FAKE_DRIVER};
  const util::TemporaryFolder folder_{"fake-gpu"};
  const std::filesystem::path code_ = [this] {
    const auto file = folder_.path() / "code.cubin";
    EXPECT_TRUE(write(file, "fake device code"));
    return file;
  }();
  RunnerLimits limits_;
  CudaRunnerOptions options_;
  std::unique_ptr<Runner> runner_;
};

INSTANTIATE_TEST_SUITE_P(, FakeGpu, testing::Bool(), isolation_name);

TEST_P(FakeGpu, a_call_computes_from_its_inputs) {
  const auto session = launcher();
  for (const CallLayout& layout :
       {CallLayout{}, CallLayout{.offset_elements = 3}, CallLayout{.placement = Placement::end_of_block}}) {
    ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kScale), layout)), IsOk());
    ASSERT_THAT(done(session->call(0)), IsOk());
    expect_scaled(*session, 0, 1000);
  }
}

TEST_P(FakeGpu, buffers_larger_than_the_exchange_pass_whole) {
  const auto session = launcher();
  ASSERT_THAT(done(session->prepare(0, call_inputs(5'000'000, kScale), {})), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  expect_scaled(*session, 0, 5'000'000);
}

TEST_P(FakeGpu, a_sample_restores_inouts_and_poisons_outputs) {
  const auto session = launcher();
  for (int slot = 0; slot < 3; ++slot) ASSERT_THAT(done(session->prepare(slot, call_inputs(1000, kScale), {})), IsOk());
  for (const bool cold : {true, false})
    for (const bool graph : {true, false}) {
      const RunResult sample =
          done(session->sample({.slots = {2, 0, 1}, .repetitions = 5, .cold = cold, .graph = graph}));
      ASSERT_THAT(sample, IsOk());
      EXPECT_FALSE(sample.by_graph) << "the fake captures nothing";
      EXPECT_LE(sample.child_time, sample.driver_time);
      for (int slot = 0; slot < 3; ++slot) expect_scaled(*session, slot, 1000);
    }
  const auto silent = launcher();
  ASSERT_THAT(done(silent->prepare(0, call_inputs(10, kWritesNothing), {})), IsOk());
  ASSERT_THAT(done(silent->sample({.slots = {0}, .repetitions = 2, .cold = false, .poison = 0x22})), IsOk());
  const auto images = silent->read(0);
  for (const std::byte byte : image(*images, "y").contents.bytes) EXPECT_EQ(byte, std::byte{0x22});
}

TEST_P(FakeGpu, a_refill_gives_new_contents_at_the_same_addresses) {
  const auto session = launcher();
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kScale, 5), {})), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  ASSERT_THAT(done(session->refill(0, call_inputs(1000, kScale), 0x33, nullptr)), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  expect_scaled(*session, 0, 1000);
}

// What lies outside of the noted stretch differs too, which shows that only the stretch was sent.
TEST_P(FakeGpu, a_refill_sends_no_more_than_what_changed) {
  Revisions revisions;
  revisions.follow("x");
  revisions.begin();
  const auto session = launcher();
  const CallInputs before = call_inputs(1000, kScale), after = call_inputs(1000, kScale, 5);
  ASSERT_THAT(done(session->prepare(0, before, {.revisions = &revisions})), IsOk());
  const auto x_after = [&](const Revisions* known) {
    EXPECT_THAT(done(session->refill(0, after, 0x33, known)), IsOk());
    return image(*session->read(0), "x").contents.bytes;
  };
  const std::vector<std::byte>&old = before.tensors.at("x").bytes, &now = after.tensors.at("x").bytes;
  std::vector<std::byte> expected = old;
  std::ranges::copy(std::span(now).subspan(400, 40), expected.begin() + 400);
  revisions.begin();
  revisions.note("x", {400, 40});
  EXPECT_EQ(x_after(&revisions), expected);
  EXPECT_EQ(x_after(nullptr), now) << "of an unknown source everything";
  EXPECT_EQ(x_after(&revisions), now) << "what it holds is of no known revision";
}

TEST_P(FakeGpu, what_a_call_wrote_can_be_read_without_its_inputs) {
  const auto session = launcher();
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kScale), {})), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  const auto whole = session->read(0), written = session->read_written(0);
  ASSERT_TRUE(whole && written);
  EXPECT_EQ(image(*written, "y").contents.bytes, image(*whole, "y").contents.bytes);
  EXPECT_EQ(image(*written, "x").contents.shape, image(*whole, "x").contents.shape);
  EXPECT_TRUE(image(*written, "x").contents.bytes.empty());
  EXPECT_TRUE(image(*written, "x").guards_intact);
}

TEST_P(FakeGpu, each_error_of_the_device_is_its_own_outcome) {
  EXPECT_THAT(outcome_of(kIllegalAccess), EndsWith(Outcome::illegal_access, "CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  EXPECT_THAT(outcome_of(kMisaligned), EndsWith(Outcome::misaligned_access, "(716)"));
  EXPECT_THAT(outcome_of(kTooManyThreads), EndsWith(Outcome::limits_exceeded, "the launch: "));
  EXPECT_THAT(outcome_of(kOutOfMemory), EndsWith(Outcome::memory_exceeded, "the launch: "));
}

TEST_P(FakeGpu, whoever_says_that_a_working_device_is_lost_is_to_blame) {
  EXPECT_THAT(outcome_of(kTrap), EndsWith(Outcome::device_fault, "(999)"));
}

TEST_P(FakeGpu, a_device_that_no_longer_works_is_nobodys_fault_and_ends_the_run) {
  const auto session = launcher();
  ASSERT_NE(session, nullptr);
  ASSERT_THAT(done(session->prepare(0, call_inputs(100, kTrap), {})), IsOk());
  const Environment now{"LD_LIBRARY_PATH", KAGENT_OLD_FAKE_DRIVER};
  const auto called = session->call(0);
  ASSERT_FALSE(called);
  EXPECT_THAT(called.error().message, HasSubstr("the GPU was lost: "));
  EXPECT_THAT(called.error().message, HasSubstr("; then: no GPU can be used: "));
  EXPECT_THAT(called.error().fix, HasSubstr("NVIDIA driver"));
}

TEST_P(FakeGpu, what_host_code_does_wrong_is_told_apart) {
  EXPECT_THAT(outcome_of(kCrashes), EndsWith(Outcome::crashed, "SIGSEGV at 0x10"));
  EXPECT_THAT(outcome_of(kExits), EndsWith(Outcome::crashed, "exited with 3"));
  EXPECT_THAT(outcome_of(kConnects), EndsWith(Outcome::policy_violation, "called socket()"));
  EXPECT_THAT(outcome_of(kForks), EndsWith(Outcome::policy_violation, "called clone()"));
  limits_.step = 300ms;
  EXPECT_THAT(outcome_of(kLoop), EndsWith(Outcome::timed_out, "no answer within 0.3 s"));
}

TEST_P(FakeGpu, what_lies_beyond_a_buffer_that_ends_its_memory_faults) {
  EXPECT_THAT(outcome_of(kReadsBeyond), IsOk());
  EXPECT_THAT(outcome_of(kReadsBeyond, {.placement = Placement::end_of_block}), EndsWith(Outcome::crashed, "SIGSEGV"));
}

TEST_P(FakeGpu, guards_and_inputs_show_what_was_written_beside_the_outputs) {
  for (const auto& [mode, damage] : {std::pair{kWritesBeyond, 400}, std::pair{kWritesBefore, -4}}) {
    const auto session = launcher();
    ASSERT_THAT(done(session->prepare(0, call_inputs(100, mode), {})), IsOk());
    ASSERT_THAT(done(session->call(0)), IsOk());
    const auto images = session->read(0);
    EXPECT_FALSE(image(*images, "y").guards_intact);
    // The first byte of the guard may happen to be right.
    EXPECT_NEAR(static_cast<double>(image(*images, "y").first_damage), damage, 3);
    EXPECT_TRUE(image(*images, "x").guards_intact);
  }
  const auto session = launcher();
  ASSERT_THAT(done(session->prepare(0, call_inputs(100, kChangesInput), {})), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  EXPECT_EQ(image(*session->read(0), "x").contents.at(0), 77);
}

TEST_P(FakeGpu, a_case_that_does_not_fit_into_the_device_is_refused_with_the_numbers) {
  const auto session = launcher();
  std::vector<Parameter> parameters = launcher_parameters();
  parameters.insert(parameters.begin() + 3, buffer("scratch", ParameterKind::workspace, DType::uint8, "8589934592"));
  const auto large = start({KAGENT_FAKE_CANDIDATE, "", ""}, parameters);
  const auto refused = large->prepare(0, call_inputs(10, kScale), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the case needs 82"));
  EXPECT_THAT(refused.error().message, HasSubstr("8192 MiB are free"));
  EXPECT_THAT(refused.error().fix, HasSubstr("smaller"));
  ASSERT_THAT(done(session->prepare(0, call_inputs(10, kScale), {})), IsOk());
}

TEST_P(FakeGpu, device_code_is_launched_by_a_trusted_process_that_serves_several_sessions) {
  for (int i = 0; i < 3; ++i) {
    const auto session = kernel();
    ASSERT_THAT(done(session->prepare(0, call_inputs(1000, 0), {})), IsOk());
    ASSERT_THAT(done(session->call(0)), IsOk());
    expect_scaled(*session, 0, 1000);
    ASSERT_THAT(done(session->sample({.slots = {0}, .repetitions = 3, .cold = true})), IsOk());
    expect_scaled(*session, 0, 1000);
  }
}

TEST_P(FakeGpu, device_code_that_cannot_be_loaded_or_launched_is_told_as_such) {
  const auto absent = kernel("absent");
  EXPECT_THAT(done(absent->prepare(0, call_inputs(10, 0), {})),
              EndsWith(Outcome::launch_failed, "cuModuleGetFunction 'absent'"));
  const auto threads = kernel("scale", launch("1", "2048"));
  EXPECT_THAT(done(threads->prepare(0, call_inputs(10, 0), {})),
              EndsWith(Outcome::limits_exceeded, "a block of 2048 threads"));
  const auto shared = kernel("scale", launch("1", "32", "1048576"));
  EXPECT_THAT(done(shared->prepare(0, call_inputs(10, 0), {})),
              EndsWith(Outcome::limits_exceeded, "1048576 bytes of shared memory"));
  const auto grid = kernel("scale", launch("n * 4294967296", "32"));
  EXPECT_THAT(done(grid->prepare(0, call_inputs(10, 0), {})),
              EndsWith(Outcome::limits_exceeded, "grid x is 'n * 4294967296'"));
  ASSERT_TRUE(write(code_, "no device code"));
  const auto broken = kernel();
  EXPECT_THAT(done(broken->prepare(0, call_inputs(10, 0), {})),
              EndsWith(Outcome::launch_failed, "cuModuleLoadData for 'scale'"));
  ASSERT_TRUE(write(code_, "fake device code"));
  const auto good = kernel();
  ASSERT_THAT(done(good->prepare(0, call_inputs(10, 0), {})), IsOk());
  EXPECT_THAT(done(good->call(0)), IsOk());
}

TEST_P(FakeGpu, a_constant_is_found_by_its_name_in_the_device_code) {
  std::vector<Parameter> parameters = kernel_parameters();
  parameters.push_back(buffer("taps", ParameterKind::input, DType::float32, "8"));
  parameters.back().constant_memory = true;
  CallInputs inputs = call_inputs(1000, 0);
  inputs.tensors["taps"] = make_tensor(DType::float32, {8});
  Binary binary = device_binary(code_, "scale", launch("n", "256"));
  const auto plain = start(binary, parameters);
  EXPECT_THAT(done(plain->prepare(0, inputs, {})),
              EndsWith(Outcome::launch_failed, "cuModuleGetGlobal of __constant__ 'taps'"));
  binary.constant_symbols = {{"taps", "_ZN3ops4tapsE"}};
  const auto session = start(binary, parameters);
  ASSERT_THAT(done(session->prepare(0, inputs, {})), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  expect_scaled(*session, 0, 1000);
}

TEST_P(FakeGpu, device_code_larger_than_the_exchange_arrives_whole) {
  ASSERT_TRUE(write(code_, "fake" + std::string(std::size_t{40} << 20, 'x')));
  const auto session = kernel();
  ASSERT_THAT(done(session->prepare(0, call_inputs(10, 0), {})), IsOk());
  EXPECT_THAT(done(session->call(0)), IsOk());
}

TEST_P(FakeGpu, a_launch_that_names_what_nobody_knows_is_an_error_of_the_spec) {
  const auto session = kernel("scale", launch("m", "32"));
  const auto refused = session->prepare(0, call_inputs(10, 0), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("'m' of the launch"));
}

TEST_P(FakeGpu, what_no_profiler_can_look_at_has_a_reason_and_costs_nothing_else) {
  options_.profiler.clear();  // the real one, if there is one, with a driver that it does not know
  runner_ = make_cuda_runner(options_);
  limits_.reads_counters = true;
  for (const bool as_kernel : {false, true}) {
    const auto session = as_kernel ? kernel() : launcher();
    ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kScale), {})), IsOk());
    const auto trace = session->trace(0);
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_THAT(trace->work, testing::IsEmpty());
    EXPECT_THAT(trace->problem, AnyOf(HasSubstr("kernels cannot be traced"), HasSubstr("there is no libcupti")));
    ASSERT_THAT(done(session->call(0)), IsOk());
    expect_scaled(*session, 0, 1000);
  }
}

TEST_P(FakeGpu, a_trace_is_of_one_call_and_of_nothing_else) {
  limits_.reads_counters = true;
  const auto session = start({KAGENT_TRACED_CANDIDATE, "", ""}, launcher_parameters());
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kScale), {})), IsOk());
  const auto trace = session->trace(0);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->problem, "");
  ASSERT_EQ(trace->work.size(), 2U) << "neither earlier flushes nor what holds the stream";
  EXPECT_EQ(trace->work[0].kind, WorkKind::fill);
  EXPECT_EQ(trace->work[0].end_ns, 500);
  EXPECT_EQ(trace->work[1].name, "scale");
  EXPECT_EQ(trace->work[1].begin_ns, 1000);
  EXPECT_EQ(trace->work[1].end_ns, 4000);
  EXPECT_EQ(trace->work[1].registers, 32);
  expect_scaled(*session, 0, 1000);
  // A second time in the same process.
  EXPECT_EQ(session->trace(0)->work.size(), 2U);
  EXPECT_FALSE(session->trace(7)) << "of a slot that was never prepared";
}

TEST_P(FakeGpu, a_trace_without_times_is_none_and_counters_that_are_refused_say_why) {
  limits_.reads_counters = true;
  const auto session = start({KAGENT_UNTIMED_CANDIDATE, "", ""}, launcher_parameters());
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kScale), {})), IsOk());
  EXPECT_THAT(session->trace(0)->work, testing::IsEmpty());
  EXPECT_EQ(session->trace(0)->problem, "CUPTI has no times of the kernels");
  EXPECT_THAT(session->count(0, {"dram__bytes_read.sum"})->problem, HasSubstr("ERR_NVGPUCTRPERM"));
}

TEST_P(FakeGpu, a_call_that_fails_while_it_is_traced_leaves_its_reason) {
  limits_.reads_counters = true;
  const auto session = start({KAGENT_TRACED_CANDIDATE, "", ""}, launcher_parameters());
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kIllegalAccess), {})), IsOk());
  const auto trace = session->trace(0);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(trace->problem, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_THAT(trace->work, testing::IsEmpty());
  EXPECT_NE(done(session->call(0)).outcome, Outcome::ok);
}

TEST_P(FakeGpu, a_process_that_a_profiler_was_in_serves_nobody_else) {
  limits_.reads_counters = true;
  ASSERT_THAT(done(kernel()->prepare(0, call_inputs(1000, kScale), {})), IsOk());
  EXPECT_EQ(children(), 0) << "of the ended session, or kept ready with more rights than a candidate's";
  limits_.reads_counters = false;
  ASSERT_THAT(done(kernel()->prepare(0, call_inputs(1000, kScale), {})), IsOk());
  EXPECT_GT(children(), 0) << "the others wait for the next";
}

TEST(CudaProbe, tells_what_the_driver_says_of_each_device) {
  const Environment fake("LD_LIBRARY_PATH", KAGENT_FAKE_DRIVER);
  const auto devices = probe_devices(kernel_runner());
  ASSERT_TRUE(devices) << devices.error().message;
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_EQ(devices->front().name, "Fake \"GPU\"");
  EXPECT_EQ(devices->front().uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
  EXPECT_EQ(devices->front().major, 9);
  EXPECT_EQ(devices->front().memory_bytes, std::int64_t{8} << 30);
  EXPECT_EQ(devices->front().shared_bytes_per_block, 232448);
}

TEST(CudaProbe, tells_why_there_is_no_device_and_what_to_do) {
  {
    const Environment old("LD_LIBRARY_PATH", KAGENT_OLD_FAKE_DRIVER);
    const auto devices = probe_devices(kernel_runner());
    ASSERT_FALSE(devices);
    EXPECT_THAT(devices.error().message, HasSubstr("the driver supports CUDA 11.4, and kagent was built with"));
    EXPECT_THAT(devices.error().fix, HasSubstr("driver"));
  }
  const auto absent = probe_devices("/nonexistent/kagent-cuda-runner");
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message, HasSubstr("/nonexistent/kagent-cuda-runner"));
  if (!folder_of_library("libcuda.so.1").empty()) return;
  const auto devices = probe_devices(kernel_runner());
  ASSERT_FALSE(devices);
  EXPECT_THAT(devices.error().message, HasSubstr("libcuda.so.1"));
  EXPECT_THAT(devices.error().fix, HasSubstr("install the NVIDIA driver"));
}

TEST(CudaProbe, a_runner_without_a_driver_says_so_instead_of_blaming_the_candidate) {
  if (!folder_of_library("libcuda.so.1").empty()) GTEST_SKIP() << "there is a driver here";
  CudaRunnerOptions options{.device = {}, .kernel_runner = kernel_runner(), .warm = 0};
  RunnerLimits limits;
  limits.allow_unsandboxed = true;
  const auto session = make_cuda_runner(options)->start({KAGENT_FAKE_CANDIDATE, "", ""}, launcher_parameters(), limits);
  ASSERT_TRUE(session) << session.error().message;
  const auto step = (*session)->prepare(0, call_inputs(10, kScale), {});
  ASSERT_FALSE(step);
  EXPECT_THAT(step.error().message, HasSubstr("libcuda.so.1"));
  EXPECT_THAT(step.error().fix, HasSubstr("install the NVIDIA driver"));
}

TEST(CudaErrors, say_what_they_mean_for_the_candidate) {
  EXPECT_EQ(outcome_of_device_error(700), Outcome::illegal_access);
  EXPECT_EQ(outcome_of_device_error(716), Outcome::misaligned_access);
  EXPECT_EQ(outcome_of_device_error(719), Outcome::device_fault);
  EXPECT_EQ(outcome_of_device_error(701), Outcome::limits_exceeded);
  EXPECT_EQ(outcome_of_device_error(2), Outcome::memory_exceeded);
  EXPECT_EQ(outcome_of_device_error(1), Outcome::launch_failed);
  EXPECT_TRUE(speaks_of_lost_device(214));
  EXPECT_FALSE(speaks_of_lost_device(719));
  for (const int code : {-1, 2, 36, 46, 100, 214, 803, 999}) EXPECT_NE(device_error_fix(code), "") << code;
}

}  // namespace
}  // namespace kagent::runner
