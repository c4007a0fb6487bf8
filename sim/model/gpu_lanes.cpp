// Loads and stores of lanes, each at an address of its own: an event for each rectangle of bytes.

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/model/atomic_update.hpp"
#include "sim/model/gpu.hpp"

namespace warptwin::sim {

namespace {

// An event of the bytes of one rectangle: as of rows of a tile, with elements of one byte.
Event of_run(Event event, const AccessRun& run) {
  event.bytes = run.width;
  auto& said = event.as<payload::Rows>();
  said.rows = run.rows;
  said.pitch = run.pitch;
  said.element_bytes = 1;
  said.of_lanes = true;
  return event;
}

std::uint64_t end_of(const AccessRun& run) {
  return run.begin + std::uint64_t{run.rows - 1} * run.pitch + run.width;
}

// Calls `f(lane, address)` for each lane that accesses.
template <class F>
void for_lanes(const LaneAccess& access, F&& f) {
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    f(lane, access.address[lane]);
  }
}

bool aligned(const LaneAccess& access) {
  constexpr std::uint32_t kVectorMax = 32;  // bytes: .v8.b32 and .v4.b64
  const std::uint32_t bytes = access.aligned_to != 0 ? access.aligned_to : access.bytes;
  const std::uint32_t to = std::min(bytes & (~bytes + 1), kVectorMax);
  std::uint64_t together = 0;
  for_lanes(access, [&](std::uint32_t, std::uint64_t at) { together |= at; });
  return (together & (to - 1)) == 0;
}

// Most lanes move a word, or a few.
void copy_bytes(void* to, const void* from, std::uint32_t bytes) {
  switch (bytes) {
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    case 16:
      std::memcpy(to, from, 16);
      break;
    default:
      std::memcpy(to, from, bytes);
  }
}

// How many of the bytes are 1: most are alike.
enum class Some : std::uint8_t { kNone, kFew, kAll };
Some how_many(const std::uint8_t* set, std::uint32_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::uint64_t any = 0;
  std::uint64_t all = kOnes;
  std::uint64_t word = 0;
  std::uint32_t at = 0;
  for (; at + sizeof word <= bytes; at += sizeof word) {
    std::memcpy(&word, set + at, sizeof word);
    any |= word;
    all &= word;
  }
  for (; at < bytes; ++at) {
    any |= set[at];
    all &= set[at] * kOnes;
  }
  return any == 0 ? Some::kNone : all == kOnes ? Some::kAll : Some::kFew;
}

void load_shared(const Cta& cta, LaneAccess& access, std::uint32_t lane, std::uint64_t at) {
  const std::size_t first = std::size_t{lane} * access.bytes;
  copy_bytes(&access.data[first], cta.shared.data() + at, access.bytes);
  for (std::uint32_t byte = 0; byte < access.bytes && !cta.unknown.empty(); ++byte) {
    access.poison[first + byte] = cta.unknown[at + byte] ? 1 : 0;
  }
  if (cta.tmem_words.empty()) {
    return;
  }
  for (std::uint32_t byte = 0; byte < access.bytes; ++byte) {
    for (const TmemWord& word : cta.tmem_words) {
      if (at + byte - word.address < sizeof word.address) {
        access.poison[first + byte] = access.tells_tmem_words ? word.kind : std::uint8_t{1};
      }
    }
  }
}

bool knows_all(const LaneAccess& access) {
  return std::memchr(access.poison.data(), 1, access.poison.size()) == nullptr;
}

// Whether the whole warp accesses bytes side by side, lane by lane, that nothing has to be kept of.
bool moves_at_once(const Cta& cta, const LaneAccess& access, bool load) {
  bool at_once = access.mask == ~std::uint32_t{0} && !access.tells_tmem_words &&
                 cta.unknown.empty() && cta.tmem_words.empty() && (load || knows_all(access));
  for (std::uint32_t lane = 1; at_once && lane < kWarpLanes; ++lane) {
    at_once = access.address[lane] == access.address[0] + std::uint64_t{lane} * access.bytes;
  }
  return at_once;
}

// Marks stand in words of their own, all of whose bytes the store has.
void note_tmem_words(Cta& cta, const LaneAccess& access, std::uint32_t lane, std::uint64_t at) {
  forget_tmem_words(cta, at, at + access.bytes);
  const std::size_t first = std::size_t{lane} * access.bytes;
  for (std::uint32_t byte = 0; access.tells_tmem_words && byte + 4 <= access.bytes; byte += 4) {
    const auto* kind = &access.poison[first + byte];
    if (std::all_of(kind, kind + 4, [](std::uint8_t one) { return one == tmem_word::kMark; })) {
      cta.tmem_words.push_back({static_cast<std::uint32_t>(at + byte), tmem_word::kMark});
    }
  }
}

void store_shared(Cta& cta, const LaneAccess& access, std::uint32_t lane, std::uint64_t at) {
  const std::size_t first = std::size_t{lane} * access.bytes;
  copy_bytes(cta.shared.data() + at, &access.data[first], access.bytes);
  if (access.tells_tmem_words || !cta.tmem_words.empty()) {
    note_tmem_words(cta, access, lane, at);
  }
  const Some poison = how_many(&access.poison[first], access.bytes);
  if (cta.unknown.empty() && poison == Some::kNone) {
    return;
  }
  cta.unknown.resize(cta.shared.size());
  if (poison != Some::kFew) {
    const auto begin = cta.unknown.begin() + static_cast<std::ptrdiff_t>(at);
    std::fill(begin, begin + access.bytes, poison == Some::kAll);
    return;
  }
  for (std::uint32_t byte = 0; byte < access.bytes; ++byte) {
    cta.unknown[at + byte] = access.poison[first + byte] != 0;
  }
}

}  // namespace

