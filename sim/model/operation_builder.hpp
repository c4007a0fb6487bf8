/// Operations of the machine's calls, as far as several of these have them in common.

#pragma once

#include <cstdint>
#include <type_traits>

#include "common/machine/machine.hpp"

#include "sim/model/fragments.hpp"
#include "sim/model/operation.hpp"

namespace warptwin::sim {

/// A tensor map's number in the run's global memory.
struct SimTensorMap {
  std::uint32_t number = 0;
};

class OperationBuilder {
 protected:
  /// Who executes: the whole warp, or one lane.
  struct Lanes {
    std::uint8_t count;
    std::uint8_t one;
  };

  explicit OperationBuilder(std::uint8_t elected_lane) : elected_lane_{elected_lane} {}

  // A row of a tile in each lane, not a word.
  template <class Element, std::uint32_t kRegisters>
  Operation shared_row(Op kind,
                       const SharedTile<Element>& tile,
                       std::uint32_t row,
                       std::uint32_t column,
                       const SimFragment<kRegisters>& fragment,
                       SourceSite site) const {
    Operation op = row_of(kind, tile, row, site);
    op.column = column;
    op.fragment = fragment.data();
    return op;
  }
  template <class Element>
  Operation row_of(Op kind,
                   const SharedTile<Element>& tile,
                   std::uint32_t row,
                   SourceSite site) const {
    Operation op = make(kind, site);
    op.rank = 1;
    op.address = tile.base.value;
    op.row = row;
    op.row_bytes = tile.row_bytes();
    op.swizzle = tile.swizzle;
    op.element = Element::kType;
    return op;
  }
  // The same operand in the words of tcgen05, in which the model reads both.
  template <class Element>
  static UmmaSmemDescriptor umma_descriptor(WgmmaSmemDescriptor<Element> operand) {
    return UmmaSmemDescriptor::make(
        operand.start(), operand.leading_bytes(), operand.stride_bytes(), operand.swizzle());
  }
  Operation make(Op kind, SourceSite site) const {
    Operation op;
    op.op = kind;
    op.lanes = lanes_.count;
    op.lane = lanes_.one;
    op.site = site;
    return op;
  }
  // An operation that is issued once, whether the warp or one lane calls it.
  Operation elected(Op kind, SourceSite site) const {
    Operation op = make(kind, site);
    if (op.lanes == kWarpLanes) {
      op.lanes = 1;
      op.lane = elected_lane_;
    }
    return op;
  }
  Operation on_barrier(Op kind, Mbarrier bar, SourceSite site) const {
    Operation op = make(kind, site);
    op.address = bar.address.value;
    return op;
  }
  Operation arrive(Mbarrier bar, std::uint32_t count, Ordering ordering, SourceSite site) const {
    Operation op = on_barrier(Op::kMbarrierArrive, bar, site);
    op.count = count;
    op.ordering = ordering;
    return op;
  }
  Operation arrive(RemoteMbarrier bar,
                   std::uint32_t count,
                   Ordering ordering,
                   SourceSite site) const {
    Operation op = arrive(Mbarrier{{bar.address.value}}, count, ordering, site);
    op.flags = event_flag::kRemote;
    return op;
  }
  template <class Bar>
  Operation arrive_expect(Bar bar, std::uint32_t bytes, SourceSite site) const {
    constexpr bool kRemote = std::is_same_v<Bar, RemoteMbarrier>;
    Operation op = arrive(bar, 1, kRemote ? kReleaseCluster : kReleaseCta, site);
    op.flags |= event_flag::kExpectTx;
    op.bytes = bytes;
    return op;
  }
  Operation wait(Op kind, Mbarrier bar, WaitPhase phase, Ordering ordering, SourceSite site) const {
    Operation op = on_barrier(kind, bar, site);
    op.wanted = phase.value();
    op.flags = phase.is_exact() ? event_flag::kExactPhase : std::uint16_t{0};
    op.ordering = ordering;
    return op;
  }
  Operation named(Op kind, std::uint32_t id, std::uint32_t threads, SourceSite site) const {
    Operation op = make(kind, site);
    op.address = id;
    op.count = threads;
    return op;
  }
  template <std::uint32_t kRank>
  Operation tensor_copy(Op kind,
                        SharedAddress smem,
                        const SimTensorMap& map,
                        Coordinates<kRank> at,
                        SourceSite site) const {
    Operation op = elected(kind, site);
    op.address = smem.value;
    op.map = map.number;
    op.rank = kRank;
    for (std::uint32_t i = 0; i < kRank; ++i) {
      op.at[i] = at.at[i];
    }
    return op;
  }
  Operation bulk_copy(Op kind,
                      SharedAddress smem,
                      GlobalAddress global,
                      std::uint32_t bytes,
                      SourceSite site) const {
    Operation op = elected(kind, site);
    op.address = smem.value;
    op.global = global.value;
    op.bytes = bytes;
    return op;
  }
  Operation bulk_wait(std::uint32_t pending, SourceSite site) const {
    Operation op = elected(Op::kBulkWaitGroup, site);
    op.count = pending;
    op.wanted = lanes_.count == 1 ? 1 : 0;
    return op;
  }
  static void aim(Operation& op, const CopyTarget& target) {
    op.peer = target.barrier.address.value;
    op.mask = target.multicast;
    op.group = target.group;
  }
  // An MMA, but for its A.
  Operation mma(CtaGroup group,
                TmemAddress d,
                UmmaSmemDescriptor b,
                UmmaInstructionDescriptor instruction,
                bool accumulate,
                SourceSite site) const {
    Operation op = elected(Op::kTcgen05Mma, site);
    op.group = group;
    op.address = d.value;
    op.descriptor_b = b.bits;
    op.instruction = instruction.bits;
    op.kind = static_cast<std::uint8_t>(instruction.kind);
    op.flags = accumulate ? event_flag::kAccumulate : std::uint16_t{0};
    return op;
  }
  Operation tmem_region(Op kind,
                        CtaGroup group,
                        std::uint32_t address,
                        std::uint32_t columns,
                        SourceSite site) const {
    Operation op = make(kind, site);
    op.group = group;
    op.address = address;
    op.count = columns;
    return op;
  }
  Operation clc_query(SharedAddress response, std::uint32_t what, SourceSite site) const {
    Operation op = make(Op::kClcQuery, site);
    op.address = response.value;
    op.count = what;
    return op;
  }
  Operation global_word(Op kind,
                        GlobalAddress address,
                        std::uint32_t value,
                        SourceSite site) const {
    Operation op = make(kind, site);
    op.global = address.value;
    op.count = value;
    return op;
  }

  std::uint8_t elected_lane_;
  Lanes lanes_{kWarpLanes, 0};
};

}  // namespace warptwin::sim
