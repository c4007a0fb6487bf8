// Bulk and tensor copies, and their groups.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "sim/model/gpu.hpp"
#include "sim/model/invariant.hpp"
#include "sim/model/tensor_walk.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kTxChunks = 4;  // steps in which a copy counts its bytes, if not in one

bool from_shared(const Operation& op) {
  return op.op == Op::kBulkLoad && (op.flags & event_flag::kSharedSource) != 0;
}

bool is_tensor(const Operation& op) {
  return op.op == Op::kTensorLoad || op.op == Op::kTensorStore;
}

TensorPlace place_of(const Operation& op) {
  const auto& copy = op.as<operands::Copy>();
  TensorPlace place{copy.mode, copy.at, {}};
  std::copy(std::begin(copy.offset), std::end(copy.offset), std::begin(place.offset));
  return place;
}

// Of an im2col copy: what is not as its map, of im2col, has it.
ShapeFault im2col_fault(const TensorMapState& map, const Operation& op) {
  const auto& copy = op.as<operands::Copy>();
  constexpr std::uint32_t kOffsetBits[] = {16, 8, 5};  // by rank, from 3 on
  const std::uint32_t places = map.rank - 2;
  for (std::uint32_t i = 0; i < places; ++i) {
    const bool store = op.op == Op::kTensorStore;
    if (store && (map.lower[i] < 0 || map.upper[i] > 0)) {
      return ShapeFault::kBoxOutside;
    }
    if (copy.at[i + 1] < map.lower[i] || copy.at[i + 1] > map.last_place(i)) {
      return ShapeFault::kOutsideBox;
    }
    if (copy.offset[i] >> kOffsetBits[places - 1] != 0) {
      return ShapeFault::kOffset;
    }
  }
  return ShapeFault::kNone;
}

// Whether the driver would make the map (CUDA, "cuTensorMapEncodeTiled"): `tensormap.replace` makes
// others.
bool may_be_made(const TensorMapState& map) {
  constexpr std::uint64_t kUnit = 16;
  bool made = map.address % kUnit == 0 && map.row_bytes() % kUnit == 0 &&
              (map.swizzle == Swizzle::kNone || map.row_bytes() <= span_of(map.swizzle));
  for (std::uint32_t dimension = 0; dimension < map.rank; ++dimension) {
    made = made && map.extent[dimension] != 0 &&
           (dimension == 0 || map.stride_bytes[dimension] % kUnit == 0);
  }
  return made;
}

// Of elements of four or six bits: what is not as PTX has it (PTX ISA, "Restriction on Tensor Copy
// instructions").
ShapeFault packing_fault(const TensorMapState& map, const Operation& op) {
  constexpr std::int32_t kColumns = TensorMapState::kPaddedColumns;
  if (map.unit() == 1) {
    return may_be_made(map) ? ShapeFault::kNone : ShapeFault::kPackedMap;
  }
  if (!map.keeps_to_packing()) {
    return ShapeFault::kPackedMap;
  }
  if (map.padding() != 0 && op.as<operands::Copy>().at[0] % kColumns != 0) {
    return ShapeFault::kPaddedColumn;
  }
  const bool store = op.op == Op::kTensorStore;
  return store && map.type == TensorType::k16U4Align16B ? ShapeFault::kLoadedOnly
                                                        : ShapeFault::kNone;
}

// The lanes whose groups they are.
std::uint32_t lanes_of(const Operation& op) {
  return op.lanes == 1 ? 1U << op.lane : op.some != 0 ? op.some : ~std::uint32_t{0};
}

}  // namespace

