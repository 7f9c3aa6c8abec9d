// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace kagent {

// Memory that ends, but for what its alignment needs, where the process may neither read nor write. In front of it lie
// known bytes.
class FencedBuffer {
 public:
  FencedBuffer(const std::vector<std::byte>& contents, std::size_t alignment) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t room = (contents.size() + alignment - 1) / alignment * alignment;
    const std::size_t usable = (room + kFront + page - 1) / page * page;
    mapped_ = usable + page;
    base_ = static_cast<unsigned char*>(
        ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memset(base_, kFrontByte, usable);
    ::mprotect(base_ + usable, page, PROT_NONE);
    bytes_ = base_ + usable - room;
    if (!contents.empty()) std::memcpy(bytes_, contents.data(), contents.size());
  }
  FencedBuffer(FencedBuffer&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(other.bytes_), mapped_(other.mapped_) {}
  FencedBuffer(const FencedBuffer&) = delete;
  FencedBuffer& operator=(const FencedBuffer&) = delete;
  FencedBuffer& operator=(FencedBuffer&&) = delete;
  ~FencedBuffer() {
    if (base_ != nullptr) ::munmap(base_, mapped_);
  }

  void* bytes() const { return bytes_; }
  bool front_is_intact() const {
    for (const unsigned char* at = base_; at < bytes_; ++at)
      if (*at != kFrontByte) return false;
    return true;
  }

 private:
  static constexpr std::size_t kFront = 4096;
  static constexpr unsigned char kFrontByte = 0xC3;

  unsigned char* base_ = nullptr;
  unsigned char* bytes_ = nullptr;
  std::size_t mapped_ = 0;
};

}  // namespace kagent
