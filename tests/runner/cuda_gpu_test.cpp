// SPDX-License-Identifier: Apache-2.0

// On a real GPU: every way a candidate can end, each followed by one that runs as usual.

#include <fstream>

#include "runner/device_program.h"
#include "runner/on_gpu.h"
#include "runner/sanitizer.h"

namespace kagent::runner {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;

class Gpu : public OnGpu<> {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (IsSkipped()) return;
    options_ = {
        .device = device_, .kernel_runner = kernel_runner(), .sandbox = util::sandbox_state(), .warm = 1, .look = 1ms};
    runner_ = make_cuda_runner(options_);
  }

  std::unique_ptr<Session> launcher() { return start({KAGENT_CUDA_LAUNCHER, "", ""}, launcher_parameters()); }
  std::unique_ptr<Session> kernel(const std::string& symbol, const Launch& how,
                                  const std::vector<Parameter>& parameters = kernel_parameters()) {
    return start(device_binary(KAGENT_CUDA_KERNELS, symbol, how), parameters);
  }
  RunResult outcome_of(Session& session, int mode, const CallLayout& layout = {}) {
    const RunResult prepared = done(session.prepare(0, call_inputs(1000, mode), layout));
    return prepared.outcome == Outcome::ok ? done(session.call(0)) : prepared;
  }
  RunResult outcome_of(int mode, const CallLayout& layout = {}) {
    const auto session = launcher();
    return session ? outcome_of(*session, mode, layout) : RunResult{};
  }
  // A fresh process does what it should.
  void expect_good() {
    const auto session = launcher();
    ASSERT_TRUE(session);
    ASSERT_THAT(outcome_of(*session, kScale), IsOk());
    expect_scaled(*session, 0, 1000);
  }

  CudaRunnerOptions options_;
};

TEST_F(Gpu, the_sandbox_is_told) {
  RecordProperty("sandbox", options_.sandbox.description);
  std::printf("sandbox: %s\ndevice: %s, %s, driver %d\n", options_.sandbox.description.c_str(),
              options_.device.name.c_str(), options_.device.uuid.c_str(), options_.device.driver_version);
  EXPECT_GT(options_.device.l2_bytes, 0);
  EXPECT_GT(options_.device.multiprocessors, 0);
  EXPECT_GE(options_.device.driver_version, 12000);
}

TEST_F(Gpu, a_call_computes_from_its_inputs_at_every_placement) {
  const auto session = launcher();
  ASSERT_TRUE(session);
  for (const int n : {1, 255, 5000, 6'000'000})
    for (const CallLayout& layout :
         {CallLayout{}, CallLayout{.offset_elements = 3}, CallLayout{.placement = Placement::end_of_block}}) {
      ASSERT_THAT(done(session->prepare(0, call_inputs(n, kScale), layout)), IsOk()) << n;
      ASSERT_THAT(done(session->call(0)), IsOk()) << n;
      expect_scaled(*session, 0, n);
    }
}

TEST_F(Gpu, it_works_without_the_sandbox_too) {
  options_.sandbox = {};
  runner_ = make_cuda_runner(options_);
  expect_good();
}

TEST_F(Gpu, an_illegal_access_is_told_and_the_next_candidate_runs) {
  EXPECT_THAT(outcome_of(kIllegalAccess), EndsWith(Outcome::illegal_access, "700"));
  expect_good();
}

TEST_F(Gpu, a_misaligned_access_is_told_and_the_next_candidate_runs) {
  EXPECT_THAT(outcome_of(kMisaligned), EndsWith(Outcome::misaligned_access, "716"));
  expect_good();
}

TEST_F(Gpu, a_trap_is_told_and_the_next_candidate_runs) {
  EXPECT_THAT(outcome_of(kTrap), EndsWith(Outcome::device_fault, ""));
  expect_good();
}

TEST_F(Gpu, a_failed_assertion_is_told_and_the_next_candidate_runs) {
  EXPECT_THAT(outcome_of(kAssert), EndsWith(Outcome::device_fault, "710"));
  expect_good();
}

TEST_F(Gpu, a_kernel_without_end_is_killed_and_the_next_candidate_runs) {
  limits_.step = 1s;
  const auto session = launcher();
  ASSERT_TRUE(session);
  EXPECT_THAT(outcome_of(*session, kLoop), EndsWith(Outcome::timed_out, "no answer within 1 s"));
  limits_.step = 10s;
  expect_good();
}

