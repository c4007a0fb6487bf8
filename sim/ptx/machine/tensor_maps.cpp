// Tensor maps that lie in memory, and what changes them.
//
// A map in global memory is one of the model's maps, by its address. It is there from the launch's
// contents on, or from when it is first written. Its bytes are what `encode_tensor_map` makes.

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/ptx/machine/tensor_map.hpp"
#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::uint64_t kBlock = 64;  // a map stands on a multiple of it

/// The element, by the code that tensormap.replace takes.
constexpr sim::TensorType kElements[] = {sim::TensorType::kU8,
                                         sim::TensorType::kU16,
                                         sim::TensorType::kU32,
                                         sim::TensorType::kS32,
                                         sim::TensorType::kU64,
                                         sim::TensorType::kS64,
                                         sim::TensorType::kF16,
                                         sim::TensorType::kF32,
                                         sim::TensorType::kF32Ftz,
                                         sim::TensorType::kF64,
                                         sim::TensorType::kBf16,
                                         sim::TensorType::kTf32,
                                         sim::TensorType::kTf32Ftz,
                                         sim::TensorType::k16U4Align8B,
                                         sim::TensorType::k16U4Align16B,
                                         sim::TensorType::k16U6Align16B};
constexpr Swizzle kSwizzles[] = {Swizzle::kNone, Swizzle::k32B, Swizzle::k64B, Swizzle::k128B};
constexpr std::uint32_t kPackingSince = 100;  // sm_100 has elements of four and six bits
constexpr std::uint64_t kStrideMost = (std::uint64_t{1} << 40) - 1;
constexpr std::uint32_t kStridesInBytes = 85;  // version of PTX, as 10 * major + minor

std::optional<sim::TensorMapState> decoded(const std::vector<std::byte>& bytes) {
  return decode_tensor_map(
      std::span<const std::byte, kTensorMapBytes>{bytes.data(), kTensorMapBytes});
}

}  // namespace

// The bytes at an address of global memory, which nobody accesses there.
std::optional<std::vector<std::byte>> WarpRun::peek(const Request& request, std::uint64_t address) {
  sim::LaneAccess access{kTensorMapBytes};
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(request.mask()));
  access.mask = Mask{1} << lane;
  access.address[lane] = address;
  access.kind = sim::AccessKind::kPeek;
  sim::Operation op = make(warptwin::Op::kGlobalLoad, request, access.mask);
  op.set<sim::operands::LaneBytes>().access = &access;
  execute(op);
  const auto first = static_cast<std::ptrdiff_t>(std::size_t{lane} * kTensorMapBytes);
  const auto poison = access.poison.begin() + first;
  if (std::find(poison, poison + kTensorMapBytes, 1) != poison + kTensorMapBytes) {
    return std::nullopt;
  }
  return std::vector<std::byte>{access.data.begin() + first,
                                access.data.begin() + first + kTensorMapBytes};
}

// The number of the map at an address of global memory.
std::uint32_t WarpRun::map_in_memory(const Request& request, std::uint64_t address) {
  const auto found = grid_.memory_maps.find(address);
  if (found == grid_.memory_maps.end()) {
    refuse(request, "no tensor map stands at address " + std::to_string(address));
  }
  const auto bytes = peek(request, address);
  if (!bytes) {
    refuse_unknown(request.strand, request.stop.op, "nobody knows the bytes of the tensor map");
  }
  const auto wanted = encode_tensor_map(found->second.state);
  if (!std::equal(bytes->begin(), bytes->end(), wanted.begin())) {
    refuse(request,
           "the tensor map's bytes were changed, and no fence.proxy.tensormap with .release by "
           "those who did it, and no tensormap.cp_fenceproxy, has come behind that");
  }
  return found->second.number;
}

