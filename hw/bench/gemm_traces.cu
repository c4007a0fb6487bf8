// When the CTAs of a GEMM load, and when what they load comes: `gemm_wgmma` with notes.
//
//   warptwin-measure-traces LIST OUT.bin
//
// A line of the list is one of warptwin-measure-configurations. An idle warp of the load role notes
// when each stage is full, the load warp when it may be filled; both by the clock of their SM, and
// once a tile by the timer that all SMs share. Exit codes: 0, 2 usage or a list
// that cannot be read, 4 no device.

#include <fstream>
#include <string>

#include "hw/bench/clock_meter.cuh"
#include "hw/bench/gemm_forms.cuh"
#include "hw/bench/gemm_list.hpp"
#include "hw/bench/gemm_run.cuh"

namespace warptwin::hw::bench {
namespace {

struct TileNote {
  std::uint32_t sm, cta, clock, timer;
};

struct Notes {
  TileNote* tiles;
  uint2* steps;           // of each tile in turn: asked, full
  std::uint32_t columns;  // of tiles
};

__device__ Notes device_notes;

__host__ __device__ inline std::uint32_t clock_now() {
  std::uint32_t cycles = 0;
#ifdef __CUDA_ARCH__
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles));
#endif
  return cycles;
}

// By the elected lane of the load warp, and of the warp that watches.
__host__ __device__ inline void note_asked(Tile at, std::uint32_t k, std::uint32_t ks) {
#ifdef __CUDA_ARCH__
  if (threadIdx.x % 32 == 0) {
    const std::uint32_t now = clock_now();
    const std::uint32_t tile = at.m * device_notes.columns + at.n;
    if (k == 0) {
      std::uint32_t sm;
      asm("mov.u32 %0, %%smid;" : "=r"(sm));
      device_notes.tiles[tile] = {sm, blockIdx.x, now, static_cast<std::uint32_t>(nanoseconds())};
    }
    device_notes.steps[tile * ks + k].x = now;
  }
#endif
}
__host__ __device__ inline void note_full(
    Tile at, std::uint32_t k, std::uint32_t ks, Mbarrier full, std::uint32_t parity) {
#ifdef __CUDA_ARCH__
  if (threadIdx.x % 32 == 0) {
    while (!ptx::mbarrier_try_wait_parity(full, parity, kAcquireCta)) {
    }
    device_notes.steps[(at.m * device_notes.columns + at.n) * ks + k].y = clock_now();
  }
  __syncwarp();
#endif
}

template <Machine M, class Extents>
struct TracedKernel : scenarios::GemmWgmmaKernel<M, Extents> {
  using Base = scenarios::GemmWgmmaKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    const std::uint32_t first = Base::kRoles.first_warp(Role::kLoad);
    if (machine.warp_index() == first + 1) {
      watch(machine, problem, smem);
      return;
    }
    Base::load_with(machine, problem, smem, [&](auto& stage, Tile tile, std::uint32_t k) {
      stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());
      stage.load(problem.b, {tile.n, k}, stage.payload().b_tile());
      note_asked(tile, k, problem.k_steps.count);
    });
  }
  static constexpr void watch(M& machine, const Problem& problem, const Storage& smem) {
    if (wgmma_moves_registers(problem.extents.tile_m)) {
      machine.template setmaxnreg_dec<40>();
    }
    std::uint32_t stage = 0;
    std::uint32_t parity = 0;
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_steps.count; ++k) {
        note_full(tile, k, problem.k_steps.count, smem.input.barriers.full[stage], parity);
        if (++stage == problem.extents.stages) {
          stage = 0;
          parity ^= 1;
        }
      }
    }
  }
};

// Of one configuration: a line of text, then its notes.
void trace(const Configuration& c, std::ostream& out) {
  Matrices x{c.m, c.n, c.k};
  const std::uint32_t tiles = (c.m / c.tile_m) * (c.n / c.tile_n);
  const std::uint32_t steps = c.k / 64;
  DeviceBuffer tile_notes{sizeof(TileNote) * tiles, 0};
  DeviceBuffer step_notes{sizeof(uint2) * tiles * steps, 0};
  const Notes notes{tile_notes.get<TileNote>(), step_notes.get<uint2>(), c.n / c.tile_n};
  require_cuda(cudaMemcpyToSymbol(device_notes, &notes, sizeof notes), "cudaMemcpyToSymbol", "");
  ClockMeter meter{sm_count()};
  meter.begin();
  const double spent = microseconds([&] { launch_of<TracedKernel>(c)(x, c); }, 8, 5);
  const double clock = meter.gigahertz();
  std::vector<TileNote> of_tiles(tiles);
  std::vector<uint2> of_steps(std::size_t{tiles} * steps);
  require_cuda(cudaMemcpy(of_tiles.data(),
                          tile_notes.get(),
                          sizeof(TileNote) * of_tiles.size(),
                          cudaMemcpyDeviceToHost),
               "cudaMemcpy",
               "the kernel before it failed");
  require_cuda(cudaMemcpy(of_steps.data(),
                          step_notes.get(),
                          sizeof(uint2) * of_steps.size(),
                          cudaMemcpyDeviceToHost),
               "cudaMemcpy",
               "the kernel before it failed");
  char spent_at[80];
  std::snprintf(spent_at, sizeof spent_at, " %.3f us %.4f GHz\n", spent, clock);
  const std::string head = line_of(c) + spent_at;
  out << head;
  std::fputs(head.c_str(), stderr);
  out.write(reinterpret_cast<const char*>(of_tiles.data()),
            static_cast<std::streamsize>(sizeof(TileNote) * of_tiles.size()));
  // Short numbers: since the stage before was asked for; from asking until full.
  std::vector<std::uint16_t> asked(of_steps.size());
  std::vector<std::uint16_t> took(of_steps.size());
  for (std::size_t i = 0; i < of_steps.size(); ++i) {
    const std::uint32_t before = i % steps == 0 ? of_tiles[i / steps].clock : of_steps[i - 1].x;
    asked[i] = static_cast<std::uint16_t>(std::min(of_steps[i].x - before, 65535U));
    took[i] = static_cast<std::uint16_t>(std::min(of_steps[i].y - of_steps[i].x, 65535U));
  }
  for (const auto& numbers : {asked, took}) {
    out.write(reinterpret_cast<const char*>(numbers.data()),
              static_cast<std::streamsize>(2 * numbers.size()));
  }
}

}  // namespace
}  // namespace warptwin::hw::bench

int main(int count, char** arguments) {
  using namespace warptwin::hw::bench;
  if (count != 3) {
    std::puts("usage: warptwin-measure-traces LIST OUT.bin");
    return 2;
  }
  if (!warptwin::hw::gpu_is_here()) {
    return 4;
  }
  try {
    const std::vector<Configuration> list = read_list_for<TracedKernel>(arguments[1]);
    if (list.empty()) {
      return 2;
    }
    std::ofstream out{arguments[2], std::ios::binary};
    for (const Configuration& c : list) {
      trace(c, out);
    }
    return 0;
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 4;
  }
}
