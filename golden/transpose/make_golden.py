#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the recorded case of the transpose. Each element is a number of its own, so that none can stand for another."""
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent


def main():
    random = np.random.RandomState(20240927)
    x = (random.permutation(35 * 45).reshape(35, 45) / 8.0 - 90).astype(np.float32)
    np.save(FOLDER / "recorded.x.npy", x)
    np.save(FOLDER / "recorded.y.npy", np.array([[x[r, c] for r in range(35)] for c in range(45)], dtype=np.float32))


if __name__ == "__main__":
    main()
