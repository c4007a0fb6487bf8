/// The functions of CUDA that the stand-in libraries have. Another ends the program that calls it.

#pragma once

#include <span>

namespace warptwin::cuda {

std::span<const char* const> runtime_functions();
std::span<const char* const> driver_functions();

}  // namespace warptwin::cuda
