// SPDX-License-Identifier: Apache-2.0
// What the shipped kernels use of CUDA's matrix instructions, on the fake device. The first lane of a warp has the
// whole of a fragment, the others have nothing: what a kernel does with single elements of fragments is not understood.
#pragma once

#include <cstdlib>
#include <type_traits>

#include "cuda_fp16.h"

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
  static constexpr bool is_a = std::is_same_v<Use, matrix_a>;
  static constexpr bool is_b = std::is_same_v<Use, matrix_b>;
  static constexpr int rows = is_b ? k : m;
  static constexpr int columns = is_a ? k : n;
  static constexpr int num_elements = rows * columns;
  T x[num_elements];  // row by row, whatever the layout in memory
};

template <class Use, int m, int n, int k, class T, class Layout>
void fill_fragment(fragment<Use, m, n, k, T, Layout>& f, T value) {
  if (emulated::lane() != 0) return;
  for (T& element : f.x) element = value;
}

// As on a device, tiles in memory are aligned to 32 bytes and rows to 16.
inline void check_alignment(const void* tile, std::size_t stride_bytes) {
  if (reinterpret_cast<std::uintptr_t>(tile) % 32 != 0 || stride_bytes % 16 != 0) std::abort();
}

template <class Use, int m, int n, int k, class T, class Layout>
void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f, const T* from, unsigned stride) {
  using F = fragment<Use, m, n, k, T, Layout>;
  check_alignment(from, stride * sizeof(T));
  if (emulated::lane() != 0) return;
  constexpr bool by_column = std::is_same_v<Layout, col_major>;
  for (unsigned r = 0; r < F::rows; ++r)
    for (unsigned c = 0; c < F::columns; ++c)
      f.x[r * F::columns + c] = by_column ? from[c * stride + r] : from[r * stride + c];
}

template <int m, int n, int k, class T>
void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f, unsigned stride, layout_t layout) {
  check_alignment(to, stride * sizeof(T));
  emulated::synchronise_warp();
  for (unsigned r = 0; r < m && emulated::lane() == 0; ++r)
    for (unsigned c = 0; c < n; ++c) to[layout == mem_row_major ? r * stride + c : c * stride + r] = f.x[r * n + c];
  emulated::synchronise_warp();
}

template <int m, int n, int k, class LayoutA, class LayoutB>
void mma_sync(fragment<accumulator, m, n, k, float>& d, const fragment<matrix_a, m, n, k, __half, LayoutA>& a,
              const fragment<matrix_b, m, n, k, __half, LayoutB>& b, const fragment<accumulator, m, n, k, float>& c) {
  if (emulated::lane() != 0) return;
  float wide_b[k * n];
  for (int i = 0; i < k * n; ++i) wide_b[i] = __half2float(b.x[i]);
  for (int r = 0; r < m; ++r) {
    float sums[n];
    for (int j = 0; j < n; ++j) sums[j] = c.x[r * n + j];
    for (int p = 0; p < k; ++p) {
      const float factor = __half2float(a.x[r * k + p]);
      for (int j = 0; j < n; ++j) sums[j] += factor * wide_b[p * n + j];
    }
    for (int j = 0; j < n; ++j) d.x[r * n + j] = sums[j];
  }
}

}  // namespace nvcuda::wmma
