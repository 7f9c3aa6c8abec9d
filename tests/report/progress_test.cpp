// SPDX-License-Identifier: Apache-2.0
#include "report/progress.h"

#include <cstdlib>
#include <optional>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "report/memory_stream.h"
#include "report/sample_events.h"

namespace kagent::report {
namespace {

using testing::HasSubstr;
using testing::Not;

// A variable of the environment for the duration of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    if (value == nullptr)
      ::unsetenv(name);
    else
      ::setenv(name, value, 1);
  }
  ~Variable() {
    if (old_)
      ::setenv(name_, old_->c_str(), 1);
    else
      ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

// Everything up to the end (of a pseudo-terminal: an error, once its other side is closed); closes the descriptor.
std::string all_of(int descriptor) {
  std::string text;
  char block[4096];
  for (ssize_t count; (count = ::read(descriptor, block, sizeof block)) > 0;)
    text.append(block, static_cast<std::size_t>(count));
  ::close(descriptor);
  return text;
}

// What make_progress() writes to a real pseudo-terminal of the given width.
std::string on_terminal(unsigned short columns) {
  const int leader = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (leader < 0 || ::grantpt(leader) != 0 || ::unlockpt(leader) != 0) return "no pseudo-terminal";
  const int follower = ::open(::ptsname(leader), O_RDWR | O_NOCTTY);
  const winsize size{24, columns, 0, 0};
  ::ioctl(follower, TIOCSWINSZ, &size);
  std::FILE* stream = ::fdopen(follower, "w");
  {
    auto progress = make_progress(stream);
    progress->on_event(started());
    progress->on_event(counts());
  }
  std::fclose(stream);
  return all_of(leader);
}

TEST(MakeProgress, RedrawsOnATerminalAndFitsItsWidth) {
  const Variable term("TERM", "xterm"), color("NO_COLOR", nullptr);
  const std::string text = on_terminal(40);
  EXPECT_THAT(text, HasSubstr("\x1b[2K"));
  EXPECT_THAT(text, HasSubstr("  8 proposed > 7 compiled > 6 verifi...\r\n"));
}

TEST(MakeProgress, WritesNoEscapeCodesWhereTheyAreNotWanted) {
  {
    const Variable term("TERM", "xterm"), color("NO_COLOR", "1");
    EXPECT_THAT(on_terminal(80), Not(HasSubstr("\x1b")));
  }
  {
    const Variable term("TERM", "dumb"), color("NO_COLOR", nullptr);
    EXPECT_THAT(on_terminal(80), Not(HasSubstr("\x1b")));
  }
  {
    const Variable term("TERM", nullptr), color("NO_COLOR", nullptr);
    EXPECT_THAT(on_terminal(80), Not(HasSubstr("\x1b")));
  }
}

TEST(MakeProgress, WritesPlainLinesIntoAPipe) {
  const Variable term("TERM", "xterm"), color("NO_COLOR", nullptr);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::FILE* stream = ::fdopen(ends[1], "w");
  make_progress(stream)->on_event(started());
  std::fclose(stream);
  EXPECT_EQ(all_of(ends[0]),
            "softmax: tuning softmax (x86-64-v3) by search: up to 6 rounds of 8 candidates, 5:00 of time\n");
}

}  // namespace
}  // namespace kagent::report
