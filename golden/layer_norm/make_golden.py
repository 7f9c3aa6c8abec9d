#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the recorded case of the layer norm: inputs, and outputs that owe nothing to the kernel or its reference.

Means and variances are exact fractions, and the rest is decimal arithmetic with 40 digits, rounded once, so every run
on every machine writes the same bytes.
"""
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
D = Context(prec=40, Emin=-9999, Emax=9999)


def decimal(fraction):
    return D.divide(Decimal(fraction.numerator), Decimal(fraction.denominator))


def norm(row, gamma, beta):
    x = [Fraction(float(value)) for value in row]
    mean = sum(x) / len(x)
    variance = sum((value - mean) ** 2 for value in x) / len(x)
    deviation = D.sqrt(decimal(variance + Fraction(1, 100000)))
    return [float(D.add(D.divide(decimal((value - mean) * Fraction(float(g))), deviation), Decimal(float(b))))
            for value, g, b in zip(x, gamma, beta)]


def bell(random, shape, spread):
    """Bell-shaped values: sums of six integers, scaled by a power of two, rounded to float16."""
    return (random.randint(-512, 513, size=(6, *shape)).sum(axis=0) * (spread / 1024.0)).astype(np.float16)


def main():
    random = np.random.RandomState(20240923)
    x = bell(random, (5, 333), 2.0)
    x[1] += np.float16(64)  # a mean that dwarfs the deviations
    x[2] = np.float16(0.75)  # no deviation at all
    gamma = (1 + bell(random, (333,), 0.25)).astype(np.float16)
    beta = bell(random, (333,), 0.25)
    y = np.array([norm(row, gamma, beta) for row in x], dtype=np.float64).astype(np.float16)
    for name, values in {"x": x, "gamma": gamma, "beta": beta, "y": y}.items():
        np.save(FOLDER / f"recorded.{name}.npy", values)


if __name__ == "__main__":
    main()
