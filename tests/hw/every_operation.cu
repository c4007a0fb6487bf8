// Every operation of the machine, in every form: what the scenarios leave out must assemble too.
// Never run. A kernel may hold one cta_group only, so there is one for each.

#include "hw/cuda/machine.hpp"

namespace warptwin::hw {
namespace {

template <class Element>
__device__ void store_row(CudaMachine& machine, SharedAddress base, CudaFragment<16>& fragment) {
  const SharedTile<Element> tile{base, 128, 16, Swizzle::kNone};
  machine.st_shared(tile, 0, 0, fragment);
  CudaFragment<16> read;
  machine.ld_shared_row(tile, 0, 0, read);
  fragment.combine(read, [](float value, float with) { return value + with; });
}

template <std::uint32_t kRegisters>
__device__ void store_halves(CudaMachine& machine, SharedAddress base) {
  CudaFragment<kRegisters> fragment;
  machine.tcgen05_ld_16x32bx2(fragment, TmemAddress{});
  machine.tcgen05_wait_ld(fragment);
  machine.st_shared<LaneHolds::kHalfRow>(
      SharedTile<bf16>{base, 64, 64, Swizzle::k128B}, 16 * machine.warp_index(), 0, fragment);
  machine.st_shared<LaneHolds::kHalfColumn>(
      SharedTile<bf16>{base, 64, 64, Swizzle::k128B}, 0, 16 * machine.warp_index(), fragment);
}

template <std::uint32_t kRegisters>
__device__ void move_tensor_memory(CudaMachine& machine, TmemAddress tmem) {
  CudaFragment<kRegisters> fragment;
  machine.tcgen05_ld_32x32b(fragment, tmem);
  machine.tcgen05_wait_ld(fragment);
  fragment.transform([](float value) { return 2.0F * value; });
  machine.tcgen05_st_32x32b(tmem, fragment);
  machine.tcgen05_wait_st();
}

template <class Columns>
__device__ void load_matrices(CudaMachine& machine, SharedAddress base, Columns columns) {
  CudaAccumulator<Columns> d{machine, columns};
  machine.tcgen05_ld_16x256b(d, TmemAddress{});
  machine.tcgen05_wait_ld(d);
  machine.st_shared_accumulator(SharedTile<bf16>{base, 128, 64, Swizzle::k128B}, 0, d, 0);
}

// All forms of wgmma; elsewhere than on sm_90a they trap.
template <class Element, std::uint32_t... kColumns>
__device__ void multiply_by_warpgroup(CudaMachine& machine, SharedAddress base) {
  const SharedTile<bf16> tile{base, 256, 64, Swizzle::k128B};
  const auto operand = WgmmaSmemDescriptor<Element>::k_major({base, 256, 32, Swizzle::k32B}, 0, 0);
  const auto multiply = [&](auto columns) {
    CudaAccumulator<decltype(columns)> d{machine, columns};
    d.fill(1.0F);
    machine.wgmma_fence();
    machine.wgmma(d, operand, operand, true);
    machine.wgmma_commit_group();
    machine.wgmma_wait_group<1>();
    machine.wgmma_wait_group<0>(d);
    d.transform([](float value) { return 2.0F * value; });
    machine.st_shared_accumulator(tile, 16 * machine.warp_index(), d, 0);
    machine.st_shared_accumulator(
        SharedTile<f16>{base, 64, 16, Swizzle::k32B}, 16 * machine.warp_index(), d, 0);
  };
  (multiply(Extent<kColumns>{}), ...);
}

template <std::uint32_t kRank>
__device__ void copy_boxes(CudaMachine& machine,
                           const CUtensorMap& map,
                           SharedAddress smem,
                           CopyTarget target,
                           std::int32_t at) {
  Coordinates<kRank> coordinates;
  for (std::int32_t& coordinate : coordinates.at) {
    coordinate = at;
  }
  machine.cp_async_bulk_tensor_load(smem, map, coordinates, target);
  machine.cp_async_bulk_tensor_store(map, coordinates, smem);
  if constexpr (kRank == 2) {
    machine.prefetch_tensormap(map);
    machine.cp_async_bulk_prefetch_tensor(map, coordinates);
  }
}

struct ScaledKind {
  MmaKind kind;
  ElementType type;
};

template <CtaGroup kGroup>
__device__ void tensor_core(
    CudaMachine& machine, const CUtensorMap& map, SharedAddress base, Mbarrier bar, CtaMask mask) {
  machine.tcgen05_alloc(kGroup, base, 512);
  const TmemAddress tmem{machine.ld_shared_u32(base)};
  machine.tcgen05_relinquish_alloc_permit(kGroup);
  for (const ElementType type :
       {ElementType::kF16, ElementType::kBf16, ElementType::kTf32, ElementType::kF8E4M3}) {
    const auto instruction = UmmaInstructionDescriptor::make(type, type, 128 * ctas_in(kGroup), 64);
    const auto tile = UmmaSmemDescriptor::make(base, 16, 1024, Swizzle::k128B);
    machine.tcgen05_mma(
        kGroup, tmem, tile, tile.advanced(32), instruction, type != ElementType::kF16);
  }
  machine.tcgen05_mma(kGroup,
                      tmem,
                      tmem.at_column(256),
                      UmmaSmemDescriptor::make(base, 16, 1024, Swizzle::k128B),
                      UmmaInstructionDescriptor::make(
                          ElementType::kBf16, ElementType::kBf16, 128 * ctas_in(kGroup), 64),
                      true);
  for (const auto& [kind, type] : {ScaledKind{MmaKind::kMxf8f6f4, ElementType::kF8E4M3},
                                   ScaledKind{MmaKind::kMxf4, ElementType::kF4E2M1},
                                   ScaledKind{MmaKind::kMxf4nvf4, ElementType::kF4E2M1}}) {
    const auto tile = UmmaSmemDescriptor::make(base, 16, 1024, Swizzle::k128B);
    machine.tcgen05_mma_block_scale(
        kGroup,
        tmem,
        tile,
        tile,
        UmmaInstructionDescriptor::make_block_scaled(kind, type, 128 * ctas_in(kGroup), 64),
        tmem.at_column(256),
        tmem.at_column(260),
        true);
  }
  for (const TmemCopy shape :
       {TmemCopy::k128x256b, TmemCopy::k128x128b, TmemCopy::k32x128bWarpx4}) {
    machine.tcgen05_cp(
        kGroup, tmem, UmmaSmemDescriptor::make(base, 16, 128, Swizzle::kNone), shape);
  }
  machine.tcgen05_commit(kGroup, bar);
  machine.tcgen05_commit_multicast(kGroup, bar, mask);
  copy_boxes<2>(machine, map, base, {bar, {}, kGroup}, 1);
  copy_boxes<2>(machine, map, base, {bar, mask, kGroup}, 2);
  copy_boxes<3>(machine, map, base, {bar, {}, kGroup}, 3);
  copy_boxes<3>(machine, map, base, {bar, mask, kGroup}, 4);
  machine.tcgen05_fence_before_thread_sync();
  machine.tcgen05_fence_after_thread_sync();
  move_tensor_memory<1>(machine, tmem);
  move_tensor_memory<16>(machine, tmem);
  move_tensor_memory<32>(machine, tmem);
  move_tensor_memory<128>(machine, tmem);
  machine.tcgen05_dealloc(kGroup, tmem, 512);
}

// Cluster launch control and dependent launches.
__device__ void launch(CudaMachine& machine,
                       SharedAddress base,
                       Mbarrier bar,
                       std::uint32_t* words) {
  machine.griddepcontrol_launch_dependents();
  machine.griddepcontrol_wait();
  machine.clc_try_cancel(base, bar, false);
  machine.clc_try_cancel(base, bar, true);
  machine.sync_warp();
  words[1] = machine.clc_is_canceled(base) ? machine.clc_first_cta(base) : 0;
}

__device__ void barriers_and_fences(CudaMachine& machine, Mbarrier bar) {
  machine.setmaxnreg_dec<24>();
  machine.setmaxnreg_inc<240>();
  machine.elect_one([&] {
    machine.mbarrier_init(bar, 1);
    machine.fence_mbarrier_init();
  });
  machine.for_lanes(2, [&](std::uint32_t lane) {
    machine.mbarrier_arrive(machine.mapa(bar, lane), 2, kReleaseCluster);
    machine.mbarrier_arrive(machine.mapa(bar, lane), 2, kRelaxedCluster);
    machine.mbarrier_arrive_expect_tx(machine.mapa(bar, lane), 16);
  });
  machine.sync_warp();
  for (const Ordering ordering : {kReleaseCta, kReleaseCluster, kRelaxedCta, kRelaxedCluster}) {
    machine.mbarrier_arrive(bar, 1, ordering);
  }
  machine.mbarrier_arrive_drop(bar);
  machine.mbarrier_arrive_no_complete(bar, 1);
  machine.mbarrier_arrive_expect_tx(bar, 16);
  machine.mbarrier_expect_tx(bar, 16);
  machine.mbarrier_complete_tx(bar, 16);
  for (const Ordering ordering : {kAcquireCta, kAcquireCluster, kRelaxedCta, kRelaxedCluster}) {
    machine.mbarrier_wait_parity(bar, WaitPhase::number(1), ordering);
    if (machine.mbarrier_try_wait_parity(bar, WaitPhase::parity_only(0), ordering)) {
      machine.mbarrier_inval(bar);
    }
  }
  for (const Scope scope : {Scope::kCta, Scope::kCluster, Scope::kGpu}) {
    machine.fence({Semantics::kAcquire, scope});
    machine.fence({Semantics::kRelease, scope});
    machine.fence({Semantics::kAcqRel, scope});
  }
  for (const ProxySpace space : {ProxySpace::kAll,
                                 ProxySpace::kSharedCta,
                                 ProxySpace::kSharedCluster,
                                 ProxySpace::kGlobal}) {
    machine.fence_proxy_async(space);
  }
  machine.bar_sync(1, 64);
  machine.bar_arrive(2, 64);
  machine.cta_sync();
  machine.barrier_cluster_arrive(kRelaxedCluster);
  machine.barrier_cluster_wait();
  machine.barrier_cluster_arrive(kReleaseCluster);
  machine.barrier_cluster_wait();
}

// Of each size, by groups and counted by an mbarrier.
__device__ void copies_by_lanes(CudaMachine& machine, SharedAddress base, GlobalAddress global) {
  const Mbarrier bar{base};
  const auto copy = [&](auto bytes) {
    machine.cp_async(bytes, [&](std::uint32_t lane) {
      return CopyOfLane{base + lane * bytes, {global.value + lane * bytes}, lane};
    });
  };
  copy(Extent<4>{});
  copy(Extent<8>{});
  copy(Extent<16>{});
  machine.cp_async_commit_group();
  machine.cp_async_wait_group<1>();
  machine.cp_async_mbarrier_arrive_noinc(bar);
  machine.cp_async_mbarrier_arrive(bar);
}

// What goes through registers, and is computed in them.
__device__ void registers(CudaMachine& machine, SharedAddress base) {
  CudaFragment<16> fragment;
  machine.tcgen05_ld_32x32b(fragment, TmemAddress{});
  machine.tcgen05_wait_ld(fragment);
  store_row<f32>(machine, base, fragment);
  store_row<tf32>(machine, base, fragment);
  store_row<f16>(machine, base, fragment);
  store_row<bf16>(machine, base, fragment);
  machine.st_shared<LaneHolds::kColumn>(
      SharedTile<bf16>{base, 16, 64, Swizzle::k128B}, 0, machine.warp_index(), fragment);
  store_row<f8e4m3>(machine, base, fragment);
  store_row<f8e5m2>(machine, base, fragment);
  store_halves<4>(machine, base);
  load_matrices(machine, base, Extent<8>{});
  load_matrices(machine, base, Extent<32>{});
  load_matrices(machine, base, Extent<64>{});
  load_matrices(machine, base, Extent<>{48});
  store_halves<8>(machine, base);
  store_halves<16>(machine, base);

  multiply_by_warpgroup<bf16, 16, 32, 64, 96, 128, 160, 192, 224, 256>(machine, base);
  multiply_by_warpgroup<f8e4m3, 16, 32, 64, 96, 128, 160, 192, 224, 256>(machine, base);

  CudaFragment<1> rows;
  rows.fill(1.0F);
  fragment.exp2();
  fragment.transform_columns(
      [](float value, std::uint32_t column) { return value * static_cast<float>(column); });
  fragment.transform_places([](float value, std::uint32_t row, std::uint32_t column) {
    return row < column ? 0.0F : value;
  });
  fragment.combine_rows(rows, [](float value, float of_row) { return value + of_row; });
  fragment.fold_into(rows, [](float of_row, float value) { return of_row + value; });
  machine.st_shared(SharedTile<f32>{base, 128, 1, Swizzle::kNone}, 0, 0, rows);
  machine.ld_shared_row(SharedTile<f32>{base, 128, 1, Swizzle::kNone}, 0, 0, rows);
  if (rows.any([](float value) { return value > 0.0F; })) {
    machine.tcgen05_st_32x32b(TmemAddress{}, fragment.packed<bf16>());
    machine.tcgen05_st_32x32b(TmemAddress{}, fragment.packed<f8e4m3>());
  }
}

}  // namespace

__global__ void __launch_bounds__(384, 1) every_operation(const __grid_constant__ CUtensorMap map,
                                                          std::uint32_t* scratch,
                                                          std::uint32_t* words) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const SharedAddress base = ptx::shared_address(shared);
  CudaMachine machine{scratch, &map, base};
  const Mbarrier bar{base};
  const GlobalAddress global{reinterpret_cast<std::uint64_t>(words)};
  const CtaMask mask{static_cast<std::uint16_t>(machine.cluster_size())};

