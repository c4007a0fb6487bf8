// atom, red, and relaxed accesses of global memory.
//
// A global word that warps update is a counter of the model, as the flags are that clusters hand
// over by. What an atomic finds depends on the interleaving: its result is unknown in a run that
// moves no data, and where it decides something the proof is made again with data. Then loads of
// the word stand beside the atomic, so that the proof is undecided as soon as another warp writes
// the word.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "sim/model/atomic_update.hpp"
#include "sim/model/copy_form.hpp"
#include "sim/model/last_adders.hpp"
#include "sim/model/word_test.hpp"
#include "sim/ptx/machine/rehearsal.hpp"

namespace warptwin::ptx {

namespace {

using Update = std::function<std::uint64_t(std::uint64_t)>;

// PTX ISA, "atom": of f32 in global memory subnormals are zeros.
float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

std::uint64_t added(Type type, bool flushes, std::uint64_t x, std::uint64_t y) {
  if (type == Type::kF64) {
    return std::bit_cast<std::uint64_t>(std::bit_cast<double>(x) + std::bit_cast<double>(y));
  }
  if (type == Type::kF32) {
    const auto of = [&](std::uint64_t bits) {
      const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      return flushes ? flushed(value) : value;
    };
    const float sum = of(x) + of(y);
    return std::isnan(sum) ? 0x7FFFFFFFU
                           : std::bit_cast<std::uint32_t>(flushes ? flushed(sum) : sum);
  }
  return (x + y) & low_bits(bits_of(type));
}

bool is_halves(Type type) {
  return type == Type::kF16x2 || type == Type::kBf16x2;
}

// Of each half of a word, as a copy that reduces does it.
std::uint64_t halves_updated(const Modifiers& modifiers, std::uint64_t x, std::uint64_t b) {
  const sim::CopyReduction reduction{
      modifiers.has("add"_mod)   ? sim::ReduceOp::kAdd
      : modifiers.has("min"_mod) ? sim::ReduceOp::kMin
                                 : sim::ReduceOp::kMax,
      modifiers.type() == Type::kF16x2 ? sim::ReduceType::kF16 : sim::ReduceType::kBf16};
  reduction.apply(
      reinterpret_cast<std::byte*>(&x), reinterpret_cast<const std::byte*>(&b), sizeof(float));
  return x;
}

// Whether `x` is the lesser, of integers in `bits` bits.
bool is_less(Type type, std::uint64_t x, std::uint64_t y) {
  const std::uint32_t spare = 64 - bits_of(type);
  return is_signed(type)
             ? static_cast<std::int64_t>(x << spare) < static_cast<std::int64_t>(y << spare)
             : x << spare < y << spare;
}

bool integer_add(const Modifiers& modifiers) {
  return modifiers.has("add"_mod) && !is_float(modifiers.type());
}

// The `word_change` of an atomic whose operands are known.
std::uint32_t change_of(const Modifiers& modifiers) {
  constexpr Modifier kChanges[] = {"add"_mod,
                                   "min"_mod,
                                   "max"_mod,
                                   "and"_mod,
                                   "or"_mod,
                                   "xor"_mod,
                                   "inc"_mod,
                                   "dec"_mod,
                                   "exch"_mod,
                                   "cas"_mod};
  const Type type = modifiers.type();
  const std::uint32_t wide = sim::word_change::of_bytes(bytes_of(type));
  if (integer_add(modifiers) && wide == 0) {
    return sim::word_change::kAdds;
  }
  std::uint32_t number = 0;
  while (number + 1 < std::size(kChanges) && !modifiers.has(kChanges[number])) {
    ++number;
  }
  if (is_halves(type)) {
    number += static_cast<std::uint32_t>(std::size(kChanges)) * (type == Type::kF16x2 ? 1 : 2);
  }
  const bool ordered = modifiers.has("min"_mod) || modifiers.has("max"_mod);
  const std::uint32_t of = is_float(type) ? 2 : ordered && is_signed(type) ? 1 : 0;
  return sim::word_change::kOther + 3 * number + of + wide;
}

bool is_relaxed(const Modifiers& modifiers) {
  return !modifiers.has("acquire"_mod) && !modifiers.has("release"_mod) &&
         !modifiers.has("acq_rel"_mod);
}

}  // namespace

std::uint64_t WarpRun::updated(
    const Modifiers& modifiers, bool flushes, std::uint64_t x, std::uint64_t b, std::uint64_t c) {
  const Type type = modifiers.type();
  if (is_halves(type)) {
    return halves_updated(modifiers, x, b);
  }
  if (modifiers.has("add"_mod)) {
    return added(type, flushes, x, b);
  }
  if (modifiers.has("min"_mod)) {
    return is_less(type, b, x) ? b : x;
  }
  if (modifiers.has("max"_mod)) {
    return is_less(type, x, b) ? b : x;
  }
  if (modifiers.has("and"_mod)) {
    return x & b;
  }
  if (modifiers.has("or"_mod)) {
    return x | b;
  }
  if (modifiers.has("xor"_mod)) {
    return x ^ b;
  }
  if (modifiers.has("inc"_mod)) {
    return x >= b ? 0 : x + 1;
  }
  if (modifiers.has("dec"_mod)) {
    return x == 0 || x > b ? b : x - 1;
  }
  return modifiers.has("cas"_mod) ? (x == b ? c : x) : b;
}

// The same of a word of 128 bits: it is exchanged, and perhaps compared.
sim::AtomicWord WarpRun::updated(const Modifiers& modifiers,
                                 bool flushes,
                                 const sim::AtomicWord& x,
                                 const sim::AtomicWord& b,
                                 const sim::AtomicWord& c) {
  if (bytes_of(modifiers.type()) == sizeof x) {
    return modifiers.has("cas"_mod) ? (x == b ? c : x) : b;
  }
  return {updated(modifiers, flushes, x[0], b[0], c[0])};
}

// An operand of it in a lane.
sim::AtomicWord WarpRun::known_word(const Request& request, std::size_t operand, Mask lane) const {
  const bool wide = request.stop.operands[operand].values.size() > 1;
  return {known(request, operand, lane), wide ? known(request, operand, lane, 1) : 0};
}

bool WarpRun::commutes(const Modifiers& modifiers) {
  return integer_add(modifiers) || modifiers.has("min"_mod) || modifiers.has("max"_mod) ||
         modifiers.has("and"_mod) || modifiers.has("or"_mod) || modifiers.has("xor"_mod);
}

// Notes that lanes of this warp write a global word, and says whether another warp has written it.
bool WarpRun::others_write(std::uint64_t address, Mask lanes) {
  if (machine_.last_adders() != nullptr) {
    const bool alone = std::has_single_bit(lanes);
    const std::uint32_t lane = alone ? static_cast<std::uint32_t>(std::countr_zero(lanes)) : kLanes;
    machine_.last_adders()->update(address & ~std::uint64_t{3}, {machine_.number(), lane});
  }
  const std::array self{machine_.cluster_index(), machine_.cta_rank(), machine_.warp_index()};
  const std::uint64_t word = address & ~std::uint64_t{3};
  const auto& first = grid_.writers.try_emplace(word, self).first->second;
  if (first[0] != self[0]) {
    grid_.words_of_clusters.insert(word);
  }
  return first != self;
}

Wanted WarpRun::wanted_of_result(const Request& request) {
  const Argument& target = *request.stop.operands[0].argument;
  if (target.kind != Argument::Kind::kRegister && target.kind != Argument::Kind::kVector) {
    return target.kind == Argument::Kind::kSink ? Wanted::kNothing : Wanted::kAll;
  }
  const auto [found, added] = grid_.wanted.try_emplace(&request.op, Wanted::kNothing);
  if (added) {
    const Routine& routine = *request.strand.frame->routine;
    const Liveness liveness{routine.code, routine.flow};
    const auto live = liveness.live_before(request.stop.op + 1);
    const auto lives = [&](const Argument& one) {
      return one.kind == Argument::Kind::kRegister &&
             std::binary_search(live.begin(), live.end(), one.index);
    };
    if (target.kind == Argument::Kind::kVector) {
      const auto parts = routine.code.parts_of(target);
      found->second =
          std::any_of(parts.begin(), parts.end(), lives) ? Wanted::kAll : Wanted::kNothing;
    } else if (lives(target)) {
      found->second = asks_sign_alone(routine.code, target.index)             ? Wanted::kSign
                      : asks_one_number(routine.code, liveness, target.index) ? Wanted::kOneNumber
                                                                              : Wanted::kAll;
    }
  }
  return found->second;
}

// As of a lock: it comes back to the atomic until that finds another word.
bool WarpRun::waits_for_result(const Request& request) {
  const auto [found, added] = grid_.spins.try_emplace(&request.op);
  if (added) {
    found->second = awaited(*this, request.strand, request.stop, Look::kAtomic).waits;
  }
  return found->second;
}

// Global words of which every run knows the contents.
void WarpRun::require_contents(const Request& request, std::uint64_t address) const {
  if (sim::is_count(address)) {
    leave_memory(request, request.mask(), "is of an address that no memory has");
  }
  const bool real = std::any_of(grid_.real.begin(), grid_.real.end(), [&](const auto& range) {
    return address >= range.first && address < range.second;
  });
  if (!real && !machine_.moves_data()) {
    refuse_unknown(request.strand, request.stop.op, "a strong access is of a word of data");
  }
}

// Whether, in a run without data, a lane's atomic has operands that nobody knows.
bool WarpRun::by_data(const Request& request, std::size_t at, Mask lane) const {
  bool unknown = false;
  for (std::size_t operand = at + 1; operand < request.operands(); ++operand) {
    for (const Lanes& part : request.stop.operands[operand].values) {
      unknown = unknown || (part.poisoned() & lane) != 0;
    }
  }
  return unknown && !machine_.moves_data();
}

// Whether it is a run without data, in which the model knows which words there are not known.
bool WarpRun::tracked(std::uint64_t address) const {
  return !machine_.moves_data() &&
         std::any_of(grid_.tracked.begin(), grid_.tracked.end(), [&](const auto& range) {
           return address >= range.first && address < range.second;
         });
}

Served WarpRun::atomic(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  const Type type = modifiers.type();
  require_form(request);
  const bool returns = request.op.is("atom");
  if (request.stop.operands[returns ? 2 : 1].argument->kind == Argument::Kind::kVector) {
    return vector_atomic(request);
  }
  if (const auto polled = returns ? poll(request) : std::nullopt) {
    return *polled;
  }
  const std::size_t at = returns ? 1 : 0;
  const auto places = places_of(request, at);
  const bool flags = !returns && modifiers.has("release"_mod) && modifiers.has("add"_mod) &&
                     modifiers.has("global"_mod) && type == Type::kU32 &&
                     (modifiers.has("gpu"_mod) || modifiers.has("sys"_mod));
  if (flags) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      if ((request.mask() >> lane & 1U) != 0) {
        require_contents(request, places[lane].address);
        others_write(places[lane].address, Mask{1} << lane);
      }
    }
    return reduce(request);
  }
  std::array<Lanes, 2> found{Lanes::unknown(), Lanes::unknown()};
  const std::span<Lanes> result{found.data(), bytes_of(type) > sizeof(std::uint64_t) ? 2U : 1U};
  const Wanted wanted = returns ? wanted_of_result(request) : Wanted::kNothing;
  if (const auto told = ask_whether_last(request, wanted, places)) {
    return *told;
  }
  const bool used = wanted != Wanted::kNothing;
  Mask global = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const Mask bit = Mask{1} << lane;
    if ((request.mask() & bit) == 0) {
      continue;
    }
    if (places[lane].space == Space::kGlobal) {
      global |= bit;
    } else if (places[lane].space == Space::kShared) {
      shared_atomic(request, places[lane], lane, at, used, result);
    } else {
      refuse(request, "an atomic is of global or of shared memory");
    }
  }
  if (global != 0) {
    global_atomics(request, global, at, wanted, result);
  }
  for (std::size_t part = 0; returns && part < result.size(); ++part) {
    request.strand.write(request.stop, 0, part, result[part]);
  }
  return Served::kDone;
}

