/// A machine that only writes down what it is asked: "wait 8 phase 0", one line per operation.
/// Waits return at once. For tests of the layer above it.

#pragma once

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/machine/machine.hpp"

namespace warptwin::tests {

class RecordingMachine {
 public:
  using TensorMap = int;
  struct TensorMaps {
    int operator[](std::uint32_t index) const { return static_cast<int>(index); }
  };
  template <std::uint32_t kColumns>
  struct Fragment {
    void fill(float) {}
    template <class F>
    void transform(F&&) {}
    template <class F>
    void transform_columns(F&&) {}
    template <class F>
    void transform_places(F&&) {}
    template <class F>
    void combine(const Fragment&, F&&) {}
    template <class F>
    void combine_rows(const Fragment<1>&, F&&) {}
    template <class F>
    void fold_into(Fragment<1>&, F&&) const {}
    void exp2() {}
    template <class F>
    bool any(F&&) const {
      return true;
    }
    template <class Element>
    Fragment<kColumns * sizeof(typename Element::Storage) / 4> packed() const {
      return {};
    }
  };

  // Who the warp is; tests set it.
  std::uint32_t warp = 0;
  std::uint32_t rank = 0;
  std::uint32_t ctas = 1;
  std::uint32_t cluster = 0;
  std::uint32_t clusters = 1;
  bool try_wait_result = true;

  std::vector<std::string> log;
  std::vector<StageNote> notes;
  /// The site each line of `log` was called from.
  std::vector<SourceSite> sites;

  /// What was logged since the last call.
  std::vector<std::string> take() {
    sites.clear();
    return std::exchange(log, {});
  }

  std::uint32_t warp_index() const { return warp; }
  std::uint32_t cta_rank() const { return rank; }
  std::uint32_t cluster_size() const { return ctas; }
  std::uint32_t cluster_index() const { return cluster; }
  std::uint32_t cluster_count() const { return clusters; }

  template <class F>
  void elect_one(F f) {
    elected_ = true;
    f();
    elected_ = false;
  }
  template <class F>
  void for_lanes(std::uint32_t count, F f) {
    for (std::uint32_t lane = 0; lane < count; ++lane) {
      f(lane);
    }
  }
  void sync_warp(SourceSite s = SourceSite::current()) { add(s, "sync_warp"); }

  void mbarrier_init(Mbarrier b, std::uint32_t n, SourceSite s = SourceSite::current()) {
    add(s, "init", at(b), n);
  }
  void mbarrier_inval(Mbarrier b, SourceSite s = SourceSite::current()) { add(s, "inval", at(b)); }
  void mbarrier_arrive(Mbarrier b,
                       std::uint32_t n,
                       Ordering,
                       SourceSite s = SourceSite::current()) {
    add(s, "arrive", at(b), n);
  }
  void mbarrier_arrive(RemoteMbarrier b,
                       std::uint32_t n,
                       Ordering,
                       SourceSite s = SourceSite::current()) {
    add(s, "arrive cta", b.address.value >> 24, at_low(b), n);
  }
  void mbarrier_arrive_drop(Mbarrier b, SourceSite s = SourceSite::current()) {
    add(s, "drop", at(b));
  }
  void mbarrier_arrive_no_complete(Mbarrier b,
                                   std::uint32_t n,
                                   SourceSite s = SourceSite::current()) {
    add(s, "arrive.no_complete", at(b), n);
  }
  void mbarrier_arrive_expect_tx(Mbarrier b,
                                 std::uint32_t bytes,
                                 SourceSite s = SourceSite::current()) {
    add(s, "arrive.expect_tx", at(b), bytes);
  }
  void mbarrier_arrive_expect_tx(RemoteMbarrier b,
                                 std::uint32_t bytes,
                                 SourceSite s = SourceSite::current()) {
    add(s, "arrive.expect_tx cta", b.address.value >> 24, at_low(b), bytes);
  }
  void mbarrier_expect_tx(Mbarrier b, std::uint32_t bytes, SourceSite s = SourceSite::current()) {
    add(s, "expect_tx", at(b), bytes);
  }
  void mbarrier_complete_tx(Mbarrier b, std::uint32_t bytes, SourceSite s = SourceSite::current()) {
    add(s, "complete_tx", at(b), bytes);
  }
  void mbarrier_wait_parity(Mbarrier b,
                            WaitPhase phase,
                            Ordering ordering,
                            SourceSite s = SourceSite::current()) {
    add(s,
        ordering.scope == Scope::kCluster ? "wait.cluster" : "wait",
        at(b),
        "phase",
        static_cast<std::int32_t>(phase.value()));
  }
  bool mbarrier_try_wait_parity(Mbarrier b,
                                WaitPhase phase,
                                Ordering,
                                SourceSite s = SourceSite::current()) {
    add(s, "try_wait", at(b), "phase", static_cast<std::int32_t>(phase.value()));
    return try_wait_result;
  }
  RemoteMbarrier mapa(Mbarrier b, std::uint32_t of_rank) {
    return {{(of_rank << 24) | b.address.value}};
  }

