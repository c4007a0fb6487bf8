#include "tests/oracle/random_program.hpp"

#include <algorithm>
#include <array>

#include "sim/program/text.hpp"
#include "tests/oracle/program_edits.hpp"
#include "tests/oracle/program_writer.hpp"
#include "tests/oracle/random_plan.hpp"

namespace warptwin::sim {

namespace {

using plan::Places;
using plan::Plan;

constexpr std::uint32_t kDrawsOfOneSize = 100;

struct Template {
  Construct construct;
  void (*write)(Plan&);
  std::uint32_t warps, bars, words, tiles;
};

constexpr Template kTemplates[] = {
    {Construct::kRing, plan::ring, 2, 6, 3, 0},
    {Construct::kMmaRing, plan::mma_ring, 2, 5, 0, 2},
    {Construct::kMulticastRing, plan::multicast_ring, 2, 4, 6, 0},
    {Construct::kAccumulatorRing, plan::accumulator_ring, 2, 5, 0, 1},
    {Construct::kPairRing, plan::pair_ring, 2, 3, 0, 1},
    {Construct::kWgmmaRing, plan::wgmma_ring, 4, 4, 0, 2},
    {Construct::kTmemHandshake, plan::tmem_handshake, 2, 2, 0, 0},
    {Construct::kTmemWords, plan::tmem_words, 2, 0, 0, 0},
    {Construct::kBulkStores, plan::bulk_stores, 1, 0, 2, 0},
    {Construct::kFlagShared, plan::flag_shared, 2, 0, 1, 0},
    {Construct::kFlagGlobal, plan::flag_global, 2, 1, 2, 0},
    {Construct::kPingPong, plan::ping_pong, 2, 0, 1, 0},
    {Construct::kCounter, plan::counter, 2, 0, 4, 0},
    {Construct::kNamedBarriers, plan::named_barriers, 2, 0, 1, 0},
    {Construct::kRemoteArrivals, plan::remote_arrivals, 1, 1, 0, 0},
    {Construct::kTileClaims, plan::tile_claims, 2, 2, 1, 0},
    {Construct::kDependentLaunch, plan::dependent_launch, 2, 1, 1, 0},
    {Construct::kRegisters, plan::registers, 5, 0, 0, 0},
    {Construct::kReinit, plan::reinit, 2, 1, 0, 0},
    {Construct::kBarrierAsData, plan::barrier_as_data, 2, 1, 0, 0},
    {Construct::kBranch, plan::branch, 2, 2, 1, 0},
    {Construct::kTensorRing, plan::tensor_ring, 2, 5, 0, 2},
    {Construct::kMapChange, plan::map_change, 2, 2, 0, 1},
    {Construct::kScaledMma, plan::scaled_mma, 1, 2, 0, 2},
    {Construct::kRowStore, plan::row_store, 1, 0, 0, 1},
    {Construct::kDeclaredRing, plan::declared_ring, 2, 0, 0, 0},
    {Construct::kClusterClaims, plan::cluster_claims, 1, 2, 1, 0},
    {Construct::kTry, plan::try_first, 2, 1, 1, 0},
};

bool reads_source(Construct construct) {
  return construct == Construct::kRing || construct == Construct::kMmaRing ||
         construct == Construct::kMulticastRing || construct == Construct::kAccumulatorRing ||
         construct == Construct::kPairRing || construct == Construct::kWgmmaRing ||
         construct == Construct::kScaledMma || construct == Construct::kDeclaredRing;
}

// Tensor maps are numbered, and each construct takes its own to be the first.
bool has_maps(Construct construct) {
  return construct == Construct::kTensorRing || construct == Construct::kMapChange ||
         construct == Construct::kRowStore;
}

bool claims(Construct construct) {
  return construct == Construct::kTileClaims || construct == Construct::kClusterClaims;
}

bool possible(const Template& which, const Plan& plan, const std::vector<Construct>& others) {
  const auto has = [&](Construct construct) {
    return std::find(others.begin(), others.end(), construct) != others.end();
  };
  const Construct construct = which.construct;
  // Who allocates again must not have relinquished, nor ask for more; one construct is enough.
  const bool tmem = construct == Construct::kMmaRing || construct == Construct::kAccumulatorRing ||
                    construct == Construct::kPairRing || construct == Construct::kTmemHandshake ||
                    construct == Construct::kTmemWords || construct == Construct::kTensorRing ||
                    construct == Construct::kScaledMma || construct == Construct::kRowStore;
  if (!plan.fits(which.warps, which.bars, which.words) || (tmem && plan.tmem) ||
      plan.tiles + which.tiles > Places::kTiles || has(construct) ||
      (has_maps(construct) && std::any_of(others.begin(), others.end(), has_maps))) {
    return false;
  }
  if (construct == Construct::kMapChange) {
    return plan.ctas() == 1;
  }
  if (construct == Construct::kMulticastRing || construct == Construct::kRemoteArrivals) {
    return plan.cluster_size > 1;
  }
  if (construct == Construct::kPairRing) {
    return plan.cluster_size == 2;
  }
  if (claims(construct)) {
    return plan.clusters > 1 && std::none_of(others.begin(), others.end(), claims) &&
           (plan.cluster_size == 1) == (construct == Construct::kTileClaims);
  }
  // What reads the memory of the grid before has to wait for it.
  if ((construct == Construct::kDependentLaunch &&
       std::any_of(others.begin(), others.end(), reads_source)) ||
      (reads_source(construct) && has(Construct::kDependentLaunch))) {
    return false;
  }
  // A poll of another cluster needs all of them on the machine, and claims leave some out.
  if (construct == Construct::kFlagGlobal) {
    return std::none_of(others.begin(), others.end(), claims);
  }
  return !(construct == Construct::kRegisters && plan.warps != 5);
}

// The first warp of each CTA makes the barriers, and all of the cluster meet.
void write_prologue(Plan& plan) {
  if (plan.counts.empty() && plan.others.empty() && plan.cluster_size == 1) {
    return;
  }
  const bool relaxed = plan.cluster_size > 1 && plan.dice.chance(40);
  const std::uint32_t owner = plan.dice.below(plan.warps);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    for (std::uint32_t w = 0; w < plan.warps; ++w) {
      std::vector<Instruction> code;
      WarpWriter warp{code};
      if (w == owner) {
        for (std::uint32_t i = 0; i < plan.counts.size(); ++i) {
          warp.init(Places::bar(i), plan.counts[i]);
        }
        for (const auto& [address, count] : plan.others) {
          warp.init(address, count);
        }
        warp.fence_mbarrier_init();
        warp.sync_warp();
      }
      if (plan.cluster_size == 1) {
        warp.cta_sync();
      } else {
        warp.cluster_arrive(relaxed ? kRelaxedCluster : kReleaseCluster);
        warp.cluster_wait();
        if (relaxed) {
          // A relaxed arrival publishes the barriers alone: the rest of the CTA meets by itself.
          warp.cta_sync();
        }
      }
      std::vector<Instruction>& body = plan.program.warps[cta * plan.warps + w];
      const auto shift = static_cast<std::uint32_t>(code.size());
      for (Instruction& instruction : body) {
        instruction.target += shift;
      }
      body.insert(body.begin(), code.begin(), code.end());
    }
  }
}

void write_tail(Plan& plan) {
  if (!plan.has_tail) {
    return;
  }
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    for (std::uint32_t w = 0; w < plan.warps; ++w) {
      WarpWriter warp = warp_of(plan.program, cta, w);
      warp.cluster_arrive();
      warp.cluster_wait();
    }
  }
}