// A map has been written; `state` is what it is now.
void WarpRun::change_map(const Request& request,
                         Mask lanes,
                         std::uint64_t address,
                         const sim::TensorMapState& state,
                         bool by_warp) {
  auto [found, added] = grid_.memory_maps.try_emplace(address);
  if (added) {
    found->second.number = grid_.maps_count++;
  }
  found->second.state = state;
  grid_.map_states[found->second.number] = state;
  sim::Operation op = make(warptwin::Op::kTensormapReplace, request, lanes);
  op.as<sim::operands::MapChange>() = {
      .map = found->second.number, .address = state.address, .replaced = &state};
  op.flags |= by_warp ? event_flag::kByWarp : std::uint32_t{0};
  perform(op);
}

// Lanes are about to store to global memory: what they store may be a map, or a part of one.
void WarpRun::note_map_stores(const Request& request, const sim::LaneAccess& access) {
  for (Mask left = access.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint64_t address = access.address[lane];
    const std::byte* stored = &access.data[std::size_t{lane} * access.bytes];
    if (kernel_.changes_maps() && address % kBlock == 0 &&
        begins_tensor_map({stored, access.bytes})) {
      stored_maps_.insert(address);
    }
    const auto above = grid_.memory_maps.lower_bound(address + access.bytes);
    if (above == grid_.memory_maps.begin()) {
      continue;
    }
    const auto map = std::prev(above);
    if (map->first + kTensorMapBytes <= address) {
      continue;
    }
    if (!kernel_.changes_maps()) {
      refuse(request, "it writes a tensor map, and the kernel has no fence.proxy.tensormap");
    }
    stored_maps_.insert(map->first);
    const sim::TensorMapState same = map->second.state;
    change_map(request, Mask{1} << lane, map->first, same);
  }
}

// fence.proxy.tensormap::generic with .release: the maps that the warp has stored are maps now.
void WarpRun::release_maps(const Request& request) {
  for (const std::uint64_t address : std::exchange(stored_maps_, {})) {
    const auto bytes = peek(request, address);
    const auto state = bytes ? decoded(*bytes) : std::nullopt;
    if (state) {
      change_map(request, request.mask(), address, *state);
    }
  }
}

void WarpRun::replace_field(const Request& request, Mask lane, sim::TensorMapState& map) const {
  const Modifiers& modifiers = request.modifiers;
  const bool ordinal = request.operands() > 2;
  const std::uint64_t value = known(request, ordinal ? 2 : 1, lane);
  const std::uint64_t at = ordinal ? known(request, 1, lane) : 0;
  const std::uint64_t dimension = at + (modifiers.has("global_stride"_mod) ? 1 : 0);
  if (dimension >= sim::TensorMapState::kRankMax) {
    refuse(request, "a tensor map has no dimension " + std::to_string(dimension));
  }
  if (map.kind != sim::TensorMapKind::kTiled) {
    refuse(request, "tensormap.replace.tile is of maps of tiles, and this is one of im2col");
  }
  const auto need = [&](bool there) {
    if (!there) {
      refuse(request, "value " + std::to_string(value) + " of this field is not there");
    }
  };
  if (modifiers.has("global_address"_mod)) {
    map.address = value;
  } else if (modifiers.has("rank"_mod)) {
    need(value < sim::TensorMapState::kRankMax);
    map.rank = static_cast<std::uint32_t>(value) + 1;
  } else if (modifiers.has("global_dim"_mod)) {
    map.extent[dimension] = static_cast<std::uint32_t>(value);
  } else if (modifiers.has("global_stride"_mod)) {
    const bool in_bytes = kernel_.program().module().version >= kStridesInBytes;
    map.stride_bytes[dimension] = in_bytes ? value : value << 4;
    need(value <= kStrideMost && map.stride_bytes[dimension] <= kStrideMost);
  } else if (modifiers.has("box_dim"_mod)) {
    need(value > 0 && value <= 256 && map.step[dimension] == 1);
    map.box[dimension] = static_cast<std::uint32_t>(value);
  } else if (modifiers.has("element_stride"_mod)) {
    need(value == 1 && map.step[dimension] == 1);
  } else if (modifiers.has("elemtype"_mod)) {
    need(value < std::size(kElements));
    map.type = kElements[value];
    need(map.unit() == 1 || kernel_.is_for_sm(kPackingSince));
    map.element_bytes = bytes_of(map.type);
    map.stride_bytes[0] = map.element_bytes;
  } else if (modifiers.has("swizzle_mode"_mod)) {
    need(value < std::size(kSwizzles));
    map.swizzle = kSwizzles[value];
  } else {
    need(value == 0);  // no interleaving, swizzles of 16 bytes, zeros outside of the tensor
  }
}