  void fence(Ordering, SourceSite s = SourceSite::current()) { add(s, "fence"); }
  void fence_mbarrier_init(SourceSite s = SourceSite::current()) { add(s, "fence.mbarrier_init"); }
  void fence_proxy_async(ProxySpace, SourceSite s = SourceSite::current()) {
    add(s, "fence.proxy.async");
  }
  void tcgen05_fence_before_thread_sync(SourceSite s = SourceSite::current()) {
    add(s, "tcgen05.fence.before");
  }
  void tcgen05_fence_after_thread_sync(SourceSite s = SourceSite::current()) {
    add(s, "tcgen05.fence.after");
  }

  void bar_sync(std::uint32_t id, std::uint32_t threads, SourceSite s = SourceSite::current()) {
    add(s, "bar.sync", id, threads);
  }
  void bar_arrive(std::uint32_t id, std::uint32_t threads, SourceSite s = SourceSite::current()) {
    add(s, "bar.arrive", id, threads);
  }
  void cta_sync(SourceSite s = SourceSite::current()) { add(s, "cta_sync"); }
  void barrier_cluster_arrive(Ordering, SourceSite s = SourceSite::current()) {
    add(s, "cluster.arrive");
  }
  void barrier_cluster_wait(SourceSite s = SourceSite::current()) { add(s, "cluster.wait"); }

  template <std::uint32_t kRank>
  void cp_async_bulk_tensor_load(SharedAddress smem,
                                 const TensorMap& map,
                                 Coordinates<kRank> from,
                                 CopyTarget target,
                                 SourceSite s = SourceSite::current()) {
    add(s,
        "load",
        smem.value,
        "map",
        map,
        "at",
        from.at[0],
        from.at[1],
        "bar",
        at(target.barrier),
        "mask",
        target.multicast.bits,
        "group",
        ctas_in(target.group));
  }
  void cp_async_bulk_tensor_load(SharedAddress smem,
                                 const TensorMap& map,
                                 const RowsOf4& from,
                                 CopyTarget target,
                                 SourceSite s = SourceSite::current()) {
    add(s, "gather4", smem.value, "map", map, "at", from.column, "bar", at(target.barrier));
  }
  template <std::uint32_t kRank>
  void cp_async_bulk_tensor_load(SharedAddress smem,
                                 const TensorMap& map,
                                 const PixelCoordinates<kRank>& from,
                                 CopyTarget target,
                                 SourceSite s = SourceSite::current()) {
    add(s, "im2col", smem.value, "map", map, "at", from.at[0], "bar", at(target.barrier));
  }
  void tensormap_replace_global_address(const TensorMap& map,
                                        GlobalAddress,
                                        SourceSite s = SourceSite::current()) {
    add(s, "replace address", map);
  }
  void tensormap_replace_global_dim(const TensorMap& map,
                                    std::uint32_t dimension,
                                    std::uint32_t extent,
                                    SourceSite s = SourceSite::current()) {
    add(s, "replace dim", map, dimension, extent);
  }
  void fence_proxy_tensormap_release(SourceSite s = SourceSite::current()) {
    add(s, "fence.proxy.tensormap.release");
  }
  void fence_proxy_tensormap_acquire(const TensorMap& map, SourceSite s = SourceSite::current()) {
    add(s, "fence.proxy.tensormap.acquire", map);
  }
  template <std::uint32_t kRank>
  void cp_async_bulk_tensor_store(const TensorMap& map,
                                  Coordinates<kRank> to,
                                  SharedAddress smem,
                                  SourceSite s = SourceSite::current()) {
    add(s, "store", smem.value, "map", map, "at", to.at[0], to.at[1]);
  }
  void prefetch_tensormap(const TensorMap& map, SourceSite s = SourceSite::current()) {
    add(s, "prefetch map", map);
  }
  void cp_async_bulk_prefetch_tensor(const TensorMap& map,
                                     Coordinates<2> from,
                                     SourceSite s = SourceSite::current()) {
    add(s, "prefetch map", map, "at", from.at[0], from.at[1]);
  }
  void cp_async_bulk_load(SharedAddress smem,
                          GlobalAddress,
                          std::uint32_t bytes,
                          CopyTarget target,
                          SourceSite s = SourceSite::current()) {
    add(s, "bulk_load", smem.value, bytes, at(target.barrier));
  }
  void cp_async_bulk_store(GlobalAddress,
                           SharedAddress smem,
                           std::uint32_t bytes,
                           SourceSite s = SourceSite::current()) {
    add(s, "bulk_store", smem.value, bytes);
  }
  template <std::uint32_t kBytes, class F>
  void cp_async(Extent<kBytes> bytes, F f, SourceSite s = SourceSite::current()) {
    const CopyOfLane copy = f(0U);  // of the first lane
    add(s, "cp_async", copy.to.value, copy.from.value, copy.bytes, "of", std::uint32_t{bytes});
  }
  void cp_async_commit_group(SourceSite s = SourceSite::current()) { add(s, "cp_async.commit"); }
  template <std::uint32_t kPending>
  void cp_async_wait_group(SourceSite s = SourceSite::current()) {
    add(s, "cp_async.wait", kPending);
  }
  void cp_async_mbarrier_arrive_noinc(Mbarrier b, SourceSite s = SourceSite::current()) {
    add(s, "cp_async.arrive.noinc", at(b));
  }
  void cp_async_mbarrier_arrive(Mbarrier b, SourceSite s = SourceSite::current()) {
    add(s, "cp_async.arrive", at(b));
  }
  void cp_async_bulk_commit_group(SourceSite s = SourceSite::current()) { add(s, "commit_group"); }
  template <std::uint32_t kPending>
  void cp_async_bulk_wait_group(SourceSite s = SourceSite::current()) {
    add(s, "wait_group", kPending);
  }
  template <std::uint32_t kPending>
  void cp_async_bulk_wait_group_read(SourceSite s = SourceSite::current()) {
    add(s, "wait_group.read", kPending);
  }

