/// Holds a kernel's functions to its roles while it is compiled: a role without its function, a
/// function that no call fits, and a function that no warp would run do not compile. Without this
/// a misspelt name or a `Problem&` for a `const Problem&` would be a kernel that does less than its
/// text says, and right.

#pragma once

#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"

// A role and the function of its name.
#define WARPTWIN_FOR_EACH_ROLE(row)                                                          \
  row(kLoad, load) row(kMma, mma) row(kEpilogue, epilogue) row(kEpilogueLoad, epilogue_load) \
      row(kScheduler, scheduler) row(kProducer, producer) row(kConsumer, consumer)           \
          row(kSoftmax, softmax) row(kCorrection, correction) row(kScaleLoad, scale_load)    \
              row(kScaleToTmem, scale_to_tmem) row(kTransform, transform) row(kIdle, idle)

namespace warptwin {

/// The names that mean something to run_warp, as members of one class.
struct KernelMemberNames {
#define WARPTWIN_ROLE(kRole, function) void function();
  WARPTWIN_FOR_EACH_ROLE(WARPTWIN_ROLE)
#undef WARPTWIN_ROLE
  void start();
  void finish();
  void roles();
};

/// Naming a member of it is ambiguous exactly if `Kernel` has a member of that name too: of any
/// kind, from any base.
template <class Kernel>
struct WithMemberNames : Kernel, KernelMemberNames {};

/// Whether a function of `Kernel` can be called as run_warp calls it.
#define WARPTWIN_CALLS(function)                                                                 \
  requires(                                                                                      \
      M & machine, const typename Kernel::Problem& problem, typename Kernel::Storage& storage) { \
    Kernel::function(machine, problem, storage);                                                 \
  }

/// Refuses, when it is instantiated, a kernel
/// - that gives warps to a role and has no function for it, but for `kIdle`, which says that these
///   warps do nothing between the start and the end of the kernel;
/// - with a member named after a role, `start`, `finish` or `roles` that cannot be called as
///   run_warp and roles_of do;
/// - with a function for a role to which `kRoles` gives no warps;
/// - whose `kRoles` gives warps to no role.
template <class Kernel, class M>
constexpr void check_role_functions() {
  // A copy: nvcc makes no device object for the kernel's static member.
  constexpr auto kRoles = Kernel::kRoles;
#define WARPTWIN_ROLE(kRole, function)                                                          \
  {                                                                                             \
    constexpr bool kCalled = WARPTWIN_CALLS(function);                                          \
    static_assert(                                                                              \
        kCalled || requires { &WithMemberNames<Kernel>::function; },                            \
        "the kernel's member '" #function                                                       \
        "' is not the function of its role: it must "                                           \
        "be 'static constexpr void " #function "(M&, const Problem&, Storage&)'");              \
    static_assert(kCalled || Role::kRole == Role::kIdle || kRoles.warps(Role::kRole) == 0,      \
                  "kRoles gives warps to Role::" #kRole                                         \
                  ", and the kernel has no function for "                                       \
                  "them: expected 'static constexpr void " #function                            \
                  "(M&, const Problem&, Storage&)'; warps that do nothing are of Role::kIdle"); \
    static_assert(!kCalled || kRoles.warps(Role::kRole) != 0,                                   \
                  "the kernel's function '" #function                                           \
                  "' is never run: kRoles gives no warps to "                                   \
                  "Role::" #kRole);                                                             \
  }
  WARPTWIN_FOR_EACH_ROLE(WARPTWIN_ROLE)
#undef WARPTWIN_ROLE
  static_assert(kRoles.warps(Role::kCount) == 0, "kRoles gives warps to Role::kCount, no role");
  static_assert(
      WARPTWIN_CALLS(start) || requires { &WithMemberNames<Kernel>::start; },
      "the kernel's member 'start' would not be called: it must be 'static constexpr "
      "void start(M&, const Problem&, Storage&)'");
  static_assert(
      WARPTWIN_CALLS(finish) || requires { &WithMemberNames<Kernel>::finish; },
      "the kernel's member 'finish' would not be called: it must be 'static constexpr "
      "void finish(M&, const Problem&, Storage&)'");
}

#undef WARPTWIN_CALLS

}  // namespace warptwin
