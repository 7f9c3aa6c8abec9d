// SPDX-License-Identifier: Apache-2.0
#include "store/profile_record.h"

#include <cmath>

#include <gtest/gtest.h>

#include "util/files.h"

namespace kagent::store {
namespace {

class ProfileRecordFile : public testing::Test {
 protected:
  static ProfileRecord example() {
    ProfileRecord record;
    record.cases["training"] = {1234.5, {{{"dram__bytes_read.sum", 4096}, {"idle.ratio", std::nan("")}}, {}}, "", {}};
    KernelTrace& trace = record.cases["training"].trace;
    trace.event_ns = 1300;
    trace.work = {{WorkKind::fill, "fill", 0, 50, {}, {}, {}, 0, 0, 0, 0},
                  {WorkKind::kernel, "softmax<256>", 60, 1260, {132, 2, 1}, {256, 1, 1}, {2, 1, 1}, 40, 1024, 512, 16}};
    record.cases["decode"].problem = "no permission for counters";
    record.cases["decode"].trace.problem = "there is no CUPTI";
    record.usage = {{.kernel = "softmax<256>", .registers = 40, .shared_bytes = 1024, .barriers = 1}};
    record.object_hash = "1a2b";
    record.code = {{{"load_bits", 32}}, "9 instructions", "no places", {"line 3, 'y[i] = x[i];': 9 instructions"}};
    record.device.name = "NVIDIA H200";
    record.device.multiprocessors = 132;
    record.device.l2_bytes = 60 << 20;
    record.device.shared_bytes_per_multiprocessor = 233472;
    return record;
  }
  util::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "new" / "baseline.json";
};

TEST_F(ProfileRecordFile, gives_back_what_was_seen) {
  write_profile(file_, example());
  const auto record = read_profile(file_);
  ASSERT_TRUE(record);
  ASSERT_EQ(record->cases.size(), 2U);
  const ProfileRecord::OfCase& training = record->cases.at("training");
  EXPECT_EQ(training.time_ns, 1234.5);
  ASSERT_EQ(training.kernels.size(), 2U);
  // What nothing happened for is no evidence.
  EXPECT_EQ(training.kernels[0], (std::map<std::string, double>{{"dram__bytes_read.sum", 4096}}));
  EXPECT_EQ(record->cases.at("decode").problem, "no permission for counters");
  ASSERT_EQ(record->usage.size(), 1U);
  EXPECT_EQ(record->usage[0].kernel, "softmax<256>");
  EXPECT_EQ(record->usage[0].registers, 40);
  EXPECT_EQ(record->usage[0].shared_bytes, 1024);
  EXPECT_EQ(record->object_hash, "1a2b");
  EXPECT_EQ(record->code.numbers, example().code.numbers);
  EXPECT_EQ(record->code.text, "9 instructions");
  EXPECT_EQ(record->code.reason, "no places");
  EXPECT_EQ(record->code.lines, example().code.lines);
  EXPECT_EQ(record->device.name, "NVIDIA H200");
  EXPECT_EQ(record->device.multiprocessors, 132);
  EXPECT_EQ(record->device.l2_bytes, 60 << 20);
  EXPECT_EQ(record->device.shared_bytes_per_multiprocessor, 233472);
}

TEST_F(ProfileRecordFile, gives_back_what_the_device_did) {
  write_profile(file_, example());
  const auto record = read_profile(file_);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->cases.at("decode").trace.problem, "there is no CUPTI");
  const KernelTrace& trace = record->cases.at("training").trace;
  EXPECT_EQ(trace.event_ns, 1300);
  ASSERT_EQ(trace.work.size(), 2U);
  EXPECT_EQ(trace.work[0].kind, WorkKind::fill);
  const TracedWork& kernel = trace.work[1];
  EXPECT_EQ(kernel.kind, WorkKind::kernel);
  EXPECT_EQ(kernel.name, "softmax<256>");
  EXPECT_EQ(kernel.begin_ns, 60);
  EXPECT_EQ(kernel.end_ns, 1260);
  EXPECT_EQ(kernel.grid, (std::array<std::int64_t, 3>{132, 2, 1}));
  EXPECT_EQ(kernel.block, (std::array<std::int64_t, 3>{256, 1, 1}));
  EXPECT_EQ(kernel.cluster, (std::array<std::int64_t, 3>{2, 1, 1}));
  EXPECT_EQ(kernel.registers, 40);
  EXPECT_EQ(kernel.static_shared_bytes, 1024);
  EXPECT_EQ(kernel.dynamic_shared_bytes, 512);
  EXPECT_EQ(kernel.local_bytes, 16);
}

TEST_F(ProfileRecordFile, is_no_record_when_it_cannot_be_read) {
  EXPECT_FALSE(read_profile(file_));
  write_profile(file_, example());
  const std::string text = util::read_file(file_).value();
  const auto with = [&text](const std::string& part, const std::string& other) {
    std::string changed = text;
    return changed.replace(changed.find(part), part.size(), other);
  };
  for (const std::string& damaged :
       {text.substr(0, text.size() / 2), std::string("[]"), std::string("{}"), "{\"more\": 1," + text.substr(1),
        with("\"kind\": \"fill\"", "\"kind\": \"filling\""), with("\"end_ns\": 50", "\"end_ns\": -50"),
        with("\"grid\": [", "\"grid\": [7, "), with("\"grid\": [", "\"grid\": [\"7\", ")}) {
    ASSERT_TRUE(util::write_file_atomically(file_, damaged));
    EXPECT_FALSE(read_profile(file_)) << damaged;
  }
}

}  // namespace
}  // namespace kagent::store
