#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the recorded cases of the convolution: inputs, and outputs that owe nothing to the kernel or its reference.

Products of two floats are exact in double, and math.fsum rounds their sum once: every run on every machine writes the
same bytes.
"""
import math
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
SIDE = 15


def convolution(image, filter_):
    wide, factors = image.astype(np.float64), filter_.astype(np.float64)
    height, width = image.shape[0] - SIDE + 1, image.shape[1] - SIDE + 1
    sums = [[math.fsum((wide[y:y + SIDE, x:x + SIDE] * factors).ravel()) for x in range(width)] for y in range(height)]
    return np.array(sums, dtype=np.float64).astype(np.float32)


def save(name, image, filter_):
    np.save(FOLDER / f"{name}.input.npy", image)
    np.save(FOLDER / f"{name}.filter.npy", filter_)
    np.save(FOLDER / f"{name}.output.npy", convolution(image, filter_))


def bell(random, shape):
    """Bell-shaped values that are exact in float32: sums of six integers, scaled by a power of two."""
    return (random.randint(-512, 513, size=(6, *shape)).sum(axis=0) / 1024.0).astype(np.float32)


def main():
    random = np.random.RandomState(20240928)
    save("recorded", bell(random, (17 + 14, 23 + 14)), bell(random, (SIDE, SIDE)))

    # Small integers: every sum is exact in float32, so an index that is off by one cannot hide behind rounding.
    def integers(shape):
        return random.randint(-8, 9, size=shape).astype(np.float32)

    save("integers", integers((9 + 14, 20 + 14)), integers((SIDE, SIDE)))


if __name__ == "__main__":
    main()
