// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <thread>

#include "runner/candidate_session.h"
#include "util/files.h"

namespace kagent::runner {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

enum Mode : int { kScale, kAddresses, kThreads, kBusy, kOpenMp, kThrow };

class HostRunner : public CandidateSession {
 protected:
  std::unique_ptr<Session> plain(const std::string& scratch = "16") {
    return start(candidate("plain"), plain_parameters(scratch));
  }
};

void expect_scaled(const std::vector<BufferImage>& images, int n, float first = 1) {
  const BufferImage& y = image(images, "y");
  ASSERT_EQ(y.contents.shape, std::vector<std::int64_t>{n});
  for (int i = 0; i < n; ++i) ASSERT_EQ(y.contents.at(i), 2 * (first + static_cast<float>(i % 1000))) << i;
  for (const BufferImage& buffer : images) EXPECT_TRUE(buffer.guards_intact) << buffer.parameter;
}

TEST_P(HostRunner, a_call_computes_from_its_inputs) {
  const auto session = plain();
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kScale), {})), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  const auto images = session->read(0);
  ASSERT_TRUE(images);
  EXPECT_EQ(images->size(), 4u);
  expect_scaled(*images, 1000);
  EXPECT_EQ(image(*images, "x").contents.bytes, call_inputs(1000, kScale).tensors["x"].bytes);
  EXPECT_EQ(image(*images, "total").contents.at(0), 100 + 500'500);
}

TEST_P(HostRunner, what_honest_code_uses_works) {
  for (const Mode mode : {kThreads, kOpenMp, kThrow}) {
    const auto session = plain();
    ASSERT_THAT(done(session->prepare(0, call_inputs(1000, mode), {})), IsOk());
    for (int i = 0; i < 20; ++i) ASSERT_THAT(done(session->call(0)), IsOk());
    expect_scaled(*session->read(0), 1000);
  }
}

TEST_P(HostRunner, outputs_and_workspaces_hold_the_poison_before_a_call) {
  const auto session = plain();
  ASSERT_THAT(done(session->prepare(3, call_inputs(1, kAddresses), {.poison = 0x77})), IsOk());
  const auto images = session->read(3);
  for (const char* name : {"y", "scratch"})
    for (const std::byte byte : image(*images, name).contents.bytes) EXPECT_EQ(byte, std::byte{0x77});
}

TEST_P(HostRunner, a_refill_gives_new_contents_at_the_same_addresses) {
  const auto session = plain();
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kAddresses), {})), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  const auto before = session->read(0);
  ASSERT_THAT(done(session->refill(0, call_inputs(1000, kAddresses, 5), 0x33, nullptr)), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  const auto after = session->read(0);
  EXPECT_EQ(image(*after, "y").contents.at(0), image(*before, "y").contents.at(0));
  EXPECT_EQ(image(*after, "y").contents.at(1), image(*before, "y").contents.at(1));
  EXPECT_EQ(image(*after, "y").contents.at(2), 0x33);
  EXPECT_EQ(image(*after, "x").contents.at(0), 5);
  EXPECT_EQ(image(*after, "y").contents.bytes[12], std::byte{0x33});
  EXPECT_EQ(image(*after, "total").contents.at(0), 100 + 504'500);
}

TEST_P(HostRunner, a_refill_of_another_size_is_an_error) {
  const auto session = plain();
  ASSERT_THAT(done(session->prepare(0, call_inputs(10, kScale), {})), IsOk());
  const auto refilled = session->refill(0, call_inputs(11, kScale), 0, nullptr);
  ASSERT_FALSE(refilled);
  EXPECT_THAT(refilled.error().message, HasSubstr("'x'"));
  const auto other_mode = session->refill(0, call_inputs(10, kThreads), 0, nullptr);
  ASSERT_FALSE(other_mode);
  EXPECT_THAT(other_mode.error().message, HasSubstr("'mode'"));
}

TEST_P(HostRunner, a_call_does_not_restore_inouts_and_a_sample_does) {
  const auto session = plain();
  ASSERT_THAT(done(session->prepare(0, call_inputs(1, kScale), {})), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  EXPECT_EQ(image(*session->read(0), "total").contents.at(0), 102);
  for (const bool cold : {true, false}) {
    ASSERT_THAT(done(session->sample({.slots = {0}, .repetitions = 5, .cold = cold})), IsOk());
    EXPECT_EQ(image(*session->read(0), "total").contents.at(0), 101);
  }
}

TEST_P(HostRunner, a_sample_goes_round_its_slots) {
  const auto session = plain();
  for (int slot = 0; slot < 64; ++slot)
    ASSERT_THAT(done(session->prepare(slot, call_inputs(100 + slot, kScale, static_cast<float>(slot)), {})), IsOk());
  SamplePlan plan{.slots = {}, .repetitions = 64, .cold = false};
  for (int slot = 63; slot >= 0; --slot) plan.slots.push_back(slot);
  ASSERT_THAT(done(session->sample(plan)), IsOk());
  for (int slot = 0; slot < 64; ++slot) expect_scaled(*session->read(slot), 100 + slot, static_cast<float>(slot));
}

TEST_P(HostRunner, outputs_are_poisoned_before_each_call_of_a_sample) {
  const auto session = plain();
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kAddresses), {.poison = 0x11})), IsOk());
  ASSERT_THAT(done(session->sample({.slots = {0}, .repetitions = 2, .cold = false, .poison = 0x22})), IsOk());
  const auto images = session->read(0);
  EXPECT_EQ(image(*images, "y").contents.bytes[12], std::byte{0x22});
  EXPECT_EQ(image(*images, "scratch").contents.bytes[0], std::byte{0x11});
}

