// SPDX-License-Identifier: Apache-2.0
void scale_reference(const double* x, double* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 3.0 * x[i];
}
