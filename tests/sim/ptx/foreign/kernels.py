"""Kernels of our own in Triton, and a compiler of them to PTX.

usage: kernels.py FOLDER
Writes NAME.ptx of each kernel for sm_90a and sm_100a, and `compiled.json`: by NAME its bytes of
shared memory and its warps. Needs no GPU.
"""

import json
import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler import ASTSource


@triton.jit
def matmul(
    a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * sa + rk[None, :]
    pb = b + rk[:, None] * sb + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0.0)
        y = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        pa += BK
        pb += BK * sb
    tl.store(c + rm[:, None] * sc + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def described(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.cdiv(K, BK)):
        acc = tl.dot(a.load([row, k * BK]), b.load([column, k * BK]).T, acc)
    c.store([row, column], acc.to(tl.float16))


@triton.jit
def attention(q, k, v, o, scale, S, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
    queries = tl.load(q + rm[:, None] * D + rd[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for n in range(0, S, BN):
        keys = tl.load(k + (n + rn)[None, :] * D + rd[:, None])
        s = tl.dot(queries, keys) * scale
        new = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        shrink = tl.exp2(most - new)
        total = total * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None]
        values = tl.load(v + (n + rn)[:, None] * D + rd[None, :])
        acc = tl.dot(p.to(values.dtype), values, acc)
        most = new
    tl.store(o + rm[:, None] * D + rd[None, :], (acc / total[:, None]).to(o.dtype.element_ty))


@triton.jit
def softmax(x, y, stride, n, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    values = tl.load(x + row * stride + at, mask=at < n, other=-float("inf"))
    e = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * stride + at, e / tl.sum(e, axis=0), mask=at < n)


@triton.jit
def scaled(a, sa, b, sb, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a @ b, of e2m1, two in a byte, and e4m3, with a ue8m0 factor for 32 along K of each."""
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pairs = tl.arange(0, BK // 2)
    factors = tl.arange(0, BK // 32)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        left = tl.load(a + rm[:, None] * (K // 2) + (k // 2 + pairs)[None, :])
        right = tl.load(b + (k + rk)[:, None] * BN + rn[None, :])
        of_left = tl.load(sa + rm[:, None] * (K // 32) + (k // 32 + factors)[None, :])
        of_right = tl.load(sb + rn[:, None] * (K // 32) + (k // 32 + factors)[None, :])
        acc = tl.dot_scaled(left, of_left, "e2m1", right, of_right, "e4m3", acc)
    tl.store(c + rm[:, None] * BN + rn[None, :], acc)


DESCRIBED = {
    "a": "tensordesc<fp16[128,64]>",
    "b": "tensordesc<fp16[128,64]>",
    "c": "tensordesc<fp16[128,128]>",
}
TILES = {"BM": 128, "BN": 128, "BK": 64}
# By name: the kernel, its arguments' types, its constants.
KERNELS = {
    "matmul": (
        matmul,
        {"a": "*fp16", "b": "*fp16", "c": "*fp32"}
        | dict.fromkeys(["M", "N", "K", "sa", "sb", "sc"], "i32"),
        TILES,
    ),
    "described": (described, DESCRIBED | {"K": "i32"}, TILES),
    "attention": (
        attention,
        {"q": "*fp16", "k": "*fp16", "v": "*fp16", "o": "*fp16", "scale": "fp32", "S": "i32"},
        {"BM": 128, "BN": 64, "D": 64},
    ),
    "scaled": (
        scaled,
        {"a": "*u8", "sa": "*u8", "b": "*fp8e4nv", "sb": "*u8", "c": "*fp32", "K": "i32"},
        TILES,
    ),
    "softmax": (softmax, {"x": "*fp32", "y": "*fp32", "stride": "i32", "n": "i32"}, {"B": 1024}),
}


def compiled(kernel, types, constants, capability):
    signature = types | dict.fromkeys(constants, "constexpr")
    aligned = [["tt.divisibility", 16]]
    is_aligned = [type[0] == "*" or type == "i32" for type in types.values()]
    source = ASTSource(
        fn=kernel,
        signature=signature,
        constexprs={(list(signature).index(name),): value for name, value in constants.items()},
        attrs={(i,): aligned for i, is_so in enumerate(is_aligned) if is_so},
    )
    options = {"num_warps": 4, "num_stages": 3}
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)


def main():
    folder = pathlib.Path(sys.argv[1])
    CUDABackend.make_cubin = lambda *_args, **_options: b""  # PTX is all that is asked for
    facts = {}
    for name, (kernel, types, constants) in KERNELS.items():
        for capability in [90, 100]:
            result = compiled(kernel, types, constants, capability)
            full = f"{name}_sm{capability}"
            (folder / f"{full}.ptx").write_text(result.asm["ptx"])
            facts[full] = {"shared": result.metadata.shared, "warps": result.metadata.num_warps}
    (folder / "compiled.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main()
