// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "runner/protocol.h"
#include "util/descriptor.h"
#include "values/error.h"

namespace kagent::runner {

// The driver's end of the socket and of the exchange. Its size is sealed: a candidate cannot shrink it under us.
class Channel {
 public:
  // With the start block filled in but for what `filter` (bytes of sock_filter[]) and the arguments give.
  static Result<Channel> make(const std::string& filter, protocol::TickSource source, std::uint64_t sweep_bytes,
                              std::uint64_t sentinel_seed);
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;
  ~Channel();

  // For the child, at the numbers that the runtime expects.
  std::vector<std::pair<int, int>> child_descriptors() const;
  // Once it has been started: so that its end of the socket closes when it dies.
  void forget_child_descriptors();

  int socket() const { return socket_.get(); }
  std::span<std::byte> area() { return {exchange_ + protocol::kStartBytes, protocol::kAreaBytes}; }
  // Whether the runtime got control, before any code of the candidate's.
  bool started() const;

  // The runtime reads the end of the requests.
  void hang_up();
  // The program exits as usual at their end, instead of at once.
  void ask_for_orderly_exit();

  // False if nobody listens any more.
  bool send(const protocol::Request& request, std::span<const std::byte> entries);

  struct Received {
    enum class What { nothing, reply, nonsense, closed } what = What::nothing;
    protocol::Reply reply{};
    pid_t sender = -1;  // as the kernel says, in our numbering
  };
  // Without waiting.
  Received receive();

 private:
  Channel() = default;
  util::Descriptor socket_, child_socket_, file_;
  std::byte* exchange_ = nullptr;
};

}  // namespace kagent::runner