// Which bytes of global memory a copy touches: its box, as far as it lies in the tensor. A
// rectangle for each place in the dimensions beyond the second.
void Gpu::find_pieces(const Operation& op) {
  const auto& copy = op.as<operands::Copy>();
  pieces_.clear();
  if (op.op == Op::kBulkLoad || op.op == Op::kBulkStore) {
    if (!from_shared(op)) {
      pieces_.push_back({copy.global, 1, copy.bytes, copy.bytes});
    }
    return;
  }
  if (copy.map >= memory_->maps.size() || shape_fault(op) != ShapeFault::kNone) {
    return;
  }
  const TensorMapState& map = memory_->maps[copy.map];
  if (copy.mode != TensorMode::kTile) {
    find_rows(map, place_of(op));
    return;
  }
  std::array<std::int64_t, TensorMapState::kRankMax> first{};
  std::array<std::int64_t, TensorMapState::kRankMax> last{};
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    const std::int64_t step = map.step[i];
    const std::int64_t below = copy.at[i] < 0 ? (-std::int64_t{copy.at[i]} + step - 1) / step : 0;
    first[i] = copy.at[i] + below * step;
    last[i] = std::min<std::int64_t>(copy.at[i] + map.box[i] * step, map.extent[i]);
    if (first[i] >= last[i]) {
      return;
    }
  }
  const std::int64_t rows =
      map.rank == 1 ? 1 : (last[1] - first[1] + map.step[1] - 1) / map.step[1];
  const std::uint64_t pitch = map.rank == 1 ? 0 : map.stride_bytes[1] * map.step[1];
  std::array<std::int64_t, TensorMapState::kRankMax> at = first;
  for (;;) {
    std::uint64_t address = map.address;
    for (std::uint32_t i = 0; i < map.rank; ++i) {
      address += i == 0 ? static_cast<std::uint64_t>(at[i]) / map.unit() * map.element_bytes
                        : static_cast<std::uint64_t>(at[i]) * map.stride_bytes[i];
    }
    pieces_.push_back(
        {address,
         static_cast<std::uint32_t>(rows),
         static_cast<std::uint32_t>(pitch),
         static_cast<std::uint32_t>((last[0] - first[0]) / map.unit() * map.element_bytes)});
    std::uint32_t dimension = 2;
    while (dimension < map.rank && (at[dimension] += map.step[dimension]) >= last[dimension]) {
      at[dimension] = first[dimension];
      ++dimension;
    }
    if (dimension >= map.rank) {
      return;
    }
  }
}

bool Gpu::pieces_in_range() const {
  return std::all_of(pieces_.begin(), pieces_.end(), [&](const Rectangle& piece) {
    return memory_->in_range(piece.address,
                             std::uint64_t{piece.rows - 1} * piece.pitch + piece.width);
  });
}

// The rows inside the tensor: those that are one pitch apart, and do not overlap, are one piece.
void Gpu::find_rows(const TensorMapState& map, const TensorPlace& place) {
  for_each_row(
      map, place, [&](std::uint32_t, std::uint64_t address, std::uint32_t count, std::uint32_t) {
        const std::uint32_t width = count * map.element_bytes;
        if (width == 0) {
          return;
        }
        if (!pieces_.empty()) {
          Rectangle& last = pieces_.back();
          const std::uint64_t pitch = address - last.address - (last.rows - 1) * last.pitch;
          const bool apart = pitch >= width && pitch >> 32 == 0;
          if (last.width == width && apart && (last.rows == 1 || pitch == last.pitch)) {
            last.pitch = static_cast<std::uint32_t>(pitch);
            ++last.rows;
            return;
          }
        }
        pieces_.push_back({address, 1, width, width});
      });
}

// Of a tensor copy whose map there is.
ShapeFault Gpu::shape_fault(const Operation& op) const {
  const auto& copy = op.as<operands::Copy>();
  const TensorMapState& map = memory_->maps[copy.map];
  const bool rows4 = copy.mode == TensorMode::kRows4;
  const bool im2col = copy.mode == TensorMode::kIm2col;
  if (map.kind != (im2col ? TensorMapKind::kIm2col : TensorMapKind::kTiled)) {
    return ShapeFault::kMapMode;
  }
  if (rows4 ? map.rank != 2 || copy.rank != 1 + TensorMapState::kRowsOf4 : copy.rank != map.rank) {
    return ShapeFault::kCoordinates;
  }
  if (rows4 && map.box[1] != 1) {
    return ShapeFault::kRows;
  }
  if (op.op == Op::kTensorStore &&
      std::any_of(copy.at, copy.at + copy.rank, [](std::int32_t at) { return at < 0; })) {
    return ShapeFault::kBeginsBefore;
  }
  if (const ShapeFault fault = packing_fault(map, op); fault != ShapeFault::kNone) {
    return fault;
  }
  const std::int64_t unit = map.unit();
  if (copy.at[0] % unit != 0 || copy.at[0] / unit * map.element_bytes % 16 != 0) {
    return ShapeFault::kColumn;
  }
  return im2col ? im2col_fault(map, op) : ShapeFault::kNone;
}

