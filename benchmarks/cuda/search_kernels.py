#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the built-in search alone finds on the shipped CUDA kernels, beside PyTorch's calls and the roofline.

    search_kernels.py run --prefix build --output results [--seconds 70] [KERNEL...]     needs a GPU
    search_kernels.py table results...                                                   the tables of one or more runs

`run` makes a project of the kernels, times the libraries (benchmarks/cuda/library_times.py, with a Python that has
PyTorch), tunes one kernel after the other, and keeps under --output: library-times.json, runs.json (ceilings, where each
run's time went, every trial) and the evidence of each accepted variant.
"""

import argparse
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parents[1] / "golden"
KERNELS = ["row_softmax", "layer_norm", "rms_norm", "group_norm", "reduce_sum", "transpose", "convolution_2d",
           "attention", "sgemm", "hgemm", "norm_chain"]
TRIAL = "candidate_hash tunables proposer outcome detail score compile_s verify_s measure_s cases error_over_bound started"


def shell(*words, **options):
    print("$", *words, file=sys.stderr)
    return subprocess.run([str(word) for word in words], text=True, **options)


def trials_of(state, kernel):
    if not state.exists():
        return []
    connection = sqlite3.connect(state)
    rows = connection.execute(f"select kernel, {', '.join(TRIAL.split())} from trials where kernel = ?", (kernel,))
    trials = [dict(zip(["kernel", *TRIAL.split()], row)) for row in rows]
    for trial in trials:
        trial["tunables"], trial["cases"] = json.loads(trial["tunables"]), json.loads(trial["cases"] or "[]")
    return trials


def keep_variant(project, branch, output):
    files = shell("git", "-C", project, "ls-tree", "-r", "--name-only", branch, capture_output=True).stdout.split()
    evidence = next(file for file in reversed(files) if file.endswith("variant.json"))
    text = shell("git", "-C", project, "show", f"{branch}:{evidence}", capture_output=True).stdout
    kernel, generation = branch.split("/")[1], branch.split("/")[3].split("-")[0]
    (output / f"{kernel}-{generation}.variant.json").write_text(text)


def tune(kagent, project, kernel, given):
    done = shell(kagent, "optimize", kernel, "--build", project / "build", "--width", given.width, "--rounds",
                 given.rounds, "--time-budget", given.seconds, "--json", stdout=subprocess.PIPE)
    try:
        told = json.loads(done.stdout)[0]
    except (ValueError, IndexError):
        return {"kernel": kernel, "reason": f"'kagent optimize' ended with {done.returncode}", "trials": 0, "times": {}}
    return {key: told[key] for key in
            ("kernel", "architecture", "improved", "variant", "reason", "trials", "times")}


def run(given):
    prefix, output = given.prefix.resolve(), given.output.resolve()
    project = output / "project"
    kernels = given.kernels or KERNELS
    output.mkdir(parents=True, exist_ok=True)
    shell(HERE / "make_project", project, given.architecture, *kernels, check=True)
    shell("cmake", "-G", "Ninja", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}", check=True)
    shell("ninja", "-C", project / "build", check=True)
    ceilings = shell(prefix / "libexec/kagent/kagent-cuda-runner", "--ceilings", capture_output=True)
    if ceilings.returncode != 0:
        sys.exit("search_kernels.py: no GPU can be measured: " + ceilings.stdout.strip())
    report = {"ceilings": json.loads(ceilings.stdout), "runs": [], "trials": []}
    shell(given.python, HERE / "library_times.py", "--kernels", *kernels, "--output", output / "library-times.json")
    for kernel in kernels:
        told = tune(prefix / "bin/kagent", project, kernel, given)
        report["runs"].append(told)
        report["trials"] += trials_of(project / ".git/kagent/trials.sqlite", kernel)
        if told.get("variant"):
            keep_variant(project, told["variant"], output)
        (output / "runs.json").write_text(json.dumps(report, indent=1) + "\n")
    table([output])


def spec_of(kernel):
    return json.loads((GOLDEN / kernel / "kernel.json").read_text())


def roof_us(kernel, sizes, ceilings):
    """The least that the work of kernel.json takes under the measured ceilings."""
    spec = spec_of(kernel)
    names = dict(sizes, min=min, max=max, ceil_div=lambda a, b: -(-a // b), __builtins__={})
    flops, size = (eval(spec["work"].get(key, "0"), names) for key in ("flops", "bytes"))
    floats = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3": 1, "float8_e5m2": 1}
    buffers = [p for p in spec["parameters"] if p["kind"] in ("input", "output", "inout", "workspace")]
    narrow = any(floats.get(p["dtype"], 4) <= 2 for p in buffers if p["kind"] in ("input", "inout"))
    contracts = any(t.get("contraction") for t in spec["tolerance"].values())
    # As driver/profiler/roofline.h has it.
    if narrow and (contracts or flops > 64 * size):
        rate = ceilings["tensor_flops_per_s"]
    elif narrow and all(floats.get(p["dtype"], 0) <= 2 for p in buffers):
        rate = max(ceilings["flops_per_s"], ceilings.get("half_flops_per_s", 0))
    else:
        rate = ceilings["flops_per_s"]
    return 1e6 * max(flops / rate, size / ceilings["bytes_per_s"])


def best_calls(folder):
    best = {}
    for line in json.loads((folder / "library-times.json").read_text())["times"]:
        key = line["kernel"], line["case"]
        if "median_us" in line and (key not in best or line["median_us"] < best[key][0]):
            best[key] = line["median_us"], f"{line['call']}, {line['way']}"
    return best


def times_of(folder, report, kernel, case):
    """Baseline and variant in us: of the newest accepted variant, else the baseline's of the races alone."""
    accepted = sorted(folder.glob(f"{kernel}-g*.variant.json"))
    if accepted:
        decision = json.loads(accepted[-1].read_text())["against_baseline"]
        one = next(c for c in decision["cases"] if c["case"] == case)
        return one["incumbent_ns"] / 1e3, one["candidate_ns"] / 1e3
    raced = [c["baseline_ns"] / 1e3 for t in report["trials"] if t["kernel"] == kernel for c in t["cases"]
             if c["case"] == case]
    return (statistics.median(raced) if raced else None), None


def table(folders):
    reports = [(folder, json.loads((folder / "runs.json").read_text())) for folder in folders]
    print("| kernel | case | baseline us | variant us | gain | best PyTorch call us | library / ours | of the roof |")
    print("|---|---|---|---|---|---|---|---|")
    for folder, report in reports:
        best = best_calls(folder)
        for kernel in dict.fromkeys(run["kernel"] for run in report["runs"] if run["trials"]):
            for case in (c for c in spec_of(kernel)["cases"] if c.get("timed")):
                before, after = times_of(folder, report, kernel, case["name"])
                ours = after or before
                library, call = best.get((kernel, case["name"]), (None, ""))
                print(f"| {kernel} | {case['name']} | {before:.1f} | "
                      + (f"{after:.1f} | {before / after:.2f}x | " if after else "no improvement | | ")
                      + (f"{library:.1f} ({call}) | {library / ours:.2f} | " if library else "| | ")
                      + f"{100 * roof_us(kernel, case['sizes'], report['ceilings']) / ours:.0f} % |")
    print("\n| kernel | trials | preparing s | compiling | verifying | racing | judging | waiting | all |")
    print("|---|---|---|---|---|---|---|---|---|")
    for _, report in reports:
        for one in report["runs"]:
            seconds = list(one["times"].values()) or [0] * 6
            print(f"| {one['kernel']} | {one['trials']} | " + " | ".join(f"{s:.1f}" for s in seconds)
                  + f" | {sum(seconds):.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="tune the kernels on this machine's GPU")
    running.add_argument("kernels", nargs="*", metavar="KERNEL", help=f"of {', '.join(KERNELS)}; all by default")
    running.add_argument("--prefix", type=pathlib.Path, required=True, help="where kagent was built or installed")
    running.add_argument("--output", type=pathlib.Path, required=True, help="a new folder")
    running.add_argument("--architecture", default="90", help="of the GPU, as CMake names it")
    running.add_argument("--width", type=int, default=8)
    running.add_argument("--rounds", type=int, default=6)
    running.add_argument("--seconds", type=int, default=70, help="time budget of each kernel")
    running.add_argument("--python", default=os.environ.get("PYTHON", "python3"), help="one that has PyTorch")
    telling = commands.add_parser("table", help="print what runs found")
    telling.add_argument("folders", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    if given.command == "table":
        return table(given.folders)
    unknown = [kernel for kernel in given.kernels if kernel not in KERNELS]
    if unknown:
        parser.error(f"no such kernel: {', '.join(unknown)}")
    if (given.output / "project").exists():
        parser.error(f"{given.output} holds a run already: name another folder")
    run(given)


if __name__ == "__main__":
    main()