TEST_F(Gpu, a_launch_beyond_the_devices_limits_is_told_and_the_next_candidate_runs) {
  const RunResult shared = outcome_of(kTooMuchShared), threads = outcome_of(kTooManyThreads);
  EXPECT_THAT(shared.outcome, AnyOf(Outcome::limits_exceeded, Outcome::launch_failed)) << shared.detail;
  EXPECT_THAT(threads.outcome, AnyOf(Outcome::limits_exceeded, Outcome::launch_failed)) << threads.detail;
  EXPECT_THAT(shared.detail, HasSubstr("the launch"));
  expect_good();
}

TEST_F(Gpu, memory_that_the_device_does_not_have_is_told_and_the_next_candidate_runs) {
  EXPECT_THAT(outcome_of(kOutOfMemory), EndsWith(Outcome::memory_exceeded, "the launch"));
  expect_good();
}

TEST_F(Gpu, guards_and_inputs_show_what_was_written_beside_the_outputs) {
  const auto session = launcher();
  ASSERT_TRUE(session);
  for (const auto& [mode, damage] : {std::pair{kWritesBeyond, 4000}, std::pair{kWritesBefore, -4}}) {
    ASSERT_THAT(outcome_of(*session, mode), IsOk());
    const auto images = session->read(0);
    ASSERT_TRUE(images && !images->empty());
    EXPECT_FALSE(image(*images, "y").guards_intact) << mode;
    EXPECT_NEAR(static_cast<double>(image(*images, "y").first_damage), damage, 3);
    EXPECT_TRUE(image(*images, "x").guards_intact);
  }
  ASSERT_THAT(outcome_of(*session, kChangesInput), IsOk());
  EXPECT_EQ(image(*session->read(0), "x").contents.at(0), 77);
}

TEST_F(Gpu, what_lies_beyond_a_buffer_that_ends_its_memory_faults) {
  const auto session = launcher();
  ASSERT_TRUE(session);
  EXPECT_THAT(outcome_of(*session, kReadsBeyond), IsOk());
  EXPECT_THAT(outcome_of(*session, kReadsBeyond, {.placement = Placement::end_of_block}),
              EndsWith(Outcome::illegal_access, "700"));
  expect_good();
}

TEST_F(Gpu, outputs_hold_the_poison_if_nothing_writes_them) {
  const auto session = launcher();
  ASSERT_TRUE(session);
  ASSERT_THAT(outcome_of(*session, kWritesNothing, {.poison = 0x77}), IsOk());
  auto images = session->read(0);
  for (const std::byte byte : image(*images, "y").contents.bytes) ASSERT_EQ(byte, std::byte{0x77});
  ASSERT_THAT(done(session->sample({.slots = {0}, .repetitions = 2, .cold = true, .poison = 0x22})), IsOk());
  images = session->read(0);
  for (const std::byte byte : image(*images, "y").contents.bytes) ASSERT_EQ(byte, std::byte{0x22});
}

TEST_F(Gpu, work_that_ends_after_its_stream_is_a_violation) {
  EXPECT_THAT(outcome_of(kOtherStream), EndsWith(Outcome::policy_violation, "after the call's stream had ended"));
  const auto session = launcher();
  ASSERT_TRUE(session);
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kOtherStream), {})), IsOk());
  EXPECT_THAT(done(session->sample({.slots = {0}, .repetitions = 4, .cold = true})),
              EndsWith(Outcome::policy_violation, ""));
  expect_good();
}

TEST_F(Gpu, honest_code_may_use_the_default_stream_wait_and_allocate) {
  for (const int mode : {kDefaultStream, kWaits, kAllocates}) {
    const auto session = launcher();
    ASSERT_TRUE(session);
    ASSERT_THAT(outcome_of(*session, mode), IsOk()) << mode;
    expect_scaled(*session, 0, 1000);
    for (const bool cold : {true, false}) {
      const RunResult sample = done(session->sample({.slots = {0}, .repetitions = 8, .cold = cold, .graph = true}));
      ASSERT_THAT(sample, IsOk()) << mode;
      expect_scaled(*session, 0, 1000);
    }
  }
}

TEST_F(Gpu, what_host_code_does_wrong_is_told_and_the_next_candidate_runs) {
  EXPECT_THAT(outcome_of(kCrashes), EndsWith(Outcome::crashed, "SIGSEGV at 0x10"));
  EXPECT_THAT(outcome_of(kAborts), EndsWith(Outcome::crashed, "SIGABRT"));
  EXPECT_THAT(outcome_of(kExits), EndsWith(Outcome::crashed, "exited with 3"));
  EXPECT_THAT(outcome_of(kConnects), EndsWith(Outcome::policy_violation, "called socket()"));
  EXPECT_THAT(outcome_of(kForks), EndsWith(Outcome::policy_violation, "called"));
  expect_good();
}

