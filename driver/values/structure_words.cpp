// SPDX-License-Identifier: Apache-2.0
#include "values/structure_words.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace kagent {

namespace {

struct Prefix {
  std::string_view text;
  WordMeaning meaning;
};

constexpr WordMeaning space(std::string_view name) {
  return {name, {}, {}};
}
constexpr WordMeaning means(std::string_view name) {
  return {{}, name, {}};
}
constexpr WordMeaning type(std::string_view name) {
  return {{}, {}, name};
}
constexpr WordMeaning vector(std::string_view type_name, int bytes) {
  return {{}, {}, type_name, bytes};
}
constexpr WordMeaning barrier() {
  WordMeaning meaning;
  meaning.barrier = true;
  return meaning;
}
constexpr WordMeaning atomic() {
  WordMeaning meaning;
  meaning.atomic = true;
  return meaning;
}
constexpr WordMeaning shuffle() {
  WordMeaning meaning;
  meaning.shuffle = true;
  return meaning;
}
constexpr WordMeaning stage(std::string_view name) {
  WordMeaning meaning{{}, name, {}};
  meaning.stage = true;
  return meaning;
}
constexpr WordMeaning launch() {
  WordMeaning meaning;
  meaning.launch = true;
  return meaning;
}

const std::map<std::string_view, WordMeaning>& exact() {
  static const std::map<std::string_view, WordMeaning> words = {
      {"__constant__", space("constant")},
      {"__ldg", space("read-only")},
      {"cudaTextureObject_t", space("texture")},
      {"__syncwarp", barrier()},
      {"named_barrier", barrier()},
      {"arrive_and_wait", barrier()},
      {"fetch_add", atomic()},
      {"fetch_sub", atomic()},
      {"compare_exchange_weak", atomic()},
      {"compare_exchange_strong", atomic()},
      {"memcpy_async", means("async-copy")},
      {"__pipeline_memcpy_async", means("async-copy")},
      {"__pipeline_wait_prior", stage("async-copy")},
      {"consumer_wait", stage("async-copy")},
      {"cp_async_wait_group", stage("async-copy")},
      {"CUtensorMap", means("tma")},
      {"wmma", means("tensor-core")},
      {"mma_sync", means("tensor-core")},
      {"nvcuda", means("tensor-core")},
      {"__cluster_dims__", means("cluster")},
      {"this_cluster", means("cluster")},
      {"cluster_group", means("cluster")},
      {"this_grid", means("grid-sync")},
      {"grid_group", means("grid-sync")},
      {"__builtin_prefetch", means("prefetch")},
      {"_mm_prefetch", means("prefetch")},
      {"__restrict__", means("restrict")},
      {"__restrict", means("restrict")},
      {"__stcs", means("streaming")},
      {"__ldcs", means("streaming")},
      {"__stwt", means("streaming")},
      {"__builtin_nontemporal_store", means("streaming")},
      {"__dp4a", means("dot-product")},
      {"vector_size", means("simd")},
      {"ext_vector_type", means("simd")},
      {"__launch_bounds__", means("launch-bounds")},
      {"alignas", means("alignment")},
      {"assume_aligned", means("alignment")},
      {"__builtin_assume_aligned", means("alignment")},
      {"cudaLaunchKernel", launch()},
      {"cudaLaunchKernelEx", launch()},
      {"cudaLaunchKernelExC", launch()},
      {"cudaLaunchCooperativeKernel", launch()},
      {"double", type("float64")},
      {"float", type("float32")},
      {"__half", type("float16")},
      {"half", type("float16")},
      {"_Float16", type("float16")},
      {"__fp16", type("float16")},
      {"float16_t", type("float16")},
      {"__half2", vector("float16", 4)},
      {"half2", vector("float16", 4)},
      {"__nv_bfloat16", type("bfloat16")},
      {"nv_bfloat16", type("bfloat16")},
      {"__bf16", type("bfloat16")},
      {"bfloat16_t", type("bfloat16")},
      {"__nv_bfloat162", vector("bfloat16", 4)},
      {"nv_bfloat162", vector("bfloat16", 4)},
      {"__m128", vector({}, 16)},
      {"__m128d", vector({}, 16)},
      {"__m128i", vector({}, 16)},
      {"__m256", vector({}, 32)},
      {"__m256d", vector({}, 32)},
      {"__m256i", vector({}, 32)},
      {"__m512", vector({}, 64)},
      {"__m512d", vector({}, 64)},
      {"__m512i", vector({}, 64)},
      {"float32x4_t", vector("float32", 16)},
      {"float64x2_t", vector("float64", 16)},
      {"int32x4_t", vector({}, 16)},
      {"float16x8_t", vector("float16", 16)},
  };
  return words;
}

const std::array<Prefix, 12>& prefixes() {
  static const std::array<Prefix, 12> words = {{{"__syncthreads", barrier()},
                                                {"atomic", atomic()},
                                                {"__atomic_", atomic()},
                                                {"__shfl", shuffle()},
                                                {"__reduce_", shuffle()},
                                                {"__ballot", shuffle()},
                                                {"__match_", shuffle()},
                                                {"_mm", means("simd")},
                                                {"cp_async_bulk", means("tma")},
                                                {"tex1D", space("texture")},
                                                {"tex2D", space("texture")},
                                                {"__nv_fp8", type("float8")}}};
  return words;
}

// "float4", "uint2", "ulonglong2": CUDA's vector types. Nothing if it is none.
WordMeaning vector_type(std::string_view word) {
  if (word.size() < 4 || word.back() < '2' || word.back() > '4') return {};
  const int count = word.back() - '0';
  std::string_view base = word.substr(0, word.size() - 1);
  if (base == "float") return vector("float32", 4 * count);
  if (base == "double") return vector("float64", 8 * count);
  if (base.starts_with('u')) base.remove_prefix(1);
  if (base == "char") return vector({}, count);
  if (base == "short") return vector({}, 2 * count);
  if (base == "int") return vector({}, 4 * count);
  if (base == "long" || base == "longlong") return vector({}, 8 * count);
  return {};
}

}  // namespace

