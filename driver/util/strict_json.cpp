// SPDX-License-Identifier: Apache-2.0
#include "util/strict_json.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kagent::util {
namespace {

// Real specs nest four deep. The bound keeps recursive code after this safe.
constexpr std::size_t kMaxDepth = 16;
// Looking for duplicates costs the square of this.
constexpr std::size_t kMaxMembers = 2'000;

class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(Problems& problems) : problems_(problems) {}
  Json take() { return std::move(root_); }

  bool null() override { return place(nullptr); }
  bool boolean(bool value) override { return place(value); }
  bool number_integer(std::int64_t value) override { return place(value); }
  bool number_unsigned(std::uint64_t value) override { return place(value); }
  bool number_float(double value, const std::string&) override { return place(value); }
  bool string(std::string& value) override { return place(std::move(value)); }
  bool binary(Json::binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool key(std::string& name) override {
    Level& level = levels_.back();
    level.key = name;
    if (level.container->size() >= kMaxMembers) {
      problems_.add("", "an object has more than " + std::to_string(kMaxMembers) + " keys", "remove some");
      return false;
    }
    level.duplicate = level.container->contains(name);
    if (level.duplicate)
      problems_.add(child_pointer(pointer_of(levels_.size() - 1), name), "the key is given twice", "keep one of them");
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    std::string text = error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    if (const auto end = text.find("] "); end != std::string::npos) text.erase(0, end + 2);
    problems_.add("", text, "write valid JSON (no comments, no trailing commas, nothing after the last brace)");
    return false;
  }

 private:
  struct Level {
    Json* container;
    std::string key;         // of the member that is being read
    bool duplicate = false;  // that member is a repeated key, and dropped
  };

  std::string pointer_of(std::size_t depth) const {
    std::string pointer;
    for (std::size_t i = 0; i < depth; ++i)
      pointer = levels_[i].container->is_object() ? child_pointer(pointer, levels_[i].key)
                                                  : child_pointer(pointer, levels_[i].container->size() - 1);
    return pointer;
  }

  // Where the next value goes.
  Json* slot() {
    if (levels_.empty()) return &root_;
    Level& level = levels_.back();
    if (level.container->is_array()) return &level.container->emplace_back();
    if (level.duplicate) return dropped_.emplace_back(std::make_unique<Json>()).get();
    return &(*level.container)[level.key];
  }

  template <class T>
  bool place(T&& value) {
    *slot() = std::forward<T>(value);
    return true;
  }

  bool open(Json container) {
    if (levels_.size() >= kMaxDepth) {
      problems_.add("", "nested more than " + std::to_string(kMaxDepth) + " deep", "remove the inner brackets");
      return false;
    }
    Json* place_of_it = slot();
    *place_of_it = std::move(container);
    levels_.push_back({place_of_it, {}, false});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  Problems& problems_;
  Json root_;
  std::vector<Level> levels_;
  std::vector<std::unique_ptr<Json>> dropped_;
};

}  // namespace

Json parse_strictly(const std::string& text, Problems& problems) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    problems.add("", "it begins with a byte order mark", "save it as UTF-8 without one");
    return nullptr;
  }
  Builder builder(problems);
  if (!Json::sax_parse(text, &builder)) return nullptr;
  return builder.take();
}

}  // namespace kagent::util
