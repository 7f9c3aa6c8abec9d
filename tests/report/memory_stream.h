// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace kagent::report {

// A stream whose text can be looked at.
class MemoryStream {
 public:
  MemoryStream() : stream_(::open_memstream(&text_, &size_)) {}
  MemoryStream(const MemoryStream&) = delete;
  MemoryStream& operator=(const MemoryStream&) = delete;
  ~MemoryStream() {
    std::fclose(stream_);
    std::free(text_);
  }
  std::FILE* get() { return stream_; }
  // What was written since the last call.
  std::string taken() {
    std::fflush(stream_);
    std::string all(text_, size_);
    return all.substr(std::exchange(read_, all.size()));
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::size_t read_ = 0;
  std::FILE* stream_;
};

}  // namespace kagent::report
