// Loads, stores and address spaces.

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "sim/ptx/machine/opaque.hpp"
#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

/// What an instruction moves: the same number of bytes in each lane.
struct WarpRun::Bytes {
  explicit Bytes(std::uint32_t bytes_of_a_lane) : size{bytes_of_a_lane}, access{size} {}

  std::byte* of(std::uint32_t lane) { return &access.data[std::size_t{lane} * size]; }
  std::uint8_t* poison_of(std::uint32_t lane) { return &access.poison[std::size_t{lane} * size]; }
  bool poisoned() const {
    return std::memchr(access.poison.data(), 1, access.poison.size()) != nullptr;
  }
  bool poisoned_in(Mask lanes) {
    bool some = false;
    for (; lanes != 0; lanes &= lanes - 1) {
      some = some ||
             std::memchr(poison_of(static_cast<std::uint32_t>(std::countr_zero(lanes))), 1, size) !=
                 nullptr;
    }
    return some;
  }
  /// What these lanes of it access, at these places.
  sim::LaneAccess& by(Mask lanes, const std::array<Place, kLanes>& places) {
    access.mask = lanes;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      access.address[lane] = places[lane].address;
    }
    return access;
  }

  std::uint32_t size;
  sim::LaneAccess access;
};

namespace {

// Of a result that may depend on each byte of what it is made of.
void make_unknown(Lanes& result, const Lanes& of) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    result.poison[lane] = result.poison[lane] != 0 || of.poison[lane] != 0 ? 0xff : 0;
  }
}

// The bytes of `step` from every so manieth on, to or from the lanes' values.
template <class F>
void for_step(std::uint32_t step, F&& f) {
  switch (step) {
    case 1:
      return f(std::integral_constant<std::uint32_t, 1>{});
    case 2:
      return f(std::integral_constant<std::uint32_t, 2>{});
    case 4:
      return f(std::integral_constant<std::uint32_t, 4>{});
    default:
      return f(std::integral_constant<std::uint32_t, 8>{});
  }
}

// Bit b of a byte as byte b of a word.
constexpr std::array<std::uint64_t, 256> kBitsAsBytes = [] {
  std::array<std::uint64_t, 256> bytes{};
  for (std::size_t bits = 0; bits < bytes.size(); ++bits) {
    for (std::uint32_t bit = 0; bit < 8; ++bit) {
      bytes[bits] |= std::uint64_t{bits >> bit & 1U} << (bit * 8);
    }
  }
  return bytes;
}();

constexpr std::uint32_t kLine = 128;  // bytes of L2
constexpr std::uint64_t kWindows[] = {kSharedWindow, kLocalWindow, kParameterWindow};

// Whether a generic address is one of shared or local memory, or of the parameters.
bool is_in_window(std::uint64_t address) {
  return std::any_of(std::begin(kWindows), std::end(kWindows), [&](std::uint64_t window) {
    return address >= window && address - window < kWindowBytes;
  });
}

}  // namespace

void WarpRun::set_order(const Modifiers& modifiers, sim::Operation& op) {
  using warptwin::Semantics;
  const bool acquires = modifiers.has("acquire"_mod) || modifiers.has("acq_rel"_mod);
  const bool releases = modifiers.has("release"_mod) || modifiers.has("acq_rel"_mod);
  const bool loads =
      op.op == warptwin::Op::kGlobalLoadAcquire || op.op == warptwin::Op::kGlobalWait;
  const bool orders = loads ? acquires : releases;
  op.ordering.semantics = !orders ? Semantics::kRelaxed
                          : loads ? Semantics::kAcquire
                                  : Semantics::kRelease;
  op.ordering.scope = scope_of(modifiers, warptwin::Scope::kGpu);
  op.flags |= orders ? std::uint32_t{0} : event_flag::kRelaxed;
}

