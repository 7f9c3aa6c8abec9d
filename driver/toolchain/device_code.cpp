// SPDX-License-Identifier: Apache-2.0
#include "toolchain/device_code.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include <elf.h>

#include "util/files.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

// A container as `fatbinary` writes it: its header, then images with a header each. Lengths are of what follows.
constexpr std::uint32_t kContainerMagic = 0xBA55ED50;
constexpr std::size_t kShortestImageHeader = 48;  // up to the flags
constexpr std::uint16_t kMachineCode = 2;
// Code for one architecture alone (sm_90a), or for one family (sm_100f).
constexpr std::uint64_t kArchitectureSpecific = 0x100000, kFamilySpecific = 0x200000;

// A value of the file, if it lies in it.
template <class Value>
std::optional<Value> read(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(Value)) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data() + at, sizeof(Value));
  return value;
}

std::optional<std::string_view> part(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || bytes.size() - at < size) return std::nullopt;
  return bytes.substr(at, size);
}

// Adds the images of one container. False if it is damaged.
bool read_images(std::string_view container, std::vector<DeviceCode>& images) {
  while (!container.empty()) {
    const auto kind = read<std::uint16_t>(container, 0);
    const auto header = read<std::uint32_t>(container, 4);
    const auto size = read<std::uint64_t>(container, 8);
    const auto number = read<std::uint32_t>(container, 28);
    const auto flags = read<std::uint64_t>(container, 40);
    if (!flags || *header < kShortestImageHeader || *header > container.size() || *size > container.size() - *header)
      return false;
    const char* suffix = *flags & kArchitectureSpecific ? "a" : *flags & kFamilySpecific ? "f" : "";
    images.push_back({"sm_" + std::to_string(*number) + suffix, *kind != kMachineCode});
    container.remove_prefix(*header + *size);
  }
  return true;
}

// The containers of a section, which are aligned to eight bytes.
bool read_section(std::string_view section, std::vector<DeviceCode>& images) {
  std::uint64_t at = 0;
  while (const auto magic = read<std::uint32_t>(section, at)) {
    if (*magic != kContainerMagic) {
      if (*magic != 0) return false;
      at += sizeof(*magic);
      continue;
    }
    const auto header = read<std::uint16_t>(section, at + 6);
    const auto size = read<std::uint64_t>(section, at + 8);
    if (!size) return false;
    const auto content = part(section, at + *header, *size);
    if (!content || !read_images(*content, images)) return false;
    at += *header + *size;
  }
  return true;
}

bool holds_device_code(std::string_view section_name) {
  return section_name == ".nv_fatbin" || section_name == "__nv_relfatbin";
}

}  // namespace

Result<std::vector<DeviceCode>> device_code(const fs::path& file) {
  const auto contents = util::read_file(file);
  if (!contents) return std::unexpected(contents.error());
  const std::string_view bytes = *contents;
  const auto damaged = [&] { return failure("'" + file.string() + "' is damaged, or no object file of this machine"); };
  const auto header = read<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_shentsize != sizeof(Elf64_Shdr))
    return damaged();
  const auto section = [&](std::uint64_t index) {
    return read<Elf64_Shdr>(bytes, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  // Many sections: the numbers that do not fit into the header are in the first one.
  const auto first = section(0);
  if (!first) return damaged();
  const std::uint64_t count = header->e_shnum != 0 ? header->e_shnum : first->sh_size;
  const auto names = section(header->e_shstrndx != SHN_XINDEX ? header->e_shstrndx : first->sh_link);
  const auto table = names ? part(bytes, names->sh_offset, names->sh_size) : std::nullopt;
  if (!table) return damaged();

  std::vector<DeviceCode> images;
  for (std::uint64_t i = 1; i < count; ++i) {
    const auto one = section(i);
    if (!one || one->sh_name > table->size()) return damaged();
    const std::string_view rest = table->substr(one->sh_name);
    if (!holds_device_code(rest.substr(0, rest.find('\0'))) || one->sh_type == SHT_NOBITS) continue;
    const auto content = part(bytes, one->sh_offset, one->sh_size);
    if (!content || !read_section(*content, images)) return damaged();
  }
  return images;
}

std::string foreign_device_code(const std::vector<DeviceCode>& images, const std::string& architecture) {
  for (const DeviceCode& image : images)
    if (image.ptx || image.architecture != architecture)
      return (image.ptx ? "PTX of " : "code for ") + image.architecture;
  return {};
}

}  // namespace kagent::toolchain