// PTX ISA, "atom": of a vector each element is an atomic of its own. Halves are so by two.
Served WarpRun::vector_atomic(Request& request) {
  const bool returns = request.op.is("atom");
  const std::size_t at = returns ? 1 : 0;
  const Wanted wanted = returns ? wanted_of_result(request) : Wanted::kNothing;
  Modifiers modifiers = request.modifiers;
  for (const Modifier vector : {"v2"_mod, "v4"_mod, "v8"_mod}) {
    modifiers.words.reset(vector.index);
  }
  const bool halves = bits_of(modifiers.type()) == 16;
  if (halves) {
    modifiers.types[0] = modifiers.type() == Type::kF16 ? Type::kF16x2 : Type::kBf16x2;
  }
  const std::vector<Lanes>& values = request.stop.operands[at + 1].values;
  const std::size_t each = halves ? 2 : 1;  // elements of a word
  const std::uint64_t bytes = sizeof(float) * values.size() / each;
  const auto places = places_of(request, at);
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const Place& place = places[static_cast<std::uint32_t>(std::countr_zero(left))];
    if (place.space != Space::kGlobal) {
      refuse(request, "an atomic of a vector is of global memory");
    }
    if (place.address % bytes != 0) {
      leave_memory(request,
                   left & ~(left - 1),
                   "is of " + std::to_string(bytes) + " bytes in all, at no multiple of these");
    }
  }
  for (std::size_t part = 0; part < values.size(); part += each) {
    Stop stop;
    stop.kind = request.stop.kind;
    stop.op = request.stop.op;
    stop.mask = request.stop.mask;
    stop.unknown_guard = request.stop.unknown_guard;
    stop.operands.assign(request.stop.operands.begin(),
                         request.stop.operands.begin() + static_cast<std::ptrdiff_t>(at + 1));
    Lanes word = values[part];
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      stop.operands[at].values[0].value[lane] += sizeof(float) * part / each;
      if (halves) {
        word.value[lane] |= values[part + 1].value[lane] << 16;
        word.poison[lane] |= static_cast<std::uint8_t>(values[part + 1].poison[lane] << 2);
      }
    }
    stop.operands.push_back({request.stop.operands[at + 1].argument, {word}});
    Request one{request.strand, stop, request.op, modifiers};
    Lanes result = Lanes::unknown();
    global_atomics(one, request.mask(), at, wanted, {&result, 1});
    for (std::size_t half = 0; returns && half < each; ++half) {
      Lanes element = result;
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        element.value[lane] = result.value[lane] >> 16 * half & low_bits(halves ? 16 : 32);
        element.poison[lane] = static_cast<std::uint8_t>(result.poison[lane] >> 2 * half &
                                                         poison_bits(halves ? 16 : 32));
      }
      request.strand.write(request.stop, 0, part + half, element);
    }
  }
  return Served::kDone;
}

