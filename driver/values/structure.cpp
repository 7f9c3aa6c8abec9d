// SPDX-License-Identifier: Apache-2.0
#include "values/structure.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "util/lexer.h"
#include "values/structure_words.h"

namespace kagent {

namespace {

using util::Token;
using util::TokenKind;
using Tokens = std::vector<Token>;

constexpr std::size_t kRunLength = 4;
// Longer chains of calls are not followed.
constexpr int kDeepestCalls = 200;

// FNV-1a, 64 bits.
std::uint64_t hash(std::string_view text, std::uint64_t value = 0xcbf29ce484222325) {
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return (value ^ 0xff) * 0x100000001b3;
}
// Spreads what is nearly the same (SplitMix64's last steps).
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

struct Function {
  std::string name;
  std::size_t begin = 0, end = 0;  // of the body
  int depth = 0;                   // of its own loops
  struct Call {
    std::string callee;
    int depth = 0;
  };
  std::vector<Call> calls;
};

class Reader {
 public:
  explicit Reader(std::string_view source) {
    Tokens all = util::lex(source).tokens;
    for (Token& token : all) {
      if (token.starts_line) in_directive_ = token.is("#");
      (in_directive_ ? directives_ : tokens_).push_back(std::move(token));
    }
    util::match_brackets(tokens_);
  }

  Structure run() {
    read_directives();
    read_words();
    find_functions();
    for (Function& function : functions_) read_body(function);
    follow_calls();
    read_code();
    return std::move(structure_);
  }

 private:
  const Token& at(std::size_t index) const {
    static const Token kNone;
    return index < tokens_.size() ? tokens_[index] : kNone;
  }
  std::size_t past(std::size_t index) const { return at(index).past > index ? at(index).past : index + 1; }

  void read_directives() {
    for (std::size_t i = 0; i < directives_.size(); ++i) {
      if (directives_[i].starts_line || !directives_[i].is_identifier()) continue;
      const std::string& word = directives_[i].text;
      const std::string& before = directives_[i - 1].text;
      if (word == "unroll" || word == "ivdep") ++structure_.unrolled;
      if (before == "omp") structure_.means.insert(word == "simd" ? "simd" : "openmp");
      if (before == "omp" && word == "barrier") ++structure_.barriers;
      if (before == "omp" && word == "atomic") ++structure_.atomics;
    }
  }

  // Of the code, and of the macros that it may consist of.
  void read_words() {
    read_words(tokens_);
    Tokens macros;
    for (std::size_t i = 0; i + 1 < directives_.size(); ++i) {
      if (!directives_[i].starts_line || !directives_[i + 1].is("define")) continue;
      for (i += 2; i < directives_.size() && !directives_[i].starts_line; ++i) macros.push_back(directives_[i]);
      --i;
    }
    read_words(macros);
  }
  void read_words(const Tokens& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind == TokenKind::string) read_assembler(tokens[i].text, structure_);
      const bool launch = i + 2 < tokens.size() && tokens[i].is("<") && tokens[i + 1].is("<") && tokens[i + 2].is("<");
      if (launch) ++structure_.launches, i += 2;
      if (tokens[i].is_identifier()) read_word(tokens, i);
    }
  }

  // "half" is a type of CUDA's, and what people call the half of something.
  static bool is_half_type(const Token& before, const Token& behind) {
    const bool in_list = before.is("<") || before.is(",") || before.is("(") || before.is("const");
    return behind.is_identifier() || (before.is("<") && behind.is(">")) || (in_list && behind.is("*"));
  }

  void read_word(const Tokens& tokens, std::size_t i) {
    const std::string& word = tokens[i].text;
    const Token none;
    const Token& before = i > 0 ? tokens[i - 1] : none;
    const Token& behind = i + 1 < tokens.size() ? tokens[i + 1] : none;
    if (word == "half" && !is_half_type(before, behind)) return;
    const WordMeaning meaning = meaning_of(word);
    if (!meaning.space.empty()) structure_.spaces.emplace(meaning.space);
    if (!meaning.means.empty()) structure_.means.emplace(meaning.means);
    if (!meaning.type.empty()) structure_.types.emplace(meaning.type);
    structure_.vector_bytes = std::max(structure_.vector_bytes, meaning.vector_bytes);
    structure_.barriers += meaning.barrier ? 1 : 0;
    structure_.atomics += meaning.atomic ? 1 : 0;
    structure_.shuffles += meaning.shuffle ? 1 : 0;
    structure_.stages += meaning.stage ? 1 : 0;
    structure_.launches += meaning.launch ? 1 : 0;
    if (word == "__global__") ++structure_.kernels;
    if (word == "__shared__") {
      ++structure_.shared_arrays;
      structure_.spaces.insert(before.is("extern") ? "dynamic-shared" : "shared");
    }
    const bool qualified = before.is("::");
    const bool called = behind.is("(") || (qualified && (behind.is("<") || behind.is("::")));
    if (before.is(".") || before.is("->")) {
      if (word == "sync" && behind.is("(")) ++structure_.barriers;
    } else if (called) {
      if (const auto family = maths_family(word); !family.empty()) structure_.maths.emplace(family);
      // "map" and "sort" are good names for functions of the source's own.
      const bool unmistakable = word.find("lloc") != word.npos || word.starts_with("cuda");
      if (is_library_call(word) && (qualified || unmistakable)) structure_.library_calls.insert(word);
    } else if (word == "new") {
      structure_.library_calls.insert(word);
    }
  }

