#!/usr/bin/env python3
"""CUTLASS's examples in CuTe DSL, under `warptwin cuda`.

  published_cute.py CUTLASS WARPTWIN PYTHON [--cuda FOLDER] [--keep FOLDER] [NAME...]

CUTLASS is a checkout, PYTHON an interpreter that can import cutlass and NumPy
(`pip install nvidia-cutlass-dsl==4.8.1`). The kernels and their host code are run as they stand, by
small host code of this file that compares with NumPy. Where an example imports torch for its own
host code, an empty one is in its place. CuTe DSL compiles to machine code, and keeps the PTX:
tests/sim/cuda/published/cute_runtime.c has that loaded. Prints the verdict of each launch.
"""

import argparse
import ctypes
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = "examples/python/CuTeDSL"
DENSE = "cute/blackwell/kernel/dense_gemm/"
HOPPER = "cute/hopper/kernel/"


class Example(NamedTuple):
    kind: str  # "gemm" or "attention"
    source: str
    architecture: str
    sizes: tuple  # of a product M, N, K; of attention queries, keys, elements of a head
    made_with: tuple  # behind the type of the accumulator
    clusters: int = 0  # at a time, where the kernel asks


PROGRAMS = {
    "dense_gemm": Example("gemm", DENSE + "dense_gemm.py", "100a", (256, 256, 256),
                          (False, (128, 128), (1, 1), True)),
    "software_pipeline": Example("gemm", DENSE + "dense_gemm_software_pipeline.py", "100a",
                                 (256, 256, 512), (False, (128, 128), (1, 1), True)),
    "persistent": Example("gemm", DENSE + "dense_gemm_persistent.py", "100a", (256, 256, 256),
                          (False, (128, 128), (1, 1), True), 1),
    "persistent_pair": Example("gemm", DENSE + "dense_gemm_persistent.py", "100a",
                               (512, 256, 256), (True, (256, 128), (2, 1), True), 1),
    "persistent_dynamic": Example("gemm", DENSE + "dense_gemm_persistent_dynamic.py", "100a",
                                  (512, 256, 256), (False, (128, 128), (1, 1), True)),
    "fmha": Example("attention", "cute/blackwell/kernel/attention/fmha/fmha.py", "100a",
                    (256, 384, 64), ()),
    "hopper_dense_gemm": Example("gemm", HOPPER + "dense_gemm/dense_gemm.py", "90a",
                                 (256, 256, 512), ((128, 128), (1, 1))),
    "hopper_dense_gemm_cluster": Example("gemm", HOPPER + "dense_gemm/dense_gemm.py", "90a",
                                         (256, 256, 512), ((128, 128), (2, 1))),
    "hopper_persistent": Example("gemm", HOPPER + "dense_gemm/dense_gemm_persistent.py", "90a",
                                 (256, 256, 512), ((128, 128), (1, 1), 1, True), 1),
    "hopper_fmha": Example("attention", HOPPER + "attention/fmha.py", "90a", (128, 1024, 64), ()),
}


class Anything:
    """In the place of what torch has."""

    def __init__(self, *_, **__):
        pass

    def __call__(self, *given, **_):
        return given[0] if given else self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()