void WarpRun::global_atomics(
    Request& request, Mask lanes, std::size_t at, Wanted wanted, std::span<Lanes> result) {
  const Modifiers& modifiers = request.modifiers;
  const bool used = wanted != Wanted::kNothing;
  const bool counts = integer_add(modifiers) && bytes_of(modifiers.type()) == 4;
  const bool orders = modifiers.has("release"_mod) || modifiers.has("acq_rel"_mod);
  const bool acquires = modifiers.has("acquire"_mod) || modifiers.has("acq_rel"_mod);
  const auto address = [&](Mask some) { return known(request, at, some); };
  const auto places = places_of(request, at);
  Mask data = 0;  // lanes whose atomics leave what nobody knows
  for (Mask left = lanes; left != 0; left &= left - 1) {
    const Mask lane = left & ~(left - 1);
    data |= by_data(request, at, lane) || tracked(address(lane)) ? lane : 0;
  }
  const bool signs = wanted == Wanted::kSign && counts && !acquires && data == 0;
  // The proof sees that what this warp found was decided by another one: by who has written the
  // word before, and by who writes it after this look. Of a sign the addition says so.
  const auto look = [&](Mask some) {
    if (used && !signs && machine_.moves_data()) {
      sim::Operation op = make(warptwin::Op::kGlobalLoadAcquire, request, some);
      op.as<sim::operands::GlobalWord>().address = address(some);
      op.flags |= event_flag::kOfAtomic;
      set_order(modifiers, op);
      perform(op, acquires);
    }
  };
  // Which of two lanes comes first shows in what one finds, or in what the last one leaves.
  const bool shows = used || !commutes(modifiers);
  const auto prepare = [&](Mask some) {
    if (!tracked(address(some))) {
      require_contents(request, address(some));
    }
    const bool unknown = (some & ~data) == 0;
    touch_words(request, some, places, shows && !unknown ? Touch::kStrongStore : Touch::kAdd);
    if (others_write(address(some), some)) {
      look(some);
    }
  };
  if (!used && counts && data == 0) {
    Mask left = lanes;
    for_equal(request, {at, at + 1}, [&](Mask same) {
      if ((left & same) == 0) {
        return;
      }
      prepare(same & lanes);
      sim::Operation op = make(warptwin::Op::kGlobalRedAdd, request, same & lanes);
      auto& word = op.as<sim::operands::GlobalWord>();
      word.address = address(same & lanes);
      word.value = static_cast<std::uint32_t>(known(request, at + 1, same & lanes));
      set_order(modifiers, op);
      perform(op, orders);
      left &= ~same;
    });
    return;
  }
  for (Mask left = lanes; left != 0; left &= left - 1) {
    const Mask lane = left & ~(left - 1);
    prepare(lane);
    const bool free = (data & lane) != 0;
    const bool compares = modifiers.has("cas"_mod);
    const auto b = free ? sim::AtomicWord{} : known_word(request, at + 1, lane);
    const auto c = compares && !free ? known_word(request, at + 2, lane) : sim::AtomicWord{};
    sim::AtomicUpdate update{bytes_of(modifiers.type())};
    update.update = [&](const sim::AtomicWord& old) { return updated(modifiers, true, old, b, c); };
    update.leaves_unknown = free;
    update.change = !free ? change_of(modifiers)
                          : sim::word_change::kUnknown + sim::word_change::of_bytes(update.bytes);
    sim::Operation op = make(warptwin::Op::kGlobalRedAdd, request, lane);
    auto& word = op.as<sim::operands::GlobalWord>();
    word.update = &update;
    word.address = address(lane);
    // Nobody can wait for a word that is not known: then each counts as one that adds.
    const std::uint32_t some = commutes(modifiers) || free ? 1 : 0;
    word.value = counts && !free ? static_cast<std::uint32_t>(b[0]) : some;
    op.flags |= signs ? event_flag::kSignAsked : std::uint32_t{0};
    set_order(modifiers, op);
    perform(op, orders);
    look(lane);
    if (acquires) {
      touched_.learn(serving_);
    }
    const auto number = static_cast<std::uint32_t>(std::countr_zero(lane));
    for (std::size_t part = 0; part < result.size(); ++part) {
      if (machine_.moves_data() && update.known) {
        result[part].value[number] = update.before[part];
        result[part].poison[number] = 0;
      }
    }
  }
}

