/// A program as a process of its own, with the stand-ins for CUDA in front of its libraries.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/cuda/service.hpp"

namespace warptwin::sim::cli {

/// How a program ended.
struct ProgramEnd {
  int code = 0;         // its exit code
  int signal = 0;       // that ended it; 0: none
  bool came = false;    // some process of it has asked for something
  std::string why_not;  // it was not begun
};

/// Runs the program until it and all that it began have ended. `service` makes the device of a
/// process. Throws ConfigError where the libraries are not there.
ProgramEnd run_program(const std::vector<std::string>& arguments,
                       const std::function<std::unique_ptr<cuda::Service>()>& service);

}  // namespace warptwin::sim::cli
