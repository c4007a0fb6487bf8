// L2 to all SMs, as the CTAs of a GEMM ask it, and how much SMs of a GPC share.

#include <set>

#include "hw/bench/clock_meter.cuh"
#include "hw/bench/gemm_loads.cuh"
#include "hw/bench/l2_streams.cuh"
#include "hw/bench/report.hpp"

namespace warptwin::hw::bench {
namespace {

// Whole waves of every tile on 132 SMs, and operands that half of L2 holds with ease.
constexpr std::uint32_t kRows = 1536;
constexpr std::uint32_t kColumns = 2816;
// Launches long enough that the host keeps up. Of a longer K the CTAs drift apart, which those of a
// GEMM that multiplies do less.
constexpr std::uint32_t kShort = 512;
constexpr std::uint32_t kLong = 1024;

// Bytes a cycle that fill each SM: of the loop's slope, so that starts and ends do not count.
template <std::uint32_t kTileM, std::uint32_t kTileN, std::uint32_t kCluster>
double bytes_a_cycle(std::uint32_t stages, std::uint32_t strip) {
  using Extents = RingExtents<kTileM, kTileN, kCluster>;
  using Kernel = GemmLoadsKernel<CudaMachine, Extents>;
  const std::uint32_t sms = sm_count();
  const std::uint32_t ctas = sms / kCluster * kCluster;
  ClockMeter meter{sms};
  double cycles[2] = {};
  for (const std::uint32_t k : {kShort, kLong}) {
    const Matrices x{kRows, kColumns, k};
    meter.begin();
    const double spent =
        microseconds([&] { launch_scenario<Kernel>(x, Extents{{stages}}, ctas, strip); }, 20, 7);
    cycles[k == kLong ? 1 : 0] = 1e3 * spent * meter.gigahertz();
  }
  const double tiles = double{kRows / kTileM} * (kColumns / kTileN) / ctas;
  const double bytes = tiles * (kTileM + kTileN) * 2 * (kLong - kShort);
  return bytes / (cycles[1] - cycles[0]);
}

// Of the bytes that a wave of single CTAs asks for, the share that no other SM of the GPC asks for,
// each box counted once. `gpcs` says by whose port each CTA asks.
double distinct_share(std::uint32_t tile_m,
                      std::uint32_t tile_n,
                      std::uint32_t strip,
                      const std::vector<std::uint32_t>& gpcs) {
  const TileWalk walk{
      TileGrid{kRows / tile_m, kColumns / tile_n}, {}, {RasterOrder::kAlongM, strip}};
  std::set<std::pair<std::uint32_t, std::uint32_t>> rows;
  std::set<std::pair<std::uint32_t, std::uint32_t>> columns;
  const std::uint32_t wave = std::min(static_cast<std::uint32_t>(gpcs.size()), walk.count());
  for (std::uint32_t cta = 0; cta < wave; ++cta) {
    rows.insert({gpcs[cta], walk.at(cta).m});
    columns.insert({gpcs[cta], walk.at(cta).n});
  }
  return static_cast<double>(rows.size() * tile_m + columns.size() * tile_n) /
         (wave * (tile_m + tile_n));
}

// The rates of a tile, and what a box costs by them that another SM of the GPC asks for too: all
// that is asked for, over the rate, is the distinct boxes and that share of the others.
template <std::uint32_t kTileM, std::uint32_t kTileN, std::uint32_t kCluster>
void measure_tile(Report& report,
                  double own,
                  const std::vector<std::uint32_t>& gpcs,
                  std::vector<double>& shared) {
  constexpr std::uint32_t kStages = 3;  // deeper rings drift sooner
  for (const std::uint32_t strip : {0U, 4U, 16U}) {
    const double rate = bytes_a_cycle<kTileM, kTileN, kCluster>(kStages, strip);
    report.figure("loads of a GEMM, " + std::to_string(kTileM) + "x" + std::to_string(kTileN) +
                      (kCluster == 1 ? "" : " in pairs") + ", strips of " + std::to_string(strip),
                  rate,
                  "B/cycle");
    if (kCluster == 1) {
      const double distinct = distinct_share(kTileM, kTileN, strip, gpcs);
      shared.push_back((own / rate - distinct) / (1 - distinct));
    }
  }
}

}  // namespace

void measure_gemm_loads(Report& report) {
  const double own = report.value("l2_rate") / sm_count();
  Ports ports;
  const std::vector<std::uint32_t> asked = asked_ports(ports);
  std::vector<std::uint32_t> gpcs;  // of each CTA
  for (const std::uint32_t sm : sms_of_ctas(ports.sms())) {
    gpcs.push_back(asked[sm]);
  }
  std::vector<double> shared;
  measure_tile<64, 128, 1>(report, own, gpcs, shared);
  measure_tile<64, 128, 2>(report, own, gpcs, shared);
  measure_tile<128, 64, 1>(report, own, gpcs, shared);
  measure_tile<128, 64, 2>(report, own, gpcs, shared);
  measure_tile<128, 128, 1>(report, own, gpcs, shared);
  measure_tile<128, 128, 2>(report, own, gpcs, shared);
  measure_tile<128, 256, 1>(report, own, gpcs, shared);
  measure_tile<128, 256, 2>(report, own, gpcs, shared);
  std::sort(shared.begin(), shared.end());
  report.figure("l2_shared by tile and order, the least", shared.front(), "ratio");
  report.figure("l2_shared by tile and order, the most", shared.back(), "ratio");
  report.constant("l2_shared", shared[shared.size() / 2], "ratio");
}

}  // namespace warptwin::hw::bench
