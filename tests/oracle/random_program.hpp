/// Draws programs: real protocols that are right by construction, with some of their operations
/// then changed; and operations without a plan. The same seed gives the same program.

#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/program/program.hpp"

namespace warptwin::sim {

/// Random numbers, the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_{seed} {}
  /// Below `count`, which is not 0.
  std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>((random_() >> 32) * count >> 32);
  }
  std::uint32_t between(std::uint32_t first, std::uint32_t last) {
    return first + below(last - first + 1);
  }
  bool chance(std::uint32_t percent) { return below(100) < percent; }

 private:
  std::mt19937_64 random_;
};

/// What a drawn program is made of.
enum class Construct : std::uint8_t {
  kRing,             // TMA ring, one or two consumer classes
  kMmaRing,          // stages released by tcgen05.commit
  kMulticastRing,    // two CTAs fill each other's stages
  kAccumulatorRing,  // MMA, tcgen05.ld, and back
  kPairRing,         // cta_group::2: one MMA of two CTAs
  kWgmmaRing,        // a warpgroup's wgmma, stages released after wait_group
  kTmemHandshake,    // another warp than the allocator's uses columns, told by an mbarrier
  kTmemWords,        // tcgen05.st and .ld of one warp's lanes
  kBulkStores,       // groups, and reuse of their source
  kFlagShared,       // a flag publishes shared memory in its CTA
  kFlagGlobal,       // a flag publishes a bulk store to another CTA
  kPingPong,         // a flag whose values come back
  kCounter,          // several add, one polls
  kNamedBarriers,
  kRemoteArrivals,  // on mbarriers of the next CTA of the cluster
  kTileClaims,      // cluster launch control
  kDependentLaunch,
  kRegisters,      // setmaxnreg
  kReinit,         // an mbarrier gets another count
  kBarrierAsData,  // its bytes become data
  kBranch,         // a word that a copy brought decides
  kTensorRing,     // tiles through a tensor map, an MMA that reads them as they lie
  kMapChange,      // a tensor map changes between copies
  kScaledMma,      // scale factors go to tensor memory
  kRowStore,       // registers go to a tile, and on to global memory
  kDeclaredRing,   // with contracts and notes of the protocol layer
  kClusterClaims,  // cluster launch control for all CTAs of a cluster
  kTry,            // a try whose answer chooses between a wait and none
  kNothing,        // no plan at all
  kLanesApart,     // nor here: lanes of a warp or two, at one word
  kInitsApart,     // nor here: lanes that initialise mbarriers of two CTAs
  kCount,
};

const char* name_of(Construct construct);

struct RandomProgramOptions {
  std::uint32_t edits_max = 3;        // drawn from 0 to so many
  bool lanes = false;                 // edits are mostly of who in a warp acts; and the two last
  std::uint32_t operations_max = 60;  // of all warps together; twice as many of several CTAs
  std::uint32_t unplanned = 5;        // percent of programs without a plan
  /// Not kCount: this construct alone.
  Construct only = Construct::kCount;
};

struct RandomProgram {
  Program program;
  std::vector<Construct> constructs;
  std::vector<std::string> edits;  // in words; none: right by construction, if there is a plan
};

/// The program of `seed`, its lines those of its text. One that would have more operations than the
/// options allow is drawn again; where a hundred draws give none, the bound rises by ten.
RandomProgram random_program(std::uint64_t seed, const RandomProgramOptions& options = {});

}  // namespace warptwin::sim
