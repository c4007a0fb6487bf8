/// Named barriers, declared with their participants.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"

namespace warptwin {

/// The ids the layer uses itself. Id 0 is `cta_sync`; kernels may use the rest.
enum class NamedBarrierId : std::uint8_t {
  kTmemHandOff = 1,  // the address of tensor memory is written
  kTileWriter = 2,   // all writers have written a buffer of output
  kFirstFree = 3,    // from here on, to 15, a kernel's own
};

/// A named barrier of some roles of a CTA. Those that arrive and those that sync both count.
struct WarpGroupBarrier {
  std::uint32_t id = 0;       // 1 to 15, of the CTA; 0 is that of `cta_sync`
  std::uint32_t threads = 0;  // of all its warps, 32 of each: who sync and who arrive

  /// The barrier `id`, of every lane of the roles `kWho`.
  template <Role... kWho, std::uint32_t kRows>
  static constexpr WarpGroupBarrier of(NamedBarrierId id, RoleTable<kRows> roles) {
    return {static_cast<std::uint32_t>(id), (roles.lanes(kWho) + ...)};
  }

  /// Participants: the whole warp. Blocks: never.
  template <Machine M>
  constexpr void arrive(M& machine, SourceSite site = SourceSite::current()) const {
    machine.bar_arrive(id, threads, site);
  }
  /// Participants: the whole warp. Blocks: until every participant has come.
  template <Machine M>
  constexpr void sync(M& machine, SourceSite site = SourceSite::current()) const {
    machine.bar_sync(id, threads, site);
  }
};

}  // namespace warptwin