Space WarpRun::space_of(const Modifiers& modifiers) {
  if (modifiers.has("shared"_mod) || modifiers.has("shared::cta"_mod) ||
      modifiers.has("shared::cluster"_mod)) {
    return Space::kShared;
  }
  if (modifiers.has("global"_mod)) {
    return Space::kGlobal;
  }
  if (modifiers.has("local"_mod)) {
    return Space::kLocal;
  }
  if (modifiers.has("param"_mod) || modifiers.has("param::entry"_mod) ||
      modifiers.has("param::func"_mod)) {
    return Space::kParam;
  }
  return modifiers.has("const"_mod) ? Space::kConst : Space::kGeneric;
}

WarpRun::Place WarpRun::place_of(const Request& request, Space space, std::uint64_t address) const {
  const auto in = [&](std::uint64_t window) {
    return address >= window && address - window < kWindowBytes;
  };
  if (space == Space::kShared || (space == Space::kGeneric && in(kSharedWindow))) {
    const std::uint32_t at = shared_of(request, address);
    return {Space::kShared, at >> 24, at & 0xFFFFFFU};
  }
  for (const auto& [kind, window] :
       {std::pair{Space::kLocal, kLocalWindow}, std::pair{Space::kParam, kParameterWindow}}) {
    if (space == kind || (space == Space::kGeneric && in(window))) {
      return {kind, 0, in(window) ? address - window : address};
    }
  }
  if (space == Space::kConst || !grid_.constants.empty()) {
    require_constant(request, space, address);
  }
  return {Space::kGlobal, 0, address};
}

std::array<WarpRun::Place, kLanes> WarpRun::places_of(const Request& request,
                                                      std::size_t operand) const {
  const Lanes& address = request.value(operand);
  if (address.any_poison() && (address.poisoned() & request.mask()) != 0) {
    refuse_unknown(request.strand,
                   request.stop.op,
                   "its address depends on what nobody has written, or on data that is still on "
                   "its way");
  }
  std::array<Place, kLanes> places;
  const Space space = space_of(request.modifiers);
  const bool own = names_own_shared(request.modifiers);
  const std::uint32_t rank = machine_.cta_rank();
  const std::uint32_t ctas = space == Space::kShared ? machine_.cluster_size() : 0;
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint64_t at = address.value[lane];
    places[lane] = at >> 24 < ctas && (at & 0xFFFFFFU) >= sim::kSharedBase
                       ? Place{space, static_cast<std::uint32_t>(at >> 24), at & 0xFFFFFFU}
                       : place_of(request, space, at);
    if (own && places[lane].rank != rank) {
      refuse(request, "the address is in the shared memory of another CTA");
    }
  }
  return places;
}

// What a tensor map's bytes are as numbers is the driver's own.
void WarpRun::note_map_bytes(const Request& request) {
  grid_.map_bytes.insert(kernel_.line_of(*request.strand.frame->routine, request.stop.op));
}

// Local memory and parameters: nobody else sees them.
void WarpRun::move_private(
    const Request& request, const Place& place, std::uint32_t lane, bool loads, Bytes& bytes) {
  const bool local = place.space == Space::kLocal;
  const std::uint64_t size = grid_.parameters.size();
  const bool inside = local ? kernel_.is_local(place.address, bytes.size)
                            : place.address <= size && bytes.size <= size - place.address;
  if (!inside) {
    leave_memory(request,
                 Mask{1} << lane,
                 "of " + std::to_string(bytes.size) + " bytes at byte " +
                     std::to_string(static_cast<std::int64_t>(place.address)) + " of " +
                     (local ? "local memory" + kernel_.local_before(place.address)
                            : "the parameters, which end at " + std::to_string(size)));
  }
  if (place.address % (bytes.size & (~bytes.size + 1)) != 0) {
    refuse(
        request,
        "byte " + std::to_string(place.address) + " of " +
            (local ? "local memory" : "the parameters") + " is no multiple of the " +
            std::to_string(bytes.size) +
            " bytes that are accessed, as PTX demands: align the variable, or access fewer bytes");
  }
  if (!local) {
    if (!loads) {
      refuse(request, "a kernel's parameters are not written");
    }
    for (const auto& [offset, number] : grid_.maps) {
      if (place.address < offset + kTensorMapBytes && offset < place.address + bytes.size) {
        note_map_bytes(request);
      }
    }
    std::memcpy(bytes.of(lane), grid_.parameters.data() + place.address, bytes.size);
    return;
  }
  const std::size_t at = lane * kernel_.local_bytes() + place.address;
  if (loads) {
    std::memcpy(bytes.of(lane), &local_[at], bytes.size);
    std::memcpy(bytes.poison_of(lane), &local_poison_[at], bytes.size);
  } else {
    std::memcpy(&local_[at], bytes.of(lane), bytes.size);
    std::memcpy(&local_poison_[at], bytes.poison_of(lane), bytes.size);
  }
}

