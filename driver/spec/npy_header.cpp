// SPDX-License-Identifier: Apache-2.0
#include "spec/npy_header.h"

#include <charconv>

#include "util/text.h"

namespace kagent::spec {
namespace {

constexpr std::size_t kMaxDimensions = 32;  // NumPy's own bound

class DictionaryParser {
 public:
  explicit DictionaryParser(std::string_view text) : text_(text) {}

  Result<NpyHeader> run() {
    if (!accept('{')) return wrong("'{'");
    while (!accept('}')) {
      std::string key;
      if (!string(key) || !accept(':')) return wrong("a key");
      if (!value(key)) return problem_.empty() ? wrong("a value of '" + key + "'") : failure(problem_, fix_);
      if (!accept(',') && !at('}')) return wrong("',' or '}'");
    }
    skip();
    if (at_ != text_.size()) return wrong("nothing more");
    if (!has_descr_ || !has_order_ || !has_shape_)
      return failure("its header lacks descr, fortran_order or shape", "write it with numpy.save");
    return std::move(header_);
  }

 private:
  std::unexpected<StageError> wrong(const std::string& expected) const {
    return failure("its header is not what NumPy writes: " + expected + " expected at character " +
                       std::to_string(at_ + 1) + " of '" + util::clean(text_, 80) + "'",
                   "write it with numpy.save");
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool at(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool accept(char c) {
    if (!at(c)) return false;
    ++at_;
    return true;
  }
  bool accept(std::string_view word) {
    skip();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool string(std::string& result) {
    skip();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return false;
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return false;
    result = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return result.find('\\') == std::string::npos;
  }

  bool once(bool& seen) {
    if (seen) return false;
    return seen = true;
  }

  bool value(const std::string& key) {
    if (key == "descr") {
      if (at('[') || at('(')) {
        problem_ = "it holds a structured type";
        fix_ = "save one plain array a file";
        return false;
      }
      return once(has_descr_) && string(header_.descr);
    }
    if (key == "fortran_order") {
      header_.fortran_order = accept(std::string_view("True"));
      return once(has_order_) && (header_.fortran_order || accept(std::string_view("False")));
    }
    return key == "shape" && once(has_shape_) && shape();
  }

  bool shape() {
    if (!accept('(')) return false;
    while (!accept(')')) {
      std::int64_t extent = 0;
      skip();
      const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (code != std::errc() || extent < 0 || header_.shape.size() == kMaxDimensions) return false;
      at_ = static_cast<std::size_t>(end - text_.data());
      accept('L');  // of Python 2
      header_.shape.push_back(extent);
      const bool comma = accept(',');
      if (!comma && (header_.shape.size() == 1 || !at(')'))) return false;  // (3) is no tuple
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  NpyHeader header_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
  std::string problem_, fix_;
};

}  // namespace

Result<NpyHeader> parse_npy_dictionary(std::string_view text) {
  return DictionaryParser(text).run();
}

}  // namespace kagent::spec
