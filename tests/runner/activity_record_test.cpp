// SPDX-License-Identifier: Apache-2.0

// The two ends of a trace: what the runtime makes of CUPTI's records, and what the driver makes of its text.

#include "runner/cuda_runtime/activity_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/trace_text.h"

namespace kagent::runner {
namespace {

using cuda::decode;
using cuda::describe;
using cuda::readable_name;
using testing::IsEmpty;

using Extents = std::array<std::int64_t, 3>;

template <class Record>
const CUpti_Activity& as_record(const Record& record) {
  return reinterpret_cast<const CUpti_Activity&>(record);
}

cuda::KernelRecord kernel_record() {
  cuda::KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = "_ZN3ops5scaleILi4EEEvPfi";
  record.start = 1'700'000'000'000'000'500;
  record.end = 1'700'000'000'000'002'500;
  record.gridX = 132, record.gridY = 2, record.gridZ = 3;
  record.blockX = 256, record.blockY = 4, record.blockZ = 1;
  record.clusterX = 2, record.clusterY = 1, record.clusterZ = 1;
  record.registersPerThread = 40;
  record.staticSharedMemory = 1024;
  record.dynamicSharedMemory = 100'000;
  record.localMemoryPerThread = 48;
  return record;
}

TEST(ActivityRecord, of_a_kernel_tells_its_time_and_its_launch) {
  const auto record = kernel_record();
  const auto work = decode(as_record(record));
  ASSERT_TRUE(work);
  EXPECT_EQ(work->kind, WorkKind::kernel);
  EXPECT_EQ(work->name, "ops::scale<4>");
  EXPECT_EQ(work->begin_ns, 1'700'000'000'000'000'500);
  EXPECT_EQ(work->end_ns, 1'700'000'000'000'002'500);
  EXPECT_EQ(work->grid, (Extents{132, 2, 3}));
  EXPECT_EQ(work->block, (Extents{256, 4, 1}));
  EXPECT_EQ(work->cluster, (Extents{2, 1, 1}));
  EXPECT_EQ(work->registers, 40);
  EXPECT_EQ(work->static_shared_bytes, 1024);
  EXPECT_EQ(work->dynamic_shared_bytes, 100'000);
  EXPECT_EQ(work->local_bytes, 48);
}

TEST(ActivityRecord, of_copies_and_fills_tells_their_time_and_others_nothing) {
  cuda::CopyRecord copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.start = 10;
  copy.end = 20;
  ASSERT_TRUE(decode(as_record(copy)));
  EXPECT_EQ(decode(as_record(copy))->kind, WorkKind::copy);
  EXPECT_EQ(decode(as_record(copy))->name, "copy to the device");
  EXPECT_EQ(decode(as_record(copy))->end_ns, 20);
  cuda::FillRecord fill{};
  fill.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  fill.start = 30;
  fill.end = 35;
  ASSERT_TRUE(decode(as_record(fill)));
  EXPECT_EQ(decode(as_record(fill))->kind, WorkKind::fill);
  EXPECT_EQ(decode(as_record(fill))->begin_ns, 30);
  CUpti_Activity other{};
  other.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  EXPECT_FALSE(decode(other));
}

TEST(ActivityRecord, names_of_kernels_are_without_their_parameters) {
  EXPECT_EQ(readable_name("scale"), "scale");
  EXPECT_EQ(readable_name("_Z5scalePfi"), "scale");
  EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_15scaleEPfi"), "(anonymous namespace)::scale");
  // As nvcc has it.
  EXPECT_EQ(readable_name("_ZN44_GLOBAL__N__e6fc04a2_11_launcher_cu_232942c64waitEx"), "(anonymous namespace)::wait");
  EXPECT_EQ(readable_name("_Z5applyIPFffEEvT_Pf"), "apply<float (*)(float)>");
  EXPECT_EQ(readable_name("_Zno"), "_Zno");
  EXPECT_EQ(readable_name(nullptr), "?");
  EXPECT_EQ(readable_name(""), "?");
  EXPECT_EQ(readable_name(std::string(5000, 'x').c_str()), std::string(200, 'x'));
}

TEST(Trace, comes_through_as_it_was_seen_from_its_first_beginning_on) {
  const auto record = kernel_record();
  TracedWork kernel = *decode(as_record(record)), before = kernel;
  before.begin_ns -= 300;
  before.end_ns -= 1900;
  before.name = "void (two words)";
  const KernelTrace trace = parse_trace(describe({kernel, before}, 2345, ""));
  EXPECT_THAT(trace.problem, IsEmpty());
  EXPECT_EQ(trace.event_ns, 2345);
  ASSERT_EQ(trace.work.size(), 2U);
  EXPECT_EQ(trace.work[0].name, "void (two words)");
  EXPECT_EQ(trace.work[0].begin_ns, 0);
  EXPECT_EQ(trace.work[0].end_ns, 400);
  const TracedWork& second = trace.work[1];
  EXPECT_EQ(second.begin_ns, 300);
  EXPECT_EQ(second.end_ns, 2300);
  EXPECT_EQ(second.grid, (Extents{132, 2, 3}));
  EXPECT_EQ(second.block, (Extents{256, 4, 1}));
  EXPECT_EQ(second.cluster, (Extents{2, 1, 1}));
  EXPECT_EQ(second.registers, 40);
  EXPECT_EQ(second.static_shared_bytes, 1024);
  EXPECT_EQ(second.dynamic_shared_bytes, 100'000);
  EXPECT_EQ(second.local_bytes, 48);
}

TEST(Trace, that_is_none_has_a_reason) {
  const auto record = kernel_record();
  const KernelTrace refused = parse_trace(describe({*decode(as_record(record))}, 1, "there is no CUPTI"));
  EXPECT_EQ(refused.problem, "there is no CUPTI");
  EXPECT_THAT(refused.work, IsEmpty());
  EXPECT_EQ(parse_trace("").problem, "the trace could not be read");
}

TEST(Trace, of_a_process_that_says_anything_holds_only_what_can_be) {
  const std::string good = "0 0 100 1 1 1 32 1 1 0 0 0 8 0 0 0 k";
  EXPECT_EQ(parse_trace(good).work.size(), 1U);
  for (const std::string bad :
       {"0 200 100 1 1 1 32 1 1 0 0 0 8 0 0 0 ends_before_it_begins", "0 -5 100 1 1 1 32 1 1 0 0 0 8 0 0 0 early",
        "3 0 100 1 1 1 32 1 1 0 0 0 8 0 0 0 of_no_kind", "-1 0 100 1 1 1 32 1 1 0 0 0 8 0 0 0 of_no_kind",
        "0 0 100 -1 1 1 32 1 1 0 0 0 8 0 0 0 negative", "0 0 9999999999999999 1 1 1 32 1 1 0 0 0 8 0 0 0 for_years",
        "0 0 99999999999999999999999 1 1 1 32 1 1 0 0 0 8 0 0 0 overflow", "0 0 100 1 1 1 32 1 1 0 0 0 8 0 0 0",
        "0 0 100 1 1 1", "words", "= soon", "\xFF\xFE"})
    EXPECT_THAT(parse_trace(bad).work, IsEmpty()) << bad;
  std::string many;
  for (int i = 0; i < 5000; ++i) many += good + "\n";
  EXPECT_EQ(parse_trace(many).work.size(), 1000U);
  EXPECT_EQ(parse_trace("0 0 100 1 1 1 32 1 1 0 0 0 8 0 0 0 \x1B[31mred\n").work[0].name.find('\x1B'),
            std::string::npos);
  EXPECT_EQ(parse_trace(good + "\n= -7\n").event_ns, 0);
  EXPECT_EQ(parse_trace(good + "\n= nan\n").event_ns, 0);
}

TEST(Trace, of_extents_whose_product_is_beyond_all_numbers_is_none) {
  EXPECT_THAT(parse_trace("0 0 100 4000000000 4000000000 4000000000 32 1 1 0 0 0 8 0 0 0 k").work, IsEmpty());
}

}  // namespace
}  // namespace kagent::runner
