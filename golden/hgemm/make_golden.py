#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the recorded cases of the matrix product: inputs, and outputs that owe nothing to the kernel or its reference.

Products of two halves are exact in double, and math.fsum rounds their sum once: every run on every machine writes the
same bytes, whatever linear algebra library NumPy has.
"""
import math
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent


def product(a, b):
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    sums = [[math.fsum(row * column) for column in wide_b.T] for row in wide_a]
    return np.array(sums, dtype=np.float64).astype(np.float32)


def save(name, a, b):
    np.save(FOLDER / f"{name}.a.npy", a)
    np.save(FOLDER / f"{name}.b.npy", b)
    np.save(FOLDER / f"{name}.c.npy", product(a, b))


def bell(random, shape):
    """Bell-shaped values: sums of six integers, scaled by a power of two, rounded to float16."""
    return (random.randint(-512, 513, size=(6, *shape)).sum(axis=0) / 1024.0).astype(np.float16)


def main():
    random = np.random.RandomState(20240929)
    save("recorded", bell(random, (29, 35)), bell(random, (35, 41)))

    # Small integers: every sum is exact in float32, so an index that is off by one cannot hide behind rounding.
    def integers(shape):
        return random.randint(-8, 9, size=shape).astype(np.float16)

    save("integers", integers((24, 40)), integers((40, 32)))


if __name__ == "__main__":
    main()
