// What the CTAs of a GEMM wait for: `gemm_wgmma` whose first warp that multiplies counts the cycles
// for which stages were not full yet, and notes each tile's beginning and end.
//
//   warptwin-measure-waits LIST OUT.json
//   warptwin-measure-waits --once LIST
//
// A line of the list is one of warptwin-measure-configurations. --once launches each configuration
// once, and writes nothing: for a profiler. Exit codes: 0, 2 usage or a list that cannot be read,
// 4 no device.

#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "hw/bench/clock_meter.cuh"
#include "hw/bench/gemm_forms.cuh"
#include "hw/bench/gemm_list.hpp"
#include "hw/bench/gemm_run.cuh"

namespace warptwin::hw::bench {
namespace {

constexpr std::uint32_t kLate = 120;  // cycles; a wait for a full stage takes less

/// Of one tile: by the clock of its SM.
struct TileNote {
  std::uint32_t sm, cta, begun, multiplied, ended, waited, late, first;
};

struct Notes {
  TileNote* tiles;
  std::uint32_t columns;  // of tiles
};

__device__ Notes device_notes;

__host__ __device__ inline std::uint32_t clock_now() {
  std::uint32_t cycles = 0;
#ifdef __CUDA_ARCH__
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles)::"memory");
#endif
  return cycles;
}

/// The consumer's side of a ring, which counts how long it waits.
template <class Input>
struct CountingInput {
  Input& input;
  std::uint32_t waited = 0;
  std::uint32_t late = 0;
  std::uint32_t first = 0;
  std::uint32_t steps = 0;

  constexpr auto acquire_stage(SourceSite site) {
    const std::uint32_t before = clock_now();
    auto stage = input.acquire_stage(site);
    const std::uint32_t took = clock_now() - before;
    first = steps++ == 0 ? took : first;
    waited += took;
    late += took > kLate ? 1 : 0;
    return stage;
  }
  constexpr void free(Mbarrier empty, SourceSite site) { input.free(empty, site); }
};

template <Machine M, class Extents>
struct WaitingKernel : scenarios::GemmWgmmaKernel<M, Extents> {
  using Base = scenarios::GemmWgmmaKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    const Extents& e = problem.extents;
    const auto rows = rows_of_warpgroup(e.tile_m);
    const std::uint32_t first_row = machine.warp_index() / kWarpsPerWarpgroup * rows;
    if (first_row >= e.tile_m) {
      return;
    }
    if (wgmma_moves_registers(e.tile_m)) {
      machine.template setmaxnreg_inc<232>();
    }
    auto input = typename Base::Input{machine, smem.input}.consumer();
    auto writer = TileWriter<M, bf16, Role::kMma>{machine, smem.out};
    auto d = TallAccumulator{machine, rows, e.tile_n};
    for (const Tile tile : problem.tiles(machine)) {
      const std::uint32_t begun = clock_now();
      CountingInput<decltype(input)> counting{input};
      multiply_stages(machine, counting, d, first_row, KSteps{problem.k_steps.count}, e.in_flight);
      const std::uint32_t multiplied = clock_now();
      store_accumulator(machine, writer, problem.d, {tile.m, tile.n}, d, e.tile_n);
#ifdef __CUDA_ARCH__
      if (threadIdx.x == 0) {
        std::uint32_t sm;
        asm("mov.u32 %0, %%smid;" : "=r"(sm));
        device_notes.tiles[tile.m * device_notes.columns + tile.n] = {sm,
                                                                      blockIdx.x,
                                                                      begun,
                                                                      multiplied,
                                                                      clock_now(),
                                                                      counting.waited,
                                                                      counting.late,
                                                                      counting.first};
      }
#endif
    }
    writer.drain();
  }
};

// Of one configuration: a row, with the notes of each tile.
void measure(const Configuration& c, const Matrices& x, bool once, std::ostream* out) {
  const std::uint32_t tiles = (c.m / c.tile_m) * (c.n / c.tile_n);
  DeviceBuffer tile_notes{sizeof(TileNote) * tiles, 0};
  const Notes notes{tile_notes.get<TileNote>(), c.n / c.tile_n};
  require_cuda(cudaMemcpyToSymbol(device_notes, &notes, sizeof notes), "cudaMemcpyToSymbol", "");
  if (once) {
    launch_of<WaitingKernel>(c)(x, c);
    synchronize(nullptr);
    return;
  }
  ClockMeter meter{sm_count()};
  meter.begin();
  const double spent = microseconds([&] { launch_of<WaitingKernel>(c)(x, c); }, 8, 5);
  const double clock = meter.gigahertz();
  std::vector<TileNote> of_tiles(tiles);
  require_cuda(cudaMemcpy(of_tiles.data(),
                          tile_notes.get(),
                          sizeof(TileNote) * of_tiles.size(),
                          cudaMemcpyDeviceToHost),
               "cudaMemcpy",
               "the kernel before it failed");
  char spent_at[80];
  std::snprintf(spent_at, sizeof spent_at, "\"us\": %.3f, \"ghz\": %.4f", spent, clock);
  *out << "{\"list\": \"" << line_of(c) << "\", " << spent_at << ", \"tiles\": [";
  const char* before = "";
  for (const TileNote& n : of_tiles) {
    *out << before << '[' << n.sm << ',' << n.cta << ',' << n.begun << ',' << n.multiplied - n.begun
         << ',' << n.ended - n.begun << ',' << n.waited << ',' << n.late << ',' << n.first << ']';
    before = ",";
  }
  *out << "]}\n";
}

int run(const std::vector<Configuration>& list, bool once, std::ostream* out) {
  const Configuration* last = nullptr;
  std::unique_ptr<Matrices> x;
  for (const Configuration& c : list) {
    if (last == nullptr || last->m != c.m || last->n != c.n || last->k != c.k) {
      x = std::make_unique<Matrices>(c.m, c.n, c.k);
    }
    last = &c;
    measure(c, *x, once, out);
  }
  return 0;
}

}  // namespace
}  // namespace warptwin::hw::bench

int main(int count, char** arguments) {
  using namespace warptwin::hw::bench;
  const bool once = count == 3 && std::string_view{arguments[1]} == "--once";
  if (count != 3) {
    std::puts(
        "usage: warptwin-measure-waits LIST OUT.json\n       warptwin-measure-waits --once LIST");
    return 2;
  }
  if (!warptwin::hw::gpu_is_here()) {
    return 4;
  }
  try {
    const std::vector<Configuration> list = read_list_for<WaitingKernel>(arguments[once ? 2 : 1]);
    if (list.empty()) {
      return 2;
    }
    std::ofstream out;
    if (!once) {
      out.open(arguments[2]);
    }
    return run(list, once, &out);
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 4;
  }
}