// Of a word that is used by this warp's atomic, what is known of all its atomics.
SharedAtomics WarpRun::note_shared_atomic(const Request& request, const Place& place, bool used) {
  const Modifiers& modifiers = request.modifiers;
  const std::array self{machine_.cta_rank(), machine_.warp_index()};
  const std::uint32_t change = change_of(modifiers);
  const bool later = request.op.is("red.async");
  SharedAtomics all;
  for (std::uint32_t byte = 0; byte < bytes_of(modifiers.type()); byte += 4) {
    const std::array key{machine_.cluster_index(),
                         place.rank,
                         (static_cast<std::uint32_t>(place.address) & ~std::uint32_t{3}) + byte};
    const auto [found, added] = grid_.shared_atomics.try_emplace(key);
    SharedAtomics& word = found->second;
    if (added) {
      word.first = self;
      word.change = change;
    }
    // One that is on its way is in no order with what its warp does next.
    word.several = word.several || word.first != self || (!added && (later || word.later));
    word.later = word.later || later;
    word.alike = word.alike && commutes(modifiers) && word.change == change;
    word.told = word.told || (used && machine_.moves_data());  // without data it is unknown
    all.several = all.several || word.several;
    all.alike = all.alike && word.alike;
    all.told = all.told || word.told;
  }
  return all;
}

