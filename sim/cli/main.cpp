#include <exception>
#include <iostream>

#include "sim/cli/command.hpp"

int main(int argc, char** argv) {
  using warptwin::sim::ExitCode;
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return static_cast<int>(warptwin::sim::run_command(
        arguments, warptwin::sim::scenario_list(), std::cout, std::cerr));
  } catch (const std::exception& error) {
    std::cerr << "internal: " << error.what() << "\n";
    return static_cast<int>(ExitCode::kInternal);
  }
}
