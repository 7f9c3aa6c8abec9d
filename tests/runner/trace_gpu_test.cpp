// SPDX-License-Identifier: Apache-2.0

// On a real GPU: what a call does there is seen without hardware counters.

#include <algorithm>
#include <array>

#include "runner/on_gpu.h"

namespace kagent::runner {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::EndsWith;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

using Extents = std::array<std::int64_t, 3>;

class TraceOnGpu : public OnGpu<> {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (IsSkipped()) return;
    limits_.reads_counters = true;
    runner_ = make_cuda_runner({.device = device_, .kernel_runner = kernel_runner(), .warm = 1});
  }

  std::unique_ptr<Session> launcher() { return start({KAGENT_CUDA_LAUNCHER, "", ""}, launcher_parameters()); }
  std::unique_ptr<Session> kernel(const std::string& symbol, const Launch& how) {
    return start(device_binary(KAGENT_CUDA_KERNELS, symbol, how), kernel_parameters());
  }
  static KernelTrace trace_of(Session& session, int n, int mode) {
    const RunResult prepared = done(session.prepare(0, call_inputs(n, mode), {}));
    EXPECT_THAT(prepared, IsOk());
    const auto trace = session.trace(0);
    EXPECT_TRUE(trace) << trace.error().message;
    if (!trace) return {};
    for (const TracedWork& work : trace->work)
      std::printf("%s: %lld ... %lld ns\n", work.name.c_str(), static_cast<long long>(work.begin_ns),
                  static_cast<long long>(work.end_ns));
    std::printf("between the events: %.0f ns\n", trace->event_ns);
    return *trace;
  }
};

TEST_F(TraceOnGpu, two_kernels_of_a_call_each_have_their_time_and_their_launch) {
  const auto session = launcher();
  ASSERT_TRUE(session);
  constexpr int kWait = 2'000'000;  // nanoseconds, and elements
  const KernelTrace trace = trace_of(*session, kWait, kTakesTime);
  ASSERT_THAT(trace.problem, IsEmpty());
  ASSERT_EQ(trace.work.size(), 2U);
  const TracedWork &wait = trace.work[0], &scale = trace.work[1];
  EXPECT_THAT(wait.name, EndsWith("::wait"));
  EXPECT_EQ(wait.begin_ns, 0);
  EXPECT_GT(wait.end_ns, 0.9 * kWait);
  EXPECT_EQ(wait.grid, (Extents{1, 1, 1}));
  EXPECT_EQ(wait.block, (Extents{1, 1, 1}));
  EXPECT_THAT(scale.name, EndsWith("::scale"));
  EXPECT_GT(scale.end_ns, scale.begin_ns);
  EXPECT_LT(scale.end_ns - scale.begin_ns, wait.end_ns);
  EXPECT_EQ(scale.grid, (Extents{(kWait + 255) / 256 + 1, 1, 1}));
  EXPECT_EQ(scale.block, (Extents{256, 1, 1}));
  EXPECT_GT(scale.registers, 0);
  EXPECT_EQ(scale.static_shared_bytes + scale.dynamic_shared_bytes, 0);
  EXPECT_GT(trace.event_ns, 0.9 * kWait);
  // The last of its calls is a call as any other.
  expect_scaled(*session, 0, kWait);
}

TEST_F(TraceOnGpu, a_trusted_process_tells_shared_memory_and_clusters) {
  const auto session = kernel("shared_scale", launch("ceil_div(n, 256)", "256", "2048"));
  ASSERT_TRUE(session);
  const KernelTrace trace = trace_of(*session, 1000, kScale);
  ASSERT_THAT(trace.problem, IsEmpty());
  ASSERT_EQ(trace.work.size(), 1U) << "the runtime's own kernels are no part of a call";
  EXPECT_EQ(trace.work[0].name, "shared_scale");
  EXPECT_EQ(trace.work[0].dynamic_shared_bytes, 2048);
  EXPECT_EQ(trace.work[0].grid, (Extents{4, 1, 1}));
  expect_scaled(*session, 0, 1000);
  if (device_.major < 9) GTEST_SKIP() << device_.name << " has no clusters";
  Launch how = launch("2 * ceil_div(n, 512)", "256");
  const auto one = *Expression::parse("1");
  how.cluster = {*Expression::parse("2"), one, one};
  const auto clustered = kernel("cluster_scale", how);
  ASSERT_TRUE(clustered);
  const KernelTrace of_cluster = trace_of(*clustered, 1000, kScale);
  ASSERT_EQ(of_cluster.work.size(), 1U) << of_cluster.problem;
  EXPECT_EQ(of_cluster.work[0].cluster, (Extents{2, 1, 1}));
}

TEST_F(TraceOnGpu, a_process_that_waited_for_something_else_is_not_taken) {
  limits_.reads_counters = false;
  ASSERT_THAT(done(kernel("scale", launch("ceil_div(n, 256)", "256"))->prepare(0, call_inputs(1000, kScale), {})),
              IsOk());
  limits_.reads_counters = true;
  const auto session = kernel("scale", launch("ceil_div(n, 256)", "256"));
  ASSERT_TRUE(session);
  const KernelTrace trace = trace_of(*session, 1000, kScale);
  EXPECT_EQ(trace.work.size(), 1U) << trace.problem;
}

TEST_F(TraceOnGpu, copies_between_kernels_are_seen_as_well) {
  const auto session = launcher();
  ASSERT_TRUE(session);
  const KernelTrace trace = trace_of(*session, 1 << 20, kAllocates);
  ASSERT_THAT(trace.problem, IsEmpty());
  EXPECT_THAT(trace.work, Contains(Field(&TracedWork::kind, WorkKind::copy)));
  EXPECT_THAT(trace.work, Contains(Field(&TracedWork::name, EndsWith("::scale"))));
}

TEST_F(TraceOnGpu, work_in_another_stream_is_seen_although_the_events_do_not_see_it) {
  const auto session = launcher();
  ASSERT_TRUE(session);
  const KernelTrace trace = trace_of(*session, 1000, kOtherStream);
  ASSERT_THAT(trace.problem, IsEmpty());
  ASSERT_EQ(trace.work.size(), 2U);
  EXPECT_GT(trace.work[0].end_ns, 4'500'000);
  EXPECT_LT(trace.event_ns, 3'000'000);
}

TEST_F(TraceOnGpu, a_call_that_faults_leaves_its_reason) {
  const auto session = launcher();
  ASSERT_TRUE(session);
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kIllegalAccess), {})), IsOk());
  const auto trace = session->trace(0);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(trace->work, IsEmpty());
  EXPECT_THAT(trace->problem, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(TraceOnGpu, a_call_that_waits_for_the_device_is_traced_all_the_same) {
  const auto session = launcher();
  ASSERT_TRUE(session);
  const KernelTrace trace = trace_of(*session, 1 << 20, kWaits);
  ASSERT_THAT(trace.problem, IsEmpty());
  ASSERT_EQ(trace.work.size(), 1U);
  expect_scaled(*session, 0, 1 << 20);
}

}  // namespace
}  // namespace kagent::runner
