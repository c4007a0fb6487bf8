/// Linear types, as far as C++ goes: under Clang with -Wconsumed a handle that is forgotten, released
/// twice, released on one path only, or used after its release does not compile. Other compilers see
/// nothing here; there `StageClaim` reports the same faults when they happen.
///
/// Source: Clang, "Consumed annotation checking".

#pragma once

#if defined(__clang__)
#define WARPTWIN_LINEAR [[clang::consumable(unconsumed)]]
#define WARPTWIN_WHILE_HELD [[clang::callable_when("unconsumed")]]
#define WARPTWIN_GIVES_UP [[clang::callable_when("unconsumed"), clang::set_typestate(consumed)]]
#define WARPTWIN_ONCE_GIVEN_UP [[clang::callable_when("consumed")]]
#else
#define WARPTWIN_LINEAR
#define WARPTWIN_WHILE_HELD
#define WARPTWIN_GIVES_UP
#define WARPTWIN_ONCE_GIVEN_UP
#endif