  launch(machine, base, bar, words);
  barriers_and_fences(machine, bar);

  tensor_core<CtaGroup::kOne>(machine, map, base, bar, mask);
  copy_boxes<1>(machine, map, base, {bar, {}}, 1);
  copy_boxes<4>(machine, map, base, {bar, {}}, 1);
  copy_boxes<5>(machine, map, base, {bar, mask}, 1);
  machine.cp_async_bulk_load(base, global, 16, {bar, {}});
  machine.cp_async_bulk_load(base, global, 16, {bar, mask});
  machine.cp_async_bulk_store(global, base, 16);
  machine.cp_async_bulk_commit_group();
  machine.cp_async_bulk_wait_group<0>();
  machine.cp_async_bulk_wait_group_read<1>();

  copies_by_lanes(machine, base, global);

  registers(machine, base);

  machine.st_shared_u32(base, machine.ld_acquire_global_u32(global) + machine.cluster_index());
  machine.st_shared_u32(base, std::bit_cast<std::uint32_t>(machine.ld_global_f32(global)));
  machine.st_release_global_u32(global, machine.cluster_count() + machine.cta_rank());
  machine.red_add_release_global_u32(global, machine.warp_index());
  machine.wait_global_u32(global, 1);
  machine.note_stage({});
}

__global__ void __launch_bounds__(192, 1)
    every_operation_of_a_pair(const __grid_constant__ CUtensorMap map, std::uint32_t* scratch) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const SharedAddress base = ptx::shared_address(shared);
  CudaMachine machine{scratch, &map, base};
  tensor_core<CtaGroup::kTwo>(machine, map, base, Mbarrier{base}, CtaMask{3});
}

}  // namespace warptwin::hw
