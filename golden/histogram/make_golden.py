#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the recorded cases of the byte histogram: inputs, and outputs that owe nothing to the kernel or its reference."""
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent


def save(name, data):
    np.save(FOLDER / f"{name}.data.npy", data)
    np.save(FOLDER / f"{name}.bins.npy", np.bincount(data, minlength=256).astype(np.uint32))


def main():
    random = np.random.RandomState(20240919)

    # Every byte value, in runs and alone.
    values = random.randint(0, 256, size=100003).astype(np.uint8)
    values[20000:40000] = np.repeat(np.arange(250, dtype=np.uint8), 80)
    values[60000:61024] = np.tile(np.arange(256, dtype=np.uint8), 4)
    save("recorded", values)

    # More equal bytes than 16 bits can count.
    save("one-value", np.full(70001, 255, dtype=np.uint8))


if __name__ == "__main__":
    main()
