// SPDX-License-Identifier: Apache-2.0
#include "toolchain/device_code.h"

#include <cstring>

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/files.h"

namespace kagent::toolchain {
namespace {

namespace fs = std::filesystem;

void append(std::string& bytes, std::uint64_t value, std::size_t size) {
  bytes.append(reinterpret_cast<const char*>(&value), size);
}

// An image as fatbinary writes it, with a body of eight bytes.
std::string image(int kind, int architecture, std::uint64_t flags) {
  std::string bytes;
  append(bytes, static_cast<std::uint64_t>(kind), 2);
  append(bytes, 0x101, 2);
  append(bytes, 64, 4);
  append(bytes, 8, 8);
  bytes.resize(28);
  append(bytes, static_cast<std::uint64_t>(architecture), 4);
  bytes.resize(40);
  append(bytes, flags, 8);
  bytes.resize(64 + 8);
  return bytes;
}

std::string container(const std::string& images) {
  std::string bytes;
  append(bytes, 0xBA55ED50, 4);
  append(bytes, 1, 2);
  append(bytes, 16, 2);
  append(bytes, images.size(), 8);
  return bytes + images;
}

// An object file whose one section beside the names is `section`.
std::string object(const std::string& name, const std::string& section) {
  const std::string names = std::string("\0", 1) + name + std::string("\0", 1);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  header.e_shoff = sizeof(header);
  Elf64_Shdr sections[3] = {};
  sections[1].sh_offset = sizeof(header) + sizeof(sections);
  sections[1].sh_size = names.size();
  sections[2].sh_name = 1;
  sections[2].sh_type = SHT_PROGBITS;
  sections[2].sh_offset = sections[1].sh_offset + names.size();
  sections[2].sh_size = section.size();
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes.append(reinterpret_cast<const char*>(sections), sizeof(sections));
  return bytes + names + section;
}

class DeviceCodeOfAFile : public testing::Test {
 protected:
  Result<std::vector<DeviceCode>> read(const std::string& bytes) {
    const fs::path file = folder_.path() / "object.o";
    (void)util::write_file_atomically(file, bytes);
    return device_code(file);
  }

  // "sm_90", "ptx sm_90"
  std::vector<std::string> names(const std::string& bytes) {
    std::vector<std::string> result;
    const auto images = read(bytes);
    EXPECT_TRUE(images) << images.error().message;
    for (const DeviceCode& one : *images) result.push_back((one.ptx ? "ptx " : "") + one.architecture);
    return result;
  }

  util::TemporaryFolder folder_;
};

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(DeviceCodeOfAFile, is_listed_with_architecture_and_kind) {
  const std::string images = image(2, 80, 0x11) + image(2, 90, 0x100011) + image(2, 100, 0x200011) + image(1, 90, 0x11);
  EXPECT_THAT(names(object(".nv_fatbin", container(images))), ElementsAre("sm_80", "sm_90a", "sm_100f", "ptx sm_90"));
}

TEST_F(DeviceCodeOfAFile, is_found_in_several_containers_with_padding_between_them) {
  const std::string section = container(image(2, 80, 0)) + std::string(8, '\0') + container(image(2, 90, 0));
  EXPECT_THAT(names(object("__nv_relfatbin", section)), ElementsAre("sm_80", "sm_90"));
}

TEST_F(DeviceCodeOfAFile, is_none_in_an_object_of_host_code) {
  EXPECT_THAT(names(object(".text", "no device code")), IsEmpty());
}

TEST_F(DeviceCodeOfAFile, that_is_cut_anywhere_is_an_error_and_never_a_crash) {
  const std::string whole = object(".nv_fatbin", container(image(2, 80, 0x11) + image(1, 90, 0x11)));
  ASSERT_TRUE(read(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read(whole.substr(0, size))) << size;
}

TEST_F(DeviceCodeOfAFile, with_lengths_that_lead_out_of_it_is_an_error) {
  for (std::size_t at : {4, 8}) {  // of the first image: its header, its body
    std::string images = image(2, 80, 0x11);
    std::memset(images.data() + at, 0xFF, 4);
    EXPECT_FALSE(read(object(".nv_fatbin", container(images)))) << at;
  }
}

TEST(ForeignDeviceCode, is_what_is_not_machine_code_of_the_architecture) {
  EXPECT_EQ(foreign_device_code({{"sm_90", false}}, "sm_90"), "");
  EXPECT_EQ(foreign_device_code({}, "sm_90"), "");
  EXPECT_EQ(foreign_device_code({{"sm_90", false}, {"sm_80", false}}, "sm_90"), "code for sm_80");
  EXPECT_EQ(foreign_device_code({{"sm_90", true}}, "sm_90"), "PTX of sm_90");
  EXPECT_EQ(foreign_device_code({{"sm_90", false}}, "sm_90a"), "code for sm_90");
}

}  // namespace
}  // namespace kagent::toolchain
