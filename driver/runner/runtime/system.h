// SPDX-License-Identifier: Apache-2.0
#pragma once

// System calls and memory for the runtime without a library function: the candidate is linked into the same program,
// and a `memcpy`, `write` or `clock_gettime` of its own would be called in place of the real one.

#include <cstddef>
#include <cstdint>

#include <linux/time_types.h>
#include <sys/syscall.h>

namespace kagent::runner {

#if defined(__x86_64__)
inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#else
#error "kagent's runner supports x86-64 and aarch64"
#endif

inline long system_call(long number, const void* a, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  return system_call(number, reinterpret_cast<long>(a), b, c, d, e, f);
}

[[noreturn]] inline void end_process(int status) {
  while (true) system_call(SYS_exit_group, status);
}

// These compile to no call: the flags of this target keep the compiler from recognising them.
inline void copy_bytes(void* to, const void* from, std::size_t size) {
#if defined(__x86_64__)
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size)::"memory");
#else
  auto* target = static_cast<unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  while (size >= 8) {
    std::uint64_t word;
    __builtin_memcpy(&word, source, 8);
    __builtin_memcpy(target, &word, 8);
    target += 8, source += 8, size -= 8;
  }
  while (size-- > 0) *target++ = *source++;
#endif
}

inline void fill_bytes(void* to, std::uint8_t value, std::size_t size) {
#if defined(__x86_64__)
  asm volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(value) : "memory");
#else
  auto* target = static_cast<unsigned char*>(to);
  const std::uint64_t word = 0x0101'0101'0101'0101 * value;
  while (size >= 8) {
    __builtin_memcpy(target, &word, 8);
    target += 8, size -= 8;
  }
  while (size-- > 0) *target++ = value;
#endif
}

}  // namespace kagent::runner
