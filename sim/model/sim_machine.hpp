/// The simulator's `Machine`: one warp's view of the model, behind whichever engine runs it. One
/// concrete type for every engine, so that a scenario is compiled for the simulator once.

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/machine/machine.hpp"

#include "sim/model/operation.hpp"

namespace warptwin::sim {

/// Executes one operation of the calling warp; returns when it has been executed. Throws to unwind
/// the
/// warp when the run ends early.
class EnginePort {
 public:
  virtual ~EnginePort() = default;
  virtual void perform(Operation& operation) = 0;
};

/// A tensor map's number in the run's global memory.
struct SimTensorMap {
  std::uint32_t number = 0;
};

/// Who a warp is.
struct WarpIdentity {
  std::uint32_t warp_index = 0;
  std::uint32_t cta_rank = 0;
  std::uint32_t cluster_size = 1;
  std::uint32_t cluster_index = 0;
  std::uint32_t cluster_count = 1;
  std::uint8_t elected_lane = 0;
  bool unknown_any = true;  // what `any` says of registers without contents
};

/// Arithmetic on registers, in operations of each lane.
struct RegisterMath {
  std::uint32_t fma = 0;   // multiply-adds and what takes as long
  std::uint32_t mufu = 0;  // exp2 and other special functions
};
/// What the warp that is running has done since its last operation: fragments know no machine. An
/// engine that keeps time takes it from here.
inline thread_local RegisterMath register_math;

/// Orders what happens to registers: counts the touches of accumulators, and wgmma.fences.
inline thread_local std::uint64_t register_time = 0;

/// What the warp that is running is told of registers without contents, and how often it has asked.
struct UnknownRegisters {
  bool any = true;
  std::uint64_t asked = 0;
};
inline thread_local UnknownRegisters unknown_registers;

/// `kRegisters` 32-bit registers of each of 32 lanes. Their contents arrive with `tcgen05_wait_ld`.
template <std::uint32_t kRegisters>
class SimFragment {
 public:
  SimFragment() : data_{std::make_shared<FragmentData>()} { data_->registers = kRegisters; }
  /// Registers are values: a copy has its own.
  SimFragment(const SimFragment& other) : data_{std::make_shared<FragmentData>(*other.data_)} {}
  SimFragment(SimFragment&&) noexcept = default;
  SimFragment& operator=(const SimFragment& other) {
    data_ = std::make_shared<FragmentData>(*other.data_);
    return *this;
  }
  SimFragment& operator=(SimFragment&&) noexcept = default;

  const std::shared_ptr<FragmentData>& data() const { return data_; }

