// SPDX-License-Identifier: Apache-2.0
#include "report/progress.h"

#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "report/plain_progress.h"
#include "report/terminal_progress.h"

namespace kagent::report {
namespace {

constexpr int kUsualColumns = 80;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// NO_COLOR asks for no escape codes of ours (no-color.org: set and not empty); a dumb terminal understands none.
bool can_redraw(std::FILE* stream) {
  const std::string_view term = variable("TERM");
  return ::isatty(::fileno(stream)) == 1 && !term.empty() && term != "dumb" && variable("NO_COLOR").empty();
}

int columns_of(std::FILE* stream) {
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kUsualColumns;
}

}  // namespace

std::unique_ptr<ProgressObserver> make_progress(std::FILE* stream) {
  if (!can_redraw(stream)) return std::make_unique<PlainProgress>(stream);
  return std::make_unique<TerminalProgress>(
      Terminal{stream, [stream] { return columns_of(stream); }, [] { return std::chrono::steady_clock::now(); }});
}

}  // namespace kagent::report
