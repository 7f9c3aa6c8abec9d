// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kagent::util {

// Untrusted text made fit for a terminal, a record or JSON: invalid UTF-8 becomes U+FFFD, escape sequences and control
// characters other than newline and tab are dropped, and it is cut (at a character) to at most `limit_bytes`.
std::string clean(std::string_view untrusted, std::size_t limit_bytes = 64 * 1024);

// Words of a command line as a POSIX shell splits them (quotes and backslashes; no expansion of any kind).
std::vector<std::string> split_shell_words(std::string_view command);
// The inverse, for showing a command to people.
std::string quote_shell_words(const std::vector<std::string>& words);

// Now, as UTC in ISO 8601 ("2026-01-31T12:00:00Z").
std::string utc_now();

// The name in `candidates` nearest to `name` (edit distance), for "did you mean"; empty if none is near.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace kagent::util
