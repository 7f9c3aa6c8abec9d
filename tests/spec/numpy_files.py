# SPDX-License-Identifier: Apache-2.0
"""write FOLDER: arrays of every dtype, order, version and kind of shape. Element i (C order) is i % 5 + 1, or i % 2 for bool.
read FILE DESCR SHAPE: exits with an error unless NumPy reads such an array with those elements."""
import sys

import numpy as np

DTYPES = ["float64", "float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
SHAPES = {"scalar": (), "vector": (7,), "matrix": (3, 5), "cube": (2, 3, 4), "empty": (0, 4), "empty-inside": (3, 0, 2)}
VERSIONS = [(1, 0), (2, 0), (3, 0)]


def values(dtype, shape):
    count = int(np.prod(shape, dtype=np.int64))
    flat = np.arange(count) % 2 if dtype == "bool" else np.arange(count) % 5 + 1
    return flat.astype(dtype).reshape(shape)


def save(path, array, version):
    with open(path, "wb") as file:
        np.lib.format.write_array(file, array, version=version, allow_pickle=False)


def write(folder):
    for dtype in DTYPES:
        for shape_name, shape in SHAPES.items():
            for order in "CF":
                for version in VERSIONS:
                    array = np.asarray(values(dtype, shape), order=order)
                    save(f"{folder}/{dtype}.{shape_name}.{order}.{version[0]}.npy", array, version)
    # What ml_dtypes arrays are saved as: raw elements, and what people without it save: unsigned ones.
    bfloat16 = (values("float32", (3, 5)).view("<u4") >> 16).astype("<u2")
    np.save(f"{folder}/bfloat16.void.npy", bfloat16.view("V2"))
    np.save(f"{folder}/bfloat16.unsigned.npy", bfloat16)
    float8 = np.array([0x38, 0x40, 0x44, 0x48, 0x4A], "u1")  # e4m3: 1 2 3 4 5
    np.save(f"{folder}/float8_e4m3.void.npy", float8.view("V1"))
    np.save(f"{folder}/float8_e4m3.unsigned.npy", float8)
    np.save(f"{folder}/big-endian.npy", values("float32", (3,)).astype(">f4"))
    np.save(f"{folder}/structured.npy", np.zeros(3, dtype=[("a", "<f4"), ("b", "<i4")]))
    np.save(f"{folder}/objects.npy", np.array([{}, None], dtype=object))
    np.save(f"{folder}/text.npy", np.array(["a", "b"]))
    np.save(f"{folder}/complex.npy", np.zeros(3, dtype="complex64"))


def read(path, descr, shape):
    array = np.load(path)
    assert array.dtype.str in (descr, descr.replace("<", "|")), array.dtype.str
    assert str(array.shape) == shape, array.shape
    if not descr.endswith(("V1", "V2")):
        dtype = "bool" if descr == "|b1" else descr
        assert (array == values(dtype, array.shape)).all(), array


if sys.argv[1] == "write":
    write(sys.argv[2])
else:
    for i in range(2, len(sys.argv), 3):
        read(*sys.argv[i : i + 3])
