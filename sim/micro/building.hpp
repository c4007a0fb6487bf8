/// What micro-programs are made of: places in memory, short sequences, and the list they go to.

#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/micro/programs.hpp"
#include "sim/model/global_memory.hpp"

namespace warptwin::sim::micro {

using M = SimMachine;
using Body = std::function<void(M&)>;

inline constexpr Mbarrier kBar{{1024}};
inline constexpr Mbarrier kBar2{{1032}};
inline constexpr SharedAddress kWord{1040};
inline constexpr SharedAddress kTile{2048};
inline constexpr GlobalAddress kSource{1U << 20};
inline constexpr std::uint32_t kSourceBytes = 65536;
inline constexpr GlobalAddress kFlag{kSource.value + kSourceBytes + 256};
inline constexpr std::uint32_t kFlagBytes = 256;
inline constexpr GlobalAddress kResult{kFlag.value + kFlagBytes + 256};
inline constexpr std::uint32_t kResultBytes = 16;

inline constexpr std::uint32_t kStages = 2;
inline constexpr Mbarrier kRing{{4096}};  // full[0], full[1], empty[0], empty[1]
inline constexpr SharedAddress kRingTiles{8192};
inline constexpr std::uint32_t kStageBytes = 1024;

/// The list a file adds its programs to.
class List {
 public:
  void add(const char* id,
           std::uint32_t warps,
           Body wrong,
           Body right,
           const char* schedule = "round-robin") {
    push({id, std::move(wrong), std::move(right), warps, 1, schedule});
  }
  /// CTAs of one warp, in one cluster.
  void in_cluster(const char* id,
                  std::uint32_t ctas,
                  Body wrong,
                  Body right,
                  const char* schedule = "round-robin") {
    push({id, std::move(wrong), std::move(right), 1, ctas, schedule});
  }
  /// Found by the strict profile only.
  void strictly(const char* id, std::uint32_t warps, std::uint32_t ctas, Body wrong, Body right) {
    MicroProgram program{id, std::move(wrong), std::move(right), warps, ctas};
    program.rules.profile = Profile::kStrict;
    push(std::move(program));
  }
  /// One CTA after the other may begin, by request only: `clusters` in the grid, one at a time.
  void in_grid(const char* id,
               std::uint32_t clusters,
               std::uint32_t ctas,
               Body wrong,
               Body right,
               const char* schedule = "round-robin") {
    MicroProgram program{id, std::move(wrong), std::move(right), 1, ctas, schedule};
    program.clusters = clusters;
    program.resident = 1;
    push(std::move(program));
  }
  /// With the ring declared.
  void with_ring(const char* id, Body wrong, Body right) {
    MicroProgram program{id, std::move(wrong), std::move(right)};
    program.ring = true;
    push(std::move(program));
  }
  void push(MicroProgram program) { programs_.push_back(std::move(program)); }
  std::vector<MicroProgram> take() { return std::move(programs_); }

 private:
  std::vector<MicroProgram> programs_;
};

void add_mbarriers(List& list);
void add_memory(List& list);
void add_copies(List& list);
void add_lane_copies(List& list);
void add_tensor_memory(List& list);
void add_groups(List& list);
void add_pipelines(List& list);
void add_layouts(List& list);
void add_launches(List& list);
void add_warpgroups(List& list);

/// Tensor maps over the source buffer: boxes of 64 columns of bf16, 128 rows, with a swizzle of 128
/// and of 64 bytes (32 columns), and with none (8 columns).
inline constexpr SimTensorMap kMap128{0};
inline constexpr SimTensorMap kMap64{1};
/// Of 64 columns, 8 rows and 64 planes; a box is 8 columns of one row in two planes.
inline constexpr SimTensorMap kMapVolume{3};
inline constexpr SimTensorMap kMap16{2};
/// As the first, 4 rows: half of a swizzle pattern.
inline constexpr SimTensorMap kMapSlice{4};
std::vector<TensorMapState> tensor_maps();

/// Warp 0 initialises the barrier with `count`, all meet, and the rest runs.
Body after_init(std::uint32_t count, Body rest);
/// The warps' elected lanes run `f` on a barrier of count `count`.
Body lane(std::uint32_t count, Body f);
/// Each CTA initialises its barrier with `count`, the cluster meets, `f` runs, the cluster meets.
Body cluster_init(std::uint32_t count, Body f);
/// Warp 0 runs the first; if `meet`, all meet; warp 1 runs the second.
Body one_after_the_other(Body first, Body second, bool meet);
/// Warp 0 allocates 64 columns, all meet, `f(address)` runs, all meet, warp 0 frees.
Body with_tmem(std::function<void(M&, TmemAddress)> f);
/// Both: a barrier of count 1 and tensor memory; and an operand at the tile, copied there.
Body tmem_and_barrier(std::function<void(M&, TmemAddress)> f);

void wait(M& m, std::uint32_t phase);
/// A copy of `bytes` into the tile, counted on the barrier; with the announcement.
void copy(M& m, std::uint32_t bytes);
void fill(M& m);
void read_tile(M& m);
void write_tile(M& m);
void write_four_words(M& m);
/// A bulk store of the tile's first 16 bytes, committed; the wait for its source.
void store_tile(M& m);
void wait_stored(M& m);
/// 16 columns: tcgen05.ld and its wait, tcgen05.st and its wait; an MMA with M 128; a commit to the
/// barrier and its wait.
void load(M& m, TmemAddress at);
void store(M& m, TmemAddress at);
void mma(M& m, TmemAddress d, std::uint32_t n = 16, bool accumulate = false);
void complete(M& m, std::uint32_t phase = 0);

}  // namespace warptwin::sim::micro