namespace {

bool strong(const Modifiers& modifiers) {
  return modifiers.has("relaxed"_mod) || modifiers.has("volatile"_mod) || modifiers.has("mmio"_mod);
}

}  // namespace

void WarpRun::move_shared(const Request& request,
                          Mask lanes,
                          const std::array<Place, kLanes>& places,
                          bool loads,
                          Bytes& bytes) {
  const auto first = static_cast<std::uint32_t>(std::countr_zero(lanes));
  const Modifiers& modifiers = request.modifiers;
  if (modifiers.has("acquire"_mod) || modifiers.has("release"_mod)) {
    refuse(request, "acquiring and releasing accesses of shared memory are not there");
  }
  sim::Operation op =
      make(loads ? warptwin::Op::kSharedLoad : warptwin::Op::kSharedStore, request, lanes);
  bool same = loads && places[first].rank == machine_.cta_rank() && bytes.size == 4;
  for (std::uint32_t lane = 0; lane < kLanes && same; ++lane) {
    same = (lanes >> lane & 1U) == 0 || places[lane].address == places[first].address;
  }
  sim::LaneAccess& access = bytes.by(lanes, places);
  touch(request, access, shared_base(places[first].rank), loads ? Touch::kLoad : Touch::kStore);
  if (same && machine_.moves_data() && grid_.bases.empty() && grid_.responses.empty() &&
      !bytes.poisoned()) {
    auto& word = op.as<sim::operands::SharedWord>();
    word.address = static_cast<std::uint32_t>(places[first].address);
    perform(op);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      if ((lanes >> lane & 1U) != 0) {
        std::memcpy(bytes.of(lane), &op.result, 4);
        std::fill_n(bytes.poison_of(lane), 4, std::uint8_t{word.unknown});
      }
    }
    return;
  }
  op.set<sim::operands::LaneBytes>() = {&access, places[first].rank, 0};
  perform(op);
}

