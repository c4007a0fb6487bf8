/// The kernel that the cases of this folder spoil: one role that waits, one that arrives, and idle
/// warps.

#pragma once

#include "common/kernel/dispatch.hpp"

#include "tests/support/recording_machine.hpp"

namespace warptwin::tests {

using M = RecordingMachine;

struct KernelBase {
  struct Extents {};
  struct Problem {
    Extents extents;
  };
  struct Storage {
    constexpr Storage(auto& layout, const Extents&) { static_cast<void>(layout); }
    constexpr void init(Machine auto& machine) const { static_cast<void>(machine); }
  };
  static constexpr RoleTable kRoles{
      RoleWarps{Role::kProducer, 1}, RoleWarps{Role::kConsumer, 2}, RoleWarps{Role::kIdle, 1}};
};

template <class Kernel>
void run(M& machine) {
  run_warp<Kernel>(machine, typename Kernel::Problem{}, SharedAddress{1024});
}

}  // namespace warptwin::tests