TEST_F(Gpu, times_are_those_of_the_device) {
  const auto session = launcher();
  ASSERT_TRUE(session);
  for (int slot = 0; slot < 16; ++slot)
    ASSERT_THAT(done(session->prepare(slot, call_inputs(200'000, kTakesTime), {})), IsOk());  // 0.2 ms
  SamplePlan plan{.slots = {}, .repetitions = 16};
  for (int slot = 0; slot < 16; ++slot) plan.slots.push_back(slot);
  for (const bool cold : {true, false})
    for (const bool graph : {false, true}) {
      plan.cold = cold;
      plan.graph = graph;
      const RunResult sample = done(session->sample(plan));
      ASSERT_THAT(sample, IsOk());
      std::printf("cold %d graph %d: by graph %d, %.2f us a call, %.0f us in all\n", cold, graph, sample.by_graph,
                  static_cast<double>(sample.child_time.count()) / 16e3,
                  static_cast<double>(sample.driver_time.count()) / 1e3);
      EXPECT_GE(sample.child_time, 16 * 200us);
      EXPECT_LE(sample.child_time, sample.driver_time);
      EXPECT_EQ(sample.by_graph, graph && !cold);
      for (int slot = 0; slot < 16; ++slot) expect_scaled(*session, slot, 200'000);
    }
}

TEST_F(Gpu, short_kernels_are_sampled_in_every_way) {
  const auto session = kernel("scale", launch("ceil_div(n, 256)", "256"));
  ASSERT_TRUE(session);
  SamplePlan plan{.slots = {}, .repetitions = 32};
  for (int slot = 0; slot < 32; ++slot) {
    ASSERT_THAT(done(session->prepare(slot, call_inputs(4096, 0), {})), IsOk());
    plan.slots.push_back(slot);
  }
  for (const bool cold : {true, false})
    for (const bool graph : {false, true})
      for (int round = 0; round < 3; ++round) {
        plan.cold = cold;
        plan.graph = graph;
        const RunResult sample = done(session->sample(plan));
        ASSERT_THAT(sample, IsOk());
        std::printf("cold %d graph %d: by graph %d, %.2f us a call, %.0f us in all\n", cold, graph, sample.by_graph,
                    static_cast<double>(sample.child_time.count()) / 32e3,
                    static_cast<double>(sample.driver_time.count()) / 1e3);
      }
  for (int slot = 0; slot < 32; ++slot) expect_scaled(*session, slot, 4096);
}

TEST_F(Gpu, device_code_runs_in_a_trusted_process_and_a_fault_replaces_it) {
  const Launch how = launch("ceil_div(n, 256)", "256");
  for (int round = 0; round < 2; ++round) {
    auto good = kernel("scale", how);
    ASSERT_TRUE(good);
    ASSERT_THAT(outcome_of(*good, 0), IsOk());
    expect_scaled(*good, 0, 1000);
    good.reset();  // its process serves the next
    const auto bad = kernel("fault", how);
    ASSERT_TRUE(bad);
    EXPECT_THAT(outcome_of(*bad, 0), EndsWith(Outcome::illegal_access, "700"));
    EXPECT_THAT(done(bad->call(0)), EndsWith(Outcome::launch_failed, "has ended"));
  }
  const auto absent = kernel("absent", how);
  ASSERT_TRUE(absent);
  EXPECT_THAT(outcome_of(*absent, 0), EndsWith(Outcome::launch_failed, "'absent'"));
}

TEST_F(Gpu, shared_memory_beyond_48_kib_is_given_and_beyond_the_device_refused) {
  const auto large = kernel("shared_scale", launch("ceil_div(n, 256)", "256", "98304"));
  ASSERT_TRUE(large);
  if (options_.device.shared_bytes_per_block > 98304) {
    ASSERT_THAT(outcome_of(*large, 0), IsOk());
    expect_scaled(*large, 0, 1000);
  }
  const auto excessive = kernel("shared_scale", launch("ceil_div(n, 256)", "256", "1048576"));
  ASSERT_TRUE(excessive);
  EXPECT_THAT(outcome_of(*excessive, 0), EndsWith(Outcome::limits_exceeded, "1048576 bytes of shared memory"));
  const auto threads = kernel("scale", launch("1", "2048"));
  ASSERT_TRUE(threads);
  EXPECT_THAT(outcome_of(*threads, 0), EndsWith(Outcome::limits_exceeded, "a block of 2048 threads"));
}

TEST_F(Gpu, constant_inputs_lie_in_constant_memory) {
  std::vector<Parameter> parameters = kernel_parameters();
  parameters[0].constant_memory = true;
  const auto session = kernel("constant_scale", launch("ceil_div(n, 256)", "256"), parameters);
  ASSERT_TRUE(session);
  for (int slot = 0; slot < 2; ++slot)
    ASSERT_THAT(done(session->prepare(slot, call_inputs(1000 + slot, 0), {})), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  expect_scaled(*session, 0, 1000);
  for (const bool cold : {true, false})
    for (const bool graph : {true, false}) {
      ASSERT_THAT(done(session->sample({.slots = {0, 1}, .repetitions = 2, .cold = cold, .graph = graph})), IsOk());
      for (int slot = 0; slot < 2; ++slot) expect_scaled(*session, slot, 1000 + slot);
    }
  ASSERT_THAT(done(session->prepare(2, call_inputs(1025, 0), {})),
              EndsWith(Outcome::limits_exceeded, "an input of 4100 bytes for a __constant__ of 4096"));
}

TEST_F(Gpu, blocks_of_a_cluster_are_launched_together) {
  if (options_.device.major < 9) GTEST_SKIP() << options_.device.name << " has no clusters";
  Launch how = launch("2 * ceil_div(n, 512)", "256");
  const auto one = *Expression::parse("1");
  how.cluster = {*Expression::parse("2"), one, one};
  const auto session = kernel("cluster_scale", how);
  ASSERT_TRUE(session);
  ASSERT_THAT(outcome_of(*session, 0), IsOk());
  expect_scaled(*session, 0, 1000);
}

TEST_F(Gpu, a_case_that_does_not_fit_into_the_device_is_refused_with_the_numbers) {
  std::vector<Parameter> parameters = launcher_parameters();
  parameters.insert(parameters.begin() + 3,
                    buffer("scratch", ParameterKind::workspace, DType::uint8, std::to_string(std::int64_t{1} << 42)));
  const auto session = start({KAGENT_CUDA_LAUNCHER, "", ""}, parameters);
  ASSERT_TRUE(session);
  const auto refused = session->prepare(0, call_inputs(10, kScale), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("MiB are free"));
}

TEST_F(Gpu, the_devices_state_comes_with_each_sample) {
  if (folder_of_library("libnvidia-ml.so.1").empty()) GTEST_SKIP() << "the driver came without NVML";
  const auto session = launcher();
  ASSERT_TRUE(session);
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kScale), {})), IsOk());
  const RunResult sample = done(session->sample({.slots = {0}, .repetitions = 4}));
  ASSERT_TRUE(sample.device_state);
  EXPECT_GT(sample.device_state->clock_mhz, 0);
  std::printf("SM %d MHz, memory %d MHz, throttling %#llx, %d C, %d mW, %d processes, %d others\n",
              sample.device_state->clock_mhz, sample.device_state->memory_clock_mhz,
              static_cast<unsigned long long>(sample.device_state->throttle_reasons),
              sample.device_state->temperature_celsius, sample.device_state->power_milliwatts,
              sample.device_state->compute_processes, sample.device_state->other_processes);
}

TEST_F(Gpu, the_sanitizer_finds_what_a_plain_call_does_not_show) {
  SanitizerOptions how;
  how.sanitizer = find_sanitizer();
  how.allow_unsandboxed = true;
  if (how.sanitizer.empty()) GTEST_SKIP() << "compute-sanitizer is not installed";
  const Binary binary{KAGENT_CUDA_LAUNCHER, "", ""};
  const auto good =
      sanitize(binary, launcher_parameters(), call_inputs(100, kScale), {SanitizerTool::memcheck}, options_, how);
  ASSERT_EQ(good.size(), 1U);
  EXPECT_EQ(good[0].verdict, SanitizerResult::Verdict::clean) << good[0].detail;
  const auto bad = sanitize(binary, launcher_parameters(), call_inputs(100, kIllegalAccess), {SanitizerTool::memcheck},
                            options_, how);
  EXPECT_EQ(bad[0].verdict, SanitizerResult::Verdict::errors) << bad[0].detail;
}

}  // namespace
}  // namespace kagent::runner