  /// Sets every register of every lane.
  void fill(float value) {
    data_ = std::make_shared<FragmentData>();
    data_->registers = kRegisters;
    data_->settled = true;
    data_->bits.assign(std::size_t{kRegisters} * kWarpLanes, std::bit_cast<std::uint32_t>(value));
  }
  /// Replaces every value by `f(value)`, in every lane.
  template <class F>
  void transform(F&& f) {
    register_math.fma += kRegisters;
    for (std::uint32_t& bits : data_->bits) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(f(std::bit_cast<float>(bits))));
    }
  }
  /// Replaces every value by `f(value, the other fragment's)`, in every lane.
  template <class F>
  void combine(const SimFragment& other, F&& f) {
    combine_settled(*other.data());
    register_math.fma += kRegisters;
    const std::size_t count = std::min(data_->bits.size(), other.data_->bits.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = std::bit_cast<float>(data_->bits[i]);
      const auto with = std::bit_cast<float>(other.data_->bits[i]);
      data_->bits[i] = std::bit_cast<std::uint32_t>(static_cast<float>(f(value, with)));
    }
  }
  /// Replaces every value by `f(value, its column)`.
  template <class F>
  void transform_columns(F&& f) {
    register_math.fma += kRegisters;
    for_each([&](std::uint32_t& bits, std::size_t, std::uint32_t column) {
      bits = std::bit_cast<std::uint32_t>(f(std::bit_cast<float>(bits), column));
    });
  }
  /// Replaces every value by `f(value, its row, its column)`.
  template <class F>
  void transform_places(F&& f) {
    register_math.fma += kRegisters;
    for_each([&](std::uint32_t& bits, std::size_t row, std::uint32_t column) {
      bits = std::bit_cast<std::uint32_t>(
          f(std::bit_cast<float>(bits), static_cast<std::uint32_t>(row), column));
    });
  }
  /// Replaces every value by `f(value, the value of its row)`.
  template <class F>
  void combine_rows(const SimFragment<1>& rows, F&& f) {
    register_math.fma += kRegisters;
    combine_settled(*rows.data());
    const std::vector<std::uint32_t>& values = rows.data()->bits;
    if (values.empty()) {
      return;
    }
    for_each([&](std::uint32_t& bits, std::size_t row, std::uint32_t) {
      bits = std::bit_cast<std::uint32_t>(
          f(std::bit_cast<float>(bits), std::bit_cast<float>(values[row])));
    });
  }
  /// Replaces the value of each row by `f(value, x)`, for each x of the row in turn.
  template <class F>
  void fold_into(SimFragment<1>& rows, F&& f) const {
    register_math.fma += kRegisters;
    std::vector<std::uint32_t>& values = rows.data()->bits;
    for (std::size_t i = 0; i < data_->bits.size() && !values.empty(); ++i) {
      std::uint32_t& value = values[i / kRegisters];
      value = std::bit_cast<std::uint32_t>(
          f(std::bit_cast<float>(value), std::bit_cast<float>(data_->bits[i])));
    }
  }
  /// Replaces every value by its power of two.
  void exp2() {
    register_math.mufu += kRegisters;
    for (std::uint32_t& bits : data_->bits) {
      bits = std::bit_cast<std::uint32_t>(std::exp2(std::bit_cast<float>(bits)));
    }
  }
  /// Whether `f(value)` for any of the warp's values; where there is no data, what
  /// `unknown_registers` says.
  template <class F>
  bool any(F&& f) const {
    if (data_->bits.empty()) {
      ++unknown_registers.asked;
      return unknown_registers.any;
    }
    return std::any_of(data_->bits.begin(), data_->bits.end(), [&](std::uint32_t bits) {
      return f(std::bit_cast<float>(bits));
    });
  }
  /// The values as `Element`s, packed into registers.
  template <class Element>
  auto packed() const {
    constexpr std::uint32_t kPerWord = 4 / sizeof(typename Element::Storage);
    static_assert(kRegisters % kPerWord == 0, "a register is packed full");
    SimFragment<kRegisters / kPerWord> words;
    words.data()->settled = data_->settled;
    words.data()->bits.resize(data_->bits.size() / kPerWord);
    for (std::size_t i = 0; i < data_->bits.size(); ++i) {
      const std::uint32_t bits = encode(Element::kType, std::bit_cast<float>(data_->bits[i]));
      words.data()->bits[i / kPerWord] |= bits << (i % kPerWord * (32 / kPerWord));
    }
    return words;
  }

 private:
  // What is computed from registers that may still change may be wrong too.
  void combine_settled(const FragmentData& other) {
    data_->settled = data_->settled && other.settled;
  }
  // Calls `f` with the bits, the lane and the column of every value.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t i = 0; i < data_->bits.size(); ++i) {
      f(data_->bits[i], i / kRegisters, static_cast<std::uint32_t>(i % kRegisters));
    }
  }

  std::shared_ptr<FragmentData> data_;
};

/// A warp's 16 rows of an accumulator of wgmma, in the registers of its lanes: see `WgmmaCell`.
template <class Columns>
class SimAccumulator {
 public:
  explicit SimAccumulator(Columns columns) : data_{std::make_shared<FragmentData>()} {
    data_->registers = columns / 2;
    data_->settled = true;
  }
  /// Registers are values, and may be on their way: they are neither copied nor moved.
  SimAccumulator(const SimAccumulator&) = delete;
  SimAccumulator& operator=(const SimAccumulator&) = delete;

  const std::shared_ptr<FragmentData>& data() const { return data_; }

