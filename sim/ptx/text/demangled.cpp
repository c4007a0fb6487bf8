#include "sim/ptx/text/demangled.hpp"

#include <cstdlib>
#include <cxxabi.h>

namespace warptwin::ptx {

std::string demangled(const std::string& name) {
  // The function below takes `f` for a type, and would call it float.
  if (!name.starts_with("_Z")) {
    return name;
  }
  int status = 0;
  char* plain = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string text = status == 0 && plain != nullptr ? plain : name;
  std::free(plain);  // NOLINT: as its documentation asks
  return text;
}

}  // namespace warptwin::ptx
