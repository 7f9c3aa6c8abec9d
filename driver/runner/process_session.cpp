// SPDX-License-Identifier: Apache-2.0
#include "runner/process_session.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "runner/geometry.h"
#include "runner/secret.h"

namespace kagent::runner {

using protocol::Block;
using protocol::BlockKind;
using protocol::Operation;
using protocol::Piece;
using protocol::ReplyKind;
using protocol::Request;

namespace {

Request request_for(Operation operation, int slot) {
  Request request{};
  request.operation = operation;
  request.slot = static_cast<std::uint32_t>(slot);
  return request;
}

template <class T>
std::span<const std::byte> as_bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace

ProcessSession::ProcessSession(RunnerProcess process, std::vector<Parameter> parameters, std::uint64_t sentinel_seed,
                               SessionKind kind)
    : process_(std::move(process)),
      parameters_(std::move(parameters)),
      sentinel_seed_(sentinel_seed),
      kind_(std::move(kind)) {}

ProcessSession::~ProcessSession() {
  if (kind_.give_back && (kind_.gives_back_ended || !process_->has_ended())) kind_.give_back(std::move(*process_));
}

Result<ProcessSession::Slot*> ProcessSession::find(int slot) {
  if (slot < 0 || slot >= protocol::kSlots)
    return failure(fmt::format("slot {} is not one of 0..{}", slot, protocol::kSlots - 1));
  auto& found = slots_[static_cast<std::size_t>(slot)];
  if (!found) return failure(fmt::format("slot {} has not been prepared", slot));
  return &*found;
}

std::uint64_t ProcessSession::mapped() const {
  std::uint64_t sum = 0;
  for (const auto& slot : slots_)
    if (slot) sum += mapped_bytes(slot->blocks);
  return sum;
}

// Moves bytes in or out through the exchange, as many parts in one message as fit; parts larger than it are split.
template <class Byte>
Result<RunResult> ProcessSession::transfer(int slot, std::vector<Part<Byte>> parts, Request request) {
  constexpr bool out = !std::is_const_v<Byte>;
  std::ranges::reverse(parts);  // the next is at the end
  RunResult total;
  const std::uint64_t touched = mapped_bytes(slots_[static_cast<std::size_t>(slot)]->blocks);
  do {
    std::vector<Piece> pieces;
    std::vector<std::span<Byte>> ends;  // where the pieces come from or go to
    std::uint64_t used = 0;
    while (!parts.empty() && pieces.size() < protocol::kMostPieces && used < protocol::kAreaBytes) {
      Part<Byte>& part = parts.back();
      const std::uint64_t length = std::min<std::uint64_t>(part.bytes.size(), protocol::kAreaBytes - used);
      pieces.push_back({part.parameter, 0, part.offset, length, used});
      ends.push_back(part.bytes.first(length));
      if constexpr (!out)
        if (length > 0) std::memcpy(process_->area().data() + used, ends.back().data(), length);
      part.offset += length;
      part.bytes = part.bytes.subspan(length);
      if (part.bytes.empty()) parts.pop_back();
      used = (used + length + protocol::kLineBytes - 1) / protocol::kLineBytes * protocol::kLineBytes;
    }
    request.slot = static_cast<std::uint32_t>(slot);
    request.count = static_cast<std::uint32_t>(pieces.size());
    auto answer = process_->ask(request, as_bytes(pieces), touched);
    if (!answer) return std::unexpected(answer.error());
    if (answer->result.outcome != Outcome::ok) return answer->result;
    if constexpr (out)
      for (std::size_t i = 0; i < pieces.size(); ++i)
        if (!ends[i].empty())
          std::memcpy(ends[i].data(), process_->area().data() + pieces[i].area_offset, ends[i].size());
    request.flags = 0;
    total.driver_time += answer->result.driver_time;
  } while (!parts.empty());
  return total;
}

std::vector<ProcessSession::Part<const std::byte>> ProcessSession::contents_of(const CallInputs& inputs) const {
  std::vector<Part<const std::byte>> parts;
  for (std::uint32_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].is_read()) continue;
    const std::vector<std::byte>& bytes = inputs.tensors.at(parameters_[i].name).bytes;
    if (!bytes.empty()) parts.push_back({i, 0, bytes});
  }
  return parts;
}