  /// Sets every value.
  void fill(float value) {
    touch();
    data_->bits.assign(std::size_t{data_->registers} * kWarpLanes,
                       std::bit_cast<std::uint32_t>(value));
  }
  /// Replaces every value by `f(value)`.
  template <class F>
  void transform(F&& f) {
    touch();
    register_math.fma += data_->registers;
    for (std::uint32_t& bits : data_->bits) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(f(std::bit_cast<float>(bits))));
    }
  }

 private:
  void touch() {
    data_->touched = ++register_time;
    data_->touched_early = data_->touched_early || !data_->settled;
  }

  std::shared_ptr<FragmentData> data_;
};

class SimMachine {
 public:
  using TensorMap = SimTensorMap;
  template <class Columns>
  using Accumulator = SimAccumulator<Columns>;
  template <std::uint32_t kRegisters>
  using Fragment = SimFragment<kRegisters>;

  SimMachine(EnginePort& port, const WarpIdentity& identity, bool moves_data)
      : port_{&port}, identity_{identity}, moves_data_{moves_data} {}

  std::uint32_t warp_index() const { return identity_.warp_index; }
  std::uint32_t cta_rank() const { return identity_.cta_rank; }
  std::uint32_t cluster_size() const { return identity_.cluster_size; }
  std::uint32_t cluster_index() const { return identity_.cluster_index; }
  std::uint32_t cluster_count() const { return identity_.cluster_count; }
  std::uint8_t elected_lane() const { return identity_.elected_lane; }
  bool moves_data() const { return moves_data_; }

