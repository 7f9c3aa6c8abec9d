#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the recorded case of the RMS norm: inputs, and outputs that owe nothing to the kernel or its reference.

Means are exact fractions, and the rest is decimal arithmetic with 40 digits, rounded once to bfloat16, so every run on
every machine writes the same bytes. NumPy has no bfloat16: the files hold its bits.
"""
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
D = Context(prec=40, Emin=-9999, Emax=9999)


def decimal(fraction):
    return D.divide(Decimal(fraction.numerator), Decimal(fraction.denominator))


def norm(row, weight):
    x = [Fraction(float(value)) for value in row]
    mean = sum(value * value for value in x) / len(x)
    root = D.sqrt(decimal(mean + Fraction(1, 1000000)))
    return [D.divide(decimal(value * Fraction(float(w))), root) for value, w in zip(x, weight)]


def nearest_bfloat16(value):
    """The float32 with eight significant bits next to a decimal, ties to even; results here are normal numbers."""
    exact = Fraction(value)
    if exact == 0:
        return np.float32(0)
    exponent = 0
    while abs(exact) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(exact) < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** (exponent - 7)
    return np.float32(round(exact / step) * step)


def rounded(values):
    return np.array([nearest_bfloat16(value) for value in np.asarray(values, dtype=object).ravel()],
                    dtype=np.float32).reshape(np.shape(values))


def bits(values):
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def bell(random, shape, spread):
    """Bell-shaped values: sums of six integers, scaled by a power of two, rounded to bfloat16."""
    return rounded((random.randint(-512, 513, size=(6, *shape)).sum(axis=0) * (spread / 1024.0)).tolist())


def main():
    random = np.random.RandomState(20240924)
    x = bell(random, (5, 333), 2.0)
    x[1] *= np.float32(2.0**-12)  # squares far below the number that is added to their mean
    x[2] = np.float32(0.75)
    weight = rounded((1 + bell(random, (333,), 0.25)).tolist())
    y = np.array([[nearest_bfloat16(value) for value in norm(row, weight)] for row in x], dtype=np.float32)
    for name, values in {"x": x, "weight": weight, "y": y}.items():
        np.save(FOLDER / f"recorded.{name}.npy", bits(values))


if __name__ == "__main__":
    main()
