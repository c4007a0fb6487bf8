/// Operations of the machine's calls, as far as several of these have them in common.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "common/machine/machine.hpp"

#include "sim/model/fragments.hpp"
#include "sim/model/operation.hpp"

namespace warptwin::sim {

/// A tensor map's number in the run's global memory.
struct SimTensorMap {
  std::uint32_t number = 0;
};

/// Maps in global memory, one behind the other. Numbers say where: maps of one tensor of scratch
/// follow each other in the workload.
class SimTensorMaps {
 public:
  constexpr SimTensorMaps() = default;
  /// All of `maps`, which begin at the address.
  SimTensorMaps(std::span<const SimTensorMap> maps, GlobalAddress) : first_{maps[0].number} {}
  constexpr SimTensorMap operator[](std::uint32_t index) const { return {first_ + index}; }

 private:
  std::uint32_t first_ = 0;
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
    op.as<operands::SharedRows>().column = column;
    op.fragment = fragment.data();
    return op;
  }
  template <class Element>
  Operation row_of(Op kind,
                   const SharedTile<Element>& tile,
                   std::uint32_t row,
                   SourceSite site) const {
    Operation op = make(kind, site);
    auto& rows = op.set<operands::SharedRows>();
    rows.tile = tile.base.value;
    rows.row = row;
    rows.row_bytes = tile.row_bytes();
    rows.swizzle = tile.swizzle;
    rows.element = Element::kType;
    return op;
  }
  // The same operand in the words of tcgen05, in which the model reads both.
  template <class Element, Major kMajor>
  static UmmaSmemDescriptor umma_descriptor(WgmmaSmemDescriptor<Element, kMajor> operand) {
    return UmmaSmemDescriptor::make(
        operand.start(), operand.leading_bytes(), operand.stride_bytes(), operand.swizzle());
  }
  Operation make(Op kind, SourceSite site) const {
    Operation op{kind};
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
    op.as<operands::Mbarrier>().address = bar.address.value;
    return op;
  }
  Operation arrive(Mbarrier bar, std::uint32_t count, Ordering ordering, SourceSite site) const {
    Operation op = on_barrier(Op::kMbarrierArrive, bar, site);
    op.as<operands::Mbarrier>().count = count;
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
    op.as<operands::Mbarrier>().bytes = bytes;
    return op;
  }
  Operation wait(Op kind, Mbarrier bar, WaitPhase phase, Ordering ordering, SourceSite site) const {
    Operation op = on_barrier(kind, bar, site);
    op.as<operands::Mbarrier>().phase = phase.value();
    op.flags = phase.is_exact() ? event_flag::kExactPhase : std::uint32_t{0};
    op.ordering = ordering;
    return op;
  }
  Operation named(Op kind, std::uint32_t id, std::uint32_t threads, SourceSite site) const {
    Operation op = make(kind, site);
    op.as<operands::NamedBarrier>() = {id, threads};
    return op;
  }
  template <std::uint32_t kRank>
  Operation tensor_copy(Op kind,
                        SharedAddress smem,
                        const SimTensorMap& map,
                        Coordinates<kRank> at,
                        SourceSite site) const {
    Operation op = elected(kind, site);
    auto& copy = op.as<operands::Copy>();
    copy.shared = smem.value;
    copy.map = map.number;
    copy.rank = kRank;
    for (std::uint32_t i = 0; i < kRank; ++i) {
      copy.at[i] = at.at[i];
    }
    return op;
  }
  Operation tensor_copy(Op kind,
                        SharedAddress smem,
                        const SimTensorMap& map,
                        const RowsOf4& at,
                        SourceSite site) const {
    const Coordinates<5> all{{at.column, at.row[0], at.row[1], at.row[2], at.row[3]}};
    Operation op = tensor_copy(kind, smem, map, all, site);
    op.as<operands::Copy>().mode = TensorMode::kRows4;
    return op;
  }
  template <std::uint32_t kRank>
  Operation tensor_copy(Op kind,
                        SharedAddress smem,
                        const SimTensorMap& map,
                        const PixelCoordinates<kRank>& at,
                        SourceSite site) const {
    Coordinates<kRank> place{};
    std::copy(std::begin(at.at), std::end(at.at), std::begin(place.at));
    Operation op = tensor_copy(kind, smem, map, place, site);
    auto& copy = op.as<operands::Copy>();
    copy.mode = TensorMode::kIm2col;
    std::copy(std::begin(at.offset), std::end(at.offset), std::begin(copy.offset));
    return op;
  }
  Operation bulk_copy(Op kind,
                      SharedAddress smem,
                      GlobalAddress global,
                      std::uint32_t bytes,
                      SourceSite site) const {
    Operation op = elected(kind, site);
    auto& copy = op.as<operands::Copy>();
    copy.shared = smem.value;
    copy.global = global.value;
    copy.bytes = bytes;
    return op;
  }
  Operation bulk_wait(std::uint32_t pending, SourceSite site) const {
    Operation op = elected(Op::kBulkWaitGroup, site);
    op.as<operands::BulkWait>() = {pending, lanes_.count == 1};
    return op;
  }
  static void aim(Operation& op, const CopyTarget& target) {
    auto& copy = op.as<operands::Copy>();
    copy.barrier = target.barrier.address.value;
    copy.mask = target.multicast;
    copy.group = target.group;
  }
  // An MMA, but for its A.
  Operation mma(CtaGroup group,
                TmemAddress d,
                UmmaSmemDescriptor b,
                UmmaInstructionDescriptor instruction,
                bool accumulate,
                SourceSite site) const {
    Operation op = elected(Op::kTcgen05Mma, site);
    auto& mma = op.as<operands::Mma>();
    mma.group = group;
    mma.d = d;
    mma.b = b;
    mma.instruction = instruction;
    op.flags = accumulate ? event_flag::kAccumulate : std::uint32_t{0};
    return op;
  }
  Operation tmem_region(
      Op kind, CtaGroup group, TmemAddress address, std::uint32_t columns, SourceSite site) const {
    Operation op = make(kind, site);
    op.as<operands::TmemRegion>() = {address, columns, group};
    return op;
  }
  Operation tmem_access(Op kind,
                        TmemAddress address,
                        std::uint32_t columns,
                        SourceSite site) const {
    Operation op = make(kind, site);
    auto& access = op.as<operands::TmemAccess>();
    access.address = address;
    access.columns = columns;
    return op;
  }
  Operation clc_query(SharedAddress response, std::uint32_t what, SourceSite site) const {
    Operation op = make(Op::kClcQuery, site);
    op.as<operands::ClcQuery>() = {response.value, what};
    return op;
  }
  Operation global_word(Op kind,
                        GlobalAddress address,
                        std::uint32_t value,
                        SourceSite site) const {
    Operation op = make(kind, site);
    auto& word = op.as<operands::GlobalWord>();
    word.address = address.value;
    word.value = value;
    return op;
  }

  std::uint8_t elected_lane_;
  Lanes lanes_{kWarpLanes, 0};
};

}  // namespace warptwin::sim