  template <class F>
  void elect_one(F&& f) {
    const Lanes before = std::exchange(lanes_, Lanes{1, identity_.elected_lane});
    f();
    lanes_ = before;
  }
  template <class F>
  void for_lanes(std::uint32_t count, F&& f) {
    const Lanes before = lanes_;
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
    op.count = count;
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
    op.bytes = bytes;
    run(op);
  }
  void mbarrier_complete_tx(Mbarrier bar,
                            std::uint32_t bytes,
                            SourceSite site = SourceSite::current()) {
    Operation op = on_barrier(Op::kMbarrierCompleteTx, bar, site);
    op.bytes = bytes;
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
    op.count = static_cast<std::uint32_t>(space);
    run(op);
  }
  // Tensor maps that change on the device. No kernel text does it yet, and the GPU's machine has
  // neither: the simulator's have them for what the detectors say.
  void tensormap_replace_global_address(const TensorMap& map,
                                        GlobalAddress address,
                                        SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kTensormapReplace, site);
    op.count = map.number;
    op.global = address.value;
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
    op.count = map.number;
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
  template <std::uint32_t kRank>
  void cp_async_bulk_tensor_load(SharedAddress smem,
                                 const TensorMap& map,
                                 Coordinates<kRank> at,
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

  // Tensor memory
  void tcgen05_alloc(CtaGroup group,
                     SharedAddress word,
                     std::uint32_t columns,
                     SourceSite site = SourceSite::current()) {
    run(tmem_region(Op::kTcgen05Alloc, group, word.value, columns, site));
  }
  void tcgen05_dealloc(CtaGroup group,
                       TmemAddress address,
                       std::uint32_t columns,
                       SourceSite site = SourceSite::current()) {
    run(tmem_region(Op::kTcgen05Dealloc, group, address.value, columns, site));
  }
  void tcgen05_relinquish_alloc_permit(CtaGroup group, SourceSite site = SourceSite::current()) {
    run(tmem_region(Op::kTcgen05Relinquish, group, 0, 0, site));
  }
  void tcgen05_mma(CtaGroup group,
                   TmemAddress d,
                   UmmaSmemDescriptor a,
                   UmmaSmemDescriptor b,
                   UmmaInstructionDescriptor instruction,
                   bool accumulate,
                   SourceSite site = SourceSite::current()) {
    Operation op = mma(group, d, b, instruction, accumulate, site);
    op.descriptor_a = a.bits;
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
    op.peer = a.value;
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
    op.descriptor_a = a.bits;
    op.scale_a = scale_a.value;
    op.scale_b = scale_b.value;
    op.flags |= event_flag::kBlockScale;
    run(op);
  }
  void tcgen05_cp(CtaGroup group,
                  TmemAddress to,
                  UmmaSmemDescriptor from,
                  TmemCopy shape,
                  SourceSite site = SourceSite::current()) {
    Operation op = elected(Op::kTcgen05Cp, site);
    op.group = group;
    op.address = to.value;
    op.descriptor_a = from.bits;
    op.wanted = static_cast<std::uint32_t>(shape);
    op.count = columns_of(shape);
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
    op.group = group;
    op.address = bar.address.value;
    op.mask = mask;
    run(op);
  }
  template <std::uint32_t kRegisters>
  void tcgen05_ld_32x32b(SimFragment<kRegisters>& fragment,
                         TmemAddress address,
                         SourceSite site = SourceSite::current()) {
    fragment = SimFragment<kRegisters>{};
    if (moves_data_) {
      fragment.data()->bits.assign(std::size_t{kRegisters} * kWarpLanes, 0x7FC0DEADU);
    }
    Operation op = tmem_region(Op::kTcgen05Ld, CtaGroup::kOne, address.value, kRegisters, site);
    op.fragment = fragment.data();
    run(op);
  }
  template <std::uint32_t kRegisters>
  void tcgen05_ld_16x32bx2(SimFragment<kRegisters>& fragment,
                           TmemAddress address,
                           SourceSite site = SourceSite::current()) {
    fragment = SimFragment<kRegisters>{};
    if (moves_data_) {
      fragment.data()->bits.assign(std::size_t{kRegisters} * kWarpLanes, 0x7FC0DEADU);
    }
    Operation op = tmem_region(Op::kTcgen05Ld, CtaGroup::kOne, address.value, 2 * kRegisters, site);
    op.half_rows = true;
    op.fragment = fragment.data();
    run(op);
  }
  template <std::uint32_t kRegisters>
  void tcgen05_st_32x32b(TmemAddress address,
                         const SimFragment<kRegisters>& fragment,
                         SourceSite site = SourceSite::current()) {
    Operation op = tmem_region(Op::kTcgen05St, CtaGroup::kOne, address.value, kRegisters, site);
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
  void tcgen05_wait_st(SourceSite site = SourceSite::current()) {
    run(make(Op::kTcgen05WaitSt, site));
  }

  template <class Element, std::uint32_t kRegisters>
  void st_shared_row(const SharedTile<Element>& tile,
                     std::uint32_t row,
                     std::uint32_t column,
                     const SimFragment<kRegisters>& fragment,
                     SourceSite site = SourceSite::current()) {
    run(shared_row(Op::kSharedStore, tile, row, column, fragment, site));
  }
  template <class Element, std::uint32_t kRegisters>
  void st_shared_column(const SharedTile<Element>& tile,
                        std::uint32_t row,
                        std::uint32_t column,
                        const SimFragment<kRegisters>& fragment,
                        SourceSite site = SourceSite::current()) {
    Operation op = shared_row(Op::kSharedStore, tile, row, column, fragment, site);
    op.by_columns = true;
    run(op);
  }
  template <class Element, std::uint32_t kRegisters>
  void st_shared_half_rows(const SharedTile<Element>& tile,
                           std::uint32_t row,
                           std::uint32_t column,
                           const SimFragment<kRegisters>& fragment,
                           SourceSite site = SourceSite::current()) {
    Operation op = shared_row(Op::kSharedStore, tile, row, column, fragment, site);
    op.half_rows = true;
    run(op);
  }
  template <class Element, std::uint32_t kRegisters>
  void st_shared_half_columns(const SharedTile<Element>& tile,
                              std::uint32_t row,
                              std::uint32_t column,
                              const SimFragment<kRegisters>& fragment,
                              SourceSite site = SourceSite::current()) {
    Operation op = shared_row(Op::kSharedStore, tile, row, column, fragment, site);
    op.by_columns = op.half_rows = true;
    run(op);
  }
  template <class Element, std::uint32_t kRegisters>
  void ld_shared_row(const SharedTile<Element>& tile,
                     std::uint32_t row,
                     std::uint32_t column,
                     SimFragment<kRegisters>& fragment,
                     SourceSite site = SourceSite::current()) {
    if (moves_data_) {
      fragment.data()->bits.resize(std::size_t{kRegisters} * kWarpLanes);
    }
    run(shared_row(Op::kSharedLoad, tile, row, column, fragment, site));
  }

  // The MMA of a warpgroup
  void wgmma_fence(SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kWgmmaFence, site);
    op.global = ++register_time;
    run(op);
  }
  template <class Columns, class Element>
  void wgmma(SimAccumulator<Columns>& d,
             WgmmaSmemDescriptor<Element> a,
             WgmmaSmemDescriptor<Element> b,
             bool accumulate,
             SourceSite site = SourceSite::current()) {
    if (moves_data_) {
      d.data()->bits.resize(std::size_t{d.data()->registers} * kWarpLanes, 0x7FC0DEADU);
    }
    const auto instruction = UmmaInstructionDescriptor::make(
        Element::kType, Element::kType, kWgmmaRows, 2 * d.data()->registers);
    Operation op = make(Op::kWgmma, site);
    op.descriptor_a = umma_descriptor(a).bits;
    op.descriptor_b = umma_descriptor(b).bits;
    op.instruction = instruction.bits;
    op.kind = static_cast<std::uint8_t>(instruction.kind);
    op.count = instruction.n();
    op.flags = accumulate ? event_flag::kAccumulate : std::uint16_t{0};
    op.fragment = d.data();
    run(op);
  }
  void wgmma_commit_group(SourceSite site = SourceSite::current()) {
    run(make(Op::kWgmmaCommit, site));
  }
  template <std::uint32_t kPending>
  void wgmma_wait_group(SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kWgmmaWait, site);
    op.count = kPending;
    run(op);
  }
  template <std::uint32_t kPending, class Columns>
  void wgmma_wait_group(SimAccumulator<Columns>& d, SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kWgmmaWait, site);
    op.count = kPending;
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
    op.of_accumulator = true;
    op.column = column;
    op.fragment = d.data();
    d.data()->touched = ++register_time;
    run(op);
  }

  // Words
  std::uint32_t ld_shared_u32(SharedAddress address, SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kSharedLoad, site);
    op.address = address.value;
    return run(op).result;
  }
  void st_shared_u32(SharedAddress address,
                     std::uint32_t value,
                     SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kSharedStore, site);
    op.address = address.value;
    op.count = value;
    run(op);
  }
  float ld_global_f32(GlobalAddress address, SourceSite site = SourceSite::current()) {
    return std::bit_cast<float>(run(global_word(Op::kGlobalLoad, address, 0, site)).result);
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
    op.address = response.value;
    op.peer = bar.address.value;
    op.bytes = kClcResponseBytes;
    op.mask.bits = static_cast<std::uint16_t>(multicast ? (1U << cluster_size()) - 1 : 0U);
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
    op.count = kRegisters;
    run(op);
  }
  template <std::uint32_t kRegisters>
  void setmaxnreg_inc(SourceSite site = SourceSite::current()) {
    Operation op = make(Op::kSetmaxnreg, site);
    op.count = kRegisters;
    op.flags = event_flag::kIncrease;
    run(op);
  }

  void note_stage(const StageNote& note) {
    Operation op = on_barrier(Op::kStageNote, note.full, note.site);
    op.stage_step = note.step;
    op.count = note.stages;
    op.wanted = note.index;
    op.rank = note.lap;
    run(op);
  }

 private:
  // Who executes: the whole warp, or one lane.
  struct Lanes {
    std::uint8_t count;
    std::uint8_t one;
  };
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
      op.lane = identity_.elected_lane;
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
                        const TensorMap& map,
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
  Operation& run(Operation& op) {
    port_->perform(op);
    unknown_registers.any = identity_.unknown_any;
    return op;
  }
  Operation& run(Operation&& op) { return run(op); }  // for the rest of the expression

  EnginePort* port_;
  WarpIdentity identity_;
  Lanes lanes_{kWarpLanes, 0};
  bool moves_data_;
};

static_assert(Machine<SimMachine>);

}  // namespace warptwin::sim
