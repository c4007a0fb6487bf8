/// The simulator's `Machine`: one warp's view of the model, behind whichever engine runs it. One
/// concrete type for every engine, so that a scenario is compiled for the simulator once.

#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "common/machine/machine.hpp"

#include "sim/model/fragments.hpp"
#include "sim/model/lane_copies.hpp"
#include "sim/model/operation_builder.hpp"

namespace warptwin::sim {

class LaneJudge;
class LastAdders;

/// Executes one operation of the calling warp; returns when it has been executed. Throws to unwind
/// the warp when the run ends early.
class EnginePort {
 public:
  virtual ~EnginePort() = default;
  virtual void perform(Operation& operation) = 0;
};

/// Who a warp is.
struct WarpIdentity {
  std::uint32_t warp_index = 0;
  std::uint32_t cta_rank = 0;
  std::uint32_t cluster_size = 1;
  std::uint32_t cluster_index = 0;
  std::uint32_t cluster_count = 1;
  std::uint8_t elected_lane = 0;
  bool unknown_any = true;   // what `any` says of registers without contents
  std::uint32_t number = 0;  // in the grid
  const LaneJudge* lane_judge = nullptr;
  LastAdders* last_adders = nullptr;
  bool free_tmem_bases = false;
  bool active_alone = false;  // of lanes that have parted activemask tells each of itself
};

class SimMachine : private OperationBuilder {
 public:
  using TensorMap = SimTensorMap;
  using TensorMaps = SimTensorMaps;
  template <class Columns>
  using Accumulator = SimAccumulator<Columns>;
  template <std::uint32_t kRegisters>
  using Fragment = SimFragment<kRegisters>;

  SimMachine(EnginePort& port,
             const WarpIdentity& identity,
             WarpRegisters& registers,
             bool moves_data)
      : OperationBuilder{identity.elected_lane},
        port_{&port},
        identity_{identity},
        registers_{&registers},
        moves_data_{moves_data} {
    registers.unknown_any = identity.unknown_any;
  }

  std::uint32_t warp_index() const { return identity_.warp_index; }
  std::uint32_t cta_rank() const { return identity_.cta_rank; }
  std::uint32_t cluster_size() const { return identity_.cluster_size; }
  std::uint32_t cluster_index() const { return identity_.cluster_index; }
  std::uint32_t cluster_count() const { return identity_.cluster_count; }
  std::uint8_t elected_lane() const { return identity_.elected_lane; }
  bool moves_data() const { return moves_data_; }
  /// Nothing may depend on where an allocation of tensor memory is.
  bool free_tmem_bases() const { return identity_.free_tmem_bases; }
  bool active_alone() const { return identity_.active_alone; }
  std::uint32_t number() const { return identity_.number; }
  const LaneJudge* lane_judge() const { return identity_.lane_judge; }
  LastAdders* last_adders() const { return identity_.last_adders; }
  WarpRegisters& registers() { return *registers_; }

  template <class F>
  void elect_one(F&& f) {
    const Lanes before = std::exchange(lanes_, Lanes{1, elected_lane_});
    f();
    lanes_ = before;
  }
  template <class F>
  void for_lanes(std::uint32_t count, F&& f) {
    const Lanes before = lanes_;
    registers_->lanes_by_number = true;
    for (std::uint32_t lane = 0; lane < count; ++lane) {
      lanes_ = {1, static_cast<std::uint8_t>(lane)};
      f(lane);
    }
    lanes_ = before;
  }
  void sync_warp(SourceSite site = SourceSite::current()) { run(make(Op::kSyncWarp, site)); }
  /// Executes an operation that is there already, as it is.
  void perform(Operation& operation) { run(operation); }

