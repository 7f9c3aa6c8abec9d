// SPDX-License-Identifier: Apache-2.0
#include "spec/init.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "spec/json_text.h"
#include "spec/random.h"
#include "spec/read_parts.h"
#include "spec/reader.h"
#include "util/files.h"

namespace kagent::spec {
namespace {

namespace fs = std::filesystem;

// Elements that the guessed case has about: quick to run, and large enough to have borders everywhere.
constexpr double kElements = 1 << 18;
constexpr std::int64_t kLargestSize = 1024;
constexpr std::int64_t kThreads = 256;

std::string kind_of(const SignatureParameter& parameter) {
  if (parameter.is_stream) return "stream";
  if (parameter.is_pointer) return parameter.is_const ? "input" : "output";
  return is_floating(*parameter.dtype) || parameter.dtype == DType::boolean ? "scalar" : "size";
}

// The kernel.json under construction.
class Guess {
 public:
  Guess(const Signature& signature, std::string kernel) : signature_(signature), kernel_(std::move(kernel)) {
    for (const SignatureParameter& parameter : signature.parameters)
      if (kind_of(parameter) == "size") sizes_.push_back(parameter.name);
  }

  Result<FirstSpec> make(const std::string& source) {
    util::Json json;
    json["kernel"] = kernel_;
    json["style"] = signature_.is_kernel ? "kernel" : "launcher";
    json["entry"] = signature_.entry;
    if (signature_.is_kernel) add_launch(json);
    if (auto parameters = add_parameters(json); !parameters) return std::unexpected(parameters.error());
    add_cases(json);
    json["reference"] = {{"source", "reference.cpp"}, {"function", reference_name()}};
    note("/reference", "complete reference.cpp, or record expected values, or remove \"reference\"");
    add_tolerance(json);
    add_tunables(json, source);
    return FirstSpec{kernel_, json_text(json), reference_text(), std::move(notes_)};
  }

 private:
  void note(const std::string& pointer, const std::string& what) { notes_.push_back(pointer + ": " + what); }

  std::string reference_name() const { return kernel_identifier() + "_reference"; }
  std::string kernel_identifier() const { return signature_.entry.substr(signature_.entry.rfind(':') + 1); }

  util::Json shape() const {
    if (sizes_.empty()) return util::Json::array({kLargestSize});
    return sizes_;
  }

  Result<void> add_parameters(util::Json& json) {
    bool written = false;
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
      const SignatureParameter& parameter = signature_.parameters[i];
      const std::string pointer = "/parameters/" + std::to_string(i);
      const std::string kind = kind_of(parameter);
      util::Json entry = {{"name", parameter.name}, {"kind", kind}};
      if (kind != "stream") entry["dtype"] = name(parameter.dtype.value_or(DType::uint8));
      if (parameter.is_pointer) {
        entry["shape"] = shape();
        note(pointer + "/shape", "the shape of '" + parameter.name + "' is a guess");
        if (!parameter.dtype) note(pointer + "/dtype", "'" + parameter.name + "' is a void*: name what it points to");
      }
      if (kind == "output") {
        written = true;
        note(pointer + "/kind", "\"output\", if '" + parameter.name +
                                    "' is not read before it is written; else \"inout\" or \"workspace\"");
      }
      if (kind == "size")
        note(pointer + "/kind", "\"size\", if shapes depend on '" + parameter.name + "'; else \"scalar\"");
      json["parameters"].push_back(std::move(entry));
    }
    if (written) return {};
    return failure("'" + signature_.entry + "' has no parameter that it could write its result to",
                   "take a pointer that is not to const");
  }

