/// From a warp to its role's function: the start of every kernel.
///
/// A kernel is a struct with
///   static constexpr RoleTable kRoles;
///   static constexpr auto roles(const Extents&);  // if they depend on the shape: at most kRoles
///   using Problem = ...;   // the arguments: tensor maps, extents of the problem;
/// `problem.extents`
///   struct Storage;        // Storage(auto& layout, const Extents&); void init(Machine&)
///                          // if Extents has seen_in(CTAs of the cluster): what that returns
///   static Problem problem(const ParameterSet&, const Extents&, std::span<const M::TensorMap>,
///                          std::span<const GlobalAddress> tensors);      // host code
///   static constexpr void load(Machine&, const Problem&, Storage&);   // one function per role,
///   static constexpr void mma(Machine&, const Problem&, Storage&);    // named after it
///   ...
/// A kernel derived from another replaces the roles it declares anew. A role of `kRoles` without
/// its function does not compile, but for `kIdle`: these warps do nothing (role_functions.hpp).

#pragma once

#include "common/kernel/role_functions.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/machine/shared_layout.hpp"

namespace warptwin {

/// Initialises the storage's mbarriers in one elected lane of warp 0, makes them visible to the
/// cluster, and brings all warps of the cluster together.
///
/// Participants: every warp of every CTA. Blocks: until all have come.
template <Machine M, class Storage>
constexpr void start_cluster(M& machine, Storage& storage) {
  if (machine.warp_index() == 0) {
    machine.elect_one([&] {
      storage.init(machine);
      machine.fence_mbarrier_init();
    });
    machine.sync_warp();
  }
  if (machine.cluster_size() > 1) {
    machine.barrier_cluster_arrive(kReleaseCluster);
    machine.barrier_cluster_wait();
  } else {
    machine.cta_sync();
  }
}

/// Keeps a CTA's shared memory alive until no CTA of its cluster can still reach it.
///
/// Participants: every warp of every CTA. Blocks: until all have come; never in a cluster of one.
template <Machine M>
constexpr void finish_cluster(M& machine) {
  if (machine.cluster_size() > 1) {
    machine.barrier_cluster_arrive(kReleaseCluster);
    machine.barrier_cluster_wait();
  }
}

/// The roles of a launch, which have at most the warps of `kRoles`.
template <class Kernel, class Extents>
constexpr auto roles_of(const Extents& extents) {
  if constexpr (requires { Kernel::roles(extents); }) {
    return Kernel::roles(extents);
  } else {
    static_assert(
        requires { &WithMemberNames<Kernel>::roles; },
        "the kernel's member 'roles' would not be called: it must be 'static constexpr "
        "auto roles(const Extents&)'");
    // A copy: nvcc makes no device object for the kernel's static member.
    constexpr auto kRoles = Kernel::kRoles;
    return kRoles;
  }
}

/// The extents as the warp's cluster has them: of a launch whose clusters have two sizes, which
/// one is known at run time.
template <Machine M, class Extents>
constexpr decltype(auto) extents_seen(const M& machine, const Extents& extents) {
  if constexpr (requires { extents.seen_in(std::uint32_t{}); }) {
    return extents.seen_in(machine.cluster_size());
  } else {
    return (extents);
  }
}

/// Runs one warp of `Kernel`, from the barriers' initialisation to its role's end.
///
/// The start is `start_cluster`, or the kernel's own `start` if it has one; then each warp goes to
/// its
/// role; the end is `finish_cluster`, or the kernel's own `finish`.
///
/// Participants: every warp of every CTA.
/// Blocks:       at the start and the end, for the cluster; between them as the role does.
template <class Kernel, Machine M>
constexpr void run_warp(M& machine, const typename Kernel::Problem& problem, SharedAddress base) {
  check_role_functions<Kernel, M>();
  SharedLayout layout{base};
  typename Kernel::Storage storage{layout, extents_seen(machine, problem.extents)};
  if constexpr (requires { Kernel::start(machine, problem, storage); }) {
    Kernel::start(machine, problem, storage);
  } else {
    start_cluster(machine, storage);
  }
  switch (roles_of<Kernel>(problem.extents).role_of(machine.warp_index())) {
#define WARPTWIN_ROLE(kRole, function)                                         \
  case Role::kRole:                                                            \
    if constexpr (requires { Kernel::function(machine, problem, storage); }) { \
      Kernel::function(machine, problem, storage);                             \
    }                                                                          \
    break;
    WARPTWIN_FOR_EACH_ROLE(WARPTWIN_ROLE)
#undef WARPTWIN_ROLE
    case Role::kCount:
      break;
  }
  if constexpr (requires { Kernel::finish(machine, problem, storage); }) {
    Kernel::finish(machine, problem, storage);
  } else {
    finish_cluster(machine);
  }
}

}  // namespace warptwin
