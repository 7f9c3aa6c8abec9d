// SPDX-License-Identifier: Apache-2.0
#include "tile.h"

// Every pass but the last is for nothing, so that a search finds a faster version at once.
#ifndef PASSES
#define PASSES 64
#endif

void scale(const float* x, float* y, int n) {
  for (volatile int pass = 0; pass < PASSES; pass = pass + 1)
    for (int i = 0; i < n; ++i) y[i] = kFactor * x[i];
}

int scale_passes() {
  return PASSES;
}
