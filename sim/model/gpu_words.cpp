// Words and rows of shared memory, words of global memory, tensor maps, registers.

#include <bit>
#include <cstring>
#include <utility>

#include "common/machine/wgmma_descriptor.hpp"

#include "sim/model/atomic_update.hpp"
#include "sim/model/gpu.hpp"
#include "sim/model/word_test.hpp"

namespace warptwin::sim {

namespace {

// Whether some byte of a word is data that was not moved.
bool any_unknown(const Cta& cta, std::uint32_t address) {
  bool any = false;
  for (std::uint32_t at = address; at < address + 4 && !cta.unknown.empty(); ++at) {
    any = any || cta.unknown[at];
  }
  return any;
}
bool any_unknown(const GlobalMemory& memory, std::uint64_t address, std::uint32_t size) {
  bool any = false;
  for (std::uint64_t at = address; at < address + size; ++at) {
    any = any || memory.unknown(at);
  }
  return any;
}

}  // namespace

Gpu::Outcome Gpu::shared_word(WarpSlot slot, Operation& op) {
  auto& word = op.as<operands::SharedWord>();
  Warp& warp = warps_[slot];
  Event event = event_of(slot, op);
  event.bytes = 4;
  if (word.address % 4 != 0 || word.address + 4 > config_.shared_bytes) {
    fail(event, word.address % 4 != 0 ? Fault::kMisaligned : Fault::kOutOfRange, true);
  } else {
    if (find_barrier(warp.cta, word.address & ~7U) != nullptr) {
      event.fault = Fault::kOverlap;
    }
    Cta& cta = ctas_[warp.cta];
    std::byte* at = cta.shared.data() + word.address;
    if (op.op == Op::kSharedLoad) {
      std::memcpy(&op.result, at, 4);
      word.unknown = any_unknown(cta, word.address);
      if (word.unknown && !config_.moves_data) {
        op.result = unknown_word(word.address);
      }
    } else {
      std::memcpy(at, &word.value, 4);
      set_unknown(cta, word.address, word.address + 4, false);
      ++changes_;
    }
  }
  emit(event);
  return Outcome::kDone;
}

namespace {

// The values of a warp's part of an accumulator that lie in the columns of the tile.
void store_accumulator(const Operation& op, std::byte* shared) {
  const auto& rows = op.as<operands::SharedRows>();
  const std::uint32_t size = bytes_of(rows.element);
  const std::uint32_t registers = op.fragment->registers;
  for (std::size_t i = 0; i < op.fragment->bits.size(); ++i) {
    const WgmmaCell cell = WgmmaCell::of(static_cast<std::uint32_t>(i / registers),
                                         static_cast<std::uint32_t>(i % registers));
    const std::uint32_t column = cell.column - rows.column;  // of the tile; wraps before its first
    if (column < rows.row_bytes / size) {
      const std::uint32_t linear = (rows.row + cell.row) * rows.row_bytes + column * size;
      const std::uint32_t bits = encode(rows.element, std::bit_cast<float>(op.fragment->bits[i]));
      std::memcpy(shared + swizzled(rows.tile + linear, rows.swizzle), &bits, size);
    }
  }
}

}  // namespace

Gpu::Outcome Gpu::shared_row(WarpSlot slot, const Operation& op) {
  const auto& rows = op.as<operands::SharedRows>();
  Warp& warp = warps_[slot];
  Event event = event_of(slot, op);
  const std::uint32_t size = bytes_of(rows.element);
  const std::uint32_t registers = op.fragment == nullptr ? 0 : op.fragment->registers;
  const std::uint32_t lines = rows.half_rows ? kWarpLanes / 2 : kWarpLanes;  // of the lanes
  const std::uint32_t along = kWarpLanes / lines * registers;                // values of each
  auto& said = event.set<payload::Rows>();
  said.pitch = rows.row_bytes;
  said.row = rows.row;
  said.column = rows.of_accumulator ? 0 : rows.column;
  said.element_bytes = static_cast<std::uint8_t>(size);
  said.swizzle = static_cast<std::uint8_t>(rows.swizzle);
  said.rows = rows.by_columns ? along : lines;  // and the bytes of each
  event.bytes = (rows.by_columns ? lines : along) * size;
  if (rows.of_accumulator) {
    said.rows = kWgmmaWarpRows;
    event.bytes = rows.row_bytes;
  }
  const std::uint32_t last = (rows.row + said.rows) * rows.row_bytes;
  if (rows.tile + last > config_.shared_bytes) {
    fail(event, Fault::kOutOfRange, true);
    emit(event);
    return Outcome::kDone;
  }
  const bool load = op.op == Op::kSharedLoad;
  if (op.fragment != nullptr) {
    const bool of_wgmma = rows.of_accumulator && !op.fragment->of_tensor_memory;
    const Fault early = of_wgmma ? Fault::kUnwaited : Fault::kUnsettled;
    event.fault = load || op.fragment->settled ? Fault::kNone : early;
    op.fragment->settled = load || op.fragment->settled;
  }
  if (!config_.moves_data && !load) {
    set_unknown(ctas_[warp.cta],
                rows.tile + rows.row * rows.row_bytes,
                rows.tile + (rows.row + said.rows) * rows.row_bytes,
                true);
  }
  if (config_.moves_data && rows.of_accumulator) {
    store_accumulator(op, ctas_[warp.cta].shared.data());
  } else if (config_.moves_data && op.fragment != nullptr) {
    std::byte* shared = ctas_[warp.cta].shared.data();
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      for (std::uint32_t i = 0; i < registers; ++i) {
        std::uint32_t& cell = op.fragment->bits[std::size_t{lane} * registers + i];
        const std::uint32_t line = lane % lines;
        const std::uint32_t place = lane / lines * registers + i;
        const auto [down, right] =
            rows.by_columns ? std::pair{place, line} : std::pair{line, place};
        const std::uint32_t linear =
            (rows.row + down) * rows.row_bytes + (rows.column + right) * size;
        std::byte* at = shared + swizzled(rows.tile + linear, rows.swizzle);
        std::uint32_t bits = 0;
        if (load) {
          std::memcpy(&bits, at, size);
          cell = std::bit_cast<std::uint32_t>(decode(rows.element, bits));
        } else {
          bits = encode(rows.element, std::bit_cast<float>(cell));
          std::memcpy(at, &bits, size);
        }
      }
    }
  }
  ++changes_;
  emit(event);
  return Outcome::kDone;
}