TEST_P(HostRunner, the_time_of_the_calls_lies_within_the_step) {
  const auto session = plain();
  ASSERT_THAT(done(session->prepare(0, call_inputs(1'000'000, kBusy), {})), IsOk());
  const RunResult one = done(session->call(0));
  EXPECT_GT(one.child_time, 100us);  // a million rounds take more at any clock rate
  EXPECT_LE(one.child_time, one.driver_time);
  const RunResult many = done(session->sample({.slots = {0}, .repetitions = 10, .cold = true}));
  EXPECT_GT(many.child_time, 1ms);
  EXPECT_LE(many.child_time, many.driver_time);
}

TEST_P(HostRunner, buffers_without_elements_are_passed_and_guarded) {
  const auto session = plain("n");
  for (const Placement placement : {Placement::aligned, Placement::end_of_block}) {
    ASSERT_THAT(done(session->prepare(0, call_inputs(0, kScale), {.placement = placement})), IsOk());
    ASSERT_THAT(done(session->call(0)), IsOk());
    const auto images = session->read(0);
    expect_scaled(*images, 0);
    EXPECT_EQ(image(*images, "total").contents.at(0), 100);
  }
}

TEST_P(HostRunner, every_placement_and_offset_gives_the_same_results) {
  const auto session = plain();
  for (const int n : {1, 255, 5000})
    for (const CallLayout& layout : {CallLayout{}, CallLayout{.offset_elements = 1}, CallLayout{.offset_elements = 7},
                                     CallLayout{.placement = Placement::end_of_block}}) {
      ASSERT_THAT(done(session->prepare(0, call_inputs(n, kScale), layout)), IsOk());
      ASSERT_THAT(done(session->call(0)), IsOk());
      expect_scaled(*session->read(0), n);
    }
}

TEST_P(HostRunner, an_offset_in_elements_shows_in_the_address) {
  const auto session = plain();
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kAddresses), {.offset_elements = 3})), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  const Tensor y = image(*session->read(0), "y").contents;
  EXPECT_EQ(static_cast<int>(y.at(0)) % 64, 12);
  EXPECT_EQ(static_cast<int>(y.at(1)) % 64, 12);
}

