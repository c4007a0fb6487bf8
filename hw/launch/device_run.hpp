/// One run of a scenario on the current device, from parameters to results, and to what its warps
/// wait for when it does not end. Host code.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "hw/launch/device_scenario.hpp"
#include "hw/launch/error.hpp"
#include "hw/launch/wrong_output.hpp"

namespace warptwin::hw {

struct DeviceRunOptions {
  std::uint64_t deadline = 1'000'000'000;     // cycles of a polled wait
  std::chrono::milliseconds timeout{10'000};  // for waits that have no deadline
  std::uint32_t events = 0;  // kept for each warp, a power of two; 0: nothing is recorded
  std::uint32_t input_seed = 1;
  std::vector<DataRegion> regions;  // that waits read and record; only with events
};

enum class DeviceEnd : std::uint8_t {
  kDone,
  kExpired,   // a deadline passed
  kTimedOut,  // nothing was polled, and it did not end
  kFailed,    // the device ended it: a trap, a bad address
};

/// Where a warp was when the run was given up.
struct WarpStand {
  WarpReport report{};
  std::string file;  // of its line
};

/// What a warp's ring holds, oldest first.
struct WarpEvents {
  std::vector<RecordedEvent> events;
  std::uint64_t overwritten = 0;  // older ones
};

struct DeviceRun {
  DeviceEnd end = DeviceEnd::kDone;
  std::string error;                      // kFailed: CUDA's name for it
  std::vector<WarpStand> warps;           // kExpired and kTimedOut, by number in the grid
  std::vector<WarpEvents> events;         // by number in the grid; empty when not recorded
  std::vector<std::uint32_t> map_places;  // see DeviceArguments
  std::uint64_t stored_maps = 0;          // where the maps that stand in global memory begin
  std::vector<DataRegion> regions;        // those of the options
  std::vector<HostTensor> tensors;        // kDone: inputs, and outputs as the kernel left them
  std::vector<WrongOutput> wrong;
  double milliseconds = 0;
};

/// Takes an error of a call behind the launch into `run`. One of the kernel's doing makes a run
/// that seemed done a failed one. A run that was given up stays that, without its record.
///
/// Throws `error` where the kernel did not cause it.
void take_late_error(DeviceRun& run, const CudaError& error);

/// "NVIDIA H200, sm_90, driver 13.0"; empty where there is no GPU these kernels run on, with the
/// reason in `why`.
std::string device_name(std::string& why);

/// Runs the scenario once. After kExpired, kTimedOut and kFailed the process cannot use the device
/// again: end it, and the device is free.
///
/// Blocks: until the kernel has ended or was given up, at most `timeout` and a few seconds.
/// Errors: ConfigError, CudaError for what is wrong before the kernel runs, and for what fails
///         behind it that it did not cause.
DeviceRun run_on_device(const DeviceScenario& scenario,
                        const ParameterSet& parameters,
                        const DeviceRunOptions& options);

}  // namespace warptwin::hw
