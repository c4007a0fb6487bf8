// Micro-programs about layouts: who writes a tile and who reads it mean the same.

#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

namespace {

// A tile is loaded to `to`, and an MMA reads it through a descriptor.
Body load_and_multiply(SharedAddress to, const SimTensorMap& map, UmmaSmemDescriptor descriptor) {
  return after_init(
      1, with_tmem([=](M& m, TmemAddress at) {
        m.elect_one([&] {
          m.mbarrier_arrive_expect_tx(kBar, map.number == 0 ? 16384 : 8192);
          m.cp_async_bulk_tensor_load(to, map, Coordinates<2>{{0, 0}}, CopyTarget{kBar});
        });
        wait(m, 0);
        m.tcgen05_mma(
            CtaGroup::kOne,
            at,
            descriptor,
            descriptor,
            UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 64, 16),
            false);
        complete(m, 1);
      }));
}

// A tile of 72 rows is loaded in slices of 4, and an MMA reads the 64 from `start` on.
Body load_slices_and_multiply(SharedAddress start) {
  return after_init(
      1, with_tmem([=](M& m, TmemAddress at) {
        m.elect_one([&] {
          m.mbarrier_arrive_expect_tx(kBar, 72 * 128);
          for (std::uint32_t row = 0; row < 72; row += 4) {
            m.cp_async_bulk_tensor_load(kTile + row * 128,
                                        kMapSlice,
                                        Coordinates<2>{{0, static_cast<std::int32_t>(row)}},
                                        CopyTarget{kBar});
          }
        });
        wait(m, 0);
        const auto descriptor = UmmaSmemDescriptor::make(start, 16, 1024, Swizzle::k128B);
        m.tcgen05_mma(
            CtaGroup::kOne,
            at,
            descriptor,
            descriptor,
            UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 64, 16),
            false);
        complete(m, 1);
      }));
}

// Two panels of 128 rows are loaded, the first 32 columns of the matrix and the next; B is 16 rows
// of K from `start` on, or what `major` makes of them.
Body multiply_panels(SharedAddress start, std::uint32_t leading, std::uint32_t n, Major major) {
  return after_init(
      1, with_tmem([=](M& m, TmemAddress at) {
        constexpr std::uint32_t kPanelBytes = 128 * 64;
        m.elect_one([&] {
          m.mbarrier_arrive_expect_tx(kBar, 2 * kPanelBytes);
          m.cp_async_bulk_tensor_load(kTile, kMap64, Coordinates<2>{{0, 0}}, CopyTarget{kBar});
          m.cp_async_bulk_tensor_load(
              kTile + kPanelBytes, kMap64, Coordinates<2>{{32, 0}}, CopyTarget{kBar});
        });
        wait(m, 0);
        m.tcgen05_mma(CtaGroup::kOne,
                      at,
                      UmmaSmemDescriptor::make(kTile, 16, 512, Swizzle::k64B),
                      UmmaSmemDescriptor::make(start, leading, 512, Swizzle::k64B),
                      UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 64, n)
                          .with_majors(Major::kK, major),
                      false);
        complete(m, 1);
      }));
}

UmmaSmemDescriptor describe(SharedAddress start, std::uint32_t stride, Swizzle swizzle) {
  return UmmaSmemDescriptor::make(start, 16, stride, swizzle);
}

}  // namespace

