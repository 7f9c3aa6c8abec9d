// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string_view>

#include "gate/device.h"

namespace kagent::gate {
namespace {

// Instructions of the PTX ISA that compute, move data, synchronise a block or cluster, or drive the tensor cores: all
// that honest kernels use. Left out: what ends or traps the kernel, sleeps, calls, or reads counters and clocks.
const std::set<std::string_view>& honest_instructions() {
  static const std::set<std::string_view> names = {"abs",
                                                   "activemask",
                                                   "add",
                                                   "addc",
                                                   "and",
                                                   "atom",
                                                   "bar",
                                                   "barrier",
                                                   "bfe",
                                                   "bfi",
                                                   "bfind",
                                                   "bmsk",
                                                   "bra",
                                                   "brev",
                                                   "clz",
                                                   "cnot",
                                                   "copysign",
                                                   "cos",
                                                   "cp",
                                                   "cvt",
                                                   "cvta",
                                                   "div",
                                                   "dp2a",
                                                   "dp4a",
                                                   "elect",
                                                   "ex2",
                                                   "fence",
                                                   "fma",
                                                   "fns",
                                                   "getctarank",
                                                   "griddepcontrol",
                                                   "isspacep",
                                                   "ld",
                                                   "ldmatrix",
                                                   "ldu",
                                                   "lg2",
                                                   "lop3",
                                                   "mad",
                                                   "mad24",
                                                   "madc",
                                                   "mapa",
                                                   "match",
                                                   "max",
                                                   "mbarrier",
                                                   "membar",
                                                   "min",
                                                   "mma",
                                                   "mov",
                                                   "movmatrix",
                                                   "mul",
                                                   "mul24",
                                                   "multimem",
                                                   "neg",
                                                   "not",
                                                   "or",
                                                   "popc",
                                                   "prefetch",
                                                   "prefetchu",
                                                   "prmt",
                                                   "rcp",
                                                   "red",
                                                   "redux",
                                                   "rem",
                                                   "rsqrt",
                                                   "sad",
                                                   "selp",
                                                   "set",
                                                   "setmaxnreg",
                                                   "setp",
                                                   "shf",
                                                   "shfl",
                                                   "shl",
                                                   "shr",
                                                   "sin",
                                                   "slct",
                                                   "sqrt",
                                                   "st",
                                                   "stmatrix",
                                                   "sub",
                                                   "subc",
                                                   "szext",
                                                   "tanh",
                                                   "tcgen05",
                                                   "tensormap",
                                                   "testp",
                                                   "vote",
                                                   "wgmma",
                                                   "wmma",
                                                   "xor"};
  return names;
}

// Stands for an escape that PTX is not written with, and that could hide what the text says.
constexpr char kHidden = '`';

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

std::string_view word_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(0, end);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n{}";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// "@p", "@!%p1" and "label:" in front of an instruction.
std::string_view without_prefixes(std::string_view statement) {
  for (;;) {
    statement = trimmed(statement);
    if (statement.starts_with('@')) {
      statement.remove_prefix(1);
      while (!statement.empty() && (statement[0] == '!' || statement[0] == '%' || statement[0] == ' '))
        statement.remove_prefix(1);
      // An operand of the asm, "%0".
      statement.remove_prefix(word_at(statement).size());
      continue;
    }
    std::string_view name = statement;
    if (name.starts_with('%')) name.remove_prefix(1);
    const std::size_t past = static_cast<std::size_t>(word_at(name).data() + word_at(name).size() - statement.data());
    // "LAB_%=:", a label that is unique to each copy.
    const std::string_view behind = statement.substr(past);
    const std::size_t colon = behind.starts_with("%=:") ? past + 2 : past;
    if (past == 0 || colon >= statement.size() || statement[colon] != ':') return statement;
    statement.remove_prefix(colon + 1);
  }
}

void check_statement(std::string_view statement, std::vector<PtxProblem>& problems) {
  statement = without_prefixes(statement);
  if (statement.empty()) return;
  if (statement.starts_with('.')) {
    const std::string_view directive = word_at(statement.substr(1));
    if (directive != "reg" && directive != "pragma" && directive != "align")
      problems.push_back({"inline-assembly", "." + std::string(directive)});
    return;
  }
  const std::string name(word_at(statement));
  if (name == "trap" || name == "brkpt" || name == "exit")
    problems.push_back({"device-trap", name});
  else if (name == "nanosleep")
    problems.push_back({"device-clock", name});
  else if (!honest_instructions().contains(name))
    problems.push_back({"inline-assembly", name.empty() ? std::string(statement.substr(0, 20)) : name});
}

std::string without_comments(std::string_view text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("/*")) {
      const std::size_t end = text.find("*/", i + 2);
      if (end == text.npos) break;
      i = end + 1;
    } else if (text.substr(i).starts_with("//")) {
      const std::size_t end = text.find('\n', i);
      if (end == text.npos) break;
      i = end;
      kept += '\n';
    } else {
      kept += text[i];
    }
  }
  return kept;
}