// What the program has found: it knows which lane touches what.
void Gpu::emit_race(WarpSlot slot, const Operation& op) {
  const LaneRace& race = *op.race;
  Event event = event_of(slot, op);
  event.op = race.second_writes ? Op::kSharedStore : Op::kSharedLoad;
  event.fault = Fault::kLaneRace;
  event.address = race.global ? 0 : static_cast<std::uint32_t>(race.address & 0xFFFFFFU);
  event.global = race.global ? race.address : 0;
  event.bytes = 1;
  event.lanes = 1;
  event.lane = static_cast<std::uint8_t>(race.second);
  event.set<payload::LaneRace>() = {race.first, race.site.line, race.site.file, race.first_wrote};
  if (!race.global) {
    const auto rank = static_cast<std::uint32_t>(race.address >> 24);
    event.cta = ctas_[ctas_[warps_[slot].cta].first + rank].number;
  }
  emit(event);
}

// What an atomic of one lane finds, and what it will store.
bool Gpu::update_shared(const Cta& cta, AtomicUpdate& update) {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(update.mask));
  const std::uint64_t at = update.address[lane];
  std::memcpy(update.before.data(), cta.shared.data() + at, update.bytes);
  for (std::uint32_t byte = 0; byte < update.bytes && !cta.unknown.empty(); ++byte) {
    update.known = update.known && !cta.unknown[at + byte];
  }
  for (const TmemWord& word : cta.tmem_words) {
    update.known = update.known && (word.address >= at + update.bytes || word.address + 4 <= at);
  }
  const AtomicWord after = update.update(update.before);
  const std::size_t first = std::size_t{lane} * update.bytes;
  const bool unknown = !update.known || update.leaves_unknown;
  const AtomicWord left = unknown ? AtomicWord{} : after;  // as of a global word
  std::memcpy(&update.data[first], left.data(), update.bytes);
  std::fill_n(&update.poison[first], update.bytes, std::uint8_t{unknown});
  return unknown == update.known ||
         std::memcmp(update.before.data(), after.data(), update.bytes) != 0;
}

