#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the recorded cases of the softmax: inputs, and outputs that owe nothing to the kernel or its reference.

The exponentials are computed in decimal arithmetic with 40 digits and rounded once, so every run on every machine
writes the same bytes.
"""
from decimal import Context, Decimal
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
DIGITS = Context(prec=40, Emin=-9999, Emax=9999)


def softmax(row):
    if np.isnan(row).any() or np.isposinf(row).any() or np.isneginf(row).all():
        return [float("nan")] * len(row)
    largest = Decimal(float(row.max()))
    powers = [Decimal(0) if np.isneginf(x) else DIGITS.exp(DIGITS.subtract(Decimal(float(x)), largest)) for x in row]
    total = Decimal(0)
    for power in powers:
        total = DIGITS.add(total, power)
    return [float(DIGITS.divide(power, total)) for power in powers]


def save(name, x):
    y = np.array([softmax(row) for row in x], dtype=np.float64).astype(np.float32)
    np.save(FOLDER / f"{name}.x.npy", x)
    np.save(FOLDER / f"{name}.y.npy", y)


def bell(random, shape, spread):
    """Bell-shaped values that are exact in float32: sums of six integers, scaled by a power of two."""
    return (random.randint(-512, 513, size=(6, *shape)).sum(axis=0) * (spread / 1024.0)).astype(np.float32)


def main():
    random = np.random.RandomState(20240926)
    save("recorded", bell(random, (5, 333), 4.0))

    # Rows as an attention mask makes them: the first entries, the last ones, all but one, and every other one hidden;
    # and one row of large values.
    x = bell(random, (5, 259), 2.0)
    x[0, :200] = -np.inf
    x[1, 130:] = -np.inf
    x[2] = -np.inf
    x[2, 77] = 1.5
    x[3, ::2] = -np.inf
    x[4] = x[4] + np.float32(30000.0)
    save("masked", x)


if __name__ == "__main__":
    main()
