// SPDX-License-Identifier: Apache-2.0
// A runtime of its own that speaks the protocol and lies about times: what a candidate that took over its process could
// do. Its program's name says which lie.

#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "runner/protocol.h"
#include "runner/ticks.h"

using namespace kagent::runner;
using namespace kagent::runner::protocol;

std::uint64_t kagent::runner::monotonic_ticks() {
  return 0;
}

namespace {

void send(const Reply& reply) {
  if (write(kSocket, &reply, sizeof reply) != sizeof reply) _exit(1);
}

// Some ten milliseconds of work.
void work() {
  volatile int sink = 0;
  for (int i = 0; i < 50'000'000; ++i) sink = i;
}

}  // namespace

int main(int, char** argv) {
  const char* const name = std::strrchr(argv[0], '_');
  const auto is = [name](const char* lie) { return std::strcmp(name, lie) == 0; };
  void* const at = mmap(nullptr, kExchangeBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kExchange, 0);
  auto& start = *static_cast<StartBlock*>(at);
  start.started = 1;
  Reply ready{};
  ready.kind = ReplyKind::ready;
  send(ready);
  static char packet[kMostRequestBytes];
  while (read(kSocket, packet, sizeof packet) > 0) {
    Request request;
    std::memcpy(&request, packet, sizeof request);
    Reply reply{};
    reply.kind = ReplyKind::done;
    reply.sequence = request.sequence;
    reply.begin_ticks = ticks(start.tick_source);
    reply.end_ticks = reply.begin_ticks + 1;
    const bool asked = request.operation == Operation::call;
    if (asked && is("_hides")) work();
    if (asked && is("_early")) reply.begin_ticks -= 1'000'000'000;
    if (asked && is("_late")) reply.end_ticks += 1'000'000'000'000;
    if (asked && is("_long")) reply.call_ticks = 1'000'000;
    if (asked && is("_endless")) reply.end_ticks = ~std::uint64_t{0};
    if (asked && is("_backwards")) reply.end_ticks -= 1'000'000'000;
    send(reply);
    if (asked && is("_twice")) send(reply);
  }
}