  void tcgen05_alloc(CtaGroup group,
                     SharedAddress word,
                     std::uint32_t columns,
                     SourceSite s = SourceSite::current()) {
    words_[word.value] = 0;
    add(s, "tcgen05.alloc", ctas_in(group), columns);
  }
  void tcgen05_dealloc(CtaGroup group,
                       TmemAddress base,
                       std::uint32_t columns,
                       SourceSite s = SourceSite::current()) {
    add(s, "tcgen05.dealloc", ctas_in(group), base.value, columns);
  }
  void tcgen05_relinquish_alloc_permit(CtaGroup group, SourceSite s = SourceSite::current()) {
    add(s, "tcgen05.relinquish", ctas_in(group));
  }
  void tcgen05_mma(CtaGroup group,
                   TmemAddress d,
                   UmmaSmemDescriptor a,
                   UmmaSmemDescriptor b,
                   UmmaInstructionDescriptor instruction,
                   bool accumulate,
                   SourceSite s = SourceSite::current()) {
    add(s,
        "mma",
        ctas_in(group),
        "d",
        d.value,
        "a",
        a.start().value,
        "b",
        b.start().value,
        "shape",
        instruction.m(),
        instruction.n(),
        accumulate ? "add" : "set");
  }
  void tcgen05_mma(CtaGroup group,
                   TmemAddress d,
                   TmemAddress a,
                   UmmaSmemDescriptor,
                   UmmaInstructionDescriptor,
                   bool accumulate,
                   SourceSite s = SourceSite::current()) {
    add(s, "mma.tmem_a", ctas_in(group), d.value, a.value, accumulate);
  }
  void tcgen05_mma_block_scale(CtaGroup group,
                               TmemAddress d,
                               UmmaSmemDescriptor a,
                               UmmaSmemDescriptor b,
                               UmmaInstructionDescriptor instruction,
                               TmemAddress scale_a,
                               TmemAddress scale_b,
                               bool accumulate,
                               SourceSite s = SourceSite::current()) {
    add(s,
        "mma.block_scale",
        ctas_in(group),
        "d",
        d.value,
        "a",
        a.start().value,
        "b",
        b.start().value,
        "scales",
        scale_a.value,
        instruction.scale_byte_a(),
        scale_b.value,
        instruction.scale_byte_b(),
        accumulate ? "add" : "set");
  }
  void tcgen05_mma_sp(CtaGroup group,
                      TmemAddress d,
                      UmmaSmemDescriptor a,
                      UmmaSmemDescriptor b,
                      UmmaInstructionDescriptor instruction,
                      TmemAddress metadata,
                      bool accumulate,
                      SourceSite s = SourceSite::current()) {
    add(s,
        "mma.sp",
        ctas_in(group),
        "d",
        d.value,
        "a",
        a.start().value,
        "b",
        b.start().value,
        "metadata",
        metadata.value,
        instruction.sparsity_selector(),
        accumulate ? "add" : "set");
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
                                  SourceSite s = SourceSite::current()) {
    add(s,
        "mma.sp.block_scale",
        ctas_in(group),
        "d",
        d.value,
        "a",
        a.start().value,
        "b",
        b.start().value,
        "metadata",
        metadata.value,
        "scales",
        scale_a.value,
        instruction.scale_byte_a(),
        scale_b.value,
        instruction.scale_byte_b(),
        accumulate ? "add" : "set");
  }
  void tcgen05_cp(CtaGroup group,
                  TmemAddress to,
                  UmmaSmemDescriptor from,
                  TmemCopy,
                  SourceSite s = SourceSite::current()) {
    add(s, "cp", ctas_in(group), to.value, "from", from.start().value);
  }
  void tcgen05_commit(CtaGroup, Mbarrier b, SourceSite s = SourceSite::current()) {
    add(s, "commit", at(b));
  }
  void tcgen05_commit_multicast(CtaGroup,
                                Mbarrier b,
                                CtaMask mask,
                                SourceSite s = SourceSite::current()) {
    add(s, "commit", at(b), "mask", mask.bits);
  }
  template <std::uint32_t kColumns>
  void tcgen05_ld_32x32b(Fragment<kColumns>&,
                         TmemAddress at,
                         SourceSite s = SourceSite::current()) {
    add(s, "ld", kColumns, "lane", at.lane(), "column", at.column());
  }
  template <std::uint32_t kColumns>
  void tcgen05_ld_16x32bx2(Fragment<kColumns>&,
                           TmemAddress at,
                           SourceSite s = SourceSite::current()) {
    add(s, "ld.half", 2 * kColumns, "lane", at.lane(), "column", at.column());
  }
  template <std::uint32_t kColumns>
  void tcgen05_st_32x32b(TmemAddress at,
                         const Fragment<kColumns>&,
                         SourceSite s = SourceSite::current()) {
    add(s, "st", kColumns, "lane", at.lane(), "column", at.column());
  }
  template <std::uint32_t kColumns>
  void tcgen05_wait_ld(Fragment<kColumns>&, SourceSite s = SourceSite::current()) {
    add(s, "wait.ld");
  }
  void tcgen05_wait_st(SourceSite s = SourceSite::current()) { add(s, "wait.st"); }
  template <LaneHolds kHolds = LaneHolds::kRow, class Element, std::uint32_t kColumns>
  void st_shared(const SharedTile<Element>& tile,
                 std::uint32_t row,
                 std::uint32_t column,
                 const Fragment<kColumns>&,
                 SourceSite s = SourceSite::current()) {
    constexpr const char* kNames[] = {
        "st.shared", "st.shared.column", "st.shared.half_rows", "st.shared.half_columns"};
    add(s, kNames[static_cast<unsigned>(kHolds)], tile.base.value, "row", row, "column", column);
  }
  template <class Element, std::uint32_t kColumns>
  void ld_shared_row(const SharedTile<Element>& tile,
                     std::uint32_t row,
                     std::uint32_t column,
                     Fragment<kColumns>&,
                     SourceSite s = SourceSite::current()) {
    add(s, "ld.shared.row", tile.base.value, "row", row, "column", column);
  }

