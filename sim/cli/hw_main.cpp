#include <exception>
#include <iostream>

#include "sim/cli/hw_command.hpp"

int main(int count, char** arguments) {
  using namespace warptwin;
  try {
    return static_cast<int>(sim::run_hw_command({arguments + 1, arguments + count},
                                                sim::scenario_list(),
                                                hw::device_scenario_list(),
                                                std::cout,
                                                std::cerr));
  } catch (const std::exception& error) {
    std::cerr << "internal: " << error.what() << "\n";
    return static_cast<int>(sim::ExitCode::kInternal);
  }
}