// Bytes of shared memory from the copy's address on, within which all stands that it moves.
std::uint32_t Gpu::shared_bytes_of(const Operation& op) const {
  const auto& copy = op.as<operands::Copy>();
  return is_tensor(op) && copy.map < memory_->maps.size()
             ? memory_->maps[copy.map].shared_bytes(copy.mode)
             : copy.bytes;
}

// Whether the map still has what the copy was issued with: another one, which is a finding of its
// own, may have come in its place.
bool Gpu::map_fits(const Operation& op) const {
  const auto& copy = op.as<operands::Copy>();
  return shape_fault(op) == ShapeFault::kNone &&
         memory_->maps[copy.map].copy_bytes(copy.mode) == copy.bytes &&
         std::uint64_t{copy.shared} + shared_bytes_of(op) <= config_.shared_bytes;
}

bool Gpu::targets_exited_cta(const Warp& warp, CtaMask mask) const {
  const auto [first, size] = std::pair{ctas_[warp.cta].first, ctas_[warp.cta].size};
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    if (mask.contains(rank) && ctas_[first + rank].exited) {
      return true;
    }
  }
  return false;
}

// What hardware does not take; `bytes` and `pieces_` are known.
Fault Gpu::fault_of_copy(const Warp& warp, const Operation& op) const {
  const auto& copy = op.as<operands::Copy>();
  const bool load = op.op == Op::kTensorLoad || op.op == Op::kBulkLoad;
  const bool tensor = is_tensor(op);
  const std::uint32_t alignment = tensor ? 128 : 16;
  if (copy.shared % alignment != 0 ||
      (!tensor && (from_shared(op) ? copy.source : copy.global) % alignment != 0)) {
    return Fault::kMisaligned;
  }
  const bool source = from_shared(op)
                          ? std::uint64_t{copy.source} + copy.bytes <= config_.shared_bytes
                      : tensor ? copy.map < memory_->maps.size()
                               : memory_->in_range(copy.global, copy.bytes);
  if (!source || std::uint64_t{copy.shared} + shared_bytes_of(op) > config_.shared_bytes ||
      (tensor && !pieces_in_range())) {
    return Fault::kOutOfRange;
  }
  if (copy.bytes % 16 != 0) {
    return Fault::kBadCount;
  }
  if (copy.mask.bits >> ctas_[warp.cta].size != 0) {
    return Fault::kBadMask;
  }
  if (tensor && shape_fault(op) != ShapeFault::kNone) {
    return Fault::kBadShape;
  }
  const std::uint32_t first_cta = ctas_[warp.cta].first;
  const bool ended = from_shared(op) ? ctas_[first_cta + copy.to_rank].exited
                                     : load && targets_exited_cta(warp, copy.mask);
  return ended ? Fault::kExitedCta : Fault::kNone;
}

