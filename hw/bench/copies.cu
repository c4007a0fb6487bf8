// TMA on this GPU: how long a load takes, how many rows and instructions the engine takes, what L2
// and DRAM deliver to one SM and to all.

#include "hw/bench/microbenchmark.cuh"
#include "hw/launch/tensor_map.hpp"

namespace warptwin::hw::bench {
namespace {

constexpr std::uint32_t kTileBytes = 12 * 16384;  // shared memory that boxes lie in
constexpr std::uint32_t kBarriers = 32;
constexpr std::uint32_t kColumns = 64;  // of bf16: a row of a box that is as wide as one may be

// Where a kernel's copies come from: boxes of `rows` rows, and which of them a CTA takes.
struct Source {
  CUtensorMap map;
  std::uint32_t rows = 0;        // of a box
  std::uint32_t box_bytes = 0;   // of what a CTA receives at a time
  std::uint32_t slot_bytes = 0;  // the same, aligned
  std::uint32_t boxes = 1;       // a CTA's own, or a cluster's; taken in turn
  std::uint32_t groups = 1;      // barriers in use
  std::uint32_t sharers = 1;     // CTAs that read the same boxes
};

__device__ Mbarrier barrier(std::uint32_t index) {
  return {shared_base() + kTileBytes + 8 * index};
}

__device__ void wait(Mbarrier bar, std::uint32_t parity, Ordering ordering = kAcquireCta) {
  while (!ptx::mbarrier_try_wait_parity(bar, parity, ordering)) {
  }
  ptx::sync_warp();
}

/// A ring's place: which barrier, and the parity of its lap.
struct Place {
  std::uint32_t group = 0;
  std::uint32_t parity = 0;
  __device__ void step(std::uint32_t groups) {
    if (++group == groups) {
      group = 0;
      parity ^= 1;
    }
  }
};

/// One warp keeps `groups` times `batch` loads on their way: a step waits for a group of them, and
/// sends the next.
template <std::uint32_t kBatch>
__global__ void __launch_bounds__(32, 1)
    stream(const __grid_constant__ Source source, std::uint32_t times, std::uint64_t* cycles) {
  const bool elected = ptx::elect_sync();
  if (elected) {
    for (std::uint32_t i = 0; i < source.groups; ++i) {
      ptx::mbarrier_init(barrier(i), 1);
    }
    ptx::fence_mbarrier_init();
  }
  ptx::cta_sync();
  const std::uint32_t groups = source.groups;
  const std::uint32_t slot_bytes = source.slot_bytes;
  const std::uint32_t bytes = kBatch * source.box_bytes;
  const std::uint32_t first = blockIdx.x / source.sharers * source.boxes * source.rows;
  const std::uint32_t last = first + source.boxes * source.rows;
  const std::uint64_t begin = now();
  Place place;
  std::uint32_t row = first;
  for (std::uint32_t i = 0; i < times; ++i) {
    const Mbarrier bar = barrier(place.group);
    wait(bar, place.parity ^ 1);
    const SharedAddress to = shared_base() + place.group * kBatch * slot_bytes;
    if (elected) {
      ptx::mbarrier_arrive_expect_tx(bar, bytes);
      WARPTWIN_UNROLL for (std::uint32_t j = 0; j < kBatch; ++j) {
        ptx::cp_async_bulk_tensor_load(to + j * slot_bytes,
                                       &source.map,
                                       Coordinates<2>{{0, static_cast<std::int32_t>(row)}},
                                       bar,
                                       {});
      }
    }
    row = row + source.rows == last ? first : row + source.rows;
    place.step(groups);
  }
  for (std::uint32_t i = 0; i < groups; ++i) {
    wait(barrier(place.group), place.parity ^ 1);
    place.step(groups);
  }
  if (elected) {
    cycles[blockIdx.x] = now() - begin;
  }
}

/// In clusters: warp 0 of every CTA copies its slice of each box to all of them, warp 1 frees the
/// slot in all of them when it is full.
__global__ void __launch_bounds__(64, 1) stream_multicast(const __grid_constant__ Source source,
                                                          std::uint32_t times,
                                                          std::uint64_t* cycles) {
  const std::uint32_t ctas = ptx::cluster_cta_count();
  const std::uint32_t rank = ptx::cluster_cta_rank();
  const std::uint32_t warp = ptx::warp_index();
  const bool elected = ptx::elect_sync();
  if (warp == 0 && elected) {
    for (std::uint32_t i = 0; i < source.groups; ++i) {
      ptx::mbarrier_init(barrier(2 * i), 1);
      ptx::mbarrier_init(barrier(2 * i + 1), ctas);
    }
    ptx::fence_mbarrier_init();
  }
  ptx::barrier_cluster_arrive(kReleaseCluster);
  ptx::barrier_cluster_wait();
  const std::uint64_t begin = now();
  const CtaMask all{static_cast<std::uint16_t>((1U << ctas) - 1)};
  Place place;
  std::uint32_t box = 0;
  for (std::uint32_t i = 0; i < times; ++i) {
    const Mbarrier full = barrier(2 * place.group);
    const Mbarrier empty = barrier(2 * place.group + 1);
    if (warp == 0) {
      wait(empty, place.parity ^ 1, kRelaxedCluster);
      if (elected) {
        ptx::mbarrier_arrive_expect_tx(full, source.box_bytes);
        const std::uint32_t slice = (blockIdx.x / ctas * source.boxes + box) * ctas + rank;
        ptx::cp_async_bulk_tensor_load(
            shared_base() + place.group * source.slot_bytes + rank * (source.box_bytes / ctas),
            &source.map,
            Coordinates<2>{{0, static_cast<std::int32_t>(slice * source.rows)}},
            full,
            all);
        box = box + 1 == source.boxes ? 0 : box + 1;
      }
    } else {
      wait(full, place.parity);
      // Nothing was read: there is nothing to release.
      if (ptx::lane_index() < ctas) {
        ptx::mbarrier_arrive(
            RemoteMbarrier{ptx::mapa(empty.address, ptx::lane_index())}, 1, kRelaxedCluster);
      }
    }
    place.step(source.groups);
  }
  if (warp == 1 && elected) {
    cycles[blockIdx.x] = now() - begin;
  }
  ptx::barrier_cluster_arrive(kReleaseCluster);
  ptx::barrier_cluster_wait();
}

/// What the CTAs of a GEMM ask for and nothing else: a step takes a box of A and one of B, as CTA
/// `blockIdx.x` of a grid that walks `kStripTiles` tiles side by side; the same `source.boxes`
/// steps again and again, so that L2 has all of it. `source.groups` steps are on their way.
__global__ void __launch_bounds__(32, 1) stream_operands(const __grid_constant__ Source source,
                                                         std::uint32_t times,
                                                         std::uint64_t* cycles) {
  constexpr std::uint32_t kStripTiles = 16;
  const bool elected = ptx::elect_sync();
  if (elected) {
    for (std::uint32_t i = 0; i < source.groups; ++i) {
      ptx::mbarrier_init(barrier(i), 1);
    }
    ptx::fence_mbarrier_init();
  }
  ptx::cta_sync();
  const std::uint32_t a = blockIdx.x / kStripTiles * source.rows;
  const std::uint32_t b = (kStripTiles + blockIdx.x % kStripTiles) * source.rows;
  const std::uint64_t begin = now();
  Place place;
  for (std::uint32_t i = 0; i < times + source.groups; ++i) {
    const Mbarrier bar = barrier(place.group);
    wait(bar, place.parity ^ 1);
    if (elected && i < times) {
      const SharedAddress to = shared_base() + place.group * 2 * source.slot_bytes;
      const auto column = static_cast<std::int32_t>(i % source.boxes * kColumns);
      ptx::mbarrier_arrive_expect_tx(bar, 2 * source.box_bytes);
      ptx::cp_async_bulk_tensor_load(
          to, &source.map, Coordinates<2>{{column, static_cast<std::int32_t>(a)}}, bar, {});
      ptx::cp_async_bulk_tensor_load(to + source.slot_bytes,
                                     &source.map,
                                     Coordinates<2>{{column, static_cast<std::int32_t>(b)}},
                                     bar,
                                     {});
    }
    place.step(source.groups);
  }
  if (elected) {
    cycles[blockIdx.x] = now() - begin;
  }
}

/// Stores of boxes in rows that are the CTA's own: of one, or, with `kWalks`, of `source.boxes`
/// side by side; with `kWaits` each is waited for until it is written.
template <bool kWaits, bool kWalks = false>
__global__ void __launch_bounds__(32, 1)
    store(const __grid_constant__ Source source, std::uint32_t times, std::uint64_t* cycles) {
  if (ptx::elect_sync()) {
    const auto row = static_cast<std::int32_t>(blockIdx.x * source.rows);
    constexpr std::int32_t kStep = kColumns;
    const std::int32_t columns = kStep * static_cast<std::int32_t>(source.boxes);
    const std::uint64_t begin = now();
    std::int32_t column = 0;
    for (std::uint32_t i = 0; i < times; ++i) {
      ptx::cp_async_bulk_tensor_store(&source.map, Coordinates<2>{{column, row}}, shared_base());
      ptx::cp_async_bulk_commit_group();
      if constexpr (kWaits) {
        ptx::cp_async_bulk_wait_group<0>();
      }
      if constexpr (kWalks) {
        column = column + kStep == columns ? 0 : column + kStep;
      }
    }
    ptx::cp_async_bulk_wait_group<0>();
    cycles[blockIdx.x] = now() - begin;
  }
}

/// Cycles in which one lane issues four loads that find the engine idle.
__global__ void __launch_bounds__(32, 1)
    issue(const __grid_constant__ Source source, std::uint32_t times, std::uint64_t* cycles) {
  constexpr std::uint32_t kLoads = 4;
  const bool elected = ptx::elect_sync();
  if (elected) {
    ptx::mbarrier_init(barrier(0), 1);
    ptx::fence_mbarrier_init();
  }
  ptx::cta_sync();
  std::uint64_t spent = 0;
  for (std::uint32_t i = 0; i < times; ++i) {
    if (elected) {
      ptx::mbarrier_arrive_expect_tx(barrier(0), kLoads * source.box_bytes);
      const std::uint64_t begin = now();
      WARPTWIN_UNROLL for (std::uint32_t j = 0; j < kLoads; ++j) {
        ptx::cp_async_bulk_tensor_load(shared_base() + j * source.slot_bytes,
                                       &source.map,
                                       Coordinates<2>{{0, 0}},
                                       barrier(0),
                                       {});
      }
      spent += now() - begin;
    }
    wait(barrier(0), i & 1);
  }
  if (elected) {
    cycles[blockIdx.x] = spent / kLoads;
  }
}

using Kernel = void (*)(Source, std::uint32_t, std::uint64_t*);

constexpr std::uint32_t kMany = 4;  // loads that one barrier counts, where more than one

struct Shape {
  std::uint32_t rows = 64;
  std::uint32_t row_bytes = 128;
  std::uint32_t groups = 1;
  std::uint32_t batch = 1;
  std::uint32_t clusters = 1;
  std::uint32_t cluster_size = 1;
  std::uint32_t boxes = 4;
  std::uint32_t times = 512;
  std::uint32_t threads = 32;
  bool warm = true;
  std::uint32_t sharers = 1;
  std::uint32_t matrix_columns = 0;  // 0: as many as a row of a box
};

class Copies {
 public:
  explicit Copies(std::size_t bytes) : memory_{bytes, 0}, bytes_{bytes} {}

