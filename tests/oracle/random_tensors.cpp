// Protocols of tensor maps, operand layouts, scale factors and rows that registers bring.

#include <algorithm>
#include <array>

#include "common/kernel/reference.hpp"

#include "tests/oracle/random_plan.hpp"

namespace warptwin::sim::plan {

namespace {

constexpr std::uint32_t kTileRows = 64;

std::uint32_t add_tensor(Plan& plan, const TensorSpec& spec) {
  plan.program.workload.tensors.push_back(spec);
  return static_cast<std::uint32_t>(plan.program.workload.tensors.size() - 1);
}

std::uint32_t add_map(Plan& plan, const TensorMapSpec& spec) {
  plan.program.workload.maps.push_back(spec);
  return static_cast<std::uint32_t>(plan.program.workload.maps.size() - 1);
}

std::uint64_t described(std::uint32_t tile, Swizzle swizzle) {
  const std::uint32_t span = static_cast<std::uint32_t>(swizzle);
  return UmmaSmemDescriptor::make(SharedAddress{tile}, 16, 8 * span, swizzle).bits;
}

}  // namespace

// Tiles come through a tensor map, whole or in halves, and an MMA reads them as they lie. A second
// map has other swizzles: nobody uses it.
void tensor_ring(Plan& plan) {
  Dice& dice = plan.dice;
  constexpr Swizzle kSwizzles[] = {Swizzle::k32B, Swizzle::k64B, Swizzle::k128B};
  const Swizzle swizzle = kSwizzles[dice.below(3)];
  const std::uint32_t span = static_cast<std::uint32_t>(swizzle);
  const std::uint32_t bytes = kTileRows * span;
  const std::uint32_t tiles = ceil_div(bytes, kOperandBytes);
  const std::uint32_t stages = tiles == 1 ? dice.between(1, 2) : 1;
  const std::uint32_t trips = dice.between(1, stages + 1);
  const std::uint32_t parts = dice.chance(40) ? 2 : 1;
  const Major b_major = dice.chance(25) ? Major::kMn : Major::kK;
  const std::uint32_t columns = span / 2;  // of bf16
  const std::uint32_t operand =
      add_tensor(plan, matrix("operand", TensorUse::kInput, 2 * kTileRows, 128));
  const std::uint32_t map = add_map(plan, {operand, kTileRows / parts, columns, swizzle});
  add_map(plan, {operand, kTileRows / parts, columns, Swizzle::kNone});
  std::array<std::uint32_t, 2> full{};
  std::array<std::uint32_t, 2> empty{};
  for (std::uint32_t s = 0; s < stages; ++s) {
    full[s] = plan.bar(1);
    empty[s] = plan.bar(1);
  }
  const std::uint32_t done = plan.bar(1);
  const std::uint32_t first = plan.tiles;
  plan.tiles += stages * tiles;
  plan.tmem = true;
  const auto instruction = UmmaInstructionDescriptor::make(
                               ElementType::kBf16, ElementType::kBf16, kTileRows, kOutputColumns)
                               .with_majors(Major::kK, b_major);
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    tmem_begin(plan, cta, 32);
    WarpWriter producer = plan.warp(cta, 0);
    WarpWriter mma = plan.warp(cta, 1);
    for (std::uint32_t i = 0; i < trips; ++i) {
      const std::uint32_t s = i % stages;
      const std::uint32_t tile = Places::tile(first + s * tiles);
      if (i >= stages) {
        wait(plan, producer, empty[s], i / stages - 1);
      }
      producer.arrive_expect(full[s], bytes);
      for (std::uint32_t part = 0; part < parts; ++part) {
        const std::uint32_t row = part * kTileRows / parts;
        producer.tensor_load(
            tile + row * span, map, i % 2 * columns, (i / 2 * kTileRows) + row, full[s]);
      }
      wait(plan, mma, full[s], i / stages);
      mma.fence_after();
      mma.multiply(0, described(tile, swizzle), described(tile, swizzle), instruction, i > 0);
      if (i + stages < trips) {
        mma.commit(empty[s]);
      }
    }
    mma.commit(done);
    wait(plan, mma, done, 0);
    mma.fence_after();
    tmem_end(plan, cta, 32);
  }
}