// Shared memory of the CTA whose rank is in the address's upper bits.
Gpu::Outcome Gpu::shared_access(WarpSlot slot, const Operation& op) {
  const Warp& warp = warps_[slot];
  LaneAccess& access = *op.as<operands::LaneBytes>().access;
  const std::uint32_t rank = op.as<operands::LaneBytes>().rank;
  const bool load = op.op == Op::kSharedLoad;
  const std::uint32_t size = ctas_[warp.cta].size;
  const std::uint32_t to = ctas_[warp.cta].first + std::min(rank, size - 1);
  Cta& cta = ctas_[to];
  Event event = event_of(slot, op);
  event.set<payload::Rows>().copies = op.as<operands::LaneBytes>().copies;
  event.cta = cta.number;
  event.flags |= to == warp.cta ? std::uint32_t{0} : event_flag::kRemote;
  const std::vector<AccessRun> runs = access.runs();
  Fault fault = Fault::kNone;
  if (!aligned(access)) {
    fault = Fault::kMisaligned;
  } else if (rank >= size || std::any_of(runs.begin(), runs.end(), [&](const AccessRun& run) {
               return end_of(run) > config_.shared_bytes;
             })) {
    fault = Fault::kOutOfRange;
  } else if (cta.exited) {
    fault = Fault::kExitedCta;
  }
  if (fault != Fault::kNone) {
    event.address = runs.empty() ? 0 : static_cast<std::uint32_t>(runs.front().begin);
    fail(event, fault, true);
    emit(event);
    return Outcome::kDone;
  }
  const auto& told = op.as<operands::LaneBytes>();
  if (told.step == LaneCopyStep::kLeft) {
    const auto first = static_cast<std::uint32_t>(runs.front().begin);
    emit_early_use(slot, op, true, to, {first, op.site, true});
    return Outcome::kDone;
  }
  if (told.step != LaneCopyStep::kNone) {
    note_copied(cta, access, told.step == LaneCopyStep::kBegin ? number_of(op.site) : 0);
  }
  const bool atomic = is_atomic(access.kind);
  bool changes = !load;
  if (atomic) {
    changes = update_shared(cta, static_cast<AtomicUpdate&>(access));
    for (const AccessRun& run : runs) {
      Event read = of_run(event, run);
      read.op = Op::kSharedLoad;
      read.address = static_cast<std::uint32_t>(run.begin);
      read.as<payload::Rows>().known = static_cast<std::uint8_t>(access.kind);
      read.as<payload::Rows>().written = access.bytes;
      emit(read);
    }
  }
  if (moves_at_once(cta, access, load)) {
    std::byte* memory = cta.shared.data() + access.address[0];
    load ? std::memcpy(access.data.data(), memory, access.data.size())
         : std::memcpy(memory, access.data.data(), access.data.size());
  } else {
    for_lanes(access, [&](std::uint32_t lane, std::uint64_t at) {
      load ? load_shared(cta, access, lane, at) : store_shared(cta, access, lane, at);
    });
  }
  changes_ += changes ? 1 : 0;
  if (access.unsettled) {
    event.fault = access.of_accumulator ? Fault::kUnwaited : Fault::kUnsettled;
  }
  const auto knows = [&access] {
    return std::all_of(
        access.poison.begin(), access.poison.end(), [](auto one) { return one == 0; });
  };
  for (const AccessRun& run : runs) {
    event.address = static_cast<std::uint32_t>(run.begin);
    for (std::uint64_t row = 0; row < run.rows && event.fault == Fault::kNone; ++row) {
      const auto from = static_cast<std::uint32_t>(run.begin + row * run.pitch);
      event.fault = holds_barrier(to, from, from + run.width) ? Fault::kOverlap : event.fault;
    }
    Event part = of_run(event, run);
    auto& said = part.as<payload::Rows>();
    said.known = static_cast<std::uint8_t>(access.kind);
    said.written = atomic ? access.bytes : 0;
    if (!load && access.kind == AccessKind::kPlain && run.rows == 1 &&
        run.width <= sizeof said.written && knows()) {
      std::memcpy(&said.written, cta.shared.data() + run.begin, run.width);
      said.known = static_cast<std::uint8_t>(AccessKind::kKnown);
    }
    emit(part);
  }
  return Outcome::kDone;
}

