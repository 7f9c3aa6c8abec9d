#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times what PyTorch and the libraries below it (cuBLAS, cuDNN, FlashAttention) take for the work of the shipped CUDA
kernels: the same sizes, read from golden/*/kernel.json, on random data. Prints JSON.

    benchmarks/cuda/library_times.py [--kernels norm_chain sgemm] [--samples 100] > library-times.json

Each sample is one call, as kagent measures "cold": the L2 cache is swept by a write of twice its size and a read, a
kernel that waits holds the stream until the call is queued, and CUDA events stand around the call. The median counts.
Each call is made eagerly and through torch.compile; --ways can add its mode max-autotune (without CUDA graphs), which
takes a minute for each product. Where a library offers several calls, each is a line of its own. An empty pair of
events is timed in the same way.
"""
import argparse
import json
import math
import pathlib
import statistics
import sys
import warnings

import torch
import torch._dynamo
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOLD_CYCLES = 4_000_000  # about 2 ms: longer than any call takes to be queued


def normal(shape, dtype, mean=0.0, deviation=1.0):
    return (torch.randn(shape, device="cuda", dtype=torch.float32) * deviation + mean).to(dtype)


def norm_chain(s):
    x, residual = normal((s["rows"], s["cols"]), torch.float16), normal((s["rows"], s["cols"]), torch.float16, 0, 0.01)
    gamma, beta = normal(s["cols"], torch.float16, 1, 0.25), normal(s["cols"], torch.float16, 0, 0.25)

    def chain(x, residual, gamma, beta):
        p = torch.softmax(F.layer_norm(x, (x.shape[-1],), gamma, beta, 1e-5), dim=-1)
        return residual + F.dropout(p, 0.1, training=True)

    return {"chain": (chain, (x, residual, gamma, beta))}


def sgemm(s):
    a, b = normal((s["m"], s["k"]), torch.float32), normal((s["k"], s["n"]), torch.float32)
    return {"mm": (lambda a, b: torch.mm(a, b), (a, b))}


def hgemm(s):
    a, b = normal((s["m"], s["k"]), torch.float16), normal((s["k"], s["n"]), torch.float16)
    calls = {"mm, fp16 result": (lambda a, b: torch.mm(a, b), (a, b))}

    def wide(a, b):
        return torch.mm(a, b, out_dtype=torch.float32)

    try:
        wide(a, b)
        calls["mm, fp32 result"] = (wide, (a, b))
    except (TypeError, RuntimeError):  # PyTorch before 2.8
        pass
    return calls


def row_softmax(s):
    x = normal((s["rows"], s["cols"]), torch.float32, 0, 3)
    return {"softmax": (lambda x: torch.softmax(x, dim=-1), (x,))}


def layer_norm(s):
    x = normal((s["rows"], s["cols"]), torch.float16, 0.5, 2)
    gamma, beta = normal(s["cols"], torch.float16, 1, 0.25), normal(s["cols"], torch.float16, 0, 0.5)
    return {"layer_norm": (lambda x, g, b: F.layer_norm(x, (x.shape[-1],), g, b, 1e-5), (x, gamma, beta))}


def rms_norm(s):
    x, weight = normal((s["rows"], s["cols"]), torch.bfloat16, 0.25, 2), normal(s["cols"], torch.bfloat16, 1, 0.25)

    def written_out(x, w):
        wide = x.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6) * w.float()).to(x.dtype)

    calls = {"written out": (written_out, (x, weight))}
    if hasattr(F, "rms_norm"):
        calls["rms_norm"] = (lambda x, w: F.rms_norm(x, (x.shape[-1],), w, 1e-6), (x, weight))
    return calls


def group_norm(s):
    x = normal((s["batch"], s["channels"], s["positions"]), torch.float16, 0.5, 2)
    gamma, beta = normal(s["channels"], torch.float16, 1, 0.25), normal(s["channels"], torch.float16, 0, 0.5)
    groups = s["groups"]
    return {"group_norm": (lambda x, g, b: F.group_norm(x, groups, g, b, 1e-5), (x, gamma, beta))}


def reduce_sum(s):
    return {"sum": (lambda x: torch.sum(x), (normal(s["count"], torch.float32, 0.5, 1),))}


def transpose(s):
    return {"t().contiguous()": (lambda x: x.t().contiguous(), (normal((s["rows"], s["cols"]), torch.float32),))}


def convolution_2d(s):
    image = normal((1, 1, s["height"] + 14, s["width"] + 14), torch.float32)
    return {"conv2d": (lambda x, f: F.conv2d(x, f), (image, normal((1, 1, 15, 15), torch.float32)))}


def attention(s):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    q = normal((1, s["heads"], s["queries"], 64), torch.float16)
    k, v = (normal((1, s["heads"], s["keys"], 64), torch.float16) for _ in range(2))

    def through(backend):
        def call(q, k, v):
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v)
        return call

    def written_out(q, k, v):
        return torch.softmax(q @ k.transpose(-1, -2) * 0.125, dim=-1) @ v

    calls = {f"sdpa, {name.lower()}": (through(getattr(SDPBackend, name)), (q, k, v))
             for name in ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION") if hasattr(SDPBackend, name)}
    calls["written out"] = (written_out, (q, k, v))
    return calls


WORK = {"norm_chain": norm_chain, "sgemm": sgemm, "hgemm": hgemm, "row_softmax": row_softmax, "layer_norm": layer_norm,
        "rms_norm": rms_norm, "group_norm": group_norm, "reduce_sum": reduce_sum, "transpose": transpose,
        "convolution_2d": convolution_2d, "attention": attention}


class Clock:
    """Microseconds of calls that find the L2 cache swept."""

    def __init__(self, samples):
        self.samples = samples
        l2_bytes = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20)
        self.swept = torch.empty(2 * l2_bytes // 4, device="cuda", dtype=torch.float32)

    def sample(self, call):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.swept.fill_(1.0)
        self.swept.sum()
        torch.cuda._sleep(HOLD_CYCLES)
        start.record()
        call()
        end.record()
        end.synchronize()
        return 1000 * start.elapsed_time(end)

    def times(self, call):
        for _ in range(5):
            self.sample(call)
        times = sorted(self.sample(call) for _ in range(self.samples))
        return {"median_us": round(statistics.median(times), 3), "p10_us": round(times[len(times) // 10], 3),
                "p90_us": round(times[len(times) * 9 // 10], 3), "samples": len(times)}


# How a function is called, each made only when its turn comes.
WAYS = {"eager": lambda function: function,
        "compiled": lambda function: torch.compile(function, dynamic=False),
        "max-autotune": lambda function: torch.compile(function, dynamic=False, mode="max-autotune-no-cudagraphs")}


def measure(clock, kernel, case, ways):
    for name, (function, arguments) in WORK[kernel](case["sizes"]).items():
        for way in ways:
            line = {"kernel": kernel, "case": case["name"], "sizes": case["sizes"], "call": name, "way": way}
            try:
                torch._dynamo.reset()
                made = WAYS[way](function)
                made(*arguments)
                torch.cuda.synchronize()
                line.update(clock.times(lambda: made(*arguments)))
            except Exception as error:  # noqa: BLE001: what one library cannot do must not hide the others
                line["error"] = str(error).strip().splitlines()[0][:200] if str(error).strip() else repr(error)
            print(f"{kernel} {case['name']} {name}, {way}: {line.get('median_us', line.get('error'))}", file=sys.stderr)
            yield line


def timed_cases(golden, kernel):
    spec = json.loads((golden / kernel / "kernel.json").read_text())
    return [case for case in spec["cases"] if case.get("timed")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--golden", type=pathlib.Path, default=ROOT / "golden")
    parser.add_argument("--kernels", nargs="+", choices=sorted(WORK), default=list(WORK))
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=["eager", "compiled"])
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--output", type=pathlib.Path, help="write the JSON there, after each kernel")
    given = parser.parse_args()
    if given.samples < 1:
        parser.error("--samples: at least 1")
    if not torch.cuda.is_available():
        sys.exit("library_times.py: PyTorch finds no CUDA device: run it on a GPU host with a CUDA build of PyTorch")

    warnings.filterwarnings("ignore")
    torch.manual_seed(20240921)
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True

    clock = Clock(given.samples)
    clock.sample(lambda: None)
    report = {"device": torch.cuda.get_device_name(0), "torch": torch.__version__, "cuda": torch.version.cuda,
              "cudnn": torch.backends.cudnn.version(), "protocol": "cold: L2 swept, blocking kernel, events, median",
              "command": " ".join(["library_times.py", *sys.argv[1:]]),
              "empty_event_pair": clock.times(lambda: None), "times": [], "best": []}
    for kernel in given.kernels:
        for case in timed_cases(given.golden, kernel):
            lines = list(measure(clock, kernel, case, given.ways))
            torch.cuda.empty_cache()
            report["times"] += lines
            best = min(lines, key=lambda line: line.get("median_us", math.inf))
            if "median_us" in best:
                report["best"].append({key: best[key] for key in ("kernel", "case", "call", "way", "median_us")})
        if given.output:
            given.output.write_text(json.dumps(report, indent=1) + "\n")
    if not given.output:
        print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