// Of inputs only what changed since. An inout buffer goes whole: a call has changed it.
std::vector<ProcessSession::Part<const std::byte>> ProcessSession::changed_parts(
    const std::vector<Part<const std::byte>>& parts, const Revisions& revisions, const Revisions::Held& held) const {
  std::vector<Part<const std::byte>> needed;
  for (const Part<const std::byte>& part : parts) {
    const Parameter& parameter = parameters_[part.parameter];
    const auto changes = parameter.kind == ParameterKind::input ? revisions.since(held, parameter.name) : std::nullopt;
    if (!changes) {
      needed.push_back(part);
      continue;
    }
    for (const Revisions::Stretch& stretch : *changes)
      needed.push_back({part.parameter, stretch.offset, part.bytes.subspan(stretch.offset, stretch.length)});
  }
  return needed;
}

Result<RunResult> ProcessSession::store(int slot, const CallInputs& inputs, std::optional<std::uint8_t> poison,
                                        const Revisions* revisions) {
  Request request = request_for(Operation::store, slot);
  request.flags = poison ? protocol::kPoisonOutputs : 0U;
  request.poison = poison.value_or(0);
  auto parts = contents_of(inputs);
  std::optional<Revisions::Held>& holds = slots_[static_cast<std::size_t>(slot)]->holds;
  if (kind_.keeps_inputs && revisions != nullptr && holds) parts = changed_parts(parts, *revisions, *holds);
  holds.reset();
  auto stored = transfer(slot, std::move(parts), request);
  if (revisions != nullptr && stored && stored->outcome == Outcome::ok) holds = revisions->now();
  return stored;
}

Result<RunResult> ProcessSession::lay_out(int slot, std::uint8_t poison) {
  const Slot& target = *slots_[static_cast<std::size_t>(slot)];
  process_->allow_buffers(mapped());
  Request request = request_for(Operation::lay_out, slot);
  request.count = static_cast<std::uint32_t>(target.blocks.size());
  request.poison = poison;
  const auto answer = process_->ask(request, as_bytes(target.blocks), mapped_bytes(target.blocks));
  if (!answer) return std::unexpected(answer.error());
  if (answer->result.outcome == Outcome::ok && answer->reply.kind == ReplyKind::no_memory)
    return process_->no_memory_for_buffers(answer->reply);
  return answer->result;
}

Result<RunResult> ProcessSession::set_geometry(int slot) {
  const auto geometry = evaluate_geometry(*kind_.launch, slots_[static_cast<std::size_t>(slot)]->sizes, kind_.tunables);
  if (!geometry) return std::unexpected(geometry.error());
  if (!*geometry) {
    process_->end(Outcome::limits_exceeded, geometry->error());
    return RunResult{Outcome::limits_exceeded, geometry->error(), {}, {}};
  }
  const auto answer =
      process_->ask(request_for(Operation::set_geometry, slot), std::as_bytes(std::span(&**geometry, 1)));
  if (!answer) return std::unexpected(answer.error());
  return answer->result;
}

Result<RunResult> ProcessSession::prepare(int slot, const CallInputs& inputs, const CallLayout& layout) {
  if (slot < 0 || slot >= protocol::kSlots)
    return failure(fmt::format("slot {} is not one of 0..{}", slot, protocol::kSlots - 1));
  auto blocks = lay_out_blocks(parameters_, inputs, layout, kind_.blocks);
  if (!blocks) return std::unexpected(blocks.error());
  slots_[static_cast<std::size_t>(slot)] = Slot{std::move(*blocks), inputs.sizes, {}, {}};
  auto laid_out = lay_out(slot, layout.poison);
  if (!laid_out || laid_out->outcome != Outcome::ok) return laid_out;
  if (kind_.launch)
    if (auto told = set_geometry(slot); !told || told->outcome != Outcome::ok) return told;
  auto stored = store(slot, inputs, {}, layout.revisions);
  if (stored) stored->driver_time += laid_out->driver_time;
  return stored;
}

