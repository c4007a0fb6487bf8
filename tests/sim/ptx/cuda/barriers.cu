// Barriers and copies by inline assembly, with labels and registers of their own scope.

extern "C" __global__ void __launch_bounds__(128, 1)
    barriers(unsigned* out, const __grid_constant__ int4 data) {
  __shared__ alignas(8) unsigned long long full;
  __shared__ alignas(16) unsigned char buffer[1024];
  const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&full));
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(buffer));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(1024));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(place),
        "l"(out),
        "r"(1024),
        "r"(barrier)
        : "memory");
  }
  __syncthreads();
  for (int round = 0; round < 2; ++round) {
    asm volatile(
        "{ .reg .pred P1;\n"
        "LAB_WAIT: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 P1, [%0], %1;\n"
        "@P1 bra DONE;\n"
        "bra LAB_WAIT;\n"
        "DONE: }" ::"r"(barrier),
        "r"(round & 1));
  }
  asm volatile("fence.proxy.async.shared::cta;");
  asm volatile("bar.sync 1, 128;");
  out[threadIdx.x] = buffer[threadIdx.x] + static_cast<unsigned>(data.x);
}
