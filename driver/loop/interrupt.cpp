// SPDX-License-Identifier: Apache-2.0
#include "loop/interrupt.h"

#include <csignal>

#include <unistd.h>

namespace kagent::loop {
namespace {

// The one place where a signal handler leaves its mark.
volatile std::sig_atomic_t signal_count = 0;

extern "C" void on_signal(int number) {
  signal_count = signal_count + 1;
  if (signal_count > 1) _exit(128 + number);
  constexpr char kNotice[] = "\nkagent: ending after the current step; what is finished is kept. Again: end at once.\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kNotice, sizeof kNotice - 1);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
  return signal_count > 0;
}

}  // namespace kagent::loop
