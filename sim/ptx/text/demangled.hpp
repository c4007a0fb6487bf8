/// Names of functions as the program's text has them.

#pragma once

#include <string>

namespace warptwin::ptx {

/// `_Z5scalePKfPff` is `scale(float const*, float*, float)`. What is not mangled as C++ is, is as
/// it was.
std::string demangled(const std::string& name);

}  // namespace warptwin::ptx