  template <class Columns>
  struct Accumulator {
    template <class M>
    Accumulator(const M&, Columns count) : columns{count} {}
    void fill(float) {}
    template <class F>
    void transform(F&&) {}

    [[no_unique_address]] Columns columns;
  };
  template <class Columns>
  void tcgen05_ld_16x256b(Accumulator<Columns>& d,
                          TmemAddress at,
                          SourceSite s = SourceSite::current()) {
    add(s, "ld.16x256b", std::uint32_t{d.columns}, "lane", at.lane(), "column", at.column());
  }
  template <class Columns>
  void tcgen05_wait_ld(Accumulator<Columns>&, SourceSite s = SourceSite::current()) {
    add(s, "wait.ld");
  }
  void wgmma_fence(SourceSite s = SourceSite::current()) { add(s, "wgmma.fence"); }
  template <class Columns, class A, class B>
  void wgmma(
      Accumulator<Columns>&, A a, B b, bool accumulate, SourceSite s = SourceSite::current()) {
    add(s, "wgmma", "a", a.start().value, "b", b.start().value, accumulate ? "add" : "set");
  }
  template <class Columns, class Element>
  void wgmma_sp(Accumulator<Columns>&,
                WgmmaSmemDescriptor<Element> a,
                WgmmaSmemDescriptor<Element> b,
                const Fragment<1>&,
                std::uint32_t selector,
                bool accumulate,
                SourceSite s = SourceSite::current()) {
    add(s,
        "wgmma.sp",
        "a",
        a.start().value,
        "b",
        b.start().value,
        "selector",
        selector,
        accumulate ? "add" : "set");
  }
  void wgmma_commit_group(SourceSite s = SourceSite::current()) { add(s, "wgmma.commit_group"); }
  template <std::uint32_t kPending>
  void wgmma_wait_group(SourceSite s = SourceSite::current()) {
    add(s, "wgmma.wait_group", kPending);
  }
  template <std::uint32_t kPending, class Columns>
  void wgmma_wait_group(Accumulator<Columns>&, SourceSite s = SourceSite::current()) {
    add(s, "wgmma.wait_group", kPending);
  }
  template <class Element, class Columns>
  void st_shared_accumulator(const SharedTile<Element>& tile,
                             std::uint32_t row,
                             const Accumulator<Columns>&,
                             std::uint32_t column,
                             SourceSite s = SourceSite::current()) {
    add(s, "st.shared.accumulator", tile.base.value, "row", row, "column", column);
  }