  void add_launch(util::Json& json) {
    std::string elements;
    for (const std::string& size : sizes_) elements += (elements.empty() ? "" : " * ") + size;
    if (elements.empty()) elements = std::to_string(kLargestSize);
    util::Json& launch = json["launch"];
    launch["grid"] = util::Json::array({"ceil_div(" + elements + ", " + std::to_string(kThreads) + ")"});
    launch["block"] = util::Json::array({kThreads});
    note("/launch", "a thread for each element is a guess; tunables may be used beside the sizes");
    if (signature_.template_parameters.empty()) return;
    std::string arguments;
    for (const TemplateParameter& parameter : signature_.template_parameters) {
      const std::string guess = parameter.is_type ? "float" : std::to_string(kThreads);
      arguments += (arguments.empty() ? "" : ", ") + (parameter.preset.empty() ? guess : parameter.preset);
    }
    launch["instantiate"] = signature_.entry + "<" + arguments + ">";
    note("/launch/instantiate", "the arguments of the template are a guess, and types are taken to be float");
  }

  void add_cases(util::Json& json) {
    const double each = sizes_.empty() ? 1 : std::floor(std::pow(kElements, 1.0 / static_cast<double>(sizes_.size())));
    const std::int64_t usual = std::clamp<std::int64_t>(static_cast<std::int64_t>(each), 2, kLargestSize);
    const auto add = [&](const std::string& case_name, std::int64_t size, bool timed) {
      util::Json entry = {{"name", case_name}};
      std::int64_t value = size;
      for (const SignatureParameter& parameter : signature_.parameters) {
        if (kind_of(parameter) != "size") continue;
        entry["sizes"][parameter.name] =
            std::min(value, static_cast<std::int64_t>(std::min(highest_value(*parameter.dtype), 1e9)));
        // Sizes that differ show which one is meant.
        if (!timed) value = std::max<std::int64_t>(value - 6, 1);
      }
      if (timed) entry["timed"] = true;
      json["cases"].push_back(std::move(entry));
    };
    add("to-complete", usual, true);
    note("/cases/0",
         "give it a name, and the sizes that your program uses; add more timed cases with their \"weight\"");
    if (!sizes_.empty()) add("ragged", std::max<std::int64_t>(usual - usual / 8 - 1, 1), false);
  }

  void add_tolerance(util::Json& json) {
    for (const SignatureParameter& parameter : signature_.parameters)
      if (kind_of(parameter) == "output" && parameter.dtype && is_floating(*parameter.dtype)) {
        const Tolerance tolerance = default_tolerance(*parameter.dtype);
        json["tolerance"][parameter.name] = {{"rtol", tolerance.rtol}, {"atol", tolerance.atol}};
        note("/tolerance/" + parameter.name, "the defaults of its dtype; for sums add \"reduction_length\"");
      }
  }

  // #ifndef BLOCK / #define BLOCK 128: a number that was meant to be changed.
  void add_tunables(util::Json& json, const std::string& source) {
    std::set<std::string> names;
    std::string guarded;
    for (std::size_t start = 0; start < source.size();) {
      const std::size_t end = std::min(source.find('\n', start), source.size());
      const auto words = split_words(source.substr(start, end - start));
      start = end + 1;
      const bool define = words.size() == 3 && words[0] == "#define" && words[1] == guarded;
      guarded = words.size() == 2 && words[0] == "#ifndef" ? words[1] : "";
      const auto value = define ? whole_number(words[2]) : std::nullopt;
      if (!value || !usable_macro(words[1]) || !names.insert(words[1]).second) continue;
      json["tunables"][words[1]] = *value > 1 ? util::Json{*value / 2, *value, *value * 2} : util::Json{0, 1};
      note("/tunables/" + words[1], "the values around its default in the source");
    }
  }

  bool usable_macro(const std::string& macro) const {
    const bool reserved = macro.find("__") != std::string::npos || macro[0] == '_';
    const auto same = [&macro](const SignatureParameter& parameter) { return parameter.name == macro; };
    return is_identifier(macro) && !is_cpp_keyword(macro) && !reserved &&
           std::none_of(signature_.parameters.begin(), signature_.parameters.end(), same);
  }