class Empty(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = type(name, (Anything,), {})
        setattr(self, name, found)
        return found


def loaded(cutlass_root, source):
    """An example as a module."""
    root = pathlib.Path(cutlass_root) / EXAMPLES
    sys.path.insert(0, str(root))
    for name in ("torch", "torch.cuda", "torch.nn", "torch.nn.functional", "torch.distributed"):
        sys.modules.setdefault(name, Empty(name))
    spec = importlib.util.spec_from_file_location("example", root / source)
    module = importlib.util.module_from_spec(spec)
    sys.modules["example"] = module
    spec.loader.exec_module(module)
    return module


def runtime():
    """CUDA's shared runtime, which the package's Python is made to ask, too."""
    import cuda.bindings.runtime as bindings

    library = ctypes.CDLL("libcudart.so.13")

    def number(name):
        def ask():
            found = ctypes.c_int()
            error = getattr(library, name)(ctypes.byref(found))
            return bindings.cudaError_t(error), found.value
        return ask

    for name in ("cudaGetDeviceCount", "cudaGetDevice"):
        setattr(bindings, name, number(name))
    bindings.cudaGetErrorName = lambda error: (bindings.cudaError_t(0), f"{error}".encode())
    return library


class Memory:
    def __init__(self):
        self.library = runtime()

    def upload(self, numbers):
        place = ctypes.c_void_p()
        self.library.cudaMalloc(ctypes.byref(place), ctypes.c_size_t(numbers.nbytes))
        self.library.cudaMemcpy(place, numbers.ctypes.data_as(ctypes.c_void_p),
                                ctypes.c_size_t(numbers.nbytes), 1)
        return place.value

    def download(self, place, like):
        self.library.cudaMemcpy(like.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(place),
                                ctypes.c_size_t(like.nbytes), 2)
        return like


def drawn(shape, seed):
    import numpy

    return (numpy.random.default_rng(seed).integers(-8, 9, shape) / 4).astype(numpy.float16)


def product(example, module):
    import cuda.bindings.driver as driver
    import cutlass
    import numpy
    from cutlass import cute

    m, n, k = example.sizes
    kernel = next(getattr(module, name) for name in dir(module)
                  if re.fullmatch(r".*Gemm\w*Kernel", name))
    gemm = kernel(cutlass.Float32, *example.made_with)
    more = (example.clusters,) if example.clusters else ()

    @cute.jit
    def host(a: cute.Pointer, b: cute.Pointer, c: cute.Pointer, stream: driver.CUstream):
        gemm(cute.make_tensor(a, cute.make_layout((m, k, 1), stride=(k, 1, m * k))),
             cute.make_tensor(b, cute.make_layout((n, k, 1), stride=(k, 1, n * k))),
             cute.make_tensor(c, cute.make_layout((m, n, 1), stride=(n, 1, m * n))), *more, stream)

    a, b, c = drawn((m, k), 1), drawn((n, k), 2), numpy.zeros((m, n), numpy.float16)
    return host, (a, b, c), a.astype(numpy.float32) @ b.astype(numpy.float32).T


def attention(example, module):
    import cuda.bindings.driver as driver
    import cutlass
    import numpy
    from cutlass import cute
    from helpers.fmha_helpers import MaskEnum

    queries, keys, width = example.sizes
    scale = float(1 / numpy.sqrt(width))
    scales = scale * float(numpy.log2(numpy.e)), scale, 1.0
    kernel = next(getattr(module, name) for name in dir(module)
                  if name.endswith("AttentionForward"))
    float32, hopper = cutlass.Float32, example.architecture == "90a"
    fmha = (kernel(float32, float32, (64, 128, width), False, MaskEnum.RESIDUAL_MASK) if hopper
            else kernel(float32, float32, (128, 128), width, False, MaskEnum.RESIDUAL_MASK, False,
                        False))

    @cute.jit
    def host(q: cute.Pointer, k: cute.Pointer, v: cute.Pointer, o: cute.Pointer,
             stream: driver.CUstream):
        size = cutlass.Int32
        sums = cute.make_ptr(float32, o.toint() + queries * width * 2, cute.AddressSpace.gmem,
                             assumed_align=128)
        given = [float32(each) for each in scales]
        if cutlass.const_expr(hopper):
            rows = [cute.make_layout((count, width, 1, 1, 1),
                                     stride=(width, 1, width, width, count * width))
                    for count in (queries, keys)]
            fmha(cute.make_tensor(q, rows[0]), cute.make_tensor(k, rows[1]),
                 cute.make_tensor(v, rows[1]), cute.make_tensor(o, rows[0]),
                 cute.make_tensor(sums, cute.make_layout(
                     (queries, 1, 1, 1, 1), stride=(1, queries, queries, queries, queries))),
                 *given, None, None, stream)
        else:
            rows = [cute.make_layout((1, count, 1, 1, width),
                                     stride=(count * width, width, width, width, 1))
                    for count in (queries, keys)]
            shape = [size(each) for each in (1, queries, queries, keys, 1, 1, width, width)]
            fmha(cute.make_tensor(q, rows[0]), cute.make_tensor(k, rows[1]),
                 cute.make_tensor(v, rows[1]), cute.make_tensor(o, rows[0]), tuple(shape), None,
                 None, cute.make_tensor(sums, cute.make_layout((1, queries, 1),
                                                               stride=(queries, 1, 1))),
                 None, *given, None, None, None, None, None, stream, False)

    q, k, v = drawn((queries, width), 1), drawn((keys, width), 2), drawn((keys, width), 3)
    # Behind the output the sums of its rows, in f32.
    o = numpy.zeros(queries * (width + 2), numpy.float16)
    scores = q.astype(numpy.float32) @ k.astype(numpy.float32).T * scale
    weights = numpy.exp(scores - scores.max(-1, keepdims=True))
    return host, (q, k, v, o), weights / weights.sum(-1, keepdims=True) @ v.astype(numpy.float32)


def run_inside(cutlass_root, name):
    """In the interpreter that has CuTe DSL, on the simulated GPU."""
    example = PROGRAMS[name]
    memory = Memory()
    import cuda.bindings.driver as driver
    import cutlass
    import numpy
    from cutlass import cute

    module = loaded(cutlass_root, example.source)
    made = product if example.kind == "gemm" else attention
    host, arrays, expected = made(example, module)
    places = [memory.upload(each) for each in arrays]
    given = [cute.runtime.make_ptr(cutlass.Float16, place, cute.AddressSpace.gmem,
                                   assumed_align=128) for place in places]
    stream = driver.CUstream(0)
    cute.compile(host, *given, stream, options="--opt-level=2")(*given, stream)
    found = memory.download(places[-1], numpy.empty_like(arrays[-1])).reshape(-1)
    found = found[:expected.size].reshape(expected.shape).astype(numpy.float32)
    off = numpy.abs(found - expected)
    wrong = int((~(off <= 0.02 * numpy.abs(expected) + 0.05)).sum())
    print(f"d: {wrong} of {expected.size} wrong", flush=True)


def run_outside(given, name, folder):
    """Under `warptwin cuda`: what it says."""
    example = PROGRAMS[name]
    dump = folder / name
    dump.mkdir()
    environment = os.environ | {
        "CUTE_DSL_ARCH": f"sm_{example.architecture}", "CUTE_DSL_KEEP": "ptx",
        "CUTE_DSL_DUMP_DIR": str(dump), "CUTE_DSL_LINEINFO": "1", "CUTE_DSL_NO_CACHE": "1",
        "CUTE_DSL_LIBS": str(folder / "cute_runtime.so")}
    chip = "h200" if example.architecture == "90a" else "b200"
    keep = ["--keep", f"{given.keep}/{name}"] if given.keep else []
    return subprocess.run(
        [given.warptwin, "cuda", "--chip", chip, "--policy", "prove", *keep, "--", given.python,
         "-B", __file__, given.cutlass, given.warptwin, given.python, name, "--inside"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cutlass")
    parser.add_argument("warptwin")
    parser.add_argument("python")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROGRAMS))
    parser.add_argument("--cuda", default="/usr/local/cuda")
    parser.add_argument("--keep")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_intermixed_args()
    if given.inside:
        run_inside(given.cutlass, given.names[0])
        return
    for name in given.names:
        if name not in PROGRAMS:
            parser.error(f"{name}: there are {', '.join(PROGRAMS)}")
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        libraries = pathlib.Path(given.cuda) / "lib64"
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-I", f"{given.cuda}/include",
                        ROOT / "tests/sim/cuda/published/cute_runtime.c", "-L", libraries, "-L",
                        libraries / "stubs", "-lcudart", "-lcuda", "-o",
                        folder / "cute_runtime.so"], check=True)
        for name in given.names or PROGRAMS:
            print(f"== {name}", flush=True)
            done = run_outside(given, name, folder)
            told = [line for line in done.stdout.splitlines()
                    if re.match(r"d: |launch \d+: |launches |\S*Error|config: |parameter ", line)]
            print("\n".join(told), f"exit code {done.returncode}", sep="\n", flush=True)


if __name__ == "__main__":
    main()