// What an atomic finds is unknown in a run without data, and so is what those of several warps
// leave that do not do the same. With data the proof is told where that depends on who comes first.
void WarpRun::shared_atomic(Request& request,
                            const Place& place,
                            std::uint32_t lane,
                            std::size_t at,
                            bool used,
                            std::span<Lanes> result) {
  const Modifiers& modifiers = request.modifiers;
  const std::uint32_t size = bytes_of(modifiers.type());
  const Mask bit = Mask{1} << lane;
  if (!is_relaxed(modifiers)) {
    refuse(request, "acquiring and releasing atomics of shared memory are not there");
  }
  if (used && waits_for_result(request)) {
    refuse(request, "a lock of shared memory, or another wait by its atomics, is not there");
  }
  const bool free = by_data(request, at, bit);
  const bool compares = modifiers.has("cas"_mod);
  const auto b = free ? sim::AtomicWord{} : known_word(request, at + 1, bit);
  const auto c = compares && !free ? known_word(request, at + 2, bit) : sim::AtomicWord{};
  std::array<Place, kLanes> places;
  places[lane] = place;
  const bool shows = used || !commutes(modifiers);
  touch_words(request, bit, places, shows && !free ? Touch::kStrongStore : Touch::kAdd);
  const SharedAtomics word = note_shared_atomic(request, place, used);
  const bool mixed = word.several && !word.alike;
  const bool decided = (word.several && word.told) || (mixed && machine_.moves_data());
  sim::AtomicUpdate access{size};
  access.mask = bit;
  access.address[lane] = place.address;
  access.kind = decided ? sim::AccessKind::kDecided : sim::AccessKind::kAtomic;
  access.leaves_unknown = free || (mixed && !machine_.moves_data());
  access.update = [&](const sim::AtomicWord& old) { return updated(modifiers, false, old, b, c); };
  sim::Operation op = make(warptwin::Op::kSharedStore, request, bit);
  op.ordering.scope = scope_of(modifiers, warptwin::Scope::kGpu);
  op.set<sim::operands::LaneBytes>() = {&access, place.rank, 0};
  perform(op);
  const bool told = access.known && machine_.moves_data();
  for (std::size_t part = 0; part < result.size(); ++part) {
    result[part].value[lane] = access.before[part];
    result[part].poison[lane] =
        told ? std::uint8_t{0} : poison_bits(8 * std::min<std::uint32_t>(size, 8));
  }
}

