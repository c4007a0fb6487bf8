// What barriers cost on this GPU, each alone on its SM.

#include "hw/bench/microbenchmark.cuh"

namespace warptwin::hw::bench {
namespace {

__device__ Mbarrier barrier(std::uint32_t index) {
  return {shared_base() + 8 * index};
}

__device__ void init(std::uint32_t count, std::uint32_t arrivals) {
  if (threadIdx.x == 0) {
    for (std::uint32_t i = 0; i < count; ++i) {
      ptx::mbarrier_init(barrier(i), arrivals);
    }
    ptx::fence_mbarrier_init();
  }
}

__device__ void wait(Mbarrier bar, std::uint32_t parity, Ordering ordering = kAcquireCta) {
  while (!ptx::mbarrier_try_wait_parity(bar, parity, ordering)) {
  }
}

// All lanes look at a phase that is complete, as the layer's waits do.
struct Test : BodyBase {
  __device__ void start() { init(1, 1); }
  __device__ void step(std::uint32_t) { wait(barrier(0), 1); }
};

// An elected lane arrives, and nobody waits.
struct Arrive : BodyBase {
  bool elected = false;
  __device__ void start() {
    init(1, kMbarrierCountMax);
    elected = ptx::elect_sync();
  }
  __device__ void step(std::uint32_t) {
    if (elected) {
      ptx::mbarrier_arrive(barrier(0), 1, kReleaseCta);
    }
  }
};

// An elected lane arrives, and all lanes wait for the phase it completes.
struct ArriveAndWait : BodyBase {
  bool elected = false;
  __device__ void start() {
    init(1, 1);
    elected = ptx::elect_sync();
  }
  __device__ void step(std::uint32_t i) {
    if (elected) {
      ptx::mbarrier_arrive(barrier(0), 1, kReleaseCta);
    }
    wait(barrier(0), i & 1);
    ptx::sync_warp();
  }
};

// Two warps wake each other in turn.
struct PingPong : BodyBase {
  bool elected = false;
  std::uint32_t warp = 0;
  __device__ void start() {
    init(2, 1);
    elected = ptx::elect_sync();
    warp = ptx::warp_index();
  }
  __device__ void step(std::uint32_t i) {
    if (warp == 1) {
      wait(barrier(0), i & 1);
      ptx::sync_warp();
    }
    if (elected) {
      ptx::mbarrier_arrive(barrier(warp), 1, kReleaseCta);
    }
    if (warp == 0) {
      wait(barrier(1), i & 1);
      ptx::sync_warp();
    }
  }
};

// Two CTAs wake each other in turn, each waiting on its own barrier.
template <Semantics kArrives, Semantics kWaits>
struct RemotePingPong : BodyBase {
  bool elected = false;
  std::uint32_t rank = 0;
  RemoteMbarrier peer{};
  __device__ void start() {
    init(1, 1);
    elected = ptx::elect_sync();
    rank = ptx::cluster_cta_rank();
    peer = {ptx::mapa(barrier(0).address, rank ^ 1)};
  }
  __device__ void step(std::uint32_t i) {
    if (rank == 1) {
      wait(barrier(0), i & 1, {kWaits, Scope::kCluster});
      ptx::sync_warp();
    }
    if (elected) {
      ptx::mbarrier_arrive(peer, 1, {kArrives, Scope::kCluster});
    }
    if (rank == 0) {
      wait(barrier(0), i & 1, {kWaits, Scope::kCluster});
      ptx::sync_warp();
    }
  }
};

struct NamedBarrier : BodyBase {
  __device__ void step(std::uint32_t) { ptx::bar_sync(1, blockDim.x); }
};

struct ClusterBarrier : BodyBase {
  Ordering ordering;
  __device__ void step(std::uint32_t) {
    ptx::barrier_cluster_arrive(ordering);
    ptx::barrier_cluster_wait();
  }
};

struct ProxyFence : BodyBase {
  __device__ void step(std::uint32_t) { ptx::fence_proxy_async(ProxySpace::kSharedCta); }
};

struct GpuFence : BodyBase {
  __device__ void step(std::uint32_t) { ptx::fence({Semantics::kAcqRel, Scope::kGpu}); }
};

// A chain of loads of the peer's shared memory.
struct RemoteLoad : BodyBase {
  std::uint32_t offset = 0;
  __device__ void start() { ptx::st_shared_u32(shared_base() + 4 * threadIdx.x, 0); }
  __device__ void step(std::uint32_t) {
    const ClusterAddress at = ptx::mapa(shared_base() + offset, ptx::cluster_cta_rank() ^ 1);
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(offset) : "r"(at.value) : "memory");
  }
  __device__ void finish() { need(offset); }
};

// A warpgroup of three gives registers and takes them back; `spent` is what its first thread saw.
__global__ void __launch_bounds__(384, 1)
    move_registers(std::uint32_t times, std::uint64_t* spent) {
  if (threadIdx.x < 128) {
    std::uint64_t given = 0;
    std::uint64_t taken = 0;
    for (std::uint32_t i = 0; i < times; ++i) {
      const std::uint64_t begin = now();
      ptx::setmaxnreg_dec<40>();
      const std::uint64_t between = now();
      ptx::setmaxnreg_inc<168>();
      taken += now() - between;
      given += between - begin;
    }
    if (threadIdx.x == 0) {
      spent[0] = given;
      spent[1] = taken;
    }
  }
}

void measure_registers(Report& report) {
  constexpr std::uint32_t kTimes = 256;
  SharedWithDevice<std::uint64_t> spent{2};
  std::uint32_t times = kTimes;
  std::uint64_t* to = spent.get();
  void* arguments[] = {&times, &to};
  for (int i = 0; i < 2; ++i) {  // the second launch counts
    launch(reinterpret_cast<const void*>(&move_registers), {1, 1, 384, 0}, arguments, nullptr);
    synchronize(nullptr);
  }
  report.constant("setmaxnreg_dec", static_cast<double>(spent[0]) / kTimes, "cycle");
  report.constant("setmaxnreg_inc", static_cast<double>(spent[1]) / kTimes, "cycle");
}

}  // namespace

