/// Answers the requests of one process of a program.

#pragma once

#include <functional>
#include <string>

#include "sim/cuda/device.hpp"
#include "sim/cuda/stream_order.hpp"
#include "sim/cuda/wire.hpp"

namespace warptwin::cuda {

/// What came of a launch, for the program.
struct LaunchResult {
  int error = 0;  // a CUresult, which all later calls of the process return; 0: none
  std::string name;
  Touched touched;
  double microseconds = 0;  // simulated
  bool waits = false;       // for the launch before it: griddepcontrol.wait
};

/// Who hears what a process does beside its launches.
struct ServiceListeners {
  /// Why the program ends early.
  std::function<void(const std::string& why)> gave_up;
  /// What two pieces of its work do to each other: see StreamRace.
  std::function<void(const std::string& race)> raced;
};

class Service {
 public:
  using Launcher = std::function<LaunchResult(Device&, const LaunchRequest&)>;

  /// `chip` is what the program is told of the GPU, `target` what its PTX is for.
  Service(nlohmann::json chip, std::string target, Launcher launcher, ServiceListeners listeners);

  Message answer(const Message& request);

 private:
  /// Bytes of the host that it may not touch before the work behind the mark has ended.
  struct Watched {
    StreamOrder::Mark mark;
    std::string work;
    std::string bytes;
  };

  nlohmann::json access(const nlohmann::json& request,
                        const Message& message,
                        std::vector<std::byte>& bytes);
  nlohmann::json order(const nlohmann::json& request);
  nlohmann::json free(const nlohmann::json& request);
  void take_work(const Work& work);
  void take_copy(const nlohmann::json& request,
                 const char* what,
                 Touched touched,
                 nlohmann::json& reply);
  nlohmann::json watch(const Work& work);
  nlohmann::json settled(const std::function<bool(const StreamOrder::Mark&)>& done);
  std::string text_of(const StreamRace& race) const;
  nlohmann::json load(const Message& message);
  nlohmann::json kernel(const nlohmann::json& request);
  nlohmann::json launch(const nlohmann::json& request, const Message& message);

  nlohmann::json chip_;
  Device device_;
  Launcher launcher_;
  ServiceListeners listeners_;
  StreamOrder order_;
  bool measures_ = false;  // the program has events that tell the time
  std::uint64_t copies_ = 0;
  std::uint64_t watches_ = 0;
  std::map<std::uint64_t, Watched> watched_;  // by the number that the program's side knows
};

}  // namespace warptwin::cuda