Gpu::Outcome Gpu::issue_copy(WarpSlot slot, Operation& op) {
  auto& copy = op.as<operands::Copy>();
  Warp& warp = warps_[slot];
  Event event = event_of(slot, op);
  const bool load = op.op == Op::kTensorLoad || op.op == Op::kBulkLoad;
  const bool tensor = is_tensor(op);
  if (tensor) {
    const bool there = copy.map < memory_->maps.size();
    copy.bytes = there ? memory_->maps[copy.map].copy_bytes(copy.mode) : 0;
    event.bytes = copy.bytes;
  }
  find_pieces(op);
  if (const Fault fault = fault_of_copy(warp, op); fault != Fault::kNone) {
    if (fault == Fault::kBadShape) {
      event.as<payload::Copy>().shape_fault = shape_fault(op);
    }
    fail(event, fault, true);
    emit(event);
    return Outcome::kDone;
  }
  const std::uint32_t first_cta = ctas_[warp.cta].first;
  const auto add = [&](std::uint32_t cta, std::uint32_t signal) {
    const AgentSlot at = take_async();
    AsyncOp& async = async_[agents_.place_of(at)];
    async.operation = op;
    async.warp = slot;
    async.cta = cta;
    async.signal_cta = signal;
    if (!load) {
      async.group = warp.bulk_group;
      BulkGroup& group = warp.groups.back();
      ++group.unread;
      ++group.unwritten;
      warp.store_lanes |= 1U << op.lane;
    }
    ready_.insert(at);
    ++clusters_[ctas_[warp.cta].cluster].outstanding;
    if (sink_ != nullptr) {
      Event issued = event_of(async, Step::kIssued);
      issued.fault = event.fault;
      const auto describe = [](Event& of, const Rectangle& piece) {
        of.global = piece.address;
        auto& box = of.as<payload::Copy>();
        box.rows = piece.rows;
        box.pitch = piece.pitch;
        box.width = piece.width;
      };
      if (!pieces_.empty()) {
        describe(issued, pieces_.front());
      }
      if (tensor) {
        const TensorMapState& map = memory_->maps[copy.map];
        auto& box = issued.as<payload::Copy>();
        box.swizzle = static_cast<std::uint8_t>(map.swizzle);
        box.map = copy.map;
        box.row_bytes = static_cast<std::uint16_t>(map.row_bytes());
        box.padding = static_cast<std::uint8_t>(load ? map.padding() : 0);
        const bool matrix = copy.mode == TensorMode::kTile && map.rank == 2;
        issued.flags |= matrix && map.step[1] == 1 ? event_flag::kMatrix : 0;
      }
      emit(issued);
      for (std::size_t i = 1; i < pieces_.size(); ++i) {
        issued.step = Step::kTouched;
        describe(issued, pieces_[i]);
        emit(issued);
      }
      if (from_shared(op)) {
        issued.step = Step::kTouched;
        issued.cta = ctas_[warp.cta].number;
        issued.address = copy.source;
        emit(issued);
      }
    }
  };
  ++changes_;
  if (from_shared(op)) {
    add(first_cta + copy.to_rank, first_cta + copy.to_rank);
    return Outcome::kDone;
  }
  if (!load || copy.mask.bits == 0) {
    const bool leader = load && copy.group == CtaGroup::kTwo;
    add(warp.cta, leader ? first_cta + (ctas_[warp.cta].rank & ~1U) : warp.cta);
    return Outcome::kDone;
  }
  for (std::uint32_t rank = 0; rank < ctas_[warp.cta].size; ++rank) {
    if (copy.mask.contains(rank)) {
      add(first_cta + rank, first_cta + (copy.group == CtaGroup::kTwo ? rank & ~1U : rank));
    }
  }
  return Outcome::kDone;
}

// The event of bytes that land and are counted.
Event Gpu::landing_of(const AsyncOp& async, Step step) const {
  Event event = event_of(async, step);
  const payload::Signal signal = event.signal();
  static_cast<payload::Signal&>(event.set<payload::Landing>()) = signal;
  return event;
}

void Gpu::land_load(AsyncOp& async) {
  const Operation& op = async.operation;
  const auto& copy = op.as<operands::Copy>();
  Cta& cta = ctas_[async.cta];
  Event event = landing_of(async, Step::kWritten);
  forget_tmem_words(cta, copy.shared, copy.shared + shared_bytes_of(op));
  if (cta.exited || ctas_[async.signal_cta].exited) {
    fail(event, Fault::kExitedCta, true);
    emit(event);
    return;
  }
  if (from_shared(op)) {
    const Cta& source = ctas_[warps_[async.warp].cta];
    if (source.exited) {
      fail(event, Fault::kExitedCta, true);
      emit(event);
      return;
    }
    if (copy.reduction.reduces()) {
      copy.reduction.apply(
          cta.shared.data() + copy.shared, source.shared.data() + copy.source, copy.bytes);
    } else {
      std::memmove(cta.shared.data() + copy.shared, source.shared.data() + copy.source, copy.bytes);
    }
    if (!source.unknown.empty()) {
      cta.unknown.resize(cta.shared.size());
    }
    // Without data what reductions leave is unknown: it may depend on which comes first.
    const bool reduces = copy.reduction.reduces();
    for (std::uint32_t at = 0; at < copy.bytes && !cta.unknown.empty(); ++at) {
      const bool brings = !source.unknown.empty() && source.unknown[copy.source + at];
      const bool keeps = reduces && (!config_.moves_data || cta.unknown[copy.shared + at]);
      cta.unknown[copy.shared + at] = brings || keeps;
    }
  } else if (!config_.moves_data) {
    load_control(op, cta);
  } else if (op.op == Op::kTensorLoad) {
    if (map_fits(op)) {
      const TensorMapState& map = memory_->maps[copy.map];
      take_unknown(cta, copy.shared, shared_bytes_of(op), memory_->some_unknown(map.address));
      copy_box_to_shared(*memory_,
                         memory_->maps[copy.map],
                         place_of(op),
                         cta.shared.data() + copy.shared,
                         copy.shared);
    }
  } else if (const std::byte* source = memory_->at(copy.global, copy.bytes)) {
    std::memcpy(cta.shared.data() + copy.shared, source, copy.bytes);
    take_unknown(cta, copy.shared, copy.bytes, memory_->some_unknown(copy.global));
    for (std::uint32_t at = 0; at < copy.bytes && !cta.unknown.empty(); ++at) {
      cta.unknown[copy.shared + at] = memory_->unknown(copy.global + at);
    }
  }
  const BarrierStep step =
      apply_to_barrier(async.signal_cta, copy.barrier, event, 0, copy.bytes - async.counted);
  fail(event, step.fault, step.traps);
  emit(event);
}

