// SPDX-License-Identifier: Apache-2.0
// Acts before main(): INITIALISER says how.

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <sys/socket.h>

namespace {

#if defined(INITIALISER_LOOPS)
[[gnu::constructor]] void act() {
  while (true) {
  }
}
#elif defined(INITIALISER_CRASHES)
[[gnu::constructor]] void act() {
  __builtin_trap();
}
#elif defined(INITIALISER_EXITS)
[[gnu::constructor]] void act() {
  std::exit(0);
}
#elif defined(INITIALISER_CONNECTS)
[[gnu::constructor]] void act() {
  socket(AF_INET, SOCK_STREAM, 0);
}
#elif defined(INITIALISER_READS)
[[gnu::constructor]] void act() {
  std::fopen("/etc/ld.so.cache", "r");
}
#elif defined(INITIALISER_CONNECTS_EARLY)
// Ahead of the runtime, where the program's own file comes first.
void act(int, char**, char**) {
  std::signal(SIGSYS, [](int) {});
  socket(AF_INET, SOCK_STREAM, 0);
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const early)(int, char**, char**) = act;
#endif

}  // namespace

extern "C" void kagent_call(void* const*) {}