  // Bodies behind "name(...)" outside of other bodies.
  void find_functions() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!tokens_[i].is_identifier() || !at(i + 1).is("(")) continue;
      std::size_t behind = past(i + 1);
      while (at(behind).is("const") || at(behind).is("noexcept") || at(behind).is("override") ||
             at(behind).is("final") || at(behind).is("->") || at(behind).is("::") || at(behind).is("*") ||
             (at(behind).is_identifier() && at(behind - 1).is("->")))
        ++behind;
      if (!at(behind).is("{")) continue;
      functions_.push_back({tokens_[i].text, behind + 1, past(behind), 0, {}});
      i = past(behind) - 1;
    }
    structure_.functions = static_cast<int>(functions_.size());
    for (const Function& function : functions_) ++definitions_[function.name];
  }

  // Where the statement ends that begins at `index`; every loop on the way to its end ends there too.
  std::size_t end_of_statement(std::size_t index, std::size_t end) {
    std::vector<std::size_t> loops;
    while (at(index).is("for") || at(index).is("while") || at(index).is("if") || at(index).is("do")) {
      if (!at(index).is("if")) loops.push_back(index);
      if (at(index++).is("do")) continue;
      if (at(index).is("constexpr")) ++index;
      if (at(index).is("(")) index = past(index);
    }
    while (index < end && !at(index).is(";") && !at(index).is("{")) index = past(index);
    const std::size_t stop = std::min(end, at(index).is("{") ? past(index) : index + 1);
    for (const std::size_t loop : loops) loop_ends_[loop] = stop;
    return stop;
  }

  void read_body(Function& function) {
    std::vector<std::size_t> open;
    for (std::size_t i = function.begin; i < function.end && i < tokens_.size(); ++i) {
      while (!open.empty() && open.back() <= i) open.pop_back();
      const Token& token = tokens_[i];
      if (!token.is_identifier()) continue;
      if (token.is("do")) {
        if (!loop_ends_.contains(i)) end_of_statement(i, function.end);
        if (at(loop_ends_[i]).is("while")) no_loops_.emplace(loop_ends_[i]);
      }
      const bool loop = token.is("do") || token.is("for") || (token.is("while") && !no_loops_.contains(i));
      if (loop) {
        if (!loop_ends_.contains(i)) end_of_statement(i, function.end);
        open.push_back(loop_ends_[i]);
        // A loop that ends behind the one around it belongs to a text that is no C++.
        if (open.size() > 1) open.back() = std::min(open.back(), open[open.size() - 2]);
        const auto depth = open.size();
        ++structure_.loops[std::min(depth, Structure::kDeepest) - 1];
        function.depth = std::max(function.depth, static_cast<int>(depth));
      } else if (at(i + 1).is("(") && definitions_.contains(token.text) && !tokens_[i - 1].is(".") &&
                 !tokens_[i - 1].is("->")) {
        function.calls.push_back({token.text, static_cast<int>(open.size())});
      } else if (at(i + 1).is("[") && declares(i)) {
        ++structure_.local_arrays;
      }
    }
  }

  // "float sums[4]": a type stands in front.
  bool declares(std::size_t index) const {
    const Token& before = tokens_[index - 1];
    if (!before.is_identifier() || before.is("return") || before.is("delete") || before.is("__shared__")) return false;
    for (std::size_t i = index; i > 0 && index - i < 8 && !tokens_[i].is(";") && !tokens_[i].is("{"); --i)
      if (tokens_[i].is("__shared__")) return false;
    return true;
  }

  void follow_calls() {
    std::map<std::string, const Function*> by_name;
    for (const Function& function : functions_) by_name[function.name] = &function;
    std::map<const Function*, int> known;
    for (const Function& function : functions_)
      structure_.loop_depth = std::max(structure_.loop_depth, depth_of(function, by_name, known, 0));
  }
  int depth_of(const Function& function, const std::map<std::string, const Function*>& by_name,
               std::map<const Function*, int>& known, int level) {
    if (const auto found = known.find(&function); found != known.end()) {
      // Overloads call one another without being recursive.
      if (found->second < 0 && definitions_[function.name] == 1) structure_.recursive = true;
      return std::max(0, found->second);
    }
    if (level > kDeepestCalls) return function.depth;
    known[&function] = -1;
    int depth = function.depth;
    for (const Function::Call& call : function.calls)
      depth = std::max(depth, call.depth + depth_of(*by_name.at(call.callee), by_name, known, level + 1));
    return known[&function] = depth;
  }

  // Names of the source's own are numbered as they come.
  std::string word_at(std::size_t i, std::unordered_map<std::string, std::size_t>& names) const {
    const Token& token = tokens_[i];
    const bool member = i > 0 && (tokens_[i - 1].is(".") || tokens_[i - 1].is("->"));
    const bool foreign = (at(i + 1).is("(") || at(i + 1).is("::")) && !definitions_.contains(token.text);
    if (!token.is_identifier() || member || foreign || is_builtin(token.text)) return token.text;
    return "\x01" + std::to_string(names.try_emplace(token.text, names.size()).first->second);
  }
  bool is_left_out(const Token& token) const {
    return token.is(";") || token.is("{") || token.is("}") || token.is("const") || token.is("constexpr") ||
           token.is("inline") || token.is("static") || token.is("__forceinline__");
  }
  // "++i", which is written "i++" here.
  bool is_prefix_step(std::size_t i) const {
    const bool doubled = (tokens_[i].is("+") || tokens_[i].is("-")) && at(i + 1).text == tokens_[i].text;
    const bool operand = i > 0 && (tokens_[i - 1].is_identifier() || tokens_[i - 1].is(")") || tokens_[i - 1].is("]"));
    return doubled && !operand && at(i + 2).is_identifier();
  }
  // Pragmas, and macros that are more than a number: numbers are values, and values are searched for.
  void add_directives(std::vector<std::string>& result) const {
    for (std::size_t i = 0; i + 1 < directives_.size();) {
      std::size_t end = i + 1;
      while (end < directives_.size() && !directives_[end].starts_line) ++end;
      const bool number = end == i + 4 && directives_[i + 3].kind == TokenKind::number;
      if (directives_[i + 1].is("pragma") || (directives_[i + 1].is("define") && end > i + 3 && !number))
        for (std::size_t j = i + 3; j < end; ++j) result.push_back(directives_[j].text);
      i = end;
    }
  }
  // The words that count.
  std::vector<std::string> words() const {
    std::unordered_map<std::string, std::size_t> names;
    std::vector<std::string> result;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is_left_out(tokens_[i])) continue;
      if (is_prefix_step(i)) {
        result.push_back(word_at(i + 2, names));
        result.insert(result.end(), 2, tokens_[i].text);
        i += 2;
      } else {
        result.push_back(word_at(i, names));
      }
    }
    add_directives(result);
    return result;
  }

  void read_code() {
    const std::vector<std::string> all = words();
    structure_.code = 0;
    for (const std::string& word : all) structure_.code = mixed(structure_.code ^ hash(word));
    for (std::size_t i = 0; i + kRunLength <= all.size(); ++i) {
      // Names are numbered anew in each run, or one more name would change all that follow.
      std::uint64_t run = 0;
      std::array<std::string_view, kRunLength> names;
      for (std::size_t j = 0; j < kRunLength; ++j) {
        const std::string& word = all[i + j];
        names[j] = word;
        std::size_t first = 0;
        while (names[first] != word) ++first;
        const bool numbered = word.starts_with('\x01');
        run = mixed(run ^ (numbered ? 2 * first + 1 : hash(word)));
      }
      structure_.runs.push_back(run);
    }
    std::ranges::sort(structure_.runs);
    structure_.runs.erase(std::ranges::unique(structure_.runs).begin(), structure_.runs.end());
    if (structure_.runs.size() > Structure::kMostRuns) structure_.runs.resize(Structure::kMostRuns);
  }

  Tokens tokens_, directives_;
  bool in_directive_ = false;
  Structure structure_;
  std::vector<Function> functions_;
  std::map<std::string, int> definitions_;
  std::unordered_map<std::size_t, std::size_t> loop_ends_;
  std::set<std::size_t> no_loops_;
};

}  // namespace

Structure structure_of_text(std::string_view source) {
  return Reader(source).run();
}

}  // namespace kagent