  // mbarriers
  void mbarrier_init(Mbarrier bar, std::uint32_t count, SourceSite site = SourceSite::current()) {
    Operation op = on_barrier(Op::kMbarrierInit, bar, site);
    op.as<operands::Mbarrier>().count = count;
    run(op);
  }
  void mbarrier_inval(Mbarrier bar, SourceSite site = SourceSite::current()) {
    run(on_barrier(Op::kMbarrierInval, bar, site));
  }
  void mbarrier_arrive(Mbarrier bar,
                       std::uint32_t count = 1,
                       Ordering ordering = kReleaseCta,
                       SourceSite site = SourceSite::current()) {
    run(arrive(bar, count, ordering, site));
  }
  void mbarrier_arrive(RemoteMbarrier bar,
                       std::uint32_t count = 1,
                       Ordering ordering = kReleaseCluster,
                       SourceSite site = SourceSite::current()) {
    run(arrive(bar, count, ordering, site));
  }
  void mbarrier_arrive_drop(Mbarrier bar, SourceSite site = SourceSite::current()) {
    Operation op = arrive(bar, 1, kReleaseCta, site);
    op.flags |= event_flag::kDrop;
    run(op);
  }
  void mbarrier_arrive_no_complete(Mbarrier bar,
                                   std::uint32_t count,
                                   SourceSite site = SourceSite::current()) {
    Operation op = arrive(bar, count, kReleaseCta, site);
    op.flags |= event_flag::kNoComplete;
    run(op);
  }
  void mbarrier_arrive_expect_tx(Mbarrier bar,
                                 std::uint32_t bytes,
                                 SourceSite site = SourceSite::current()) {
    run(arrive_expect(bar, bytes, site));
  }
  void mbarrier_arrive_expect_tx(RemoteMbarrier bar,
                                 std::uint32_t bytes,
                                 SourceSite site = SourceSite::current()) {
    run(arrive_expect(bar, bytes, site));
  }
  void mbarrier_expect_tx(Mbarrier bar,
                          std::uint32_t bytes,
                          SourceSite site = SourceSite::current()) {
    Operation op = on_barrier(Op::kMbarrierExpectTx, bar, site);
    op.as<operands::Mbarrier>().bytes = bytes;
    run(op);
  }
  void mbarrier_complete_tx(Mbarrier bar,
                            std::uint32_t bytes,
                            SourceSite site = SourceSite::current()) {
    Operation op = on_barrier(Op::kMbarrierCompleteTx, bar, site);
    op.as<operands::Mbarrier>().bytes = bytes;
    run(op);
  }
  void mbarrier_wait_parity(Mbarrier bar,
                            WaitPhase phase,
                            Ordering ordering = kAcquireCta,
                            SourceSite site = SourceSite::current()) {
    run(wait(Op::kMbarrierWait, bar, phase, ordering, site));
  }
  bool mbarrier_try_wait_parity(Mbarrier bar,
                                WaitPhase phase,
                                Ordering ordering = kAcquireCta,
                                SourceSite site = SourceSite::current()) {
    return run(wait(Op::kMbarrierTryWait, bar, phase, ordering, site)).result != 0;
  }
  RemoteMbarrier mapa(Mbarrier bar, std::uint32_t rank) const {
    return {{(rank << 24) | bar.address.value}};
  }