Gpu::Outcome Gpu::global_load(WarpSlot slot, Operation& op) {
  const std::uint64_t address = op.as<operands::GlobalWord>().address;
  Event event = event_of(slot, op);
  event.bytes = 4;
  if (!memory_->in_range(address, 4) || address % 4 != 0) {
    fail(event, address % 4 != 0 ? Fault::kMisaligned : Fault::kOutOfRange, true);
  } else if (const std::byte* at = memory_->at(address, 4);
             at != nullptr && !any_unknown(*memory_, address, 4)) {
    std::memcpy(&op.result, at, 4);
  } else {
    op.result = unknown_word(address);
  }
  emit(event);
  return Outcome::kDone;
}

// The copies that are on their way use the new address, as some of them would on hardware.
Gpu::Outcome Gpu::replace_in_map(WarpSlot slot, const Operation& op) {
  const auto& change = op.as<operands::MapChange>();
  Event event = event_of(slot, op);
  if (change.replaced != nullptr) {
    if (change.map >= memory_->maps.size()) {
      memory_->maps.resize(change.map + 1);
    }
    memory_->maps[change.map] = *change.replaced;
    ++changes_;
  } else if (change.of_extent()) {
    if (change.map >= memory_->maps.size() || change.dimension >= memory_->maps[change.map].rank) {
      fail(event, Fault::kOutOfRange, true);
    } else {
      memory_->maps[change.map].extent[change.dimension] = change.extent;
      ++changes_;
    }
  } else if (change.map >= memory_->maps.size() ||
             !memory_->in_range(change.address, memory_->maps[change.map].span_bytes())) {
    fail(event, Fault::kOutOfRange, true);
  } else {
    memory_->maps[change.map].address = change.address;
    ++changes_;
  }
  emit(event);
  return Outcome::kDone;
}

// Those who wait for a word among these bytes look again.
void Gpu::wake_pollers(std::uint64_t address, std::uint64_t size) {
  std::erase_if(global_waiters_, [&](const auto& waiters) {
    const bool there = waiters.first >= address && waiters.first < address + size;
    for (std::size_t i = 0; there && i < waiters.second.size(); ++i) {
      ready_.insert(Agents::warp(waiters.second[i]));
    }
    return there;
  });
}

