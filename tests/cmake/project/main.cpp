// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

int ops();
void scale(const float* x, float* y, int n);

int main() {
  const float x[2] = {1, 2};
  float y[2] = {};
  scale(x, y, 2);
  std::printf("%d passes\n", y[0] == 3 && y[1] == 6 ? ops() : -1);
}