// A load or store of one word by each lane that is atomic, and orders nothing.
bool WarpRun::relaxed(Request& request, std::size_t at, bool loads) {
  const Modifiers& modifiers = request.modifiers;
  if (modifiers.has("release"_mod) && !loads) {
    for (Mask left = request.mask(); left != 0; left &= left - 1) {
      const std::uint64_t address = known(request, at, left & ~(left - 1));
      if (place_of(request, space_of(modifiers), address).space == Space::kGlobal) {
        others_write(address, left & ~(left - 1));
      }
    }
  }
  if (!modifiers.has("relaxed"_mod) && !modifiers.has("volatile"_mod)) {
    return false;
  }
  const auto places = places_of(request, at);
  Mask global = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const bool here = (request.mask() >> lane & 1U) != 0 && places[lane].space == Space::kGlobal;
    global |= Mask{here} << lane;
  }
  if (global == 0) {
    return false;
  }
  const auto kind = request.stop.operands[loads ? 0 : 1].argument->kind;
  if (global != request.mask() || bytes_of(modifiers.type()) != 4 ||
      kind == Argument::Kind::kVector) {
    refuse(request, "relaxed and volatile accesses of global memory are of one word of 32 bits");
  }
  Lanes value;
  for (Mask left = global; left != 0; left &= left - 1) {
    const Mask lane = left & ~(left - 1);
    const auto number = static_cast<std::uint32_t>(std::countr_zero(lane));
    require_contents(request, places[number].address);
    if (!loads) {
      others_write(places[number].address, lane);
    }
    sim::Operation op =
        make(loads ? warptwin::Op::kGlobalLoadAcquire : warptwin::Op::kGlobalStoreRelease,
             request,
             lane);
    auto& word = op.as<sim::operands::GlobalWord>();
    word.address = places[number].address;
    touch_words(request, lane, places, loads ? Touch::kStrongLoad : Touch::kStrongStore);
    word.asks_known = loads;
    word.value = loads ? 0 : static_cast<std::uint32_t>(known(request, at + 1, lane));
    set_order(modifiers, op);
    perform(op, false);
    value.value[number] = is_signed(modifiers.type())
                              ? static_cast<std::uint64_t>(
                                    static_cast<std::int64_t>(static_cast<std::int32_t>(op.result)))
                              : op.result;
    value.poison[number] = word.unknown ? 0xff : 0;
  }
  if (loads) {
    request.strand.write(request.stop, 0, 0, value);
  }
  return true;
}

}  // namespace warptwin::ptx