// With data: bytes of which nobody knows what they are, as a clock's that a thread has stored, may
// be among those that are written here.
void Gpu::take_unknown(Cta& cta, std::uint32_t begin, std::uint32_t bytes, bool unknown) {
  if (unknown) {
    cta.unknown.resize(cta.shared.size());
  }
  set_unknown(cta, begin, begin + bytes, unknown);
}

// --- Where no data moves: which words are control, and which are data that is not there ----------

// [begin, end) of the CTA's shared memory is data that was not moved, or is not.
void Gpu::set_unknown(Cta& cta, std::uint32_t begin, std::uint32_t end, bool unknown) {
  forget_tmem_words(cta, begin, end);
  const auto last = std::min<std::size_t>(end, cta.unknown.size());
  if (begin < last) {
    std::fill(cta.unknown.begin() + static_cast<std::ptrdiff_t>(begin),
              cta.unknown.begin() + static_cast<std::ptrdiff_t>(last),
              unknown);
  }
}

// A bulk copy of control words brings them; any other brings data.
void Gpu::load_control(const Operation& op, Cta& cta) {
  const auto& copy = op.as<operands::Copy>();
  set_unknown(cta, copy.shared, copy.shared + shared_bytes_of(op), true);
  const std::byte* source = op.op == Op::kBulkLoad ? memory_->at(copy.global, copy.bytes) : nullptr;
  if (source == nullptr) {
    return;
  }
  std::memcpy(cta.shared.data() + copy.shared, source, copy.bytes);
  for (std::uint32_t at = 0; at < copy.bytes; ++at) {
    set_unknown(cta, copy.shared + at, copy.shared + at + 1, memory_->unknown(copy.global + at));
  }
}

// What a store leaves of control words in global memory: words that are known where it is a bulk
// store, else data.
void Gpu::store_control(const AsyncOp& async) {
  const Operation& op = async.operation;
  const auto& copy = op.as<operands::Copy>();
  if (op.op == Op::kTensorStore) {
    const TensorMapState& map = memory_->maps[copy.map];
    memory_->set_unknown(map.address, map.span_bytes(), true);
    return;
  }
  if (copy.reduction.reduces()) {
    memory_->set_unknown(copy.global, copy.bytes, true);
    return;
  }
  std::byte* target = memory_->at(copy.global, copy.bytes);
  if (target == nullptr) {
    return;
  }
  std::memcpy(target, async.staging.data(), copy.bytes);
  store_unknown(async);
}

// What its source held when that was read: it may hold something else by now.
void Gpu::store_unknown(const AsyncOp& async) {
  const auto& copy = async.operation.as<operands::Copy>();
  const bool reduces = copy.reduction.reduces();
  if (async.staging_unknown.empty() && !reduces) {
    memory_->set_unknown(copy.global, copy.bytes, false);
  }
  for (std::size_t at = 0; at < async.staging_unknown.size(); ++at) {
    if (async.staging_unknown[at] || !reduces) {
      memory_->set_unknown(copy.global + at, 1, async.staging_unknown[at]);
    }
  }
}