void measure_barriers(Report& report) {
  const double test = cycles_of(Test{}, {});
  const double both = cycles_of(ArriveAndWait{}, {});
  const double one_way = cycles_of(PingPong{}, {.threads = 64}) / 2;
  using Release = RemotePingPong<Semantics::kRelease, Semantics::kAcquire>;
  using Relaxed = RemotePingPong<Semantics::kRelaxed, Semantics::kAcquire>;
  using Unordered = RemotePingPong<Semantics::kRelaxed, Semantics::kRelaxed>;
  const double remote = cycles_of(Release{}, {.cluster_size = 2}) / 2;
  const double pace = cycles_of(Arrive{}, {});
  const double arrive = std::max(both - test, pace);
  report.figure("mbarrier.arrive, one after the other", pace, "cycle");
  report.figure("mbarrier.arrive and wait for its phase, one warp", both, "cycle");
  report.figure("one warp wakes another through an mbarrier", one_way, "cycle");
  report.figure("one CTA wakes another: release arrival, acquire wait", remote, "cycle");
  const double one_relaxed = cycles_of(Relaxed{}, {.cluster_size = 2}) / 2;
  report.figure("one CTA wakes another: relaxed arrival, acquire wait", one_relaxed, "cycle");
  report.figure("one CTA wakes another: relaxed arrival, relaxed wait",
                cycles_of(Unordered{}, {.cluster_size = 2}) / 2,
                "cycle");
  report.constant("mbarrier_test", test, "cycle");
  report.constant("mbarrier_arrive", arrive, "cycle");
  report.constant("mbarrier_wake", one_way - arrive, "cycle");
  report.constant("dsmem_latency", remote - (one_way - arrive), "cycle");
  report.constant("dsmem_relaxed", one_relaxed - (one_way - arrive), "cycle");
  report.figure("ld.shared::cluster from the peer of two",
                cycles_of(RemoteLoad{}, {.cluster_size = 2}),
                "cycle");

  // Least squares over 1 to 8 warps.
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const std::uint32_t warps : {1, 2, 4, 8}) {
    const double cycles = cycles_of(NamedBarrier{}, {.threads = 32 * warps});
    report.figure("bar.sync of " + std::to_string(warps) + " warps", cycles, "cycle");
    n += 1, x += warps, y += cycles, xx += warps * warps, xy += warps * cycles;
  }
  const double slope = std::max((n * xy - x * y) / (n * xx - x * x), 0.0);
  report.constant("named_barrier", (y - slope * x) / n, "cycle");
  report.constant("named_barrier_per_warp", slope, "cycle");

  ClusterBarrier cluster;
  for (const std::uint32_t size : {2, 4, 8}) {
    cluster.ordering = kRelaxedCluster;
    const double relaxed = cycles_of(cluster, {.cluster_size = size});
    cluster.ordering = kReleaseCluster;
    const double release = cycles_of(cluster, {.cluster_size = size});
    const std::string of = " of " + std::to_string(size) + " CTAs";
    report.figure("barrier.cluster, relaxed," + of, relaxed, "cycle");
    report.figure("barrier.cluster, release," + of, release, "cycle");
    if (size == 2) {
      report.constant("cluster_barrier_relaxed", relaxed, "cycle");
      report.constant("cluster_barrier", release, "cycle");
    }
  }
  report.constant("fence_proxy_async", cycles_of(ProxyFence{}, {}), "cycle");
  report.constant("fence_gpu", cycles_of(GpuFence{}, {}), "cycle");
  measure_registers(report);
}

}  // namespace warptwin::hw::bench
