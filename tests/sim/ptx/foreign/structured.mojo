# The structured GEMM of Modular's library for sm_100, at two shapes of its MMA.
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
    RowsType: CoordLike, //, mma: IndexList[3], ctas: Int
](context: DeviceContext, m: RowsType) raises:
    var a = context.enqueue_create_buffer[DType.bfloat16](rows * steps)
    var b = context.enqueue_create_buffer[DType.bfloat16](columns * steps)
    var d = context.enqueue_create_buffer[DType.bfloat16](rows * columns)
    comptime config = MatmulConfig[
        DType.bfloat16, DType.bfloat16, DType.bfloat16, True
    ](
        cluster_shape=Index(ctas, 1, 1),
        mma_shape=mma,
        block_swizzle_size=0,
        cta_group=ctas,
        AB_swapped=False,
        k_group_size=1,
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
    with DeviceContext() as context:
        compile[Index(128, 64, 16), 1](context, Int(rows))
        compile[Index(256, 128, 16), 2](context, Int(rows))