  /// Cycles of one load of `shape`: of the CTA that takes longest, or the mean of all.
  double cycles(Kernel kernel, const Shape& shape, bool mean = false) {
    const std::uint32_t ctas = shape.clusters * shape.cluster_size;
    Source source;
    source.rows = shape.rows / shape.cluster_size;
    source.box_bytes = shape.rows * shape.row_bytes;
    source.slot_bytes = align_up(source.box_bytes, 128);
    source.boxes = shape.boxes;
    source.groups = shape.groups;
    source.sharers = shape.sharers;
    const std::uint32_t columns = std::max(shape.matrix_columns, shape.row_bytes / 2);
    const auto rows = static_cast<std::uint32_t>(
        std::min<std::size_t>(bytes_ / (2 * columns), std::size_t{1} << 30));
    const TensorSpec tensor{.name = "source",
                            .element = ElementType::kBf16,
                            .rows = rows,
                            .columns = columns,
                            .pitch_bytes = 2 * columns};
    source.map = encode(encoding_of({0, source.rows, shape.row_bytes / 2, Swizzle::kNone}, tensor),
                        memory_.address());
    SharedWithDevice<std::uint64_t> cycles{ctas};
    std::vector<double> each;
    for (int i = 0; i < (shape.warm ? kLaunches : 1); ++i) {
      std::uint32_t times = shape.times;
      std::uint64_t* to = cycles.get();
      void* arguments[] = {&source, &times, &to};
      launch(reinterpret_cast<const void*>(kernel),
             {shape.clusters, shape.cluster_size, shape.threads, kTileBytes + 8 * kBarriers},
             arguments,
             nullptr);
      synchronize(nullptr);
      double most = 0;
      double sum = 0;
      for (std::uint32_t cta = 0; cta < ctas; ++cta) {
        most = std::max(most, static_cast<double>(cycles[cta]));
        sum += static_cast<double>(cycles[cta]);
      }
      each.push_back((mean ? sum / ctas : most) / shape.times / shape.batch);
    }
    return median(each);
  }
  /// Pushes everything else out of L2.
  void flush() {
    require_cuda(cudaMemset(memory_.get(), 0, bytes_ / 4), "cudaMemset", "see the error");
    synchronize(nullptr);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  DeviceBuffer memory_;
  std::size_t bytes_;
};

std::string of(std::uint32_t rows, std::uint32_t row_bytes) {
  return std::to_string(rows) + " rows of " + std::to_string(row_bytes) + " B";
}

// Twelve loads on their way, three barriers: the engine always has one.
Shape many(std::uint32_t rows, std::uint32_t row_bytes) {
  return {rows, row_bytes, 3, kMany};
}

// Model: issue; rows, or the least of an instruction; latency, more for each byte of a row; then
// the waiter wakes up.
void measure_one_load(Copies& copies, Report& report) {
  for (const std::uint32_t row_bytes : {16, 32, 64, 128}) {
    for (const std::uint32_t rows : {1, 8, 16, 32, 64, 128}) {
      const std::string name = "TMA load of " + of(rows, row_bytes);
      report.figure(name + ", alone", copies.cycles(&stream<1>, {rows, row_bytes}), "cycle");
      report.figure(name + ", many", copies.cycles(&stream<kMany>, many(rows, row_bytes)), "cycle");
    }
  }
  const double least = copies.cycles(&stream<kMany>, many(1, 128));
  // Narrow rows: what the engine does a row, and not what L2 delivers.
  const double row = copies.cycles(&stream<kMany>, many(128, 16)) / 128;
  const double wake = report.value("mbarrier_wake");
  const double thin = copies.cycles(&stream<1>, {128, 16});
  const double wide = copies.cycles(&stream<1>, {128, 128});
  const double per_byte = std::max((wide - thin) / (128 - 16), 0.0);
  report.constant("tma_issue", copies.cycles(&issue, {1, 16}), "cycle");
  report.figure("a turn of a warp that waits, arms and issues one load",
                copies.cycles(&stream<1>, {1, 128, 12}),
                "cycle");
  report.constant("tma_row", row, "cycle");
  report.constant("tma_instruction", least, "cycle");
  report.constant("tma_latency_per_row_byte", per_byte, "cycle/B");
  report.figure(kWholeTmaLatency, wide - 128 * row - 128 * per_byte - wake, "cycle");
  for (const std::uint32_t flight : {1, 2, 3, 4, 6, 12}) {
    report.figure("TMA loads of " + of(128, 128) + ", " + std::to_string(flight) + " on their way",
                  128 * 128 / copies.cycles(&stream<1>, {128, 128, flight}),
                  "B/cycle");
  }
}

void measure_stores(Copies& copies, Report& report) {
  const double least = copies.cycles(&store<false>, {1, 128});
  const double written = copies.cycles(&store<true>, {1, 128});
  report.constant("tma_store_instruction", least, "cycle");
  report.constant("tma_store_row", copies.cycles(&store<false>, {128, 128}) / 128, "cycle");
  report.constant("tma_store_latency", std::max(written - least, 0.0), "cycle");
  for (const std::uint32_t rows : {8, 32, 128}) {
    report.figure("TMA store of " + of(rows, 128) + ", one after the other",
                  copies.cycles(&store<false>, {rows, 128}),
                  "cycle");
    report.figure("TMA store of " + of(rows, 128) + ", each waited for",
                  copies.cycles(&store<true>, {rows, 128}),
                  "cycle");
  }
  // As all CTAs of a GEMM do it: rows of 128 B, far apart, L2 has them.
  const auto sms = static_cast<std::uint32_t>(report.value("sms"));
  Shape all{128, 128, 1, 1, sms, 1, 8};
  all.matrix_columns = 8192;
  report.constant(
      "l2_store_rate", sms * 16384 / copies.cycles(&store<false, true>, all, true), "B/cycle");
}

void measure_all_sms(Copies& copies, Report& report) {
  const auto sms = static_cast<std::uint32_t>(report.value("sms"));
  // Each load on its way is of another box: the same one several times would ask few slices of L2.
  constexpr std::uint32_t kBoxes = 12;  // of each SM, all on their way
  const Shape alone{128, 128, kBoxes, 1, 1, 1, kBoxes};
  report.figure("L2 to one SM", 16384 / copies.cycles(&stream<1>, alone), "B/cycle");
  Shape own = alone;
  own.clusters = sms;
  report.figure("L2 to the slowest of all SMs", 16384 / copies.cycles(&stream<1>, own), "B/cycle");
  report.constant("l2_rate", sms * 16384 / copies.cycles(&stream<1>, own, true), "B/cycle");
  for (const std::uint32_t sharers : {std::uint32_t{2}, std::uint32_t{8}, sms}) {
    Shape shape = own;
    shape.sharers = sharers;
    report.figure("L2 to each of all SMs, every line to " + std::to_string(sharers) + " of them",
                  16384 / copies.cycles(&stream<1>, shape),
                  "B/cycle");
  }
  // SMs of one GPC that ask for a line within some 250 cycles get it together: see gemm_loads.cu.
  Shape operands{128, 128, 4, 1, sms, 1, 4};
  operands.batch = 2;
  operands.matrix_columns = 8192;
  const double shared = 16384 / copies.cycles(&stream_operands, operands, true);
  report.figure(
      "L2 to each of all SMs, operands of 128x128 tiles in strips of 16", shared, "B/cycle");
  const double clock = report.value("clock");
  report.constant("l2_clock", clock, "GHz");
  const auto boxes = static_cast<std::uint32_t>(copies.bytes() / 16384 / sms);
  for (const std::uint32_t flight : {1, 2, 4, 8, 12}) {
    const double rate =
        sms * 16384 / copies.cycles(&stream<1>, {128, 128, flight, 1, sms, 1, boxes, boxes});
    report.figure("DRAM to all SMs, " + std::to_string(16 * flight) + " KiB on their way an SM",
                  rate * clock / 1e3,
                  "TB/s");
    if (flight == 12) {
      report.constant("dram_rate", rate * clock / 1e3, "TB/s");
    }
  }
  // Boxes of a matrix as wide as a GEMM's: each of their rows is in another page of DRAM.
  Shape steps{128, 128, 1, 1, 1, 1, 128, 128};
  steps.matrix_columns = 8192;
  const double warm = copies.cycles(&stream_operands, steps);
  copies.flush();
  steps.warm = false;
  const double cold = copies.cycles(&stream_operands, steps);
  report.figure("TMA loads of two boxes of " + of(128, 128) + " in rows of 16 KiB, from L2, alone",
                warm,
                "cycle");
  report.figure("the same from DRAM", cold, "cycle");
  report.constant("dram_latency_ns", std::max(cold - warm, 0.0) / clock, "ns");
}

void measure_multicast(Copies& copies, Report& report) {
  const auto sms = static_cast<std::uint32_t>(report.value("sms"));
  double filled[5] = {};
  for (const std::uint32_t size : {1, 2, 4}) {
    for (const std::uint32_t clusters : {std::uint32_t{1}, sms / 4 * 3 / size}) {
      const double rate =
          32768 / copies.cycles(&stream_multicast, {256, 128, 5, 1, clusters, size, 4, 1024, 64});
      report.figure("multicast: filled of each SM, clusters of " + std::to_string(size) + ", " +
                        std::to_string(clusters * size) + " SMs",
                    rate,
                    "B/cycle");
      filled[size] = rate;
    }
  }
  // Of the second copy: nothing, where twice as much fills them.
  report.constant("l2_multicast", std::max(2 * filled[1] / filled[2] - 1, 0.0), "ratio");
}

}  // namespace

void measure_copies(Report& report) {
  Copies copies{std::size_t{4} << 30};
  measure_one_load(copies, report);
  measure_stores(copies, report);
  measure_all_sms(copies, report);
  measure_multicast(copies, report);
}

}  // namespace warptwin::hw::bench