WordMeaning meaning_of(std::string_view word) {
  if (const auto found = exact().find(word); found != exact().end()) return found->second;
  for (const Prefix& prefix : prefixes())
    if (word.starts_with(prefix.text)) return prefix.meaning;
  if (word.find("tf32") != word.npos) return type("tf32");
  return vector_type(word);
}

std::string_view maths_family(std::string_view call) {
  static const std::map<std::string_view, std::string_view> families = {{"exp", "exponential"},
                                                                        {"exp2", "exponential"},
                                                                        {"exp10", "exponential"},
                                                                        {"expm1", "exponential"},
                                                                        {"tanh", "exponential"},
                                                                        {"sinh", "exponential"},
                                                                        {"cosh", "exponential"},
                                                                        {"log", "logarithm"},
                                                                        {"log2", "logarithm"},
                                                                        {"log10", "logarithm"},
                                                                        {"log1p", "logarithm"},
                                                                        {"sin", "trigonometric"},
                                                                        {"cos", "trigonometric"},
                                                                        {"tan", "trigonometric"},
                                                                        {"sincos", "trigonometric"},
                                                                        {"sinpi", "trigonometric"},
                                                                        {"cospi", "trigonometric"},
                                                                        {"sincospi", "trigonometric"},
                                                                        {"asin", "trigonometric"},
                                                                        {"acos", "trigonometric"},
                                                                        {"atan", "trigonometric"},
                                                                        {"atan2", "trigonometric"},
                                                                        {"erf", "error function"},
                                                                        {"erfc", "error function"},
                                                                        {"erfinv", "error function"},
                                                                        {"normcdf", "error function"},
                                                                        {"erfcx", "error function"},
                                                                        {"tgamma", "gamma function"},
                                                                        {"lgamma", "gamma function"},
                                                                        {"pow", "power"},
                                                                        {"sqrt", "root"},
                                                                        {"rsqrt", "root"},
                                                                        {"cbrt", "root"},
                                                                        {"hypot", "root"},
                                                                        {"rcbrt", "root"}};
  const bool intrinsic = call.starts_with("_mm");
  if (intrinsic) return call.find("sqrt") != call.npos ? "root" : std::string_view();
  if (call.starts_with("__builtin_")) call.remove_prefix(10);
  if (call.starts_with("__")) call.remove_prefix(2);
  for (const std::string_view rounding : {"_rn", "_rz", "_ru", "_rd"})
    if (call.ends_with(rounding)) call.remove_suffix(rounding.size());
  if (call.starts_with("fsqrt") || call.starts_with("dsqrt") || call.starts_with("frsqrt")) return "root";
  if (const auto found = families.find(call); found != families.end()) return found->second;
  // Other precisions: a letter at the end, or "h" and "h2" in front.
  if (call.size() > 1 && (call.ends_with('f') || call.ends_with('l')))
    if (const auto found = families.find(call.substr(0, call.size() - 1)); found != families.end())
      return found->second;
  for (const std::string_view half : {"h2", "h"})
    if (call.starts_with(half))
      if (const auto found = families.find(call.substr(half.size())); found != families.end()) return found->second;
  return {};
}