TEST_P(HostRunner, buffers_larger_than_the_exchange_pass_whole) {
  const auto session = plain();
  constexpr int kCount = 11'000'000;
  ASSERT_THAT(done(session->prepare(0, call_inputs(kCount, kScale), {})), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  expect_scaled(*session->read(0), kCount);
}

TEST_P(HostRunner, buffers_do_not_count_against_the_memory_limit_and_are_given_back) {
  limits_.memory_bytes = 32 << 20;
  const auto session = plain("1073741824");
  for (int slot = 0; slot < 2; ++slot) {
    ASSERT_THAT(done(session->prepare(slot, call_inputs(10, kScale), {})), IsOk());
    ASSERT_THAT(done(session->call(slot)), IsOk());
    ASSERT_THAT(done(session->release(slot)), IsOk());
  }
}

TEST_P(HostRunner, slots_that_do_not_exist_or_were_not_prepared_are_errors) {
  const auto session = plain();
  for (const int slot : {-1, 0, 64}) {
    EXPECT_FALSE(session->call(slot));
    EXPECT_FALSE(session->read(slot));
    EXPECT_FALSE(session->release(slot));
  }
  EXPECT_FALSE(session->prepare(64, call_inputs(1, kScale), {}));
  EXPECT_FALSE(session->sample({.slots = {}}));
  ASSERT_THAT(done(session->prepare(0, call_inputs(1, kScale), {})), IsOk());
  EXPECT_FALSE(session->sample({.slots = {0, 1}}));
  EXPECT_FALSE(session->sample({.slots = {0}, .repetitions = 0}));
  EXPECT_THAT(done(session->call(0)), IsOk());
}

TEST_P(HostRunner, functions_that_a_program_defines_in_place_of_the_systems_do_not_reach_the_runtime) {
  std::vector<Parameter> parameters{buffer("x", ParameterKind::input, DType::float32, "n"),
                                    buffer("y", ParameterKind::output, DType::float32, "n"),
                                    value("n", ParameterKind::size)};
  const auto session = start(candidate("interposing"), parameters);
  ASSERT_THAT(done(session->prepare(0, call_inputs(1'000'000, 0), {})), IsOk());
  const RunResult result = done(session->sample({.slots = {0}, .repetitions = 3}));
  ASSERT_THAT(result, IsOk());
  EXPECT_GT(result.child_time, 10us);
  expect_scaled(*session->read(0), 1'000'000);
}

TEST_P(HostRunner, many_sessions_live_side_by_side) {
  std::vector<std::thread> threads;
  std::array<int, 4> right{};
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 3; ++round) {
        const auto session = plain();
        const auto first = static_cast<float>(t);
        if (done(session->prepare(0, call_inputs(100, kScale, first), {})).outcome != Outcome::ok) return;
        if (done(session->call(0)).outcome != Outcome::ok) return;
        right[t] += image(*session->read(0), "y").contents.at(99) == 2 * (first + 99);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(right, testing::Each(3));
}

TEST_P(HostRunner, a_candidate_is_bound_to_its_cpus) {
  limits_.cpus = {0};
  const auto session = plain();
  ASSERT_THAT(done(session->prepare(0, call_inputs(100, kThreads), {})), IsOk());
  EXPECT_THAT(done(session->call(0)), IsOk());
  limits_.cpus = {1000};
  EXPECT_FALSE(runner_->start(candidate("plain"), plain_parameters(), limits_));
}

TEST_P(HostRunner, a_program_that_is_not_there_is_an_error) {
  const auto session = runner_->start({"/nonexistent/candidate", "", ""}, plain_parameters(), limits_);
  ASSERT_FALSE(session);
  EXPECT_THAT(session.error().message, HasSubstr("/nonexistent/candidate"));
}

TEST_P(HostRunner, a_program_that_cannot_be_loaded_is_a_failed_launch) {
  const util::TemporaryFolder folder;
  const Binary binary{folder.path() / "candidate", "", ""};
  std::filesystem::copy_file(candidate("plain").executable, binary.executable);
  std::filesystem::resize_file(binary.executable, 4096);
  auto session = runner_->start(binary, plain_parameters(), limits_);
  if (!session) return;  // without bubblewrap the kernel's refusal comes at once
  EXPECT_THAT(done((*session)->prepare(0, call_inputs(1, kScale), {})), testing::Not(IsOk()));
}

INSTANTIATE_TEST_SUITE_P(, HostRunner, testing::Bool(), isolation_name);

TEST(HostRunnerWithoutSandbox, refuses_to_run_candidates_unless_told_to) {
  const util::SandboxState none{false, "bwrap: setting up uid map: Permission denied", {}, false};
  const auto session = make_host_runner(none)->start(candidate("plain"), plain_parameters(), {});
  ASSERT_FALSE(session);
  EXPECT_THAT(session.error().message, HasSubstr("setting up uid map"));
  EXPECT_THAT(session.error().fix, HasSubstr("KAGENT_ALLOW_UNSANDBOXED=ON"));
}

}  // namespace
}  // namespace kagent::runner
