// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_runtime/activity_record.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string_view>

#include <cxxabi.h>

namespace kagent::runner::cuda {
namespace {

// Names of templates go on and on, and a hostile one could be made to.
constexpr std::size_t kMostMangled = 2000, kMostName = 200;

TracedWork kernel(const KernelRecord& record) {
  TracedWork work;
  work.name = readable_name(record.name);
  work.begin_ns = static_cast<std::int64_t>(record.start);
  work.end_ns = static_cast<std::int64_t>(record.end);
  work.grid = {record.gridX, record.gridY, record.gridZ};
  work.block = {record.blockX, record.blockY, record.blockZ};
  work.cluster = {record.clusterX, record.clusterY, record.clusterZ};
  work.registers = record.registersPerThread;
  work.static_shared_bytes = record.staticSharedMemory;
  work.dynamic_shared_bytes = record.dynamicSharedMemory;
  work.local_bytes = record.localMemoryPerThread;
  return work;
}

// A copy's or a fill's.
template <class Record>
TracedWork transfer(WorkKind kind, const char* name, const Record& record) {
  TracedWork work;
  work.kind = kind;
  work.name = name;
  work.begin_ns = static_cast<std::int64_t>(record.start);
  work.end_ns = static_cast<std::int64_t>(record.end);
  return work;
}

const char* name_of(const CopyRecord& record) {
  switch (record.copyKind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "copy to the device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "copy from the device";
    default:
      return "copy";
  }
}

// Without the parameters, which are those of the last brackets, and the type of what a kernel returns.
std::string without_parameters(std::string name) {
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0 && name.back() == ')';) {
    depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
    if (depth != 0) continue;
    name.resize(at);
    break;
  }
  constexpr std::string_view kReturned = "void ";
  return name.starts_with(kReturned) ? name.substr(kReturned.size()) : name;
}

}  // namespace

std::optional<TracedWork> decode(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return kernel(reinterpret_cast<const KernelRecord&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = reinterpret_cast<const CopyRecord&>(record);
      return transfer(WorkKind::copy, name_of(copy), copy);
    }
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return transfer(WorkKind::fill, "fill", reinterpret_cast<const FillRecord&>(record));
    default:
      return std::nullopt;
  }
}

std::string readable_name(const char* mangled) {
  if (mangled == nullptr) return "?";
  std::string name(mangled, ::strnlen(mangled, kMostMangled));
  if (name.starts_with("_Z")) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                           &std::free);
    if (status == 0 && text) name = without_parameters(text.get());
  }
  name.resize(std::min(name.size(), kMostName));
  return name.empty() ? "?" : name;
}

std::string describe(std::vector<TracedWork> work, std::uint64_t event_ns, const std::string& why) {
  std::ostringstream text;
  if (!why.empty()) {
    text << "! " << why << '\n';
    return text.str();
  }
  std::ranges::stable_sort(work, {}, &TracedWork::begin_ns);
  for (const TracedWork& one : work) {
    const std::int64_t zero = work.front().begin_ns;
    text << static_cast<int>(one.kind) << ' ' << one.begin_ns - zero << ' ' << one.end_ns - zero;
    for (const auto& extents : {one.grid, one.block, one.cluster})
      for (const std::int64_t extent : extents) text << ' ' << extent;
    text << ' ' << one.registers << ' ' << one.static_shared_bytes << ' ' << one.dynamic_shared_bytes << ' '
         << one.local_bytes << ' ' << one.name << '\n';
  }
  text << "= " << event_ns << '\n';
  return text.str();
}

}  // namespace kagent::runner::cuda
