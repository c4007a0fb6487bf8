/// Answers the requests of one process of a program.

#pragma once

#include <functional>
#include <string>

#include "sim/cuda/device.hpp"
#include "sim/cuda/wire.hpp"

namespace warptwin::cuda {

/// What came of a launch, for the program.
struct LaunchResult {
  int error = 0;  // a CUresult, which all later calls of the process return; 0: none
};

class Service {
 public:
  using Launcher = std::function<LaunchResult(Device&, const LaunchRequest&)>;
  using Listener = std::function<void(const std::string&)>;

  /// `chip` is what the program is told of the GPU, `target` what its PTX is for. `gave_up` hears
  /// why a program ends early.
  Service(nlohmann::json chip, std::string target, Launcher launcher, Listener gave_up);

  Message answer(const Message& request);

 private:
  nlohmann::json access(const nlohmann::json& request,
                        const Message& message,
                        std::vector<std::byte>& bytes);
  nlohmann::json load(const Message& message);
  nlohmann::json kernel(const nlohmann::json& request);
  nlohmann::json launch(const nlohmann::json& request, const Message& message);

  nlohmann::json chip_;
  Device device_;
  Launcher launcher_;
  Listener gave_up_;
};

}  // namespace warptwin::cuda