Result<RunResult> ProcessSession::refill(int slot, const CallInputs& inputs, std::uint8_t poison,
                                         const Revisions* revisions) {
  const auto target = find(slot);
  if (!target) return std::unexpected(target.error());
  const auto blocks = lay_out_blocks(parameters_, inputs, {}, kind_.blocks);
  if (!blocks) return std::unexpected(blocks.error());
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    const Block &now = (*blocks)[i], &before = (*target)->blocks[i];
    const bool same = now.kind == BlockKind::value ? now.value == before.value : now.data_bytes == before.data_bytes;
    if (!same)
      return failure(fmt::format("'{}' does not fit slot {}: '{}' differs from what was prepared", inputs.label, slot,
                                 parameters_[i].name));
  }
  (*target)->written.reset();
  return store(slot, inputs, poison, revisions);
}

Result<RunResult> ProcessSession::call(int slot) {
  const auto target = find(slot);
  if (!target) return std::unexpected(target.error());
  Request request = request_for(Operation::call, slot);
  request.nonce = secret_number();
  const auto answer = process_->ask(request);
  if (!answer) return std::unexpected(answer.error());
  if (answer->result.outcome == Outcome::ok) (*target)->written = Fingerprint{request.nonce, answer->reply.fingerprint};
  return answer->result;
}

Result<RunResult> ProcessSession::sample(const SamplePlan& plan) {
  auto answer = take(plan);
  if (!answer) return std::unexpected(answer.error());
  return std::move(answer->result);
}

Result<RunnerProcess::Answer> ProcessSession::take(const SamplePlan& plan) {
  const std::size_t most = (protocol::kMostRequestBytes - sizeof(Request)) / sizeof(std::uint32_t);
  if (plan.slots.empty() || plan.slots.size() > most || plan.repetitions < 1)
    return failure(
        fmt::format("a sample of {} calls over {} slots cannot be taken", plan.repetitions, plan.slots.size()));
  std::vector<std::uint32_t> order;
  for (int slot : plan.slots) {
    const auto target = find(slot);
    if (!target) return std::unexpected(target.error());
    (*target)->written.reset();
    order.push_back(static_cast<std::uint32_t>(slot));
  }
  Request request = request_for(Operation::sample, plan.slots.front());
  request.count = static_cast<std::uint32_t>(order.size());
  request.flags = (plan.cold ? protocol::kCold : 0U) | (plan.graph ? protocol::kGraph : 0U);
  request.poison = plan.poison;
  request.repetitions = static_cast<std::uint32_t>(plan.repetitions);
  request.nonce = secret_number();
  auto answer = process_->ask(request, as_bytes(order));
  if (!answer) return std::unexpected(answer.error());
  if (answer->result.outcome == Outcome::ok && answer->reply.kind == ReplyKind::no_memory) {
    auto whose = process_->no_memory_for_buffers(answer->reply);
    if (!whose) return std::unexpected(whose.error());
    answer->result = std::move(*whose);
    return answer;
  }
  answer->result.by_graph = answer->reply.by_graph != 0;
  if (kind_.device_state) answer->result.device_state = kind_.device_state();
  const int last = plan.slots[static_cast<std::size_t>(plan.repetitions - 1) % plan.slots.size()];
  if (answer->result.outcome == Outcome::ok)
    slots_[static_cast<std::size_t>(last)]->written = Fingerprint{request.nonce, answer->reply.fingerprint};
  return answer;
}

Result<RunnerProcess::Answer> ProcessSession::look(int slot, Operation operation, std::uint64_t touched_bytes) {
  const auto target = find(slot);
  if (!target) return std::unexpected(target.error());
  (*target)->written.reset();
  return process_->ask(request_for(operation, slot), {}, touched_bytes);
}