std::uint32_t operations_of(const Program& program) {
  std::size_t count = 0;
  for (const std::vector<Instruction>& warp : program.warps) {
    count += warp.size();
  }
  return static_cast<std::uint32_t>(count);
}

RandomProgram planned_program(Dice& dice, const std::string& name, Construct only) {
  constexpr std::pair<std::uint32_t, std::uint32_t> kGrids[] = {
      {1, 1}, {1, 1}, {1, 1}, {1, 1}, {2, 1}, {2, 1}, {3, 1}, {1, 2}, {1, 3}, {2, 2}};
  RandomProgram drawn;
  auto [cluster_size, clusters] = kGrids[dice.below(std::size(kGrids))];
  std::uint32_t warps = dice.between(2, dice.chance(70) ? 3 : 5);
  if (only == Construct::kMulticastRing || only == Construct::kRemoteArrivals) {
    cluster_size = dice.between(2, 3);
    clusters = 1;
  } else if (only == Construct::kPairRing) {
    cluster_size = 2;
    clusters = 1;
    warps = 2;
  } else if (only == Construct::kTileClaims) {
    cluster_size = 1;
    clusters = 2;
    warps = 2;
  } else if (only == Construct::kClusterClaims) {
    cluster_size = clusters = 2;
    warps = 2;
  } else if (only == Construct::kMapChange) {
    cluster_size = clusters = 1;
  } else if (only == Construct::kRegisters) {
    warps = 5;
  } else if (only == Construct::kWgmmaRing) {
    cluster_size = clusters = 1;
    warps = dice.between(4, 5);
  }
  drawn.program = empty_program(name, warps, cluster_size, clusters);
  const bool exact = dice.chance(70);
  Plan plan{dice, drawn.program, warps, cluster_size, clusters, exact, dice.chance(25)};
  const std::uint32_t wanted = only != Construct::kCount ? 1 : dice.chance(65) ? 1 : 2;
  for (std::uint32_t tries = 0; drawn.constructs.size() < wanted && tries < 64; ++tries) {
    const Template& which = kTemplates[dice.below(std::size(kTemplates))];
    if ((only != Construct::kCount && which.construct != only) ||
        !possible(which, plan, drawn.constructs)) {
      continue;
    }
    if (claims(which.construct)) {
      drawn.program.workload.resident_clusters = dice.between(1, clusters - 1);
    }
    plan.shuffle();
    which.write(plan);
    drawn.constructs.push_back(which.construct);
  }
  write_prologue(plan);
  write_tail(plan);
  return drawn;
}

}  // namespace