// The bytes of a map in shared or global memory, by lanes: `access` says which.
void WarpRun::move_map(const Request& request,
                       sim::LaneAccess& access,
                       const Place& place,
                       bool loads) {
  const bool shared = place.space == Space::kShared;
  const std::uint64_t base = shared ? shared_base(place.rank) : LaneWords::kGlobal;
  touch(request, access, base, loads ? Touch::kLoad : Touch::kStore);
  sim::Operation op =
      make(shared ? (loads ? warptwin::Op::kSharedLoad : warptwin::Op::kSharedStore)
                  : (loads ? warptwin::Op::kGlobalLoad : warptwin::Op::kGlobalStore),
           request,
           access.mask);
  op.set<sim::operands::LaneBytes>() = {&access, shared ? place.rank : 0, 0};
  perform(op);
  if (loads && std::find(access.poison.begin(), access.poison.end(), 1) != access.poison.end()) {
    refuse_unknown(request.strand, request.stop.op, "nobody has written the tensor map");
  }
}

// tensormap.replace.tile.FIELD [address], {ordinal,} value.
Served WarpRun::replace_in_map(Request& request) {
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const Mask lane = left & ~(left - 1);
    const auto number = static_cast<std::uint32_t>(std::countr_zero(lane));
    const bool shared = request.modifiers.has("shared::cta"_mod);
    const Place place = place_of(
        request, shared ? Space::kShared : space_of(request.modifiers), known(request, 0, lane));
    if ((place.space != Space::kShared && place.space != Space::kGlobal) ||
        (place.space == Space::kShared && place.rank != machine_.cta_rank())) {
      refuse(request, "a tensor map is changed in the own CTA's shared or in global memory");
    }
    sim::LaneAccess access{kTensorMapBytes};
    access.mask = lane;
    access.address[number] = place.address;
    move_map(request, access, place, true);
    const auto first =
        access.data.begin() + static_cast<std::ptrdiff_t>(std::size_t{number} * kTensorMapBytes);
    auto state = decoded({first, first + kTensorMapBytes});
    if (!state) {
      refuse(request, "the bytes there are no tensor map");
    }
    replace_field(request, lane, *state);
    const auto bytes = encode_tensor_map(*state);
    std::copy(bytes.begin(), bytes.end(), first);
    move_map(request, access, place, false);
    if (place.space == Space::kGlobal) {
      change_map(request, lane, place.address, *state);
    }
  }
  return Served::kDone;
}

// tensormap.cp_fenceproxy [global], [shared], 128, by the warp: each lane copies a word.
Served WarpRun::copy_map(Request& request) {
  const std::uint64_t to = uniform(request, 0);
  require_writable(request, to);
  const Place from = place_of(request, Space::kShared, uniform(request, 1));
  if (uniform(request, 2) != kTensorMapBytes || std::popcount(request.mask()) != kLanes) {
    refuse(request, "a whole warp copies the 128 bytes of a tensor map");
  }
  const std::uint32_t word = kTensorMapBytes / kLanes;
  sim::LaneAccess access{word};
  access.mask = request.mask();
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    access.address[lane] = from.address + std::uint64_t{lane} * word;
  }
  move_map(request, access, from, true);
  const auto state = decoded(access.data);
  if (!state) {
    refuse(request, "the bytes there are no tensor map");
  }
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    access.address[lane] = to + std::uint64_t{lane} * word;
  }
  move_map(request, access, Place{Space::kGlobal, 0, to}, false);
  change_map(request, request.mask(), to, *state, true);
  sim::Operation fence = make(warptwin::Op::kFenceProxyTensormap, request, request.mask());
  fence.ordering = {warptwin::Semantics::kRelease,
                    scope_of(request.modifiers, warptwin::Scope::kGpu)};
  perform(fence);
  return Served::kDone;
}

}  // namespace warptwin::ptx
