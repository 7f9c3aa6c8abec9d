// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace kagent::proposer {

using Fields = std::map<std::string, std::string, std::less<>>;

// A template's text with its placeholders ({{name}}) replaced, once: what comes in is not looked at again. Throws
// InternalError for a placeholder without a field or a field without a placeholder.
std::string fill(std::string_view template_name, const Fields& fields);

// Untrusted text between fences that it cannot close: they are longer than any run of backticks in it.
std::string fenced(std::string_view text, std::string_view language = {});

// Untrusted text as a part of one line, at most `most` bytes.
std::string on_one_line(std::string_view text, std::size_t most = 240);

// Whole lines from the front, at most `budget` bytes, and a line that says how many are left out.
std::string cut_lines(std::string_view text, std::size_t budget, bool* cut = nullptr);

// A source that is longer than the budget: its beginning, and the lines around the last place that defines or calls
// `entry`, which is what is to be changed; with lines that say how many are left out.
std::string cut_source(std::string_view source, std::string_view entry, std::size_t budget, bool* cut = nullptr);

// "1.25x" of a time over another one.
std::string speedup(double ratio);

}  // namespace kagent::proposer
