#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the recorded cases of the sum: inputs, and outputs that owe nothing to the kernel or its reference.

math.fsum rounds once, so every run on every machine writes the same bytes.
"""
import math
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent


def save(name, x):
    np.save(FOLDER / f"{name}.x.npy", x)
    np.save(FOLDER / f"{name}.sum.npy", np.array([math.fsum(x.astype(np.float64))], dtype=np.float64).astype(np.float32))


def bell(random, count):
    """Bell-shaped values that are exact in float32: sums of six integers, scaled by a power of two."""
    return (random.randint(-512, 513, size=(6, count)).sum(axis=0) / 1024.0).astype(np.float32)


def main():
    random = np.random.RandomState(20240925)
    save("recorded", bell(random, 1999) + np.float32(0.5))

    # Large numbers that cancel, and what is left.
    x = bell(random, 1024)
    x[::2] = np.float32(2.0**20) * x[1::2]
    x[1::2] = -x[::2] + np.float32(1.0)
    save("cancelling", x)


if __name__ == "__main__":
    main()
