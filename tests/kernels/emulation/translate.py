#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a .cu file as C++ for the fake device: launches and dynamic shared memory have a syntax of their own.

translate.py SOURCE.cu RESULT.cpp
"""
import pathlib
import re
import sys

LAUNCH = re.compile(r"([\w:]+(?:<[\w:, ]+>)?)\s*<<<(.*?)>>>\s*\((.*?)\);", re.DOTALL)
DYNAMIC_SHARED = re.compile(r"extern __shared__ (?:__align__\(\d+\) )?([\w:]+) (\w+)\[\];")


def arguments(text):
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return parts + [text[start:].strip()]


def launch(match):
    kernel, geometry, passed = match.groups()
    grid, block, shared, *_ = [*arguments(geometry), "0", "0"]
    return f"emulated::launch({grid}, {block}, {shared}, [&] {{ {kernel}({passed}); }});"


def main():
    source, result = map(pathlib.Path, sys.argv[1:])
    text = LAUNCH.sub(launch, source.read_text())
    text = DYNAMIC_SHARED.sub(r"\1* const \2 = emulated::dynamic_shared<\1>();", text)
    result.write_text(f'#include "cuda_runtime.h"\n#line 1 "{source}"\n{text}')


if __name__ == "__main__":
    main()