void add_layouts(List& list) {
  const Body good = load_and_multiply(kTile, kMap128, describe(kTile, 1024, Swizzle::k128B));
  list.add("LAYOUT_SWIZZLE",
           1,
           load_and_multiply(kTile, kMap128, describe(kTile, 1024, Swizzle::k64B)),
           good);
  list.add("LAYOUT_SWIZZLE",
           1,
           load_and_multiply(kTile, kMap64, describe(kTile, 1024, Swizzle::k128B)),
           load_and_multiply(kTile, kMap64, describe(kTile, 512, Swizzle::k64B)));
  list.add("LAYOUT_STRIDE",
           1,
           load_and_multiply(kTile, kMap128, describe(kTile, 512, Swizzle::k128B)),
           good);
  list.add("LAYOUT_START",
           1,
           load_and_multiply(kTile, kMap128, describe(kTile + 16, 1024, Swizzle::k128B)),
           load_and_multiply(kTile, kMap128, describe(kTile + 32, 1024, Swizzle::k128B)));
  // A tile may begin in the middle of a pattern, and so may the rows that are read of it.
  list.add("LAYOUT_START",
           1,
           load_and_multiply(kTile + 128, kMap128, describe(kTile + 144, 1024, Swizzle::k128B)),
           load_and_multiply(kTile + 128, kMap128, describe(kTile + 128, 1024, Swizzle::k128B)));
  list.add("LAYOUT_START",
           1,
           load_slices_and_multiply(kTile + 512 + 16),
           load_slices_and_multiply(kTile + 512));
  // The last 16 rows of the first panel.
  const SharedAddress last_rows = kTile + 112 * 64;
  list.add("LAYOUT_MAJOR",
           1,
           multiply_panels(last_rows, 8192, 24, Major::kK),
           multiply_panels(last_rows, 8192, 24, Major::kMn));
  list.add("LAYOUT_MAJOR",
           1,
           multiply_panels(kTile, 8192 + 512, 64, Major::kMn),
           multiply_panels(kTile, 8192, 64, Major::kMn));
  list.add("LAYOUT_STRIDE",
           1,
           multiply_panels(kTile, 16, 64, Major::kMn),
           multiply_panels(kTile, 8192, 64, Major::kMn));
  list.add("LAYOUT_START",
           1,
           multiply_panels(kTile + 4 * 64, 8192, 64, Major::kMn),
           multiply_panels(kTile + 8 * 64, 8192, 64, Major::kMn));
  // Scale factors, 16 bytes to a row, and their copy to tensor memory.
  const auto copied = [](std::uint32_t stride) {
    return after_init(
        1, with_tmem([=](M& m, TmemAddress at) {
          m.elect_one([&] {
            m.mbarrier_arrive_expect_tx(kBar, 2048);
            m.cp_async_bulk_tensor_load(kTile, kMap16, Coordinates<2>{{0, 0}}, CopyTarget{kBar});
          });
          wait(m, 0);
          m.tcgen05_cp(CtaGroup::kOne,
                       at,
                       describe(kTile, stride, Swizzle::kNone),
                       TmemCopy::k32x128bWarpx4);
          complete(m, 1);
        }));
  };
  list.add("LAYOUT_STRIDE", 1, copied(512), copied(128));
  // Rows that an epilogue writes, and the tensor map that stores them.
  const auto stored = [](Swizzle swizzle, SharedAddress tile) {
    return with_tmem([=](M& m, TmemAddress at) {
      store(m, at);
      SimFragment<16> registers;
      m.tcgen05_ld_32x32b(registers, at);
      m.tcgen05_wait_ld(registers);
      for (std::uint32_t row = 0; row < 128; row += 32) {
        for (std::uint32_t column = 0; column < 64; column += 16) {
          m.st_shared(SharedTile<bf16>{tile, 128, 64, swizzle}, row, column, registers);
        }
      }
      m.fence_proxy_async(ProxySpace::kSharedCta);
      m.sync_warp();
      m.elect_one([&] {
        m.cp_async_bulk_tensor_store(kMap128, Coordinates<2>{{0, 0}}, tile);
        m.cp_async_bulk_commit_group();
        m.cp_async_bulk_wait_group<0>();
      });
    });
  };
  const Body stored_well = stored(Swizzle::k128B, kTile);
  list.add("LAYOUT_SWIZZLE", 1, stored(Swizzle::kNone, kTile), stored_well);
  list.add("LAYOUT_ALIGN", 1, stored(Swizzle::k128B, kTile + 512), stored_well);
}

}  // namespace warptwin::sim::micro