void WarpRun::move_global(const Request& request,
                          Mask lanes,
                          const std::array<Place, kLanes>& places,
                          bool loads,
                          Bytes& bytes) {
  const Modifiers& modifiers = request.modifiers;
  const bool acquires = modifiers.has("acquire"_mod);
  const bool releases = modifiers.has("release"_mod);
  if (strong(modifiers)) {
    refuse(request, "relaxed and volatile accesses of global memory are not there");
  }
  if (acquires || releases) {
    if (bytes.size != 4) {
      refuse(request, "flags of other than 32 bits are not there");
    }
    if (!loads && bytes.poisoned_in(lanes)) {
      refuse_unknown(request.strand, request.stop.op, "it hands over data");
    }
    for (Mask left = lanes; left != 0;) {
      const auto first = static_cast<std::uint32_t>(std::countr_zero(left));
      Mask same = 0;
      for (std::uint32_t lane = first; lane < kLanes; ++lane) {
        same |= Mask{(left >> lane & 1U) != 0 && places[lane].address == places[first].address &&
                     (loads || std::memcmp(bytes.of(lane), bytes.of(first), 4) == 0)}
                << lane;
      }
      sim::Operation op =
          make(loads ? warptwin::Op::kGlobalLoadAcquire : warptwin::Op::kGlobalStoreRelease,
               request,
               same);
      auto& word = op.as<sim::operands::GlobalWord>();
      word.address = places[first].address;
      if (!tracked(word.address)) {
        require_contents(request, word.address);
      }
      word.asks_known = loads;
      if (!loads) {
        std::memcpy(&word.value, bytes.of(first), 4);
      }
      set_order(modifiers, op);
      touch_words(request, same, places, loads ? Touch::kStrongLoad : Touch::kStrongStore);
      perform(op);
      for (std::uint32_t lane = 0; lane < kLanes && loads; ++lane) {
        if ((same >> lane & 1U) != 0) {
          std::memcpy(bytes.of(lane), &op.result, 4);
          std::fill_n(bytes.poison_of(lane), 4, std::uint8_t{word.unknown});
        }
      }
      left &= ~same;
    }
    return;
  }
  sim::LaneAccess& access = bytes.by(lanes, places);
  // "Load read-only data", from one address (PTX ISA, "ldu").
  const bool uniformly = request.op.is("ldu");
  if (uniformly) {
    uniform(request, 1);
  }
  const bool read_only = loads && (uniformly || modifiers.has("nc"_mod));
  if (!loads && (kernel_.changes_maps() || !grid_.memory_maps.empty())) {
    note_map_stores(request, access);
  }
  for (Mask left = loads && !grid_.memory_maps.empty() ? lanes : 0; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const auto above = grid_.memory_maps.lower_bound(places[lane].address + bytes.size);
    if (above != grid_.memory_maps.begin() &&
        places[lane].address < std::prev(above)->first + kTensorMapBytes) {
      note_map_bytes(request);
    }
  }
  if (!read_only) {
    touch(request, access, LaneWords::kGlobal, loads ? Touch::kLoad : Touch::kStore);
  }
  sim::Operation op =
      make(loads ? warptwin::Op::kGlobalLoad : warptwin::Op::kGlobalStore, request, lanes);
  op.flags |= read_only ? event_flag::kReadOnly : std::uint32_t{0};
  op.set<sim::operands::LaneBytes>().access = &access;
  perform(op);
}

// Bytes of one response, by lanes that all read it: the model asks it as a query does. PTX calls
// them opaque: what stands for them in registers is unknown to all but a query.
bool WarpRun::load_response(const Request& request,
                            const std::array<Place, kLanes>& places,
                            Bytes& bytes) {
  const auto first = static_cast<std::uint32_t>(std::countr_zero(request.mask()));
  const auto offset_in = [&](std::uint32_t lane) {
    return static_cast<std::uint32_t>(places[lane].address % kClcResponseBytes);
  };
  const std::uint32_t at = static_cast<std::uint32_t>(places[first].address) - offset_in(first);
  if (!grid_.responses.contains(at)) {
    return false;
  }
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const bool here = places[lane].space == Space::kShared &&
                      places[lane].address - at + bytes.size <= kClcResponseBytes &&
                      places[lane].rank == machine_.cta_rank();
    if ((request.mask() >> lane & 1U) != 0 && !here) {
      return false;
    }
  }
  std::uint32_t words[2] = {};
  for (std::uint32_t word = 0; word < 2; ++word) {
    sim::Operation op = make(warptwin::Op::kClcQuery, request, request.mask());
    op.as<sim::operands::ClcQuery>() = {at, word};
    op.flags |= word == 0 ? event_flag::kPeek : std::uint32_t{0};
    perform(op);
    if (op.result == kNoIndex) {
      return false;
    }
    words[word] = op.result;
    if (op.result == 0) {
      break;  // there is no cluster, so nobody asks for its CTA
    }
  }
  const std::uint64_t half = response_of({words[0] != 0, words[1]});
  const std::uint64_t response[2] = {half, half};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((request.mask() >> lane & 1U) != 0) {
      const auto* const from = reinterpret_cast<const std::byte*>(response) + offset_in(lane);
      std::memcpy(bytes.of(lane), from, bytes.size);
      std::fill_n(bytes.poison_of(lane), bytes.size, std::uint8_t{1});
    }
  }
  touch(request, bytes.by(request.mask(), places), shared_base(places[first].rank), Touch::kLoad);
  return true;
}

