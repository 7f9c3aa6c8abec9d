#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the recorded cases of the chain layer norm, softmax, dropout, residual sum: inputs, and outputs that owe
nothing to the kernel or its reference.

All is computed in decimal arithmetic with 40 digits and rounded once, so every run on every machine writes the same
bytes. The generator is held against the known answers of its authors (Random123) first.
"""
from decimal import Context, Decimal
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
D = Context(prec=40, Emin=-9999, Emax=9999)
WORD = 0xFFFFFFFF


def philox(counter, key):
    """Philox4x32-10: four words from a counter of four words and a key of two."""
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(second >> 32) ^ counter[1] ^ key[0], second & WORD, (first >> 32) ^ counter[3] ^ key[1], first & WORD]
        key = [(key[0] + 0x9E3779B9) & WORD, (key[1] + 0xBB67AE85) & WORD]
    return counter


def check_generator():
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox([WORD] * 4, [WORD] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    assert philox([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]) == [
        0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def decimals(row):
    return [Decimal(float(value)) for value in row]


def total(values):
    result = Decimal(0)
    for value in values:
        result = D.add(result, value)
    return result


def softmax_of_norm(x, gamma, beta):
    mean = D.divide(total(x), len(x))
    deviations = [D.subtract(value, mean) for value in x]
    variance = D.divide(total(D.multiply(value, value) for value in deviations), len(x))
    scale = D.sqrt(D.add(variance, Decimal("0.00001")))
    n = [D.add(D.multiply(D.divide(value, scale), g), b) for value, g, b in zip(deviations, gamma, beta)]
    powers = [D.exp(D.subtract(value, max(n))) for value in n]
    return [D.divide(power, total(powers)) for power in powers]


def chain(x, residual, gamma, beta, drop, seed):
    threshold = int(drop * 2**32)
    rows, cols = x.shape
    out = np.empty((rows, cols), dtype=np.float64)
    for row in range(rows):
        p = softmax_of_norm(decimals(x[row]), decimals(gamma), decimals(beta))
        for col in range(cols):
            group, word = divmod(row * cols + col, 4)
            words = philox([group & WORD, group >> 32, 0, 0], [seed & WORD, seed >> 32])
            add = Decimal(0) if words[word] < threshold else D.divide(p[col], Decimal(1 - drop))
            out[row, col] = float(D.add(Decimal(float(residual[row, col])), add))
    return out.astype(np.float16)


def bell(random, shape, spread):
    """Bell-shaped values: sums of six integers, scaled by a power of two, rounded to float16."""
    return (random.randint(-512, 513, size=(6, *shape)).sum(axis=0) * (spread / 1024.0)).astype(np.float16)


def save(name, random, rows, cols, drop, seed):
    arrays = {"x": bell(random, (rows, cols), 2.0), "residual": bell(random, (rows, cols), 2.0**-6),
              "gamma": (1 + bell(random, (cols,), 0.25)).astype(np.float16), "beta": bell(random, (cols,), 0.25)}
    arrays["out"] = chain(**arrays, drop=drop, seed=seed)
    for array, values in arrays.items():
        np.save(FOLDER / f"{name}.{array}.npy", values)


def main():
    check_generator()
    random = np.random.RandomState(20240921)
    save("recorded", random, 3, 203, 0.25, 20240921)
    save("long-seed", random, 2, 101, 0.5, 9007199254740881)


if __name__ == "__main__":
    main()
