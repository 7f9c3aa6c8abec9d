// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdlib>
#include <map>
#include <string>

namespace kagent::toolchain {

// While it lives, nothing that adds options to compile commands is set but what the test sets; then as before.
class CleanEnvironment {
 public:
  CleanEnvironment() {
    for (const char* name : kNames) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
    }
  }
  ~CleanEnvironment() {
    for (const char* name : kNames) ::unsetenv(name);
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  CleanEnvironment(const CleanEnvironment&) = delete;
  CleanEnvironment& operator=(const CleanEnvironment&) = delete;

 private:
  static constexpr std::array kNames{"CPATH", "CPLUS_INCLUDE_PATH", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",
                                     "NVCC_CCBIN"};
  std::map<std::string, std::string> before_;
};

}  // namespace kagent::toolchain
