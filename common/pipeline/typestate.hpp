/// Linear types, as far as C++ goes: under Clang with -Wconsumed a handle that is forgotten,
/// released twice, released on one path only, or used after its release does not compile. Other
/// compilers see nothing here; there `StageClaim` reports the same faults when they happen.
///
/// Only handles that live within one turn of a loop carry these attributes: the analysis mistakes
/// the state of a handle that is taken before a loop and released after it, unless the loop has a
/// `break` (tried with Clang 14; reduced in
/// tests/common/negative_compile/limit_held_across_loop.cpp). So accumulators, which live across
/// the k loop, and warps, which live across all, rely on `StageClaim`.
///
/// Source: Clang, "Consumed annotation checking".

#pragma once

#if defined(__clang__)
/// For a class: a handle that has to be given up, once.
#define WARPTWIN_LINEAR [[clang::consumable(unconsumed)]]
/// For a function of a handle that is held before and after.
#define WARPTWIN_WHILE_HELD [[clang::callable_when("unconsumed")]]
/// For the function that gives the handle up.
#define WARPTWIN_GIVES_UP [[clang::callable_when("unconsumed"), clang::set_typestate(consumed)]]
/// For its destructor: it must have been given up.
#define WARPTWIN_ONCE_GIVEN_UP [[clang::callable_when("consumed")]]
/// For a function's parameter `Stage& stage`: the caller holds it, before and after.
#define WARPTWIN_HELD [[clang::param_typestate(unconsumed), clang::return_typestate(unconsumed)]]
#else
#define WARPTWIN_LINEAR
#define WARPTWIN_WHILE_HELD
#define WARPTWIN_GIVES_UP
#define WARPTWIN_ONCE_GIVEN_UP
#define WARPTWIN_HELD
#endif
