// SPDX-License-Identifier: Apache-2.0
#include "runner/channel.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <linux/filter.h>
#include <sys/mman.h>
#include <sys/socket.h>

namespace kagent::runner {

using protocol::FilterInstruction;
using protocol::StartBlock;

static_assert(sizeof(FilterInstruction) == sizeof(sock_filter));

namespace {

std::unexpected<StageError> channel_failure(const char* what) {
  return failure(
      std::string("cannot make the channel to the runner: ") + what + ": " + std::generic_category().message(errno),
      "check the limits of this process (ulimit -a)");
}

}  // namespace

Result<Channel> Channel::make(const std::string& filter, protocol::TickSource source, std::uint64_t sweep_bytes,
                              std::uint64_t sentinel_seed) {
  Channel channel;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return channel_failure("socketpair");
  channel.socket_ = util::Descriptor(ends[0]);
  channel.child_socket_ = util::Descriptor(ends[1]);
  const int yes = 1;
  if (::setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0) return channel_failure("SO_PASSCRED");
  channel.file_ = util::Descriptor(::memfd_create("exchange", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!channel.file_) return channel_failure("memfd_create");
  if (::ftruncate(channel.file_.get(), protocol::kExchangeBytes) != 0) return channel_failure("ftruncate");
  if (::fcntl(channel.file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return channel_failure("F_ADD_SEALS");
  void* const mapped =
      ::mmap(nullptr, protocol::kExchangeBytes, PROT_READ | PROT_WRITE, MAP_SHARED, channel.file_.get(), 0);
  if (mapped == MAP_FAILED) return channel_failure("mmap");
  channel.exchange_ = static_cast<std::byte*>(mapped);

  auto& start = *reinterpret_cast<StartBlock*>(channel.exchange_);
  start.tick_source = source;
  start.sweep_bytes = sweep_bytes;
  start.sentinel_seed = sentinel_seed;
  start.filter_length = static_cast<std::uint32_t>(filter.size() / sizeof(FilterInstruction));
  if (start.filter_length > protocol::kMostInstructions) return failure("the system call filter is too long");
  std::memcpy(start.filter, filter.data(), filter.size());
  return channel;
}

Channel::Channel(Channel&& other) noexcept {
  *this = std::move(other);
}

Channel& Channel::operator=(Channel&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(child_socket_, other.child_socket_);
  std::swap(file_, other.file_);
  std::swap(exchange_, other.exchange_);
  return *this;
}

Channel::~Channel() {
  if (exchange_ != nullptr) ::munmap(exchange_, protocol::kExchangeBytes);
}

std::vector<std::pair<int, int>> Channel::child_descriptors() const {
  return {{child_socket_.get(), protocol::kSocket}, {file_.get(), protocol::kExchange}};
}

void Channel::forget_child_descriptors() {
  child_socket_.close();
  file_.close();
}

bool Channel::started() const {
  return __atomic_load_n(&reinterpret_cast<const StartBlock*>(exchange_)->started, __ATOMIC_ACQUIRE) != 0;
}

void Channel::hang_up() {
  ::shutdown(socket_.get(), SHUT_WR);
}

void Channel::ask_for_orderly_exit() {
  reinterpret_cast<StartBlock*>(exchange_)->exits_orderly = 1;
}

bool Channel::send(const protocol::Request& request, std::span<const std::byte> entries) {
  std::array<iovec, 2> parts{{{const_cast<protocol::Request*>(&request), sizeof request},
                              {const_cast<std::byte*>(entries.data()), entries.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  ssize_t sent;
  while ((sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0 && errno == EINTR) {
  }
  return sent >= 0;
}

Channel::Received Channel::receive() {
  Received received;
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(ucred))> control;
  iovec part{&received.reply, sizeof received.reply};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got;
  while ((got = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (got < 0 && errno == EAGAIN) return received;
  if (got <= 0) {
    received.what = Received::What::closed;
    return received;
  }
  const bool whole = got == sizeof received.reply && (message.msg_flags & MSG_TRUNC) == 0;
  received.what = whole ? Received::What::reply : Received::What::nonsense;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_CREDENTIALS) continue;
    ucred credentials{};
    std::memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
    received.sender = credentials.pid;
  }
  return received;
}

}  // namespace kagent::runner
