// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/subprocess.h"

namespace kagent::proposer::model {

// llama.cpp's server with a real model, of the environment: KAGENT_TEST_LLAMA_SERVER (the program) and
// KAGENT_TEST_MODEL (a GGUF file). It may still be loading when it is made.
class LlamaServer {
 public:
  static bool is_configured() {
    return std::getenv("KAGENT_TEST_LLAMA_SERVER") != nullptr && std::getenv("KAGENT_TEST_MODEL") != nullptr;
  }

  LlamaServer(const std::string& key, int context_tokens) {
    const int port = free_port();
    util::Command command;
    command.argv = {std::getenv("KAGENT_TEST_LLAMA_SERVER"),
                    "--model",
                    std::getenv("KAGENT_TEST_MODEL"),
                    "--host",
                    "127.0.0.1",
                    "--port",
                    std::to_string(port),
                    "--ctx-size",
                    std::to_string(context_tokens),
                    "--threads",
                    "2",
                    "--parallel",
                    "1",
                    "--api-key",
                    key};
    command.environment = util::minimal_environment();
    command.limits.output_bytes = 64 << 20;
    if (const char* path = std::getenv("LD_LIBRARY_PATH"))
      command.environment.push_back(std::string("LD_LIBRARY_PATH=") + path);
    auto child = util::Child::start(command);
    if (!child) throw std::runtime_error(child.error().message);
    child_ = std::make_unique<util::Child>(std::move(*child));
    url_ = "http://127.0.0.1:" + std::to_string(port) + "/v1";
  }

  const std::string& url() const { return url_; }
  util::Child& process() const { return *child_; }

 private:
  // One that was free a moment ago.
  static int free_port() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size), 0);
    ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(descriptor);
    return ntohs(address.sin_port);
  }

  std::unique_ptr<util::Child> child_;
  std::string url_;
};

}  // namespace kagent::proposer::model