bool is_library_call(std::string_view name) {
  static const std::set<std::string_view> names = {"sort",
                                                   "stable_sort",
                                                   "partial_sort",
                                                   "nth_element",
                                                   "make_heap",
                                                   "push_heap",
                                                   "pop_heap",
                                                   "sort_heap",
                                                   "map",
                                                   "multimap",
                                                   "unordered_map",
                                                   "set",
                                                   "unordered_set",
                                                   "multiset",
                                                   "deque",
                                                   "list",
                                                   "vector",
                                                   "priority_queue",
                                                   "lower_bound",
                                                   "upper_bound",
                                                   "binary_search",
                                                   "malloc",
                                                   "calloc",
                                                   "realloc",
                                                   "aligned_alloc",
                                                   "make_unique",
                                                   "make_shared",
                                                   "inclusive_scan",
                                                   "cudaMalloc",
                                                   "cudaMallocAsync",
                                                   "cudaFree",
                                                   "cudaFreeAsync",
                                                   "cudaMallocManaged",
                                                   "cudaMallocHost",
                                                   "transform_reduce",
                                                   "exclusive_scan",
                                                   "discrete_distribution"};
  return names.contains(name);
}

bool is_builtin(std::string_view word) {
  static const std::set<std::string_view> words = {"threadIdx",   "blockIdx",
                                                   "blockDim",    "gridDim",
                                                   "warpSize",    "if",
                                                   "else",        "for",
                                                   "while",       "do",
                                                   "switch",      "case",
                                                   "default",     "break",
                                                   "continue",    "return",
                                                   "goto",        "int",
                                                   "unsigned",    "signed",
                                                   "long",        "short",
                                                   "char",        "bool",
                                                   "float",       "double",
                                                   "void",        "auto",
                                                   "sizeof",      "template",
                                                   "typename",    "class",
                                                   "struct",      "union",
                                                   "enum",        "namespace",
                                                   "using",       "operator",
                                                   "this",        "new",
                                                   "delete",      "true",
                                                   "false",       "nullptr",
                                                   "static_cast", "reinterpret_cast",
                                                   "const_cast",  "volatile",
                                                   "extern",      "alignas",
                                                   "decltype",    "lambda",
                                                   "std",         "size_t",
                                                   "int8_t",      "int16_t",
                                                   "int32_t",     "int64_t",
                                                   "uint8_t",     "uint16_t",
                                                   "uint32_t",    "uint64_t",
                                                   "half",        "half2"};
  return word.starts_with("__") || word.starts_with("_mm") || words.contains(word) || meaning_of(word).vector_bytes > 0;
}

void read_assembler(std::string_view text, Structure& structure) {
  const auto uses = [&](std::string_view what) { return text.find(what) != text.npos; };
  if (uses("cp.async.bulk"))
    structure.means.insert("tma");
  else if (uses("cp.async.wait"))
    ++structure.stages;
  else if (uses("cp.async"))
    structure.means.insert("async-copy");
  if (uses("mma.")) structure.means.insert("tensor-core");
  if (uses("wgmma")) structure.means.insert("warpgroup-mma");
  if (uses("bar.sync") || uses("barrier.sync") || uses("mbarrier.try_wait")) ++structure.barriers;
  if (uses("cluster")) structure.means.insert("cluster");
  if (uses("atom.") || uses("red.")) ++structure.atomics;
  if (uses("shfl.")) ++structure.shuffles;
  if (uses("prefetch")) structure.means.insert("prefetch");
  if (uses("tf32")) structure.types.insert("tf32");
  if (uses(".e4m3") || uses(".e5m2")) structure.types.insert("float8");
  if (uses("ex2.approx")) structure.maths.insert("exponential");
  if (uses("lg2.approx")) structure.maths.insert("logarithm");
  if (uses("sqrt.")) structure.maths.insert("root");
  if (uses(".v4.f32") || uses(".v4.u32") || uses(".v4.b32"))
    structure.vector_bytes = std::max(structure.vector_bytes, 16);
}

}  // namespace kagent
