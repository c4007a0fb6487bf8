/// `WARPTWIN_ASSERT`: a relation that holds unless we are wrong. On, in every build.

#pragma once

#include <cstdio>
#include <cstdlib>

namespace warptwin::detail {

/// Says what failed and ends the process with the exit code of an internal error.
[[noreturn]] inline void internal_error(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "internal: %s:%d: %s\n", file, line, condition);
  std::_Exit(3);
}

}  // namespace warptwin::detail

/// Ends the process, with exit code 3 and the place, unless `condition` holds.
#define WARPTWIN_ASSERT(condition)    \
  ((condition) ? static_cast<void>(0) \
               : ::warptwin::detail::internal_error(#condition, __FILE__, __LINE__))