// One warp changes a tensor map, another copies through it; perhaps it has done so before.
void map_change(Plan& plan) {
  Dice& dice = plan.dice;
  constexpr std::uint32_t kRows = 4;
  constexpr std::uint32_t kBoxBytes = 16 * kRows;
  const std::uint32_t table =
      add_tensor(plan, matrix("table", TensorUse::kScratch, 2 * kRows, 4, ElementType::kF32));
  const std::uint64_t address = plan.program.buffer_address(table);
  TensorMapSpec box{table, kRows, 4, Swizzle::kNone};
  const std::uint32_t map = add_map(plan, box);
  add_map(plan, box);
  const std::uint32_t landed = plan.bar(1);
  const std::uint32_t told = plan.bar(1);
  const std::uint32_t tile = Places::tile(plan.tiles++);
  const bool before = dice.chance(50);
  const bool stores = dice.chance(30);
  const bool alone = dice.chance(25);  // who changes it copies
  WarpWriter writer = plan.warp(0, 0);
  WarpWriter reader = plan.warp(0, alone ? 0 : 1);
  const auto load = [&](std::uint32_t phase) {
    reader.arrive_expect(landed, kBoxBytes);
    reader.tensor_load(tile, map, 0, 0, landed);
    wait(plan, reader, landed, phase);
  };
  if (before) {
    load(0);
    if (stores) {
      reader.tensor_store(map, 0, 4, tile);
      reader.commit_group();
      reader.wait_group(0, dice.chance(50));
    }
    if (!alone) {
      cta_sync(plan, 0);
    }
  }
  writer.replace_map(map, address);
  writer.release_maps();
  if (!alone) {
    writer.sync_warp();
    writer.arrive(told);
    wait(plan, reader, told, 0);
  }
  reader.acquire_map(map);
  load(before ? 1 : 0);
  reader.read(tile);
}

// Operands and scale factors are copied; the factors go on to tensor memory; an MMA takes all.
void scaled_mma(Plan& plan) {
  Dice& dice = plan.dice;
  constexpr std::uint32_t kScalesA = 32, kScalesB = 36, kColumns = 64;
  constexpr std::uint32_t kScaleBytes = 512;
  const std::uint32_t trips = dice.between(1, 2);
  const std::uint32_t landed = plan.bar(1);
  const std::uint32_t done = plan.bar(1);
  const std::uint32_t tile = Places::tile(plan.tiles++);
  const std::uint32_t scales = Places::tile(plan.tiles++);
  plan.tmem = true;
  const bool fours = dice.chance(50);
  const auto instruction = UmmaInstructionDescriptor::make_block_scaled(
      fours ? MmaKind::kMxf4 : MmaKind::kMxf8f6f4,
      fours ? ElementType::kF4E2M1 : ElementType::kF8E4M3,
      kTmemLanes,
      kOutputColumns);
  const std::uint64_t factors =
      UmmaSmemDescriptor::make(SharedAddress{scales}, 16, 128, Swizzle::kNone).bits;
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    tmem_begin(plan, cta, kColumns);
    WarpWriter mma = plan.warp(cta, 0);
    mma.arrive_expect(landed, kOperandBytes + kScaleBytes);
    mma.load(tile, plan.source(), kOperandBytes, landed);
    mma.load(scales, plan.source(), kScaleBytes, landed);
    wait(plan, mma, landed, 0);
    for (std::uint32_t i = 0; i < trips; ++i) {
      mma.cp(kScalesA, factors, TmemCopy::k32x128bWarpx4);
      mma.cp(kScalesB, factors, TmemCopy::k32x128bWarpx4);
      mma.multiply_scaled(
          0, plain_operand(tile), plain_operand(tile), instruction, kScalesA, kScalesB);
      mma.commit(done);
      wait(plan, mma, done, i);
    }
    mma.fence_after();
    tmem_end(plan, cta, kColumns);
  }
}

// A warp's registers go to a tile, and from there to global memory, through a map or not.
void row_store(Plan& plan) {
  Dice& dice = plan.dice;
  constexpr std::uint32_t kRegisters = 16;
  constexpr std::uint32_t kBytes = kWarpLanes * 4 * kRegisters;
  const bool mapped = dice.chance(60);
  const bool used = dice.chance(30);
  const Swizzle swizzle = mapped && dice.chance(70) ? Swizzle::k64B : Swizzle::kNone;
  const std::uint32_t result = add_tensor(
      plan,
      matrix(
          "result", TensorUse::kScratch, kWarpLanes * plan.ctas(), kRegisters, ElementType::kF32));
  if (mapped) {
    const Swizzle other = swizzle == Swizzle::kNone ? Swizzle::k64B : Swizzle::kNone;
    add_map(plan, {result, kWarpLanes, kRegisters, swizzle});
    add_map(plan, {result, kWarpLanes, kRegisters, other});
  }
  const std::uint32_t tile = Places::tile(plan.tiles++);
  plan.tmem = true;
  for (std::uint32_t cta = 0; cta < plan.ctas(); ++cta) {
    tmem_begin(plan, cta, 32);
    WarpWriter warp = plan.warp(cta, 0);
    const std::uint32_t at = (plan.order[0] % 4 * kWarpLanes) << 16;
    warp.st(at, kRegisters, 0);
    warp.wait_st();
    warp.ld(at, kRegisters, 1);
    warp.wait_ld(1, kRegisters);
    if (used) {
      warp.use(1, kRegisters);
    }
    warp.rows(tile, 1, kRegisters, swizzle);
    warp.fence_proxy().operation.lanes = kWarpLanes;
    warp.sync_warp();
    if (mapped) {
      warp.tensor_store(0, 0, kWarpLanes * cta, tile);
    } else {
      warp.store(plan.program.buffer_address(result) + std::uint64_t{kBytes} * cta, tile, kBytes);
    }
    warp.commit_group();
    warp.wait_group(0, dice.chance(50));
    tmem_end(plan, cta, 32);
  }
}

}  // namespace warptwin::sim::plan