// What a word of data reads as that is not there.
std::uint32_t Gpu::unknown_word(std::uint64_t address) {
  read_unknown_ = true;
  constexpr std::uint64_t kScramble = 0x9E3779B97F4A7C15U;
  switch (config_.rules.unknown_data) {
    case UnknownData::kOnes:
      return ~std::uint32_t{0};
    case UnknownData::kMixed:
      return static_cast<std::uint32_t>((address + 1) * kScramble >> 32);
    case UnknownData::kZero:
      break;
  }
  return 0;
}

// Where copies count their bytes in several steps: the next one, unless it is the last.
bool Gpu::count_part(AsyncOp& async) {
  const Operation& op = async.operation;
  const auto& copy = op.as<operands::Copy>();
  const std::uint32_t part = std::max(copy.bytes / kTxChunks / 16 * 16, 16U);
  if (!config_.rules.tx_in_chunks || async.counted + part >= copy.bytes ||
      ctas_[async.cta].exited || ctas_[async.signal_cta].exited) {
    return false;
  }
  Event event = landing_of(async, Step::kCounted);
  event.bytes = part;
  const BarrierStep step = apply_to_barrier(async.signal_cta, copy.barrier, event, 0, part);
  async.counted += part;
  fail(event, step.fault, step.traps);
  emit(event);
  return true;
}

void Gpu::finish_store(AsyncOp& async) {
  const Operation& op = async.operation;
  const auto& copy = op.as<operands::Copy>();
  Warp& warp = warps_[async.warp];
  BulkGroup& group = warp.groups[async.group - warp.bulk_first];
  Event event = event_of(async, async.read ? Step::kWritten : Step::kRead);
  if (!async.read) {
    if (ctas_[async.cta].exited) {
      event.fault = Fault::kExitedCta;
    }
    if (config_.moves_data || op.op == Op::kBulkStore) {
      const Cta& cta = ctas_[async.cta];
      const std::byte* from = cta.shared.data() + copy.shared;
      async.staging.assign(from, from + shared_bytes_of(op));
      if (!cta.unknown.empty()) {
        const auto unknown = cta.unknown.begin() + static_cast<std::ptrdiff_t>(copy.shared);
        async.staging_unknown.assign(unknown,
                                     unknown + static_cast<std::ptrdiff_t>(shared_bytes_of(op)));
      }
    }
    WARPTWIN_INVARIANT(kCountersDoNotWrap, group.unread != 0);
    --group.unread;
  } else {
    if (!config_.moves_data) {
      store_control(async);
    } else {
      if (op.op == Op::kTensorStore && map_fits(op) &&
          async.staging.size() == shared_bytes_of(op)) {
        copy_box_to_global(*memory_,
                           memory_->maps[copy.map],
                           place_of(op),
                           async.staging.data(),
                           copy.shared,
                           copy.reduction);
        const TensorMapState& map = memory_->maps[copy.map];
        if (std::find(async.staging_unknown.begin(), async.staging_unknown.end(), true) !=
            async.staging_unknown.end()) {
          memory_->set_unknown(map.address, map.span_bytes(), true);
        }
      } else if (std::byte* target =
                     op.op == Op::kBulkStore ? memory_->at(copy.global, copy.bytes) : nullptr;
                 target != nullptr) {
        if (copy.reduction.reduces()) {
          copy.reduction.apply(target, async.staging.data(), copy.bytes);
        } else {
          std::memcpy(target, async.staging.data(), copy.bytes);
        }
        store_unknown(async);
      }
    }
    if (op.op == Op::kBulkStore) {
      wake_pollers(copy.global, copy.bytes);
    }
    WARPTWIN_INVARIANT(kCountersDoNotWrap, group.unwritten != 0);
    --group.unwritten;
  }
  emit(event);
  if (warp.status == WarpStatus::kBlocked && warp.blocked_on.op == Op::kBulkWaitGroup) {
    ready_.insert(Agents::warp(async.warp));
  }
}

