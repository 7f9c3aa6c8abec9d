// SPDX-License-Identifier: Apache-2.0
#include "spec/npy.h"

#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/golden_folder.h"

namespace kagent::spec {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kScript = KAGENT_SOURCE_DIR "/tests/spec/numpy_files.py";

const std::vector<DType> kNumpyTypes{DType::float64, DType::float32, DType::float16, DType::int8,
                                     DType::int16,   DType::int32,   DType::int64,   DType::uint8,
                                     DType::uint16,  DType::uint32,  DType::uint64,  DType::boolean};

double element(DType dtype, std::int64_t i) {
  return static_cast<double>(dtype == DType::boolean ? i % 2 : i % 5 + 1);
}

Tensor sample(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor = make_tensor(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) tensor.set(i, element(dtype, i));
  return tensor;
}

class NumpyFiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new util::TemporaryFolder;
    output_of({KAGENT_TEST_PYTHON, kScript, "write", folder_->path()});
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static fs::path file(const std::string& name) { return folder_->path() / name; }
  static std::string error_of(const std::string& name, DType dtype) {
    const auto tensor = read_npy(file(name), dtype);
    return tensor ? "accepted" : tensor.error().message;
  }

  inline static util::TemporaryFolder* folder_ = nullptr;
};

TEST_F(NumpyFiles, EveryDtypeShapeOrderAndVersionReadsIntoCOrder) {
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes{
      {"scalar", {}},      {"vector", {7}},   {"matrix", {3, 5}},
      {"cube", {2, 3, 4}}, {"empty", {0, 4}}, {"empty-inside", {3, 0, 2}}};
  for (const DType dtype : kNumpyTypes)
    for (const auto& [shape_name, shape] : shapes)
      for (const char* order : {"C", "F"})
        for (const char* version : {"1", "2", "3"}) {
          const std::string file_name =
              std::string(name(dtype)) + "." + shape_name + "." + order + "." + version + ".npy";
          const auto tensor = read_npy(file(file_name), dtype);
          ASSERT_TRUE(tensor) << tensor.error().message;
          ASSERT_EQ(tensor->shape, shape) << file_name;
          ASSERT_EQ(tensor->bytes, sample(dtype, shape).bytes) << file_name;
          ASSERT_EQ(read_npy_shape(file(file_name), dtype).value(), shape);
        }
}

TEST_F(NumpyFiles, TypesThatNumpyDoesNotHaveReadFromRawAndUnsignedElements) {
  for (const char* form : {"void", "unsigned"}) {
    const auto bfloat16 = read_npy(file(std::string("bfloat16.") + form + ".npy"), DType::bfloat16);
    ASSERT_TRUE(bfloat16) << bfloat16.error().message;
    EXPECT_EQ(bfloat16->bytes, sample(DType::bfloat16, {3, 5}).bytes);
    const auto float8 = read_npy(file(std::string("float8_e4m3.") + form + ".npy"), DType::float8_e4m3);
    ASSERT_TRUE(float8) << float8.error().message;
    EXPECT_EQ(float8->bytes, sample(DType::float8_e4m3, {5}).bytes);
  }
}

TEST_F(NumpyFiles, UnfitTypesAreRefusedWithTheReason) {
  EXPECT_THAT(error_of("big-endian.npy", DType::float32), HasSubstr("big endian"));
  EXPECT_THAT(error_of("structured.npy", DType::float32), HasSubstr("structured type"));
  EXPECT_THAT(error_of("objects.npy", DType::float32), HasSubstr("Python objects"));
  EXPECT_THAT(error_of("text.npy", DType::float32), HasSubstr("it holds '<U1'"));
  EXPECT_THAT(error_of("complex.npy", DType::float64), HasSubstr("it holds '<c8' and the spec says float64 ('<f8')"));
  EXPECT_THAT(error_of("float32.vector.C.1.npy", DType::int32), HasSubstr("it holds '<f4' and the spec says int32"));
}

TEST_F(NumpyFiles, WhatIsWrittenNumpyReads) {
  const util::TemporaryFolder out;
  std::vector<std::string> command{KAGENT_TEST_PYTHON, kScript, "read"};
  const auto add = [&](DType dtype, const std::string& descr, const std::vector<std::int64_t>& shape) {
    const fs::path path = out.path() / (std::to_string(command.size()) + ".npy");
    ASSERT_TRUE(write_npy(path, sample(dtype, shape)));
    EXPECT_EQ(read_npy(path, dtype)->bytes, sample(dtype, shape).bytes);
    command.insert(command.end(), {path, descr, shape_text(shape)});
  };
  const std::vector<std::string> descr{"<f8", "<f4", "<f2", "|i1", "<i2", "<i4",
                                       "<i8", "|u1", "<u2", "<u4", "<u8", "|b1"};
  for (std::size_t i = 0; i < kNumpyTypes.size(); ++i)
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{}, {7}, {3, 5}, {0, 4}})
      add(kNumpyTypes[i], descr[i], shape);
  add(DType::bfloat16, "<V2", {2, 2});
  add(DType::float8_e5m2, "|V1", {3});
  output_of(command);
}