const char* name_of(Construct construct) {
  constexpr const char* kNames[] = {"ring",
                                    "mma_ring",
                                    "multicast_ring",
                                    "accumulator_ring",
                                    "pair_ring",
                                    "wgmma_ring",
                                    "tmem_handshake",
                                    "tmem_words",
                                    "bulk_stores",
                                    "flag_shared",
                                    "flag_global",
                                    "ping_pong",
                                    "counter",
                                    "named_barriers",
                                    "remote_arrivals",
                                    "tile_claims",
                                    "dependent_launch",
                                    "registers",
                                    "reinit",
                                    "barrier_as_data",
                                    "branch",
                                    "tensor_ring",
                                    "map_change",
                                    "scaled_mma",
                                    "row_store",
                                    "declared_ring",
                                    "cluster_claims",
                                    "try",
                                    "nothing",
                                    "lanes_apart",
                                    "inits_apart"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Construct::kCount));
  return kNames[static_cast<unsigned>(construct)];
}

RandomProgram random_program(std::uint64_t seed, const RandomProgramOptions& options) {
  Dice dice{seed * 0x9E3779B97F4A7C15ULL + 1};
  const std::string name = "random_" + std::to_string(seed);
  for (std::uint32_t draws = 1;; ++draws) {
    RandomProgram drawn;
    const bool unplanned = options.only == Construct::kNothing ||
                           options.only == Construct::kLanesApart ||
                           options.only == Construct::kInitsApart ||
                           (options.only == Construct::kCount && dice.chance(options.unplanned));
    if (unplanned) {
      const bool lanes = options.only == Construct::kCount && options.lanes && dice.chance(50);
      const Construct which = options.only != Construct::kCount ? options.only
                              : !lanes                          ? Construct::kNothing
                              : dice.chance(30)                 ? Construct::kInitsApart
                                                                : Construct::kLanesApart;
      drawn.constructs = {which};
      drawn.program = which == Construct::kNothing      ? unplanned_program(dice, name)
                      : which == Construct::kLanesApart ? lanes_apart_program(dice, name)
                                                        : inits_apart_program(dice, name);
    } else {
      // Some constructs need a grid of their own.
      const bool alone = options.only == Construct::kCount && dice.chance(40);
      drawn = planned_program(
          dice,
          name,
          alone
              ? static_cast<Construct>(dice.below(static_cast<std::uint32_t>(Construct::kNothing)))
              : options.only);
      const std::uint32_t edits = dice.between(0, options.edits_max);
      for (std::uint32_t i = 0; i < edits; ++i) {
        drawn.edits.push_back(edit(drawn.program, dice, options.lanes));
      }
    }
    // What cannot be had with so few operations gets more.
    const Workload& work = drawn.program.workload;
    const bool alone = work.clusters * work.cluster_size == 1;
    const std::uint32_t operations_max =
        options.operations_max * (alone ? 1 : 2) + draws / kDrawsOfOneSize * 10;
    if (!drawn.constructs.empty() && !spins(drawn.program) &&
        operations_of(drawn.program) <= operations_max) {
      try {
        drawn.program = parse_program(text_of(drawn.program), name);
        return drawn;
      } catch (const ConfigError&) {
        // an edit that the language of programs does not have
      }
    }
  }
}

}  // namespace warptwin::sim
