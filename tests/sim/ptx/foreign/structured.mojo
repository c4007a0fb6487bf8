# The structured GEMM of Modular's library for sm_100: types, clusters, and ways to go on.
from layout import TileTensor, Coord, CoordLike, row_major, Idx
from linalg.matmul.gpu.sm100_structured.default.matmul import (
    blackwell_matmul_tma_umma_warp_specialized,
)
from linalg.matmul.gpu.sm100_structured.structured_kernels.config import (
    MatmulConfig,
)
from max.gpu.host import DeviceContext
from std.utils.index import Index, IndexList

comptime rows = 256
comptime columns = 128
comptime steps = 640


def compile[
    RowsType: CoordLike,
    //,
    mma: IndexList[3],
    ctas: Int,
    cluster: IndexList[3],
    type: DType = DType.bfloat16,
    out: DType = DType.bfloat16,
    swapped: Bool = False,
    splits: Int = 1,
    requests: Int = 2,
](context: DeviceContext, m: RowsType) raises:
    var a = context.enqueue_create_buffer[type](rows * steps)
    var b = context.enqueue_create_buffer[type](columns * steps)
    var d = context.enqueue_create_buffer[out](rows * columns)
    comptime config = MatmulConfig[type, type, out, True](
        cluster_shape=cluster,
        mma_shape=mma,
        block_swizzle_size=0,
        cta_group=ctas,
        AB_swapped=swapped,
        k_group_size=1,
        num_split_k=splits,
        num_clc_pipeline_stages=requests,
    )
    blackwell_matmul_tma_umma_warp_specialized[
        transpose_b=True, config=config
    ](
        TileTensor(d, row_major(Coord(m, Idx[columns]))),
        TileTensor(a, row_major(Coord(m, Idx[steps]))),
        TileTensor(b, row_major(Coord(Idx[columns], Idx[steps]))),
        context,
    )


def main() raises:
    comptime one = Index(128, 64, 16)
    comptime pair = Index(256, 128, 16)
    comptime alone = Index(1, 1, 1)
    comptime e4m3 = DType.float8_e4m3fn
    comptime f32 = DType.float32
    with DeviceContext() as context:
        compile[one, 1, alone](context, Int(rows))
        compile[pair, 2, Index(2, 1, 1)](context, Int(rows))
        compile[Index(128, 64, 32), 1, alone, type=e4m3](context, Int(rows))
        compile[Index(128, 64, 8), 1, alone, type=f32, out=f32](context, Int(rows))
        compile[one, 1, Index(2, 2, 1)](context, Int(rows))
        compile[pair, 2, Index(4, 1, 1)](context, Int(rows))
        compile[one, 1, alone, swapped=True](context, Int(rows))
        compile[one, 1, alone, splits=2](context, Int(rows))
        compile[one, 1, alone, requests=0](context, Int(rows))
