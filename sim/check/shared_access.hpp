/// Accesses to a CTA's shared memory, as sim/check/detectors/shared_data keeps them: what they are,
/// when they are over, and what is wrong where two of them are in no order.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/check/footprint.hpp"
#include "sim/check/order.hpp"
#include "sim/model/copy_form.hpp"
#include "sim/model/matrix.hpp"

namespace warptwin::sim {

/// What accesses the bytes.
enum class SharedUse : std::uint8_t {
  kGenericWrite,
  kGenericRead,
  kLoad,
  kStore,
  kSource,     // of a bulk copy to the shared memory of a CTA
  kAsyncCopy,  // by lanes, until an mbarrier has counted it: cp.async, st.async, red.async
  kTensor,     // MMA, tcgen05.cp
  kWgmma,
  kResponse,  // of a request for a cluster
  kBarrier,   // mbarrier.init and .inval, of the object's bytes
};

inline bool writes(SharedUse kind) {
  return kind == SharedUse::kGenericWrite || kind == SharedUse::kLoad ||
         kind == SharedUse::kResponse || kind == SharedUse::kBarrier ||
         kind == SharedUse::kAsyncCopy;
}

inline bool reads_operand(SharedUse kind) {
  return kind == SharedUse::kTensor || kind == SharedUse::kWgmma;
}

inline bool generic(SharedUse kind) {
  return kind == SharedUse::kGenericWrite || kind == SharedUse::kGenericRead ||
         kind == SharedUse::kBarrier || kind == SharedUse::kAsyncCopy;
}

inline const char* name_of(SharedUse kind) {
  constexpr const char* kNames[] = {"st.shared",
                                    "ld.shared",
                                    "the copy to it",
                                    "the bulk store of it",
                                    "the copy from it",
                                    "the cp.async, st.async or red.async to it",
                                    "the tcgen05 operation that reads it",
                                    "the wgmma that reads it",
                                    "the response to clusterlaunchcontrol.try_cancel",
                                    "mbarrier.init or .inval"};
  return kNames[static_cast<unsigned>(kind)];
}

/// How an asynchronous access came to an end.
struct SharedCompletion {
  bool done = false;
  std::uint32_t warp = 0;  // of a store: who has waited for it
  std::uint32_t time = 0;  // when
  std::uint32_t lanes = 0;
  std::uint32_t cta = 0;  // of a load: the barrier phase its bytes were counted in
  std::uint32_t barrier = 0;
  std::uint32_t phase = 0;  // its mark
};

struct SharedAccess {
  SharedUse kind = SharedUse::kGenericRead;
  bool gone = false;  // while a later access is judged: it takes its place
  bool just_fenced = false;
  bool unordered = false;  // with something earlier, or not fenced, or for some lanes alone
  bool atomic = false;
  Scope scope = Scope::kGpu;   // of an atomic by a lane
  std::uint32_t cta = 0;       // likewise: whose warp it is of
  std::uint8_t reduction = 0;  // of a copy: `CopyReduction::code`
  std::uint8_t element = 0;    // of an atomic by a lane: bytes of the word
  std::uint32_t warp = 0;
  Footprint at;
  Footprint source{};      // MMA: what one write before it filled, all of it still as it was then
  std::uint32_t time = 0;  // generic: its operation; MMA, wgmma: its number among the warp's
  std::uint32_t lanes = 0;
  SourceSite site{};
  FencesKnown fences{};                          // generic: the proxy fences its warp knew of
  std::shared_ptr<SharedCompletion> completion;  // load, store, response, copy of lanes
  std::unique_ptr<std::vector<LanePoint>> proxy_fences;  // of a copy of lanes: behind its end
  std::uint32_t serial = 0;  // of a copy of lanes: of the update that counts it
  /// Likewise: when they had waited for it by themselves.
  std::optional<LanePoint> waited{};
  std::optional<std::uint64_t> written{};  // of a store to a few bytes: what, where it is known
  std::unique_ptr<Units> units;            // of an operand whose pieces are not one stride apart
  bool padded = false;  // no byte between those pieces is read: the padding of elements
  /// Of a load: the last bytes of each 16, of which nobody says what they hold behind it.
  std::uint8_t padding = 0;
};

/// Whether both access some byte.
inline bool meet(const SharedAccess& first, const SharedAccess& second) {
  if (!first.at.meets(second.at)) {
    return false;
  }
  if (!first.padded && !second.padded) {
    return true;
  }
  const SharedAccess& padded = first.padded ? first : second;
  const SharedAccess& other = first.padded ? second : first;
  bool met = false;
  other.at.for_each_run([&](std::uint32_t from, std::uint32_t to) {
    met = met || std::any_of(padded.units->begin(), padded.units->end(), [&](const auto& unit) {
            return unit.first < to && from < unit.second;
          });
  });
  return met;
}

/// Two stores of the same to the same bytes: whichever comes last, the bytes are the same.
inline bool write_alike(const SharedAccess& first, const SharedAccess& second) {
  return first.written && first.written == second.written && first.at.begin == second.at.begin &&
         first.at.end == second.at.end;
}

/// Whichever of the two comes first, memory is left the same, or the atomic says it is not. Those
/// of two proxies are not atomic to each other, nor those of two CTAs if one is of scope .cta, nor
/// those of words of two sizes (PTX ISA, "Morally Strong": the two have to overlap completely).
inline bool in_any_order(const SharedAccess& first, const SharedAccess& second) {
  const bool wide = std::min(first.scope, second.scope) != Scope::kCta;
  const bool atomics = first.atomic && second.atomic && (wide || first.cta == second.cta) &&
                       generic(first.kind) == generic(second.kind) &&
                       first.element == second.element &&
                       reduce_the_same_bytes(first.reduction, second.reduction);
  return atomics || write_alike(first, second);
}

/// The diagnostic of two that are in no order.
inline const char* id_of(const SharedAccess& first, const SharedAccess& second) {
  if (first.kind == SharedUse::kBarrier || second.kind == SharedUse::kBarrier) {
    return "MBAR_MEM_CLOBBER";
  }
  if (second.kind == SharedUse::kResponse) {
    return "CLC_RESP_OVERWRITE";
  }
  if (!writes(second.kind)) {
    return first.kind == SharedUse::kLoad || first.kind == SharedUse::kAsyncCopy
               ? "SMEM_RAW_NO_WAIT"
           : first.kind == SharedUse::kResponse ? "CLC_RESP_READ_EARLY"
                                                : "SMEM_RACE";
  }
  switch (first.kind) {
    case SharedUse::kWgmma:
      return "WGMMA_SMEM_RELEASE_EARLY";
    case SharedUse::kTensor:
      return "SMEM_WAR_ASYNC";
    case SharedUse::kStore:
    case SharedUse::kSource:
      return "BULK_SRC_REUSE";
    case SharedUse::kLoad:
    case SharedUse::kAsyncCopy:
    case SharedUse::kResponse:
      return "SMEM_WAW_ASYNC";
    default:
      return first.kind == SharedUse::kGenericWrite && second.kind == SharedUse::kLoad
                 ? "SMEM_WAW_ASYNC"
                 : "SMEM_RACE";
  }
}

/// What would order the second behind it.
inline std::string missing(const SharedAccess& first) {
  switch (first.kind) {
    case SharedUse::kLoad:
    case SharedUse::kSource:
    case SharedUse::kAsyncCopy:
    case SharedUse::kResponse:
      return "missing: a wait for the mbarrier phase that counts the copy";
    case SharedUse::kStore:
      return "missing: cp.async.bulk.wait_group.read by the storing thread, and an order after "
             "it";
    case SharedUse::kWgmma:
      return "missing: wgmma.wait_group for its group, before the arrival that frees the bytes";
    case SharedUse::kTensor:
      return "missing: tcgen05.commit after the MMA, to a barrier that is waited for";
    default:
      return "missing: a barrier between the two";
  }
}

}  // namespace warptwin::sim
