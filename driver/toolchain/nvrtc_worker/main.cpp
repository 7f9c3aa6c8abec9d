// SPDX-License-Identifier: Apache-2.0
// kagent-nvrtc-worker [DESCRIPTOR]: compiles what it is sent on its standard input until that ends, and answers on
// standard output; or does both on one descriptor, a socket.
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "toolchain/nvrtc_worker/compile.h"
#include "toolchain/nvrtc_worker/frame.h"

namespace {

using kagent::toolchain::Frame;
using nlohmann::json;

bool write_all(int descriptor, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

Frame answer_to(const Frame& request, kagent::toolchain::NvrtcCompiler& compiler) {
  const json asked = json::parse(request.json, nullptr, false);
  kagent::toolchain::NvrtcJob job;
  try {
    job.name = asked.at("name").get<std::string>();
    job.options = asked.at("options").get<std::vector<std::string>>();
    job.instance = asked.at("instance").get<std::string>();
    job.symbols = asked.at("symbols").get<std::vector<std::string>>();
    job.headers = asked.at("headers").get<std::vector<std::string>>();
    job.time_limit = std::chrono::milliseconds(asked.at("time_limit_ms").get<std::int64_t>());
  } catch (const json::exception& error) {
    return {json{{"ok", false}, {"problem", std::string("no job: ") + error.what()}}.dump(
                -1, ' ', false, json::error_handler_t::replace),
            {}};
  }
  job.source = request.bytes;
  kagent::toolchain::NvrtcAnswer answer = compiler.compile(job);
  const json told = {{"ok", answer.ok},
                     {"problem", answer.problem},
                     {"timed_out", answer.timed_out},
                     {"precompiled", answer.precompiled},
                     {"log", answer.log},
                     {"lowered_name", answer.lowered_name},
                     {"lowered_symbols", answer.lowered_symbols}};
  return {told.dump(-1, ' ', false, json::error_handler_t::replace), std::move(answer.cubin)};
}

}  // namespace

int main(int count_of_words, char** words) {
  // Of NVRTC as it was loaded here, for `kagent doctor`.
  if (count_of_words > 1 && std::string_view(words[1]) == "--version")
    return std::printf("NVRTC %s\n", kagent::toolchain::nvrtc_version().c_str()) < 0 ? 1 : 0;
  int input = STDIN_FILENO, output = 0;
  if (count_of_words > 1) {
    input = output = std::atoi(words[1]);
  } else {
    // NVRTC must not print between the answers.
    output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
  }
  // So that whoever started it knows that it can begin.
  const Frame greeting{json{{"nvrtc", kagent::toolchain::nvrtc_version()}}.dump(), {}};
  if (!write_all(output, kagent::toolchain::encode(greeting))) return 1;
  kagent::toolchain::NvrtcCompiler compiler;
  std::string received;
  std::array<char, 65536> buffer;
  for (;;) {
    bool broken = false;
    while (const auto request = kagent::toolchain::take_frame(received, broken))
      if (!write_all(output, kagent::toolchain::encode(answer_to(*request, compiler)))) return 1;
    if (broken) return 2;
    const ssize_t count = ::read(input, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return received.empty() && count == 0 ? 0 : 1;
    received.append(buffer.data(), static_cast<std::size_t>(count));
  }
}