// What a look left in the exchange: up to its first zero.
std::string_view ProcessSession::told() {
  const auto area = process_->area();
  const std::string_view text(reinterpret_cast<const char*>(area.data()), area.size());
  return text.substr(0, text.find('\0'));
}

// As the runtime makes it, over what was read.
std::uint64_t ProcessSession::fingerprint(const Slot& slot, const std::vector<BufferImage>& images) const {
  std::uint64_t result = slot.written->nonce;
  std::size_t image = 0;
  for (const Parameter& parameter : parameters_) {
    if (!parameter.is_buffer()) continue;
    const std::vector<std::byte>& bytes = images[image++].contents.bytes;
    if (parameter.is_written())
      result = protocol::fingerprint(result, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                                     slot.written->nonce);
  }
  return result;
}

// Nobody asks what a workspace holds: only the surroundings of a large one are looked at.
bool ProcessSession::is_looked_at(const Parameter& parameter, const Block& block, bool inputs) const {
  constexpr std::uint64_t kLargeWorkspace = std::uint64_t{1} << 20;
  if (parameter.kind == ParameterKind::workspace) return block.data_bytes < kLargeWorkspace;
  return inputs || parameter.kind != ParameterKind::input;
}

Result<std::vector<BufferImage>> ProcessSession::read_images(int slot, bool inputs) {
  if (process_->has_ended()) return std::vector<BufferImage>{};
  const auto target = find(slot);
  if (!target) return std::unexpected(target.error());
  const std::vector<Block>& blocks = (*target)->blocks;
  std::vector<BufferImage> images;
  std::vector<std::vector<std::byte>> guards;  // front and back of each buffer
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].is_buffer()) continue;
    auto shape = extents(parameters_[i], (*target)->sizes);
    if (!shape) return std::unexpected(shape.error());
    images.push_back({parameters_[i].name, {parameters_[i].dtype, std::move(*shape), {}}, true, 0});
    if (is_looked_at(parameters_[i], blocks[i], inputs))
      images.back().contents = make_tensor(parameters_[i].dtype, std::move(images.back().contents.shape));
    const Guards limits = guards_of(blocks[i]);
    guards.emplace_back(limits.front_end - limits.front_start);
    guards.emplace_back(limits.back_end - limits.back_start);
  }
  std::vector<Part<std::byte>> parts;
  std::size_t image = 0;
  for (std::uint32_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].is_buffer()) continue;
    const Guards limits = guards_of(blocks[i]);
    const std::pair<std::uint64_t, std::span<std::byte>> ranges[] = {{limits.front_start, guards[2 * image]},
                                                                     {limits.front_end, images[image].contents.bytes},
                                                                     {limits.back_start, guards[2 * image + 1]}};
    for (const auto& [offset, bytes] : ranges)
      if (!bytes.empty()) parts.push_back({i, offset, bytes});
    ++image;
  }
  const auto loaded = transfer(slot, std::move(parts), request_for(Operation::load, slot));
  if (!loaded) return std::unexpected(loaded.error());
  if (loaded->outcome != Outcome::ok) {
    process_->tell_again();
    return std::vector<BufferImage>{};
  }
  image = 0;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].is_buffer()) continue;
    if (const auto damage = first_damage(blocks[i], sentinel_seed_, guards[2 * image], guards[2 * image + 1])) {
      images[image].guards_intact = false;
      images[image].first_damage = *damage;
    }
    ++image;
  }
  if ((*target)->written && fingerprint(**target, images) != (*target)->written->value) {
    process_->end(Outcome::policy_violation, "wrote to an output after the call had returned");
    return std::vector<BufferImage>{};
  }
  return images;
}

Result<RunResult> ProcessSession::release(int slot) {
  const auto target = find(slot);
  if (!target) return std::unexpected(target.error());
  const auto answer = process_->ask(request_for(Operation::release, slot));
  if (!answer) return std::unexpected(answer.error());
  slots_[static_cast<std::size_t>(slot)].reset();
  process_->allow_buffers(mapped());
  return answer->result;
}

}  // namespace kagent::runner
