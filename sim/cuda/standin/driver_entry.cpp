// The driver's stand-in: functions by their name, and tables that nobody has described.

#include <cstring>
#include <dlfcn.h>
#include <string_view>

#include "sim/cuda/standin/client.hpp"
#include "sim/cuda/standin/driver_versions.hpp"

namespace warptwin::cuda {

namespace {

// CUdriverProcAddressQueryResult.
constexpr unsigned kFound = 0;
constexpr unsigned kNoSymbol = 1;
constexpr unsigned kVersionTooLow = 2;

// "cuMemAlloc" of "cuMemAlloc_v2".
std::string_view base_of(std::string_view symbol) {
  const std::size_t at = symbol.rfind("_v");
  return at != std::string_view::npos && at + 3 == symbol.size() ? symbol.substr(0, at) : symbol;
}

// Not the program's: it may have functions of these names.
void* own(const char* symbol) {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&cuGetProcAddress_v2), &here);
  void* library = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  void* function = dlsym(library, symbol);
  dlclose(library);
  return function;
}

}  // namespace

extern "C" {

// A runtime asks the driver for these tables: a static one, or one that was loaded by its path.
WARPTWIN_CALL CUresult cuGetExportTable(const void**, const void*) {
  Dl_info caller{};
  const char* file = dladdr(__builtin_return_address(0), &caller) != 0 ? caller.dli_fname : nullptr;
  const std::string name = file == nullptr ? "the program" : file;
  give_up(name +
          " holds a CUDA runtime of its own, the static one, nvcc's default, or a library's, which "
          "cannot be served; link a program with -cudart shared, in CMake with "
          "CMAKE_CUDA_RUNTIME_LIBRARY=Shared; of a library such as cuBLAS there is machine code "
          "alone, so leave its calls out");
}

// Of several functions with one name the last that this version of CUDA has.
WARPTWIN_CALL CUresult cuGetProcAddress_v2(
    const char* name, void** function, int version, std::uint64_t, unsigned* found) {
  *function = nullptr;
  if (name == nullptr || version > kVersion) {
    return kInvalidValue;
  }
  const EntryPoint* best = nullptr;
  bool known = false;
  for (const EntryPoint& entry : entry_points()) {
    if (base_of(entry.symbol) == name) {
      known = true;
      best = entry.version <= version && (best == nullptr || entry.version >= best->version)
                 ? &entry
                 : best;
    }
  }
  if (best != nullptr) {
    *function = own(best->symbol);
  }
  if (found != nullptr) {
    *found = best != nullptr ? kFound : known ? kVersionTooLow : kNoSymbol;
  }
  return kSuccess;
}

WARPTWIN_CALL CUresult cuGetProcAddress(const char* name,
                                        void** function,
                                        int version,
                                        std::uint64_t flags) {
  const CUresult error = cuGetProcAddress_v2(name, function, version, flags, nullptr);
  return error == kSuccess && *function == nullptr ? kNotFound : error;
}

}  // extern "C"

}  // namespace warptwin::cuda
