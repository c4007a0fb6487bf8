/// Barriers of an accumulator ring; its stages are columns of tensor memory.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/pipeline/barrier_pair.hpp"
#include "common/sync/cluster_shape.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/tensor_memory.hpp"

namespace warptwin {

template <Machine M, class Producer, class Consumer>
class OutputTilePipeline;

/// Barrier    Arrivals per phase                            Completion means
/// full[a]    1 commit, multicast to the pair               accumulator a is complete
/// empty[a]   the consumer's lanes, of each CTA of the      accumulator a may be overwritten, in
///            group; with pairs only the leader's is used   both CTAs
template <class Producer, class Consumer>
struct OutputPipelineStorage {
  template <Machine M>
  using Pipeline = OutputTilePipeline<M, Producer, Consumer>;  // one warp's view

  /// Asks `layout` for the barriers alone: consumers are counted in every CTA of the group.
  template <class Layout, std::uint32_t kRows>
  constexpr OutputPipelineStorage(Layout& layout,
                                  const char* owner,
                                  RoleTable<kRows> roles,
                                  const ClusterShape& cluster_shape,
                                  const OutputPipelineConfig& output_config)
      : cluster{cluster_shape},
        config{output_config},
        barriers{
            layout,
            owner,
            config.stages,
            full_contract<Producer, Consumer>(roles, 0),
            contract(Producer::kRole,
                     0,
                     contributor<Consumer>(arrivals_of<Consumer>(roles) * cluster.group_ctas()))} {
    layout.ring({owner, barriers.full, barriers.empty, config.stages, {}, 0});
  }

  /// Participants: one elected lane of one warp, before anyone uses the ring.
  template <Machine M>
  constexpr void init(M& machine, SourceSite site = SourceSite::current()) const {
    barriers.init(machine, site);
  }

  ClusterShape cluster;         // whose groups share an accumulator
  OutputPipelineConfig config;  // how many stages, and columns from one to the next
  BarrierPair barriers;         // full and empty, one of each for a stage
};

}  // namespace warptwin