  // The words of a line, with "#  define" as one.
  static std::vector<std::string> split_words(const std::string& line) {
    std::vector<std::string> words;
    for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != std::string::npos;) {
      const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
      const std::string word = line.substr(at, end - at);
      if (word.starts_with("//")) break;
      if (words.size() == 1 && words[0] == "#")
        words[0] += word;
      else
        words.push_back(word);
      at = end;
    }
    return words;
  }

  static std::optional<std::int64_t> whole_number(const std::string& text) {
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    constexpr std::int64_t kMost = std::int64_t{1} << 32;
    if (code != std::errc() || end != text.data() + text.size() || value < 0 || value > kMost) return std::nullopt;
    return value;
  }

  static std::string reference_type(const SignatureParameter& parameter) {
    static const std::pair<DType, const char*> kTypes[] = {
        {DType::int8, "std::int8_t"},     {DType::int16, "std::int16_t"},   {DType::int32, "std::int32_t"},
        {DType::int64, "std::int64_t"},   {DType::uint8, "std::uint8_t"},   {DType::uint16, "std::uint16_t"},
        {DType::uint32, "std::uint32_t"}, {DType::uint64, "std::uint64_t"}, {DType::boolean, "bool"}};
    std::string type = "double";
    for (const auto& [dtype, text] : kTypes)
      if (parameter.dtype.value_or(DType::uint8) == dtype) type = text;
    if (!parameter.is_pointer) return type;
    return (parameter.is_const ? "const " : "") + type + "*";
  }

  std::string reference_text() const {
    std::string parameters;
    for (const SignatureParameter& parameter : signature_.parameters)
      if (!parameter.is_stream)
        parameters += (parameters.empty() ? "" : ", ") + reference_type(parameter) + " " + parameter.name;
    return "// What " + signature_.entry +
           " has to compute, written as plainly as possible: floating-point numbers are\n"
           "// double here, and it need not be fast. It gives the expected values of every check.\n"
           "#include <cmath>\n#include <cstdint>\n\n"
           "#error \"complete this reference, then remove this line\"\n\n"
           "void " +
           reference_name() + "(" + parameters + ") {\n}\n";
  }

  const Signature& signature_;
  std::string kernel_;
  std::vector<std::string> sizes_;
  std::vector<std::string> notes_;
};

}  // namespace

Result<FirstSpec> first_spec(const std::string& source, const std::string& entry, const std::string& kernel) {
  const auto signature = find_signature(source, entry);
  if (!signature) return std::unexpected(signature.error());
  const std::string chosen = kernel.empty() ? signature->entry.substr(signature->entry.rfind(':') + 1) : kernel;
  if (!is_file_name_part(chosen, false))
    return failure("'" + chosen + "' is no name of a kernel", "use letters, digits, _ and -, at most 64");
  for (const SignatureParameter& parameter : signature->parameters)
    if (parameter.name == "min" || parameter.name == "max" || parameter.name == "ceil_div")
      return failure("the parameter '" + parameter.name + "' has the name of a function in expressions", "rename it");
  return Guess(*signature, chosen).make(source);
}

Result<std::vector<fs::path>> write_first_spec(const fs::path& folder, const FirstSpec& first) {
  const fs::path json = folder / "kernel.json", reference = folder / "reference.cpp";
  std::error_code error;
  for (const fs::path& file : {json, reference})
    if (fs::exists(fs::symlink_status(file, error)))
      return failure("'" + file.string() + "' exists already", "remove it, or name another folder");
  fs::create_directories(folder, error);
  if (error) return failure("cannot make the folder '" + folder.string() + "': " + error.message());
  // The reference first: a kernel.json whose reference is missing does not load.
  if (auto written = util::write_file_atomically(reference, first.reference); !written)
    return std::unexpected(written.error());
  if (auto written = util::write_file_atomically(json, first.kernel_json); !written)
    return std::unexpected(written.error());
  return std::vector<fs::path>{json, reference};
}

}  // namespace kagent::spec
