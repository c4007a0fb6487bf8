// Words and rows of shared memory, words of global memory, tensor maps, registers.

#include <bit>
#include <cstring>
#include <utility>

#include "common/machine/wgmma_descriptor.hpp"

#include "sim/model/atomic_update.hpp"
#include "sim/model/gpu.hpp"
#include "sim/model/word_test.hpp"

namespace warptwin::sim {

Gpu::Outcome Gpu::shared_word(WarpSlot slot, Operation& op) {
  Warp& warp = warps_[slot];
  Event event = event_of(slot, op);
  event.bytes = 4;
  if (op.address % 4 != 0 || op.address + 4 > config_.shared_bytes) {
    fail(event, op.address % 4 != 0 ? Fault::kMisaligned : Fault::kOutOfRange, true);
  } else {
    if (find_barrier(warp.cta, op.address & ~7U) != nullptr) {
      event.fault = Fault::kOverlap;
    }
    Cta& cta = ctas_[warp.cta];
    std::byte* at = cta.shared.data() + op.address;
    if (op.op == Op::kSharedLoad) {
      std::memcpy(&op.result, at, 4);
      if (!cta.unknown.empty() && cta.unknown[op.address / 4]) {
        op.result = unknown_word(op.address);
      }
    } else {
      std::memcpy(at, &op.count, 4);
      set_unknown(cta, op.address, op.address + 4, false);
      ++changes_;
    }
  }
  emit(event);
  return Outcome::kDone;
}

namespace {

// The values of a warp's part of an accumulator that lie in the columns of the tile.
void store_accumulator(const Operation& op, std::byte* shared) {
  const std::uint32_t size = bytes_of(op.element);
  const std::uint32_t registers = op.fragment->registers;
  for (std::size_t i = 0; i < op.fragment->bits.size(); ++i) {
    const WgmmaCell cell = WgmmaCell::of(static_cast<std::uint32_t>(i / registers),
                                         static_cast<std::uint32_t>(i % registers));
    const std::uint32_t column = cell.column - op.column;  // of the tile; wraps before its first
    if (column < op.row_bytes / size) {
      const std::uint32_t linear = (op.row + cell.row) * op.row_bytes + column * size;
      const std::uint32_t bits = encode(op.element, std::bit_cast<float>(op.fragment->bits[i]));
      std::memcpy(shared + swizzled(op.address + linear, op.swizzle), &bits, size);
    }
  }
}

}  // namespace

Gpu::Outcome Gpu::shared_row(WarpSlot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  Event event = event_of(slot, op);
  event.phase = op.row;
  event.wanted = op.column;
  event.peer = op.row_bytes;
  const std::uint32_t size = bytes_of(op.element);
  const std::uint32_t registers = op.fragment == nullptr ? 0 : op.fragment->registers;
  const std::uint32_t lines = op.half_rows ? kWarpLanes / 2 : kWarpLanes;  // of the lanes
  const std::uint32_t along = kWarpLanes / lines * registers;              // values of each
  event.count = op.by_columns ? along : lines;  // rows, and the bytes of each
  event.bytes = (op.by_columns ? lines : along) * size;
  if (op.of_accumulator) {
    event.wanted = 0;
    event.count = kWgmmaWarpRows;
    event.bytes = op.row_bytes;
  }
  event.expected = size;
  event.extra = static_cast<std::uint64_t>(op.swizzle);
  const std::uint32_t last = (op.row + event.count) * op.row_bytes;
  if (op.address + last > config_.shared_bytes) {
    fail(event, Fault::kOutOfRange, true);
    emit(event);
    return Outcome::kDone;
  }
  const bool load = op.op == Op::kSharedLoad;
  if (op.fragment != nullptr) {
    const Fault early = op.of_accumulator ? Fault::kUnwaited : Fault::kUnsettled;
    event.fault = load || op.fragment->settled ? Fault::kNone : early;
    op.fragment->settled = load || op.fragment->settled;
  }
  if (!config_.moves_data && !load) {
    set_unknown(ctas_[warp.cta],
                op.address + op.row * op.row_bytes,
                op.address + (op.row + event.count) * op.row_bytes,
                true);
  }
  if (config_.moves_data && op.of_accumulator) {
    store_accumulator(op, ctas_[warp.cta].shared.data());
  } else if (config_.moves_data && op.fragment != nullptr) {
    std::byte* shared = ctas_[warp.cta].shared.data();
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      for (std::uint32_t i = 0; i < registers; ++i) {
        std::uint32_t& cell = op.fragment->bits[std::size_t{lane} * registers + i];
        const std::uint32_t line = lane % lines;
        const std::uint32_t place = lane / lines * registers + i;
        const auto [down, right] = op.by_columns ? std::pair{place, line} : std::pair{line, place};
        const std::uint32_t linear = (op.row + down) * op.row_bytes + (op.column + right) * size;
        std::byte* at = shared + swizzled(op.address + linear, op.swizzle);
        std::uint32_t bits = 0;
        if (load) {
          std::memcpy(&bits, at, size);
          cell = std::bit_cast<std::uint32_t>(decode(op.element, bits));
        } else {
          bits = encode(op.element, std::bit_cast<float>(cell));
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
  Event event = event_of(slot, op);
  event.bytes = 4;
  if (!memory_->in_range(op.global, 4) || op.global % 4 != 0) {
    fail(event, op.global % 4 != 0 ? Fault::kMisaligned : Fault::kOutOfRange, true);
  } else if (const std::byte* at = memory_->at(op.global, 4);
             at != nullptr && !memory_->unknown(op.global)) {
    std::memcpy(&op.result, at, 4);
  } else {
    op.result = unknown_word(op.global);
  }
  emit(event);
  return Outcome::kDone;
}

// The copies that are on their way use the new address, as some of them would on hardware.
Gpu::Outcome Gpu::replace_in_map(WarpSlot slot, const Operation& op) {
  Event event = event_of(slot, op);
  if (op.replaced != nullptr) {
    if (op.count >= memory_->maps.size()) {
      memory_->maps.resize(op.count + 1);
    }
    memory_->maps[op.count] = *op.replaced;
    ++changes_;
  } else if (op.count >= memory_->maps.size() ||
             !memory_->in_range(op.global, memory_->maps[op.count].span_bytes())) {
    fail(event, Fault::kOutOfRange, true);
  } else {
    memory_->maps[op.count].address = op.global;
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
  Event event = event_of(slot, op);
  auto* atomic = op.op == Op::kGlobalRedAdd ? static_cast<AtomicUpdate*>(op.access) : nullptr;
  const std::uint32_t size = atomic == nullptr ? 4 : atomic->bytes;
  event.bytes = 4;
  std::byte* at = memory_->at(op.global, size);
  if (at == nullptr || op.global % size != 0) {
    fail(event, at == nullptr ? Fault::kOutOfRange : Fault::kMisaligned, true);
    emit(event);
    return Outcome::kDone;
  }
  std::uint32_t word = 0;
  std::memcpy(&word, at, 4);
  if (atomic == nullptr && memory_->unknown(op.global)) {
    word = unknown_word(op.global);
  }
  op.result = word;
  event.pending = word;  // before
  if (atomic != nullptr) {
    const bool was_unknown = memory_->unknown(op.global);
    const bool unknown = was_unknown || atomic->leaves_unknown;
    std::memcpy(&atomic->before, at, size);
    const std::uint64_t after = atomic->update(atomic->before);
    // One that leaves what it finds, as of a lock that is taken, is no more than a look.
    changes_ += unknown != was_unknown || std::memcmp(at, &after, size) != 0 ? 1 : 0;
    std::memcpy(at, &after, size);
    memory_->set_unknown(op.global, size, unknown);
    wake_pollers(op.global, size);
    // An event for each four bytes, as of every word.
    for (std::uint32_t half = 0; half < size; half += 4, event.global += 4) {
      event.pending = static_cast<std::uint32_t>(atomic->before >> (8 * half));
      event.wanted = static_cast<std::uint32_t>(after >> (8 * half));
      emit(event);
    }
    return Outcome::kDone;
  }
  if (op.op == Op::kGlobalWait) {
    event.phase = op.rank;
    event.extra = op.descriptor_a;
  }
  const bool waits =
      op.op == Op::kGlobalWait && !WordTest::of(op.rank, op.descriptor_a, op.count).holds(word);
  if (waits && (op.flags & event_flag::kPeek) != 0) {
    return Outcome::kDone;
  }
  if (waits) {
    global_waiters_[op.global].push_back(slot);
    return block(slot, op);
  }
  if (op.op == Op::kGlobalStoreRelease || op.op == Op::kGlobalRedAdd) {
    // Every executing lane of a reduction adds.
    word = op.op == Op::kGlobalStoreRelease ? op.count : word + op.count * op.lanes;
    std::memcpy(at, &word, 4);
    memory_->set_unknown(op.global, 4, false);
    ++changes_;
    wake_pollers(op.global, 4);
  }
  event.wanted = word;
  emit(event);
  return Outcome::kDone;
}

Gpu::Outcome Gpu::set_registers(WarpSlot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  Cta& cta = ctas_[warp.cta];
  Event event = event_of(slot, op);
  const bool increase = (op.flags & event_flag::kIncrease) != 0;
  if (op.count < 24 || op.count > 256 || op.count % 8 != 0) {
    fail(event, Fault::kOutOfRange, true);
    emit(event);
    return Outcome::kDone;
  }
  if (op.lanes != kWarpLanes) {
    event.fault = Fault::kNotWholeWarp;
  } else if (increase ? op.count < warp.registers : op.count > warp.registers) {
    event.fault = Fault::kBadCount;
  } else if (increase) {
    const std::uint32_t needed = op.count - warp.registers;
    if (needed > cta.free_registers) {
      cta.register_waiters |= 1U << warp.index;
      return block(slot, op);
    }
    cta.free_registers -= needed;
    warp.registers = op.count;
  } else {
    cta.free_registers += warp.registers - op.count;
    warp.registers = op.count;
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