void Gpu::advance_copy(AsyncOp& async, AgentSlot slot) {
  ++changes_;
  const std::uint32_t cluster = ctas_[warps_[async.warp].cta].cluster;
  switch (async.operation.op) {
    case Op::kTensorLoad:
    case Op::kBulkLoad:
      if (count_part(async)) {
        return;
      }
      land_load(async);
      break;
    case Op::kClcTryCancel:
      land_response(async);
      break;
    case Op::kTensorStore:
    case Op::kBulkStore:
      finish_store(async);
      if (!async.read) {
        async.read = true;
        return;
      }
      break;
    default:
      if (async.operation.op != Op::kTcgen05Commit &&
          (async.operation.flags & event_flag::kOfCopies) == 0) {
        Warp& warp = warps_[async.warp];
        WARPTWIN_INVARIANT(kCountersDoNotWrap, warp.remote_arrivals != 0);
        --warp.remote_arrivals;
        if (warp.status == WarpStatus::kBlocked && warp.blocked_on.op == Op::kClusterArrive) {
          ready_.insert(Agents::warp(async.warp));
        }
      }
      deferred_arrive(async,
                      async.cta,
                      async.operation.op == Op::kTcgen05Commit
                          ? async.operation.as<operands::Commit>().barrier
                          : async.operation.as<operands::Mbarrier>().address);
      break;
  }
  finish_async(slot);
  WARPTWIN_INVARIANT(kCountersDoNotWrap, clusters_[cluster].outstanding != 0);
  --clusters_[cluster].outstanding;
  retire_cluster_if_done(cluster);
}

// The groups before this number are over when each of `lanes` has waited until `pending` of its own
// are left. Groups are numbered for the warp, and a lane's are those that it has committed.
std::uint64_t Gpu::groups_waited_for(const Warp& warp, std::uint32_t lanes, std::uint32_t pending) {
  std::uint64_t waited = warp.bulk_group;
  for (std::uint32_t left = lanes; pending != 0 && left != 0; left &= left - 1) {
    std::uint64_t first = 0;
    std::uint64_t seen = 0;
    std::uint64_t end = warp.bulk_group;
    for (auto run = warp.commits.rbegin(); run != warp.commits.rend(); ++run) {
      if ((run->lanes >> std::countr_zero(left) & 1U) != 0) {
        if (seen + (end - run->first) >= pending) {
          first = end - (pending - seen);
          break;
        }
        seen += end - run->first;
      }
      end = run->first;
    }
    waited = std::min(waited, first);
  }
  return waited;
}

Gpu::Outcome Gpu::bulk_groups(WarpSlot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  const std::uint32_t lanes = lanes_of(op);
  if (op.op == Op::kBulkCommitGroup) {
    Event event = event_of(slot, op);
    event.as<payload::BulkGroups>().group = static_cast<std::uint32_t>(warp.bulk_group);
    const std::uint32_t others = std::exchange(warp.store_lanes, 0U) & ~lanes;
    event.fault = others != 0 ? Fault::kOtherLane : Fault::kNone;
    warp.committed_lanes |= lanes;
    if (warp.commits.empty() || warp.commits.back().lanes != lanes) {
      warp.commits.push_back({lanes, warp.bulk_group});
    }
    emit(event);
    ++warp.bulk_group;
    warp.groups.emplace_back();
    while (warp.groups.size() > 1 && warp.groups.front().unwritten == 0) {
      warp.groups.erase(warp.groups.begin());
      ++warp.bulk_first;
    }
    ++changes_;
    return Outcome::kDone;
  }
  const bool read_only = (op.flags & event_flag::kRead) != 0;
  const std::uint64_t waited = groups_waited_for(warp, lanes, op.as<operands::BulkWait>().pending);
  for (std::uint64_t number = warp.bulk_first; number < waited; ++number) {
    const BulkGroup& group = warp.groups[number - warp.bulk_first];
    if ((read_only ? group.unread : group.unwritten) != 0) {
      return block(slot, op);
    }
  }
  ++changes_;
  Event event = event_of(slot, op);
  event.as<payload::BulkGroups>().group = static_cast<std::uint32_t>(waited);
  const bool idle = (warp.committed_lanes & lanes) == 0;
  event.fault = idle && warp.committed_lanes != 0 ? Fault::kOtherLane : Fault::kNone;
  if (waited == warp.bulk_group) {
    warp.committed_lanes &= ~lanes;
  }
  emit(event);
  return Outcome::kDone;
}

}  // namespace warptwin::sim
