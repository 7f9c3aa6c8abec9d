#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What kagent adds to a build: 50 kernels in one project, with and without their kagent_optimize_kernel() calls.

Measured: configuring a fresh build tree, configuring again, a build with nothing to do (Ninja and Make), and
`kagent pick` for one kernel. The two projects take turns, so that a slow minute hits both; each number is a median.

Example: benchmarks/build_cost/run.py --prefix build
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

SOURCE = """#include "tile.h"
#ifndef BLOCK
#define BLOCK 8
#endif
void {name}(const float* x, float* y, int n) {{
  for (int i = 0; i < n; i += BLOCK)
    for (int j = i; j < n && j < i + BLOCK; ++j) y[j] = kFactor * x[j];
}}
"""

REFERENCE = """void {name}_reference(const double* x, double* y, int n) {{
  for (int i = 0; i < n; ++i) y[i] = 3.0 * x[i];
}}
"""


def spec(name):
    return {
        "kernel": name, "style": "launcher", "entry": name,
        "parameters": [{"name": "x", "kind": "input", "dtype": "float32", "shape": ["n"]},
                       {"name": "y", "kind": "output", "dtype": "float32", "shape": ["n"]},
                       {"name": "n", "kind": "size", "dtype": "int32"}],
        "cases": [{"name": "usual", "sizes": {"n": 20000}, "timed": True}],
        "reference": {"source": "reference.cpp", "function": f"{name}_reference"},
        "tunables": {"BLOCK": [8, 16, 32]},
    }


def generate(folder, kernels, with_kagent):
    """A library with `kernels` kernels under git; with or without the calls that this measures."""
    names = [f"kernel{number:02}" for number in range(kernels)]
    (folder / "kernels").mkdir(parents=True)
    (folder / "kernels/tile.h").write_text("#pragma once\nconstexpr float kFactor = 3.0f;\n")
    for name in names:
        (folder / f"kernels/{name}.cpp").write_text(SOURCE.format(name=name))
        golden = folder / "golden" / name
        golden.mkdir(parents=True)
        (golden / "kernel.json").write_text(json.dumps(spec(name), indent=1))
        (golden / "reference.cpp").write_text(REFERENCE.format(name=name))
    lines = ["cmake_minimum_required(VERSION 3.25)", "project(many CXX)",
             "add_library(ops " + " ".join(f"kernels/{name}.cpp" for name in names) + ")"]
    if with_kagent:
        lines.append("find_package(KAgent CONFIG REQUIRED)")
        lines += [f"kagent_optimize_kernel({name} TARGET ops SOURCE kernels/{name}.cpp GOLDEN golden/{name} TUNE PICK)"
                  for name in names]
    (folder / "CMakeLists.txt").write_text("\n".join(lines) + "\n")
    git = ["git", "-C", str(folder), "-c", "user.name=Bench", "-c", "user.email=bench@example.invalid"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run(git + arguments, check=True)


def seconds(command, cwd=None):
    start = time.perf_counter()
    subprocess.run([str(word) for word in command], cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def wall_and_processor_seconds(command):
    """Both, since only the processor's time means something on a machine that is busy with other work."""
    start = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime


def interleaved(runs, one, other):
    """Medians of both, taking turns, each first every other time."""
    times = ([], [])
    for turn in range(runs):
        for index in ((0, 1) if turn % 2 == 0 else (1, 0)):
            times[index].append((one, other)[index]())
    return [statistics.median(each) for each in times]


def row(what, without, with_kagent):
    print(f"{what:<42}{without * 1e3:>12.1f}{with_kagent * 1e3:>12.1f}{(with_kagent - without) * 1e3:>+12.1f}"
          f"{with_kagent / without:>9.2f}")


def configure(project, build, prefix, generator):
    return ["cmake", "-S", project, "-B", build, "-G", generator, "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_PREFIX_PATH={prefix}"]


def measure(scratch, prefix, kernels, runs):
    projects = [scratch / "without", scratch / "with"]
    for project, with_kagent in zip(projects, (False, True)):
        generate(project, kernels, with_kagent)

    load = os.getloadavg()[0]
    print(f"{kernels} kernels, {os.cpu_count()} cores (load {load:.1f}), medians of {runs} interleaved runs, in ms\n")
    print(f"{'':<42}{'without':>12}{'with':>12}{'added':>12}{'ratio':>9}")
    for generator, maker in (("Ninja", "ninja"), ("Unix Makefiles", "make")):
        builds = [scratch / f"{project.name}-{maker}" for project in projects]

        def fresh(index):
            shutil.rmtree(builds[index], ignore_errors=True)
            return seconds(configure(projects[index], builds[index], prefix, generator))

        row(f"configure, fresh ({generator})", *interleaved(max(3, runs // 4), lambda: fresh(0), lambda: fresh(1)))
        row(f"configure again ({generator})",
            *interleaved(max(3, runs // 4), lambda: seconds(["cmake", builds[0]]), lambda: seconds(["cmake", builds[1]])))
        for build in builds:
            seconds(["cmake", "--build", build, "--parallel", str(os.cpu_count())])
        row(f"build with nothing to do ({maker})",
            *interleaved(runs, lambda: seconds([maker], builds[0]), lambda: seconds([maker], builds[1])))

    kagent = pathlib.Path(prefix) / "bin/kagent"
    requests = sorted((scratch / "with-ninja/kagent").glob("*/*/request.json"))
    picks = [wall_and_processor_seconds(
        [kagent, "pick", "--request", request, "--stamp", scratch / "stamp", "--depfile", scratch / "d"])
             for _ in range(max(3, runs // 4)) for request in requests]
    starts = [wall_and_processor_seconds([kagent, "--version"]) for _ in range(runs)]
    print(f"\n{'':<42}{'median':>12}{'90th pct':>12}{'processor':>12}")
    for what, times in (("kagent pick, one kernel", picks), ("starting the program alone", starts)):
        walls, processor = zip(*times)
        print(f"{what:<42}{statistics.median(walls) * 1e3:>12.1f}{statistics.quantiles(walls, n=10)[-1] * 1e3:>12.1f}"
              f"{statistics.median(processor) * 1e3:>12.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, help="where kagent is installed, or its build folder")
    parser.add_argument("--kernels", type=int, default=50)
    parser.add_argument("--runs", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kagent-build-cost-") as scratch:
        measure(pathlib.Path(scratch), os.path.abspath(arguments.prefix), arguments.kernels, arguments.runs)


if __name__ == "__main__":
    main()