  // Fences
  void fence(Ordering ordering, SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kFence, site);
    op.ordering = ordering;
    run(op);
  }
  void fence_mbarrier_init(SourceSite site = SourceSite::current()) {
    run(make(Op::kFenceMbarrierInit, site));
  }
  void fence_proxy_async(ProxySpace space, SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kFenceProxyAsync, site);
    op.as<operands::ProxyFence>().space = space;
    run(op);
  }
  // Tensor maps that change on the device
  void tensormap_replace_global_address(const TensorMap& map,
                                        GlobalAddress address,
                                        SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kTensormapReplace, site);
    auto& change = op.as<operands::MapChange>();
    change.map = map.number;
    change.address = address.value;
    run(op);
  }
  void tensormap_replace_global_dim(const TensorMap& map,
                                    std::uint32_t dimension,
                                    std::uint32_t extent,
                                    SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kTensormapReplace, site);
    auto& change = op.as<operands::MapChange>();
    change.map = map.number;
    change.dimension = dimension;
    change.extent = extent;
    run(op);
  }
  // fence.proxy.tensormap::generic.release.gpu: of every map that this thread has changed.
  void fence_proxy_tensormap_release(SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kFenceProxyTensormap, site);
    op.ordering = {Semantics::kRelease, Scope::kGpu};
    run(op);
  }
  // fence.proxy.tensormap::generic.acquire.gpu: of the 128 bytes of `map`.
  void fence_proxy_tensormap_acquire(const TensorMap& map,
                                     SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kFenceProxyTensormap, site);
    op.ordering = {Semantics::kAcquire, Scope::kGpu};
    op.as<operands::MapFence>().map = map.number;
    run(op);
  }
  void tcgen05_fence_before_thread_sync(SourceSite site = SourceSite::current()) {
    run(make(Op::kTcgen05FenceBefore, site));
  }
  void tcgen05_fence_after_thread_sync(SourceSite site = SourceSite::current()) {
    run(make(Op::kTcgen05FenceAfter, site));
  }

  // Named and cluster barriers
  void bar_sync(std::uint32_t id, std::uint32_t threads, SourceSite site = SourceSite::current()) {
    run(named(Op::kBarSync, id, threads, site));
  }
  void bar_arrive(std::uint32_t id,
                  std::uint32_t threads,
                  SourceSite site = SourceSite::current()) {
    run(named(Op::kBarArrive, id, threads, site));
  }
  void cta_sync(SourceSite site = SourceSite::current()) { run(named(Op::kBarSync, 0, 0, site)); }
  void barrier_cluster_arrive(Ordering ordering = kReleaseCluster,
                              SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kClusterArrive, site);
    op.ordering = ordering;
    run(op);
  }
  void barrier_cluster_wait(SourceSite site = SourceSite::current()) {
    run(make(Op::kClusterWait, site));
  }

  // Copies
  template <class At>  // Coordinates, RowsOf4 or PixelCoordinates
  void cp_async_bulk_tensor_load(SharedAddress smem,
                                 const TensorMap& map,
                                 const At& at,
                                 CopyTarget target,
                                 SourceSite site = SourceSite::current()) {
    Operation op = tensor_copy(Op::kTensorLoad, smem, map, at, site);
    aim(op, target);
    run(op);
  }
  template <std::uint32_t kRank>
  void cp_async_bulk_tensor_store(const TensorMap& map,
                                  Coordinates<kRank> at,
                                  SharedAddress smem,
                                  SourceSite site = SourceSite::current()) {
    run(tensor_copy(Op::kTensorStore, smem, map, at, site));
  }
  /// Hints change no value, and take no time here.
  void prefetch_tensormap(const TensorMap&, SourceSite = SourceSite::current()) {}
  void cp_async_bulk_prefetch_tensor(const TensorMap&,
                                     Coordinates<2>,
                                     SourceSite = SourceSite::current()) {}
  void cp_async_bulk_load(SharedAddress smem,
                          GlobalAddress global,
                          std::uint32_t bytes,
                          CopyTarget target,
                          SourceSite site = SourceSite::current()) {
    Operation op = bulk_copy(Op::kBulkLoad, smem, global, bytes, site);
    aim(op, target);
    run(op);
  }
  void cp_async_bulk_store(GlobalAddress global,
                           SharedAddress smem,
                           std::uint32_t bytes,
                           SourceSite site = SourceSite::current()) {
    run(bulk_copy(Op::kBulkStore, smem, global, bytes, site));
  }
  void cp_async_bulk_commit_group(SourceSite site = SourceSite::current()) {
    run(elected(Op::kBulkCommitGroup, site));
  }
  template <std::uint32_t kPending>
  void cp_async_bulk_wait_group(SourceSite site = SourceSite::current()) {
    run(bulk_wait(kPending, site));
  }
  template <std::uint32_t kPending>
  void cp_async_bulk_wait_group_read(SourceSite site = SourceSite::current()) {
    Operation op = bulk_wait(kPending, site);
    op.flags = event_flag::kRead;
    run(op);
  }

  // Copies by lanes
  template <std::uint32_t kBytes, class F>
  void cp_async(Extent<kBytes> bytes, F&& f, SourceSite site = SourceSite::current()) {
    LaneCopies copies{copying_lanes(), bytes};
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      if ((copies.mask >> lane & 1U) != 0) {
        const CopyOfLane copy = f(lane);
        copies.from[lane] = copy.from.value;
        copies.to[lane] = copy.to.value;
        copies.bytes[lane] = copy.bytes;
      }
    }
    RegisterMath& math = registers().math;
    math.issued += kPlacingInstructions;
    math.integer += kPlacingIntegers;
    CopyIssuer issuer{*this, site};
    copies_of_warp().issue(issuer, copies);
  }
  void cp_async_commit_group(SourceSite = SourceSite::current()) {
    copies_of_warp().commit(copying_lanes());
  }
  template <std::uint32_t kPending>
  void cp_async_wait_group(SourceSite site = SourceSite::current()) {
    CopyIssuer issuer{*this, site};
    copies_of_warp().wait(issuer, copying_lanes(), kPending);
  }
  void cp_async_mbarrier_arrive_noinc(Mbarrier bar, SourceSite site = SourceSite::current()) {
    CopyIssuer issuer{*this, site};
    copies_of_warp().arrive(issuer, copying_lanes(), bar.address.value, true);
  }
  void cp_async_mbarrier_arrive(Mbarrier bar, SourceSite site = SourceSite::current()) {
    CopyIssuer issuer{*this, site};
    copies_of_warp().arrive(issuer, copying_lanes(), bar.address.value, false);
  }
  /// Behind a warp's last operation: reports a copy of lanes that nobody has waited for.
  void end() {
    if (copies_ != nullptr) {
      if (std::optional<Operation> left = copies_->end()) {
        run(*left);
      }
    }
  }

  // Tensor memory
  void tcgen05_alloc(CtaGroup group,
                     SharedAddress word,
                     std::uint32_t columns,
                     SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kTcgen05Alloc, site);
    op.as<operands::TmemAllocation>() = {word.value, columns, group};
    run(op);
  }
  void tcgen05_dealloc(CtaGroup group,
                       TmemAddress address,
                       std::uint32_t columns,
                       SourceSite site = SourceSite::current()) {
    run(tmem_region(Op::kTcgen05Dealloc, group, address, columns, site));
  }
  void tcgen05_relinquish_alloc_permit(CtaGroup group, SourceSite site = SourceSite::current()) {
    run(tmem_region(Op::kTcgen05Relinquish, group, TmemAddress{}, 0, site));
  }
  void tcgen05_mma(CtaGroup group,
                   TmemAddress d,
                   UmmaSmemDescriptor a,
                   UmmaSmemDescriptor b,
                   UmmaInstructionDescriptor instruction,
                   bool accumulate,
                   SourceSite site = SourceSite::current()) {
    Operation op = mma(group, d, b, instruction, accumulate, site);
    op.as<operands::Mma>().a = a;
    run(op);
  }
  void tcgen05_mma(CtaGroup group,
                   TmemAddress d,
                   TmemAddress a,
                   UmmaSmemDescriptor b,
                   UmmaInstructionDescriptor instruction,
                   bool accumulate,
                   SourceSite site = SourceSite::current()) {
    Operation op = mma(group, d, b, instruction, accumulate, site);
    op.as<operands::Mma>().tmem_a = a;
    op.flags |= event_flag::kTmemA;
    run(op);
  }
  void tcgen05_mma_block_scale(CtaGroup group,
                               TmemAddress d,
                               UmmaSmemDescriptor a,
                               UmmaSmemDescriptor b,
                               UmmaInstructionDescriptor instruction,
                               TmemAddress scale_a,
                               TmemAddress scale_b,
                               bool accumulate,
                               SourceSite site = SourceSite::current()) {
    Operation op = mma(group, d, b, instruction, accumulate, site);
    auto& of = op.as<operands::Mma>();
    of.a = a;
    of.scale_a = scale_a;
    of.scale_b = scale_b;
    op.flags |= event_flag::kBlockScale;
    run(op);
  }
  void tcgen05_mma_sp(CtaGroup group,
                      TmemAddress d,
                      UmmaSmemDescriptor a,
                      UmmaSmemDescriptor b,
                      UmmaInstructionDescriptor instruction,
                      TmemAddress metadata,
                      bool accumulate,
                      SourceSite site = SourceSite::current()) {
    Operation op = mma(group, d, b, instruction, accumulate, site);
    auto& of = op.as<operands::Mma>();
    of.a = a;
    of.metadata = metadata;
    op.flags |= event_flag::kSparse;
    run(op);
  }
  void tcgen05_mma_sp_block_scale(CtaGroup group,
                                  TmemAddress d,
                                  UmmaSmemDescriptor a,
                                  UmmaSmemDescriptor b,
                                  UmmaInstructionDescriptor instruction,
                                  TmemAddress metadata,
                                  TmemAddress scale_a,
                                  TmemAddress scale_b,
                                  bool accumulate,
                                  SourceSite site = SourceSite::current()) {
    Operation op = mma(group, d, b, instruction, accumulate, site);
    auto& of = op.as<operands::Mma>();
    of.a = a;
    of.metadata = metadata;
    of.scale_a = scale_a;
    of.scale_b = scale_b;
    op.flags |= event_flag::kSparse | event_flag::kBlockScale;
    run(op);
  }
  void tcgen05_cp(CtaGroup group,
                  TmemAddress to,
                  UmmaSmemDescriptor from,
                  TmemCopy shape,
                  SourceSite site = SourceSite::current()) {
    Operation op = elected(Op::kTcgen05Cp, site);
    op.as<operands::TmemCopy>() = {to, from, shape, columns_of(shape), group};
    run(op);
  }
  void tcgen05_commit(CtaGroup group, Mbarrier bar, SourceSite site = SourceSite::current()) {
    tcgen05_commit_multicast(group, bar, CtaMask{}, site);
  }
  void tcgen05_commit_multicast(CtaGroup group,
                                Mbarrier bar,
                                CtaMask mask,
                                SourceSite site = SourceSite::current()) {
    Operation op = elected(Op::kTcgen05Commit, site);
    op.as<operands::Commit>() = {bar.address.value, mask, group};
    run(op);
  }
  template <std::uint32_t kRegisters>
  void tcgen05_ld_32x32b(SimFragment<kRegisters>& fragment,
                         TmemAddress address,
                         SourceSite site = SourceSite::current()) {
    load_tmem(fragment, tmem_access(Op::kTcgen05Ld, address, kRegisters, site));
  }
  template <std::uint32_t kRegisters>
  void tcgen05_ld_16x32bx2(SimFragment<kRegisters>& fragment,
                           TmemAddress address,
                           SourceSite site = SourceSite::current()) {
    Operation op = tmem_access(Op::kTcgen05Ld, address, 2 * kRegisters, site);
    op.as<operands::TmemAccess>().half_rows = true;
    load_tmem(fragment, op);
  }
  template <class Columns>
  void tcgen05_ld_16x256b(SimAccumulator<Columns>& d,
                          TmemAddress address,
                          SourceSite site = SourceSite::current()) {
    const std::uint32_t registers = d.data()->registers;
    if (moves_data_) {
      d.data()->bits.assign(std::size_t{registers} * kWarpLanes, kGarbage);
    }
    d.data()->settled = false;
    Operation op = tmem_access(Op::kTcgen05Ld, address, 2 * registers, site);
    op.as<operands::TmemAccess>().shape = TmemShape::k16x256b;
    op.fragment = d.data();
    run(op);
  }
  template <std::uint32_t kRegisters>
  void tcgen05_st_32x32b(TmemAddress address,
                         const SimFragment<kRegisters>& fragment,
                         SourceSite site = SourceSite::current()) {
    Operation op = tmem_access(Op::kTcgen05St, address, kRegisters, site);
    op.fragment = fragment.data();
    run(op);
  }
  /// Settles the fragment, and all earlier loads of the warp.
  template <std::uint32_t kRegisters>
  void tcgen05_wait_ld(SimFragment<kRegisters>& fragment, SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kTcgen05WaitLd, site);
    op.fragment = fragment.data();
    run(op);
  }
  template <class Columns>
  void tcgen05_wait_ld(SimAccumulator<Columns>& d, SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kTcgen05WaitLd, site);
    op.fragment = d.data();
    run(op);
  }
  void tcgen05_wait_st(SourceSite site = SourceSite::current()) {
    run(make(Op::kTcgen05WaitSt, site));
  }

  template <LaneHolds kHolds = LaneHolds::kRow, class Element, std::uint32_t kRegisters>
  void st_shared(const SharedTile<Element>& tile,
                 std::uint32_t row,
                 std::uint32_t column,
                 const SimFragment<kRegisters>& fragment,
                 SourceSite site = SourceSite::current()) {
    Operation op = shared_row(Op::kSharedStore, tile, row, column, fragment, site);
    auto& rows = op.as<operands::SharedRows>();
    rows.by_columns = kHolds == LaneHolds::kColumn || kHolds == LaneHolds::kHalfColumn;
    rows.half_rows = kHolds == LaneHolds::kHalfRow || kHolds == LaneHolds::kHalfColumn;
    run(op);
  }
  template <class Element, std::uint32_t kRegisters>
  void ld_shared_row(const SharedTile<Element>& tile,
                     std::uint32_t row,
                     std::uint32_t column,
                     SimFragment<kRegisters>& fragment,
                     SourceSite site = SourceSite::current()) {
    fragment.give_to(registers_);
    if (moves_data_) {
      fragment.data()->bits.resize(std::size_t{kRegisters} * kWarpLanes);
    }
    fragment.data()->touched = ++registers_->time;
    run(shared_row(Op::kSharedLoad, tile, row, column, fragment, site));
  }

  // The MMA of a warpgroup
  void wgmma_fence(SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kWgmmaFence, site);
    op.as<operands::WgmmaFence>().time = ++registers_->time;
    run(op);
  }
  template <class Columns, class A, class B>
  void wgmma(SimAccumulator<Columns>& d,
             A a,
             B b,
             bool accumulate,
             SourceSite site = SourceSite::current()) {
    if (moves_data_) {
      d.data()->bits.resize(std::size_t{d.data()->registers} * kWarpLanes, kGarbage);
    }
    Operation op = wgmma_of(d, a, b, accumulate, site);
    run(op);
  }
  template <class Columns, class Element>
  void wgmma_sp(SimAccumulator<Columns>& d,
                WgmmaSmemDescriptor<Element> a,
                WgmmaSmemDescriptor<Element> b,
                const SimFragment<1>& metadata,
                std::uint32_t selector,
                bool accumulate,
                SourceSite site = SourceSite::current()) {
    if (moves_data_) {
      d.data()->bits.resize(std::size_t{d.data()->registers} * kWarpLanes, kGarbage);
    }
    Operation op = wgmma_of(d, a, b, accumulate, site);
    auto& of = op.as<operands::Wgmma>();
    of.instruction = of.instruction.with_sparse_a(selector);
    op.flags |= event_flag::kSparse;
    op.fragment_a = metadata.data();
    run(op);
  }
  void wgmma_commit_group(SourceSite site = SourceSite::current()) {
    run(make(Op::kWgmmaCommit, site));
  }
  template <std::uint32_t kPending>
  void wgmma_wait_group(SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kWgmmaWait, site);
    op.as<operands::WgmmaWait>().pending = kPending;
    run(op);
  }
  template <std::uint32_t kPending, class Columns>
  void wgmma_wait_group(SimAccumulator<Columns>& d, SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kWgmmaWait, site);
    op.as<operands::WgmmaWait>().pending = kPending;
    op.fragment = d.data();
    run(op);
  }
  template <class Element, class Columns>
  void st_shared_accumulator(const SharedTile<Element>& tile,
                             std::uint32_t row,
                             const SimAccumulator<Columns>& d,
                             std::uint32_t column,
                             SourceSite site = SourceSite::current()) {
    Operation op = row_of(Op::kSharedStore, tile, row, site);
    auto& rows = op.as<operands::SharedRows>();
    rows.of_accumulator = true;
    rows.column = column;
    op.fragment = d.data();
    d.data()->touched = ++registers_->time;
    run(op);
  }

  // Words
  std::uint32_t ld_shared_u32(SharedAddress address, SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kSharedLoad, site);
    op.as<operands::SharedWord>().address = address.value;
    return run(op).result;
  }
  void st_shared_u32(SharedAddress address,
                     std::uint32_t value,
                     SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kSharedStore, site);
    op.as<operands::SharedWord>() = {address.value, value};
    run(op);
  }
  float ld_global_f32(GlobalAddress address, SourceSite site = SourceSite::current()) {
    return std::bit_cast<float>(run(global_word(Op::kGlobalLoad, address, 0, site)).result);
  }
  std::uint32_t ld_global_u32(GlobalAddress address, SourceSite site = SourceSite::current()) {
    return run(global_word(Op::kGlobalLoad, address, 0, site)).result;
  }
  /// ld.global.nc, of PTX kernels: by the path for what is read-only while the grid executes.
  float ld_global_nc_f32(GlobalAddress address, SourceSite site = SourceSite::current()) {
    Operation op = global_word(Op::kGlobalLoad, address, 0, site);
    op.flags |= event_flag::kReadOnly;
    return std::bit_cast<float>(run(op).result);
  }
  std::uint32_t ld_acquire_global_u32(GlobalAddress address,
                                      SourceSite site = SourceSite::current()) {
    return run(global_word(Op::kGlobalLoadAcquire, address, 0, site)).result;
  }
  void st_release_global_u32(GlobalAddress address,
                             std::uint32_t value,
                             SourceSite site = SourceSite::current()) {
    run(global_word(Op::kGlobalStoreRelease, address, value, site));
  }
  void red_add_release_global_u32(GlobalAddress address,
                                  std::uint32_t value,
                                  SourceSite site = SourceSite::current()) {
    run(global_word(Op::kGlobalRedAdd, address, value, site));
  }
  void wait_global_u32(GlobalAddress address,
                       std::uint32_t value,
                       SourceSite site = SourceSite::current()) {
    run(global_word(Op::kGlobalWait, address, value, site));
  }

  // Launch
  void clc_try_cancel(SharedAddress response,
                      Mbarrier bar,
                      bool multicast,
                      SourceSite site = SourceSite::current()) {
    Operation op = elected(Op::kClcTryCancel, site);
    auto& request = op.as<operands::ClcRequest>();
    request.response = response.value;
    request.barrier = bar.address.value;
    request.mask.bits = static_cast<std::uint16_t>(multicast ? (1U << cluster_size()) - 1 : 0U);
    run(op);
  }
  bool clc_is_canceled(SharedAddress response, SourceSite site = SourceSite::current()) {
    return run(clc_query(response, 0, site)).result != 0;
  }
  std::uint32_t clc_first_cta(SharedAddress response, SourceSite site = SourceSite::current()) {
    return run(clc_query(response, 1, site)).result;
  }
  void griddepcontrol_wait(SourceSite site = SourceSite::current()) {
    run(make(Op::kGriddepcontrolWait, site));
  }
  void griddepcontrol_launch_dependents(SourceSite site = SourceSite::current()) {
    run(make(Op::kGriddepcontrolLaunch, site));
  }

  template <std::uint32_t kRegisters>
  void setmaxnreg_dec(SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kSetmaxnreg, site);
    op.as<operands::Registers>().count = kRegisters;
    run(op);
  }
  template <std::uint32_t kRegisters>
  void setmaxnreg_inc(SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kSetmaxnreg, site);
    op.as<operands::Registers>().count = kRegisters;
    op.flags = event_flag::kIncrease;
    run(op);
  }

  void note_stage(const StageNote& note) {
    Operation op = make(Op::kStageNote, note.site);
    op.as<operands::Note>() = {
        note.full.address.value, note.stages, note.index, note.lap, note.step};
    run(op);
  }

 private:
  // The operations of copies are made for a call.
  class CopyIssuer final : public CopiesOfWarp::Issuer {
   public:
    CopyIssuer(SimMachine& machine, SourceSite site) : machine_{machine}, site_{site} {}
    Operation make(Op kind, std::uint32_t lanes) const override {
      Operation op = machine_.make(kind, site_);
      op.lanes = static_cast<std::uint8_t>(std::popcount(lanes));
      op.lane = op.lanes == kWarpLanes ? std::uint8_t{0}
                                       : static_cast<std::uint8_t>(std::countr_zero(lanes));
      op.some = op.lanes == kWarpLanes || op.lanes == 1 ? 0 : lanes;
      return op;
    }
    void perform(Operation& operation) override { machine_.run(operation); }
    void touches(const LaneAccess&, Op) override {}
    void hands_over(const LaneAccess&) override {}

   private:
    SimMachine& machine_;
    SourceSite site_;
  };
  std::uint32_t copying_lanes() const {
    return lanes_.count == kWarpLanes ? ~std::uint32_t{0} : std::uint32_t{1} << lanes_.one;
  }
  CopiesOfWarp& copies_of_warp() {
    if (copies_ == nullptr) {
      copies_ = std::make_shared<CopiesOfWarp>(cta_rank(), moves_data_, *registers_, true);
    }
    return *copies_;
  }
  // The registers hold anything until the load is waited for.
  template <class Columns, class Element, Major kMajorA, Major kMajorB>
  Operation wgmma_of(const SimAccumulator<Columns>& d,
                     WgmmaSmemDescriptor<Element, kMajorA> a,
                     WgmmaSmemDescriptor<Element, kMajorB> b,
                     bool accumulate,
                     SourceSite site) {
    Operation op = make(Op::kWgmma, site);
    auto& of = op.as<operands::Wgmma>();
    of.a = umma_descriptor(a);
    of.b = umma_descriptor(b);
    of.instruction = UmmaInstructionDescriptor::make(
                         Element::kType, Element::kType, kWgmmaRows, 2 * d.data()->registers)
                         .with_majors(kMajorA, kMajorB);
    of.columns = of.instruction.n();
    op.flags = accumulate ? event_flag::kAccumulate : std::uint32_t{0};
    op.fragment = d.data();
    return op;
  }
  template <std::uint32_t kRegisters>
  void load_tmem(SimFragment<kRegisters>& fragment, Operation op) {
    fragment = SimFragment<kRegisters>{};
    fragment.give_to(registers_);
    if (moves_data_) {
      fragment.data()->bits.assign(std::size_t{kRegisters} * kWarpLanes, kGarbage);
    }
    op.fragment = fragment.data();
    run(op);
  }
  Operation& run(Operation& op) {
    port_->perform(op);
    return op;
  }
  Operation& run(Operation&& op) { return run(op); }  // for the rest of the expression

  static constexpr std::uint32_t kGarbage = 0x7FC0DEAD;  // a NaN

  EnginePort* port_;
  WarpIdentity identity_;
  WarpRegisters* registers_;
  bool moves_data_;
  std::shared_ptr<CopiesOfWarp> copies_ = nullptr;  // by lanes, once there have been some
};

static_assert(Machine<SimMachine>);

}  // namespace warptwin::sim