  std::uint32_t ld_shared_u32(SharedAddress smem, SourceSite s = SourceSite::current()) {
    add(s, "ld.shared");
    return words_[smem.value];
  }
  void st_shared_u32(SharedAddress smem,
                     std::uint32_t value,
                     SourceSite s = SourceSite::current()) {
    words_[smem.value] = value;
    add(s, "st.shared.u32", value);
  }
  std::uint32_t ld_global_u32(GlobalAddress, SourceSite s = SourceSite::current()) {
    add(s, "ld.global.u32");
    return 0;
  }
  float ld_global_f32(GlobalAddress, SourceSite s = SourceSite::current()) {
    add(s, "ld.global");
    return 0;
  }
  std::uint32_t ld_acquire_global_u32(GlobalAddress, SourceSite s = SourceSite::current()) {
    add(s, "ld.acquire");
    return 0;
  }
  void st_release_global_u32(GlobalAddress,
                             std::uint32_t value,
                             SourceSite s = SourceSite::current()) {
    add(s, "st.release", value);
  }
  void red_add_release_global_u32(GlobalAddress,
                                  std::uint32_t value,
                                  SourceSite s = SourceSite::current()) {
    add(s, "red.add.release", value);
  }
  void wait_global_u32(GlobalAddress, std::uint32_t value, SourceSite s = SourceSite::current()) {
    add(s, "wait_global", value);
  }
  void clc_try_cancel(SharedAddress,
                      Mbarrier b,
                      bool multicast,
                      SourceSite s = SourceSite::current()) {
    add(s, multicast ? "try_cancel.multicast" : "try_cancel", at(b));
  }
  bool clc_is_canceled(SharedAddress, SourceSite s = SourceSite::current()) {
    add(s, "is_canceled");
    return false;
  }
  std::uint32_t clc_first_cta(SharedAddress, SourceSite s = SourceSite::current()) {
    add(s, "first_cta");
    return 0;
  }
  void griddepcontrol_wait(SourceSite s = SourceSite::current()) { add(s, "griddepcontrol.wait"); }
  void griddepcontrol_launch_dependents(SourceSite s = SourceSite::current()) {
    add(s, "griddepcontrol.launch_dependents");
  }
  template <std::uint32_t kRegisters>
  void setmaxnreg_dec(SourceSite s = SourceSite::current()) {
    add(s, "setmaxnreg.dec", kRegisters);
  }
  template <std::uint32_t kRegisters>
  void setmaxnreg_inc(SourceSite s = SourceSite::current()) {
    add(s, "setmaxnreg.inc", kRegisters);
  }

  void note_stage(const StageNote& note) { notes.push_back(note); }

 private:
  static std::uint32_t at(Mbarrier b) { return b.address.value; }
  static std::uint32_t at_low(RemoteMbarrier b) { return b.address.value & 0xFFFFFFU; }

  template <class... Words>
  void add(SourceSite site, const char* name, const Words&... words) {
    std::ostringstream line;
    line << (elected_ ? "one: " : "") << name;
    ((line << ' ' << words), ...);
    log.push_back(line.str());
    sites.push_back(site);
  }

  bool elected_ = false;
  std::map<std::uint32_t, std::uint32_t> words_;
};

static_assert(Machine<RecordingMachine>);

}  // namespace warptwin::tests