Gpu::Outcome Gpu::global_word(WarpSlot slot, Operation& op) {
  auto& told = op.as<operands::GlobalWord>();
  Event event = event_of(slot, op);
  AtomicUpdate* const atomic = told.update;
  const std::uint32_t size = atomic == nullptr ? 4 : atomic->bytes;
  event.bytes = 4;
  std::byte* at =
      is_count(told.address) ? last_adders_.count(told.address) : memory_->at(told.address, size);
  if (at == nullptr || told.address % size != 0) {
    fail(event, at == nullptr ? Fault::kOutOfRange : Fault::kMisaligned, true);
    emit(event);
    return Outcome::kDone;
  }
  std::uint32_t word = 0;
  std::memcpy(&word, at, 4);
  const bool was_unknown = any_unknown(*memory_, told.address, size);
  const bool looks = op.op == Op::kGlobalLoadAcquire || op.op == Op::kGlobalWait;
  told.unknown = was_unknown && looks && told.asks_known;
  if (was_unknown && looks && !told.unknown) {
    word = unknown_word(told.address);
  }
  op.result = word;
  auto& said = event.as<payload::GlobalWord>();
  said.before = word;
  if (atomic != nullptr) {
    const bool unknown = was_unknown || atomic->leaves_unknown;
    atomic->known = !was_unknown;
    std::memcpy(atomic->before.data(), at, size);
    const AtomicWord after = atomic->update(atomic->before);
    // One that leaves what it finds, as of a lock that is taken, is no more than a look.
    changes_ += unknown != was_unknown || std::memcmp(at, after.data(), size) != 0 ? 1 : 0;
    // Of what nobody knows no bits are kept: they could be made those that stand for a state.
    const AtomicWord left = unknown ? AtomicWord{} : after;
    std::memcpy(at, left.data(), size);
    memory_->set_unknown(told.address, size, unknown);
    wake_pollers(told.address, size);
    said.test = atomic->change;
    // An event for each four bytes, as of every word.
    for (std::uint32_t part = 0; part < size; part += 4, event.global += 4) {
      said.before = static_cast<std::uint32_t>(atomic->before[part / 8] >> (8 * (part % 8)));
      said.after = static_cast<std::uint32_t>(after[part / 8] >> (8 * (part % 8)));
      emit(event);
    }
    return Outcome::kDone;
  }
  if (op.op == Op::kGlobalWait) {
    said.test = told.test;
    said.test_operands = told.test_operands;
  }
  const bool waits = op.op == Op::kGlobalWait && !told.unknown &&
                     !WordTest::of(told.test, told.test_operands, told.value).holds(word);
  if (waits && (op.flags & event_flag::kPeek) != 0) {
    return Outcome::kDone;
  }
  if (waits) {
    global_waiters_[told.address].push_back(slot);
    return block(slot, op);
  }
  if (op.op == Op::kGlobalStoreRelease || op.op == Op::kGlobalRedAdd) {
    // Every executing lane of a reduction adds.
    const bool adds = op.op == Op::kGlobalRedAdd;
    word = adds ? word + told.value * op.lanes : told.value;
    const bool unknown = adds && was_unknown;
    const std::uint32_t left = unknown ? 0 : word;
    std::memcpy(at, &left, 4);
    memory_->set_unknown(told.address, 4, unknown);
    ++changes_;
    wake_pollers(told.address, 4);
  }
  said.after = word;
  emit(event);
  return Outcome::kDone;
}

Gpu::Outcome Gpu::set_registers(WarpSlot slot, const Operation& op) {
  const std::uint32_t count = op.as<operands::Registers>().count;
  Warp& warp = warps_[slot];
  Cta& cta = ctas_[warp.cta];
  Event event = event_of(slot, op);
  const bool increase = (op.flags & event_flag::kIncrease) != 0;
  if (count < 24 || count > 256 || count % 8 != 0) {
    fail(event, Fault::kOutOfRange, true);
    emit(event);
    return Outcome::kDone;
  }
  if (op.lanes != kWarpLanes) {
    event.fault = Fault::kNotWholeWarp;
  } else if (increase ? count < warp.registers : count > warp.registers) {
    event.fault = Fault::kBadCount;
  } else if (increase) {
    const std::uint32_t needed = count - warp.registers;
    if (needed > cta.free_registers) {
      cta.register_waiters |= 1U << warp.index;
      return block(slot, op);
    }
    cta.free_registers -= needed;
    warp.registers = count;
  } else {
    cta.free_registers += warp.registers - count;
    warp.registers = count;
    for (std::uint32_t waiting = std::exchange(cta.register_waiters, 0); waiting != 0;
         waiting &= waiting - 1) {
      ready_.insert(
          Agents::warp(slot - warp.index + static_cast<std::uint32_t>(std::countr_zero(waiting))));
    }
  }
  ++changes_;
  emit(event);
  return Outcome::kDone;
}

}  // namespace warptwin::sim