// Between registers and memory, wherever each lane's address is.
void WarpRun::move(const Request& request, std::size_t address, bool loads, Bytes& bytes) {
  const auto places = places_of(request, address);
  if (loads && load_response(request, places, bytes)) {
    return;
  }
  Mask global = 0;
  Mask shared = 0;
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const Mask bit = Mask{1} << lane;
    if (places[lane].space == Space::kGlobal) {
      global |= bit;
    } else if (places[lane].space == Space::kShared) {
      shared |= bit;
    } else {
      move_private(request, places[lane], lane, loads, bytes);
    }
  }
  if (global != 0) {
    move_global(request, global, places, loads, bytes);
  }
  // Each CTA's shared memory by itself.
  while (shared != 0) {
    const std::uint32_t rank = places[static_cast<std::uint32_t>(std::countr_zero(shared))].rank;
    Mask lanes = machine_.cluster_size() == 1 ? shared : 0;
    for (std::uint32_t lane = 0; lane < kLanes && lanes != shared; ++lane) {
      lanes |= Mask{(shared >> lane & 1U) != 0 && places[lane].rank == rank} << lane;
    }
    move_shared(request, lanes, places, loads, bytes);
    shared &= ~lanes;
  }
}

// Addresses of tensor memory among what has been loaded: a register has a mark for each. Their
// bytes are unknown to all else; of a mark that data has overwritten nothing is left.
void WarpRun::take_tensor_bases(const Request& request, Bytes& bytes) {
  constexpr std::uint32_t kWord = sizeof(std::uint32_t);
  const std::uint32_t step = std::min(bytes_of(request.modifiers.type()), 8U);
  const auto known = [](std::uint8_t kind) { return kind == 0; };
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    for (std::uint32_t at = 0; at < bytes.size; at += step) {
      std::uint8_t* const kinds = bytes.poison_of(lane) + at;
      if (std::all_of(kinds, kinds + step, known)) {
        continue;
      }
      std::optional<std::uint32_t> mark;
      if (step == kWord && std::count(kinds, kinds + kWord, kinds[0]) == kWord) {
        std::uint32_t held = 0;
        std::memcpy(&held, bytes.of(lane) + at, kWord);
        mark =
            kinds[0] == sim::tmem_word::kMark ? held : mark_of_allocation(request, lane, kinds[0]);
      }
      const bool stale = grid_.bases.has_mark({bytes.of(lane) + at, step});
      for (std::uint32_t byte = 0; byte < step; ++byte) {
        if (kinds[byte] > 1 || (kinds[byte] == 1 && stale)) {
          kinds[byte] = 1;
          bytes.of(lane)[at + byte] = std::byte{0};
        }
      }
      if (mark) {
        std::memcpy(bytes.of(lane) + at, &*mark, kWord);
      }
    }
  }
}

// Of a word that an allocation of the CTA in whose shared memory it is has written.
std::optional<std::uint32_t> WarpRun::mark_of_allocation(const Request& request,
                                                         std::uint32_t lane,
                                                         std::uint8_t kind) {
  const Place place = place_of(request, space_of(request.modifiers), request.value(1).value[lane]);
  const auto all = grid_.allocations.find({machine_.cluster_index(), place.rank});
  const std::uint32_t ordinal = kind - std::uint32_t{sim::tmem_word::kFirst};
  if (kind < sim::tmem_word::kFirst || all == grid_.allocations.end() ||
      ordinal >= all->second.size()) {
    return std::nullopt;
  }
  return grid_.bases.mark_of({all->second[ordinal], 0});
}

