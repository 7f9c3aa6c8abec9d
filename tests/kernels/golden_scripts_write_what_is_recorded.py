#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the make_golden.py of every folder below those given, elsewhere, and compares what it writes with what is there."""
import pathlib
import shutil
import subprocess
import sys
import tempfile


def check(folder):
    recorded = {path.name: path.read_bytes() for path in folder.glob("*.npy")}
    with tempfile.TemporaryDirectory() as scratch:
        script = pathlib.Path(shutil.copy(folder / "make_golden.py", scratch))
        subprocess.run([sys.executable, str(script)], check=True)
        written = {path.name: path.read_bytes() for path in pathlib.Path(scratch).glob("*.npy")}
    findings = [f"{folder}: {name} is recorded, but not written" for name in recorded.keys() - written.keys()]
    findings += [f"{folder}: {name} is written, but not recorded" for name in written.keys() - recorded.keys()]
    findings += [f"{folder}: {name} is written otherwise than recorded"
                 for name in recorded.keys() & written.keys() if recorded[name] != written[name]]
    return findings


def main():
    folders = [path.parent for top in sys.argv[1:] for path in sorted(pathlib.Path(top).glob("*/make_golden.py"))]
    if not folders:
        sys.exit(f"no make_golden.py below {sys.argv[1:]}")
    findings = [finding for folder in folders for finding in check(folder)]
    print("\n".join(findings) or f"{len(folders)} folders")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