// The value of a string literal, raw or not; only escapes that PTX is written with.
std::string value_of(std::string_view literal) {
  const std::size_t open = literal.find('"');
  if (open == literal.npos) return {};
  if (open > 0 && literal[open - 1] == 'R') {
    const std::size_t begin = literal.find('('), end = literal.rfind(')');
    return begin < end && end != literal.npos ? std::string(literal.substr(begin + 1, end - begin - 1)) : std::string();
  }
  std::string value;
  for (std::size_t i = open + 1; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\') {
      value += literal[i];
      continue;
    }
    const char next = literal[++i];
    value += next == 'n' || next == 'r' ? '\n' : next == 't' ? ' ' : next == '\\' || next == '"' ? next : kHidden;
  }
  return value;
}

}  // namespace

std::vector<PtxProblem> ptx_problems(std::string_view raw) {
  std::vector<PtxProblem> problems;
  const std::string text = without_comments(raw);
  // %gridid numbers launches: a kernel could tell those that are timed from those that are checked.
  for (const std::string_view counter : {"%clock", "%globaltimer", "%pm", "%envreg", "%realtimer", "%gridid"})
    if (text.find(counter) != text.npos) problems.push_back({"device-clock", std::string(counter)});
  if (text.find(kHidden) != text.npos) problems.push_back({"inline-assembly", "an escape"});
  if (text.find("evict_last") != text.npos || text.find("createpolicy") != text.npos)
    problems.push_back({"cache-residency", "evict_last"});
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    std::string_view statement = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    // "{" opens a scope, or a list of registers within an instruction.
    check_statement(statement, problems);
  }
  return problems;
}

void find_ptx(const Tokens& tokens, CodeKind kind, Findings& findings) {
  const auto bodies = device_bodies(tokens);
  for (std::size_t i = 0; i < tokens.size() && findings.size() < kMostFindings; ++i) {
    if (!tokens[i].is("asm") && !tokens[i].is("__asm") && !tokens[i].is("__asm__")) continue;
    std::size_t open = i + 1;
    while (open < std::min(tokens.size(), i + 4) && tokens[open].is_identifier()) ++open;
    std::string text;
    std::size_t next = open + 1;
    for (; open < tokens.size() && tokens[open].is("(") && next < tokens.size(); ++next) {
      if (tokens[next].kind != TokenKind::string) break;
      text += value_of(tokens[next].text);
    }
    constexpr std::size_t kLongestSubject = 256;
    const std::size_t end = open < tokens.size() && tokens[open].is("(") ? past_group(tokens, open) : open;
    const std::string subject = spelled(tokens, i, std::min(end, i + kLongestSubject));
    const auto add = [&](const std::string& rule, const std::string& why) {
      findings.push_back({rule, subject, tokens[i].line, why});
    };
    const bool on_device = kind == CodeKind::device_only || std::ranges::any_of(bodies, [i](const auto& body) {
                             return body.first <= i && i < body.second;
                           });
    const bool plain = next < tokens.size() && (tokens[next].is(":") || tokens[next].is(")") || tokens[next].is("::"));
    if (!on_device) {
      add("inline-assembly", "'asm' in host code: candidates may not use the host's assembler");
    } else if (text.empty() ? !plain || next == open + 1 : !plain) {
      add("inline-assembly", "'asm' must be given its text as a string, written out");
    } else {
      for (const PtxProblem& problem : ptx_problems(text))
        add(problem.rule, "'" + problem.what + "' in inline PTX: candidates may only compute, move data, synchronise");
    }
  }
}

}  // namespace kagent::gate