Served WarpRun::any_load(Request& request) {
  if (const std::optional<Served> polled = poll(request)) {
    return *polled;
  }
  return relaxed(request, 1, true) ? Served::kDone : load(request);
}

Served WarpRun::any_store(Request& request) {
  return relaxed(request, 0, false) ? Served::kDone : store(request);
}

Served WarpRun::load(Request& request) {
  const Argument& target = *request.stop.operands[0].argument;
  const Type type = request.modifiers.type();
  const std::uint32_t size = bytes_of(type);
  const std::uint32_t parts = target.kind == Argument::Kind::kVector ? target.count : 1;
  Bytes bytes{size * parts};
  bytes.access.tells_tmem_words = !grid_.bases.empty();
  move(request, 1, true, bytes);
  if (!grid_.bases.empty()) {
    take_tensor_bases(request, bytes);
  }
  const bool poisoned = bytes.poisoned();
  const std::uint32_t halves = size > 8 ? 2 : 1;
  const std::uint32_t step = size / halves;
  for (std::uint32_t part = 0; part < parts * halves; ++part) {
    Lanes value;
    for_step(step, [&](auto count) {
      const std::byte* from = bytes.of(0) + part * step;
      for (std::uint32_t lane = 0; lane < kLanes; ++lane, from += bytes.size) {
        std::memcpy(&value.value[lane], from, count);
      }
    });
    for (std::uint32_t lane = 0; lane < kLanes && (poisoned || is_signed(type)); ++lane) {
      for (std::uint32_t byte = 0; byte < step && poisoned; ++byte) {
        value.poison[lane] |=
            static_cast<std::uint8_t>(bytes.poison_of(lane)[part * step + byte] << byte);
      }
      if (is_signed(type)) {
        const std::uint32_t spare = 64 - bits_of(type);
        value.value[lane] = static_cast<std::uint64_t>(
            static_cast<std::int64_t>(value.value[lane] << spare) >> spare);
      }
    }
    request.strand.write(request.stop, 0, part, value);
  }
  return Served::kDone;
}

Served WarpRun::store(Request& request) {
  const auto& values = request.stop.operands[1].values;
  const std::uint32_t size = bytes_of(request.modifiers.type());
  const std::uint32_t step = std::min(size, 8U);
  Bytes bytes{static_cast<std::uint32_t>(values.size()) * step};
  for (std::uint32_t part = 0; part < values.size(); ++part) {
    const std::uint32_t flight = flight_in(values[part], request.mask());
    if (flight != kNoIndex) {
      bytes.access.unsettled = true;
      bytes.access.of_accumulator = flights_[flight].by == warptwin::Op::kWgmmaWait;
    }
    const bool poisoned = values[part].any_poison();
    for_step(step, [&](auto count) {
      std::byte* to = bytes.of(0) + part * step;
      for (std::uint32_t lane = 0; lane < kLanes; ++lane, to += bytes.size) {
        std::memcpy(to, &values[part].value[lane], count);
      }
    });
    if (poisoned) {
      for_step(step, [&](auto count) {
        std::uint8_t* to = bytes.poison_of(0) + part * step;
        for (std::uint32_t lane = 0; lane < kLanes; ++lane, to += bytes.size) {
          std::memcpy(to, &kBitsAsBytes[values[part].poison[lane]], count);
        }
      });
    }
    for (std::uint32_t lane = 0; lane < kLanes && poisoned && step == 4 && !grid_.bases.empty();
         ++lane) {
      if (grid_.bases.find(values[part], lane)) {
        bytes.access.tells_tmem_words = true;
        std::fill_n(bytes.poison_of(lane) + part * step, step, sim::tmem_word::kMark);
      }
    }
  }
  move(request, 0, false, bytes);
  return Served::kDone;
}

