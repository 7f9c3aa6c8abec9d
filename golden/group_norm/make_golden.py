#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the recorded case of the group norm: inputs, and outputs that owe nothing to the kernel or its reference.

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


def norm(x, gamma, beta, groups):
    y = np.empty(x.shape, dtype=np.float64)
    batch, channels, positions = x.shape
    size = channels // groups
    for sample in range(batch):
        for first in range(0, channels, size):
            values = [Fraction(float(value)) for value in x[sample, first:first + size].ravel()]
            mean = sum(values) / len(values)
            variance = sum((value - mean) ** 2 for value in values) / len(values)
            deviation = D.sqrt(decimal(variance + Fraction(1, 100000)))
            for i, value in enumerate(values):
                channel = first + i // positions
                scaled = D.divide(decimal((value - mean) * Fraction(float(gamma[channel]))), deviation)
                y[sample, channel, i % positions] = float(D.add(scaled, Decimal(float(beta[channel]))))
    return y.astype(np.float16)


def bell(random, shape, spread):
    """Bell-shaped values: sums of six integers, scaled by a power of two, rounded to float16."""
    return (random.randint(-512, 513, size=(6, *shape)).sum(axis=0) * (spread / 1024.0)).astype(np.float16)


def main():
    random = np.random.RandomState(20240931)
    x = bell(random, (2, 12, 67), 2.0)
    x[1, 3:6] += np.float16(64)  # a mean that dwarfs the deviations
    x[1, 6:9] = np.float16(0.75)  # no deviation at all
    gamma = (1 + bell(random, (12,), 0.25)).astype(np.float16)
    beta = bell(random, (12,), 0.25)
    y = norm(x, gamma, beta, groups=4)
    for name, values in {"x": x, "gamma": gamma, "beta": beta, "y": y}.items():
        np.save(FOLDER / f"recorded.{name}.npy", values)


if __name__ == "__main__":
    main()