TEST(NpyWriting, DataBeginsAtAMultipleOf64) {
  const util::TemporaryFolder folder;
  for (std::int64_t extent : {1, 10, 1'000, 100'000}) {
    ASSERT_TRUE(write_npy(folder.path() / "a.npy", make_tensor(DType::uint8, {extent})));
    EXPECT_EQ((fs::file_size(folder.path() / "a.npy") - static_cast<std::uintmax_t>(extent)) % 64, 0U);
  }
}

// A version 1 file with that dictionary and data.
std::string npy(const std::string& dictionary, std::size_t data_bytes = 0) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(dictionary.size() & 0xFF);
  text += static_cast<char>(dictionary.size() >> 8);
  return text + dictionary + std::string(data_bytes, '\0');
}

class BrokenNpy : public ::testing::Test {
 protected:
  std::string error_of(const std::string& contents, DType dtype = DType::float32) {
    std::ofstream(folder_.path() / "a.npy", std::ios::binary) << contents;
    const auto tensor = read_npy(folder_.path() / "a.npy", dtype);
    const auto shape = read_npy_shape(folder_.path() / "a.npy", dtype);
    EXPECT_TRUE(tensor || !shape || dtype == DType::boolean);
    return tensor ? "accepted" : tensor.error().message;
  }
  util::TemporaryFolder folder_;
};

TEST_F(BrokenNpy, TheSmallestCorrectFileIsAccepted) {
  EXPECT_EQ(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8)), "accepted");
  EXPECT_EQ(error_of(npy("{\"shape\":(2L,),\"fortran_order\":True,\"descr\":\"<f4\"}", 8)), "accepted");
}

TEST_F(BrokenNpy, EveryTruncationIsRefused) {
  const std::string whole = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8);
  for (std::size_t size = 0; size < whole.size(); ++size)
    ASSERT_NE(error_of(whole.substr(0, size)), "accepted") << size;
  EXPECT_THAT(error_of(whole + "x"), HasSubstr("needs 8 bytes and it has 9"));
}

TEST_F(BrokenNpy, EveryChangedByteOfTheHeaderIsReadOrRefusedButNeverCrashes) {
  const std::string whole = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8);
  for (std::size_t at = 0; at + 8 < whole.size(); ++at)
    for (const char c : {'\0', '\xFF', '9', ' ', '\'', '(', '-', 'L'}) {
      std::string changed = whole;
      changed[at] = c;
      const std::string answer = error_of(changed);
      ASSERT_EQ(answer.find("does not begin as a .npy file") != std::string::npos, at < 6 && c != whole[at]) << answer;
    }
}

TEST_F(BrokenNpy, ShapesThatCannotBeAreRefused) {
  const auto with_shape = [&](const std::string& shape) {
    return error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }\n", 8));
  };
  EXPECT_THAT(with_shape("(4611686018427387904, 4)"), HasSubstr("overflows"));
  EXPECT_THAT(with_shape("(0, 4611686018427387904, 4)"), HasSubstr("overflows"));
  EXPECT_THAT(with_shape("(4611686018427387904,)"), HasSubstr("overflows"));
  EXPECT_THAT(with_shape("(1000000000000,)"), HasSubstr("needs 4000000000000 bytes and it has 8"));
  EXPECT_THAT(with_shape("(0,)"), HasSubstr("needs 0 bytes and it has 8"));
  for (const char* shape :
       {"(-2,)", "(2)", "(2.0,)", "(1e3,)", "2", "[2]", "(,)", "(2,,)", "(2, 3", "(99999999999999999999,)", "('2',)",
        "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2,)"})
    EXPECT_THAT(with_shape(shape), HasSubstr("not what NumPy writes")) << shape;
}

TEST_F(BrokenNpy, DictionariesThatNumpyDoesNotWriteAreRefused) {
  for (const char* text : {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False}",
                           "{'shape': (2,), 'shape': (2,)}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} 1", "__import__('os')",
                           "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2,)}"})
    EXPECT_NE(error_of(npy(text, 8)), "accepted") << text;
}

TEST_F(BrokenNpy, UnknownVersionsAndLongHeadersAreRefused) {
  EXPECT_THAT(error_of(std::string("\x93NUMPY\x04\x00", 8) + std::string(100, ' ')), HasSubstr("version 4"));
  EXPECT_THAT(error_of(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF", 12)), HasSubstr("4294967295 bytes long"));
  EXPECT_THAT(error_of(std::string("\x93NUMPY\x01\x00\xFF\xFF", 10)), HasSubstr("ends within its header"));
}

TEST_F(BrokenNpy, ABoolThatIsNeitherZeroNorOneIsRefused) {
  std::string file = npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }\n", 2);
  EXPECT_EQ(error_of(file, DType::boolean), "accepted");
  file.back() = '\x02';
  EXPECT_THAT(error_of(file, DType::boolean), HasSubstr("neither 0 nor 1"));
}

TEST_F(BrokenNpy, APointerOfGitLfsIsTold) {
  EXPECT_THAT(error_of("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"),
              HasSubstr("is a Git LFS pointer"));
}

TEST(Npy, WhatIsNoFileIsRefused) {
  const util::TemporaryFolder folder;
  EXPECT_THAT(read_npy(folder.path() / "missing.npy", DType::int8).error().message, HasSubstr("there is no such file"));
  EXPECT_FALSE(read_npy(folder.path(), DType::int8));
  EXPECT_FALSE(read_npy("/dev/zero", DType::int8));
}

}  // namespace
}  // namespace kagent::spec