// red.release.gpu.global.add.u32: the flags that clusters hand over by.
Served WarpRun::reduce(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  const bool has = request.op.is("red") && modifiers.has("release"_mod) &&
                   modifiers.has("add"_mod) && space_of(modifiers) == Space::kGlobal &&
                   modifiers.type() == Type::kU32 && !modifiers.has("v2"_mod) &&
                   !modifiers.has("v4"_mod) && !modifiers.has("v8"_mod);
  if (!has) {
    refuse(request, "of atomics only red.release.gpu.global.add.u32 is there");
  }
  for_equal(request, {0, 1}, [&](Mask lanes) {
    sim::Operation op = make(warptwin::Op::kGlobalRedAdd, request, lanes);
    set_order(modifiers, op);
    auto& word = op.as<sim::operands::GlobalWord>();
    word.address = known(request, 0, lanes);
    word.value = static_cast<std::uint32_t>(known(request, 1, lanes));
    touch_words(request, lanes, places_of(request, 0), Touch::kAdd);
    perform(op);
  });
  return Served::kDone;
}

// "The resulting address is undefined in cases where the generic address does not fall within the
// address window of the specified state space" (PTX ISA, "cvta").
Served WarpRun::cvta(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  const Space space = space_of(modifiers);
  const std::uint64_t window = space == Space::kShared  ? kSharedWindow
                               : space == Space::kLocal ? kLocalWindow
                               : space == Space::kParam ? kParameterWindow
                                                        : 0;
  const bool to = modifiers.has("to"_mod);
  Lanes result = request.value(1);
  make_unknown(result, result);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    std::uint64_t& address = result.value[lane];
    if (window == 0) {
      const bool elsewhere = to && is_in_window(address);
      result.poison[lane] = elsewhere ? 0xff : result.poison[lane];
      continue;
    }
    const std::uint64_t offset = to ? address - window : address;
    result.poison[lane] = offset < kWindowBytes ? result.poison[lane] : 0xff;
    address = to ? offset : address + window;
  }
  request.strand.write(request.stop, 0, 0, result);
  return Served::kDone;
}

Served WarpRun::isspacep(Request& request) {
  const Space space = space_of(request.modifiers);
  const bool cluster = request.modifiers.has("shared::cluster"_mod);
  Lanes result = request.value(1);
  for (std::uint64_t& address : result.value) {
    const auto in = [&](std::uint64_t window) {
      return address >= window && address - window < kWindowBytes;
    };
    const bool own = (address - kSharedWindow) >> 24 == machine_.cta_rank();
    const bool constant = is_constant(address);
    const bool global = !is_in_window(address) && !constant;
    const bool is = space == Space::kShared  ? in(kSharedWindow) && (cluster || own)
                    : space == Space::kLocal ? in(kLocalWindow)
                    : space == Space::kParam ? in(kParameterWindow)
                    : space == Space::kConst ? constant
                                             : space == Space::kGlobal && global;
    address = is ? 1 : 0;
  }
  make_unknown(result, result);
  request.strand.write(request.stop, 0, 0, result);
  return Served::kDone;
}

// The same place in the shared memory of another CTA. A rank that no cluster has leads to no CTA;
// of an address that is not of shared memory nothing is known.
Served WarpRun::mapa(Request& request) {
  constexpr std::uint64_t kRankMost = 255;
  const bool shared = space_of(request.modifiers) == Space::kShared;
  Lanes result = request.value(1);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t rank = std::min<std::uint64_t>(request.value(2).value[lane], kRankMost);
    const std::uint64_t offset = result.value[lane] & 0xFFFFFFU;
    const bool inside = result.value[lane] - (shared ? 0 : kSharedWindow) < kWindowBytes;
    result.poison[lane] = inside ? result.poison[lane] : 0xff;
    result.value[lane] = (rank << 24 | offset) + (shared ? 0 : kSharedWindow);
  }
  make_unknown(result, request.value(2));
  request.strand.write(request.stop, 0, 0, result);
  return Served::kDone;
}