// The bytes are there at once: who looks at them before the mbarrier has counted them is reported.
void Gpu::issue_access(const AsyncOp& async, const AsyncAccess& access) {
  Cta& cta = ctas_[async.cta];
  LaneAccess target = access.target;
  Event event = event_of(async, Step::kIssued);
  event.flags = async.cta == warps_[async.warp].cta ? std::uint32_t{0} : event_flag::kRemote;
  event.site = access.site;
  event.lanes = static_cast<std::uint8_t>(std::popcount(target.mask));
  event.mask = event.lanes == kWarpLanes ? 0 : target.mask;
  event.lane = static_cast<std::uint8_t>(std::countr_zero(target.mask));
  event.set<payload::Rows>();
  if (access.source) {
    event.op = Op::kGlobalLoad;
    for (const AccessRun& run : access.source->runs()) {
      event.global = run.begin;
      emit(of_run(event, run));
    }
    event.global = 0;
  }
  event.op = Op::kSharedStore;
  const std::vector<AccessRun> runs = target.runs();
  const bool inside = std::all_of(runs.begin(), runs.end(), [&](const AccessRun& run) {
    return end_of(run) <= config_.shared_bytes;
  });
  if (!inside || !aligned(target)) {
    event.address = runs.empty() ? 0 : static_cast<std::uint32_t>(runs.front().begin);
    fail(event, inside ? Fault::kMisaligned : Fault::kOutOfRange, true);
    emit(event);
    return;
  }
  if (access.began_before) {
    note_copied(cta, target, 0);
  }
  for_lanes(target, [&](std::uint32_t lane, std::uint64_t at) {
    const std::size_t first = std::size_t{lane} * target.bytes;
    const auto begin = static_cast<std::uint32_t>(at);
    bool unknown = false;
    if (access.update) {
      std::uint64_t word = 0;
      std::memcpy(&word, cta.shared.data() + at, target.bytes);
      word = access.update(lane, word);
      std::memcpy(&target.data[first], &word, target.bytes);
      for (std::uint32_t byte = 0; byte < target.bytes && !cta.unknown.empty(); ++byte) {
        unknown = unknown || cta.unknown[begin + byte];
      }
      std::fill_n(&target.data[first], unknown ? target.bytes : 0, std::byte{0});
    }
    std::memcpy(cta.shared.data() + at, &target.data[first], target.bytes);
    for (std::uint32_t byte = 0; byte < target.bytes; ++byte) {
      const bool poison = unknown || target.poison[first + byte] != 0;
      if (poison) {
        cta.unknown.resize(cta.shared.size());
      }
      set_unknown(cta, begin + byte, begin + byte + 1, poison);
    }
  });
  for (const AccessRun& run : runs) {
    event.address = static_cast<std::uint32_t>(run.begin);
    Event part = of_run(event, run);
    part.as<payload::Rows>().known = static_cast<std::uint8_t>(target.kind);
    part.as<payload::Rows>().written = access.update ? target.bytes : 0;
    for (std::uint64_t row = 0; row < run.rows; ++row) {
      const auto from = static_cast<std::uint32_t>(run.begin + row * run.pitch);
      part.fault = holds_barrier(async.cta, from, from + run.width) ? Fault::kOverlap : part.fault;
    }
    emit(part);
  }
}

Gpu::Outcome Gpu::global_access(WarpSlot slot, const Operation& op) {
  LaneAccess& access = *op.as<operands::LaneBytes>().access;
  const bool load = op.op == Op::kGlobalLoad;
  Event event = event_of(slot, op);
  event.set<payload::Rows>().copies = op.as<operands::LaneBytes>().copies;
  const std::vector<AccessRun> runs = access.runs();
  Fault fault = aligned(access) ? Fault::kNone : Fault::kMisaligned;
  for_lanes(access, [&](std::uint32_t, std::uint64_t at) {
    if (fault == Fault::kNone && !memory_->in_range(at, access.bytes)) {
      fault = Fault::kOutOfRange;
      event.global = at;
    }
  });
  if (fault != Fault::kNone && access.kind == AccessKind::kPeek) {
    std::fill(access.poison.begin(), access.poison.end(), std::uint8_t{1});
    return Outcome::kDone;
  }
  if (fault != Fault::kNone) {
    event.global = event.global != 0 || runs.empty() ? event.global : runs.front().begin;
    fail(event, fault, true);
    emit(event);
    return Outcome::kDone;
  }
  for_lanes(access, [&](std::uint32_t lane, std::uint64_t at) {
    const std::size_t first = std::size_t{lane} * access.bytes;
    std::byte* memory = memory_->at(at, access.bytes);
    if (load) {
      if (memory == nullptr) {
        std::fill_n(&access.poison[first], access.bytes, std::uint8_t{1});
        return;
      }
      std::memcpy(&access.data[first], memory, access.bytes);
      for (std::uint32_t byte = 0; byte < access.bytes; ++byte) {
        access.poison[first + byte] = memory_->unknown(at + byte) ? 1 : 0;
      }
    } else if (memory != nullptr) {
      std::memcpy(memory, &access.data[first], access.bytes);
      for (std::uint32_t byte = 0; byte < access.bytes; ++byte) {
        memory_->set_unknown(at + byte, 1, access.poison[first + byte] != 0);
      }
    }
  });
  if (access.kind == AccessKind::kPeek) {
    return Outcome::kDone;
  }
  if (!load) {
    ++changes_;
    for (const AccessRun& run : runs) {
      wake_pollers(run.begin, end_of(run) - run.begin);
    }
  }
  if (access.unsettled) {
    event.fault = access.of_accumulator ? Fault::kUnwaited : Fault::kUnsettled;
  }
  for (const AccessRun& run : runs) {
    event.global = run.begin;
    emit(of_run(event, run));
  }
  return Outcome::kDone;
}

}  // namespace warptwin::sim
