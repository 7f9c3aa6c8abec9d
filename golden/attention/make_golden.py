#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the recorded case of attention: inputs, and outputs that owe nothing to the kernel or its reference.

All is computed in decimal arithmetic with 40 digits and rounded once, so every run on every machine writes the same
bytes.
"""
from decimal import Context, Decimal
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
D = Context(prec=40, Emin=-9999, Emax=9999)


def decimals(array):
    return [[Decimal(float(value)) for value in row] for row in array]


def product(left, right):
    total = Decimal(0)
    for a, b in zip(left, right):
        total = D.fma(a, b, total)
    return total


def attention(q, k, v):
    out = []
    columns = list(zip(*v))
    for query in q:
        scores = [D.divide(product(query, key), Decimal(8)) for key in k]
        powers = [D.exp(D.subtract(score, max(scores))) for score in scores]
        total = product(powers, [Decimal(1)] * len(powers))
        out.append([float(D.divide(product(powers, column), total)) for column in columns])
    return out


def bell(random, shape, spread):
    """Bell-shaped values: sums of six integers, scaled by a power of two, rounded to float16."""
    return (random.randint(-512, 513, size=(6, *shape)).sum(axis=0) * (spread / 1024.0)).astype(np.float16)


def main():
    random = np.random.RandomState(20240930)
    arrays = {"q": bell(random, (2, 5, 64), 2.0), "k": bell(random, (2, 9, 64), 1.0), "v": bell(random, (2, 9, 64), 1.0)}
    heads = [attention(*(decimals(array[head]) for array in arrays.values())) for head in range(2)]
    arrays["out"] = np.array(heads, dtype=np.float64).astype(np.float16)
    for name, values in arrays.items():
        np.save(FOLDER / f"recorded.{name}.npy", values)


if __name__ == "__main__":
    main()