// Of an address that is no CTA's it is unknown.
Served WarpRun::getctarank(Request& request) {
  const bool shared = space_of(request.modifiers) == Space::kShared;
  Lanes result = request.value(1);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    std::uint64_t& address = result.value[lane];
    const std::uint64_t rank = (address - (shared ? 0 : kSharedWindow)) >> 24;
    const bool known = rank < machine_.cluster_size();
    address = known ? rank : 0;
    result.poison[lane] = known ? result.poison[lane] : 0xff;
  }
  make_unknown(result, result);
  request.strand.write(request.stop, 0, 0, result);
  return Served::kDone;
}

// Hints change no value.
Served WarpRun::prefetch(Request&) {
  return Served::kDone;
}

// "If the specified address does not fall within the address window of .global state space then the
// behavior is undefined" (PTX ISA, "applypriority", "discard"): [a], 128.
void WarpRun::require_line(const Request& request) const {
  const auto places = places_of(request, 0);
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const Place& place = places[static_cast<std::uint32_t>(std::countr_zero(left))];
    if (place.space != Space::kGlobal || place.address % kLine != 0) {
      refuse(request, "it is of 128 bytes of global memory, at a multiple of 128");
    }
  }
}

Served WarpRun::applypriority(Request& request) {
  require_line(request);
  return Served::kDone;
}

// "The behavior is undefined" where size or address are no multiples of 16 bytes.
Served WarpRun::prefetch_bulk(Request& request) {
  constexpr std::uint64_t kBulkUnit = 16;
  for_equal(request, {0, 1}, [&](Mask lanes) {
    if (known(request, 0, lanes) % kBulkUnit != 0 || known(request, 1, lanes) % kBulkUnit != 0) {
      refuse(request, "it is of a multiple of 16 bytes, at a multiple of 16");
    }
  });
  return Served::kDone;
}

// "Semantically, this behaves like a weak write of an unstable indeterminate value" (PTX ISA,
// "discard").
Served WarpRun::discard(Request& request) {
  require_line(request);
  Bytes bytes{kLine};
  bytes.access.poison.assign(bytes.access.poison.size(), 1);
  move(request, 0, false, bytes);
  return Served::kDone;
}

// [a], size, 0: zeros in the own CTA's shared memory, by each lane that executes it.
Served WarpRun::store_bulk(Request& request) {
  constexpr std::uint64_t kUnit = 8;
  constexpr std::uint64_t kPiece = 1024;  // of one access
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const Mask lane = left & ~(left - 1);
    const auto number = static_cast<std::uint32_t>(std::countr_zero(lane));
    const std::uint64_t address = own_shared(request, known(request, 0, lane));
    const std::uint64_t size = known(request, 1, lane);
    if (address % kUnit != 0 || size % kUnit != 0 || known(request, 2, lane) != 0) {
      refuse(request, "it stores zeros, a multiple of 8 bytes at a multiple of 8");
    }
    std::array<Place, kLanes> places;
    for (std::uint64_t at = 0; at < size; at += kPiece) {
      Bytes bytes{static_cast<std::uint32_t>(std::min(kPiece, size - at))};
      places[number] = {Space::kShared, machine_.cta_rank(), address + at};
      move_shared(request, lane, places, false, bytes);
    }
  }
  return Served::kDone;
}

Served WarpRun::prefetch_tensor(Request& request) {
  for_equal(request, {0}, [&](Mask lanes) { map_of(request, known(request, 0, lanes)); });
  return Served::kDone;
}

// PTX calls it opaque: nothing may depend on its bits.
Served WarpRun::createpolicy(Request& request) {
  request.strand.write(request.stop, 0, 0, Lanes::unknown());
  return Served::kDone;
}

}  // namespace warptwin::ptx
