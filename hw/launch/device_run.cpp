#include "hw/launch/device_run.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "common/kernel/inputs.hpp"
#include "common/kernel/tensor_bytes.hpp"

#include "hw/cuda/emulation_memory.hpp"
#include "hw/launch/device_memory.hpp"
#include "hw/launch/tensor_map.hpp"

namespace warptwin::hw {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kCopyAdvice = "run the scenario in the simulator with the same parameters";
constexpr std::size_t kPathMax = 160;

std::vector<std::uint8_t> bytes_of_tensor(const HostTensor& tensor) {
  std::vector<std::uint8_t> bytes(tensor.spec.bytes());
  for (std::uint32_t row = 0; row < tensor.spec.rows; ++row) {
    for (std::uint32_t column = 0; column < tensor.spec.columns; ++column) {
      const std::uint32_t bits = encode(tensor.spec.element, tensor.at(row, column));
      std::uint8_t* at = &bytes[std::size_t{row} * tensor.spec.pitch_bytes];
      write_element(tensor.spec, reinterpret_cast<std::byte*>(at), column, bits);
    }
  }
  return bytes;
}

float element(const std::vector<std::uint8_t>& bytes,
              const TensorSpec& spec,
              std::uint32_t row,
              std::uint32_t column) {
  const std::uint8_t* at = &bytes[std::size_t{row} * spec.pitch_bytes];
  return read_element(spec, reinterpret_cast<const std::byte*>(at), column);
}

// What the device holds, as numbers.
HostTensor tensor_of(const std::vector<std::uint8_t>& bytes, const TensorSpec& spec) {
  HostTensor tensor{spec, std::vector<float>(std::size_t{spec.rows} * spec.columns)};
  for (std::uint32_t row = 0; row < spec.rows; ++row) {
    for (std::uint32_t column = 0; column < spec.columns; ++column) {
      tensor.at(row, column) = element(bytes, spec, row, column);
    }
  }
  return tensor;
}

// The tensors of a workload, in both memories.
struct Tensors {
  std::vector<HostTensor> host;
  std::vector<DeviceBuffer> device;
  std::vector<GlobalAddress> addresses;
  std::vector<CUtensorMap> maps;

  Tensors(const Workload& workload, std::uint32_t seed) {
    for (const TensorSpec& spec : workload.tensors) {
      HostTensor tensor{spec, std::vector<float>(std::size_t{spec.rows} * spec.columns)};
      // Scratch holds control words; outputs start as no number.
      device.emplace_back(spec.bytes(), spec.use == TensorUse::kScratch ? 0 : 0xFF);
      if (spec.use == TensorUse::kInput) {
        tensor.values = drawn_values(spec, seed, host.size());
        const auto bytes = bytes_of_tensor(tensor);
        tensor = tensor_of(bytes, spec);  // as the kernel sees it
        require_cuda(
            cudaMemcpy(device.back().get(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
            "cudaMemcpy",
            kCopyAdvice);
      }
      host.push_back(std::move(tensor));
      addresses.push_back(device.back().address());
      write(addresses.size() - 1, 0, spec.words.data(), 4 * spec.words.size());
    }
    std::vector<std::size_t> stored(workload.tensors.size());  // bytes of maps in each tensor
    for (const TensorMapSpec& map : workload.maps) {
      maps.push_back(encode(encoding_of(map, workload.tensors[map.tensor]), addresses[map.tensor]));
      if (map.stored_in != TensorMapSpec::kInArgument) {
        write(map.stored_in, stored[map.stored_in], &maps.back(), sizeof maps.back());
        stored[map.stored_in] += sizeof maps.back();
        first_stored = first_stored == 0 ? addresses[map.stored_in].value : first_stored;
      }
    }
  }

  std::uint64_t first_stored = 0;  // where the first map stands that is in global memory

 private:
  void write(std::size_t tensor, std::size_t offset, const void* from, std::size_t bytes) const {
    require_cuda(
        cudaMemcpy(
            static_cast<char*>(device[tensor].get()) + offset, from, bytes, cudaMemcpyHostToDevice),
        "cudaMemcpy",
        kCopyAdvice);
  }
};

// Reads the outputs back, and holds them against the reference.
void take_results(const DeviceScenario& scenario,
                  const ParameterSet& parameters,
                  Tensors& tensors,
                  DeviceRun& run) {
  run.tensors = tensors.host;
  scenario.reference(parameters, tensors.host);
  for (std::size_t i = 0; i < tensors.host.size(); ++i) {
    const HostTensor& expected = tensors.host[i];
    if (expected.spec.use == TensorUse::kOutput) {
      std::vector<std::uint8_t> bytes(expected.spec.bytes());
      require_cuda(
          cudaMemcpy(bytes.data(), tensors.device[i].get(), bytes.size(), cudaMemcpyDeviceToHost),
          "cudaMemcpy",
          kCopyAdvice);
      run.tensors[i] = tensor_of(bytes, expected.spec);
      if (auto wrong = wrong_output(expected, run.tensors[i], scenario.sum_share)) {
        run.wrong.push_back(std::move(*wrong));
      }
    }
  }
}

// Streams that do not wait for each other: the kernel's, and one to look at it.
class Stream {
 public:
  Stream() {
    require_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                 "cudaStreamCreateWithFlags",
                 "check the driver");
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// What the kernel writes about itself.
class Observer {
 public:
  Observer(const DeviceRunOptions& options, std::size_t warps)
      : options_{options},
        warps_{warps},
        reports_{warps},
        stop_{1},
        rings_{warps * options.events * sizeof(RecordedEvent), 0},
        counts_{warps * sizeof(std::uint32_t), 0},
        regions_{options.regions.size() * sizeof(DataRegion), 0} {
    require_cuda(cudaMemcpy(regions_.get(),
                            options.regions.data(),
                            options.regions.size() * sizeof(DataRegion),
                            cudaMemcpyHostToDevice),
                 "cudaMemcpy",
                 kCopyAdvice);
  }

  Observation observation() const {
    return {options_.deadline,
            reports_.get(),
            stop_.get(),
            options_.events == 0 ? nullptr : rings_.get<RecordedEvent>(),
            counts_.get<std::uint32_t>(),
            options_.events,
            regions_.get<DataRegion>(),
            options_.events == 0 ? 0 : static_cast<std::uint32_t>(options_.regions.size())};
  }
  bool any_expired() { return count(WarpState::kExpired) != 0; }
  bool all_stand() { return count(WarpState::kRuns) == 0; }
  /// Every warp has ended or is in a wait that has no deadline.
  bool none_can_go_on() {
    const std::size_t blocks = count(WarpState::kBlocks);
    return blocks != 0 && blocks + count(WarpState::kEnded) == warps_;
  }
  void stop() { stop_[0] = 1; }

  std::vector<WarpStand> stands() {
    std::vector<WarpStand> all(warps_);
    for (std::size_t i = 0; i < warps_; ++i) {
      std::memcpy(&all[i].report, reports_.get() + i, sizeof(WarpReport));
      if (all[i].report.state == WarpState::kBlocks || all[i].report.state == WarpState::kExpired) {
        all[i].file = path_at(all[i].report.file);
      }
    }
    return all;
  }

  std::vector<WarpEvents> events() const {
    std::vector<WarpEvents> all;
    const std::size_t capacity = options_.events;
    if (capacity == 0) {
      return all;
    }
    std::vector<RecordedEvent> rings(warps_ * capacity);
    std::vector<std::uint32_t> counts(warps_);
    copy(rings.data(), rings_.get(), rings.size() * sizeof(RecordedEvent));
    copy(counts.data(), counts_.get(), warps_ * sizeof(std::uint32_t));
    for (std::size_t warp = 0; warp < warps_; ++warp) {
      WarpEvents& one = all.emplace_back();
      const auto ring = rings.begin() + static_cast<std::ptrdiff_t>(warp * capacity);
      const std::size_t first = oldest(ring, capacity, counts[warp], one.overwritten);
      std::rotate_copy(ring,
                       ring + static_cast<std::ptrdiff_t>(first),
                       ring + static_cast<std::ptrdiff_t>(capacity),
                       std::back_inserter(one.events));
      std::erase_if(one.events, [](const RecordedEvent& event) { return !event.is_there(); });
    }
    return all;
  }

 private:
  // Where a ring's oldest event is. A warp that runs has not said how many it recorded: then the
  // clock goes back where the ring begins anew.
  static std::size_t oldest(std::vector<RecordedEvent>::const_iterator ring,
                            std::size_t capacity,
                            std::size_t count,
                            std::uint64_t& overwritten) {
    if (count == 0 && ring[static_cast<std::ptrdiff_t>(capacity) - 1].is_there()) {
      overwritten = 1;
      for (std::ptrdiff_t at = 1; at < static_cast<std::ptrdiff_t>(capacity); ++at) {
        if (static_cast<std::int32_t>(ring[at].cycle - ring[at - 1].cycle) < 0) {
          return static_cast<std::size_t>(at);
        }
      }
    }
    overwritten += count > capacity ? count - capacity : 0;
    return overwritten == 0 ? 0 : count % capacity;
  }
  std::size_t count(WarpState state) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < warps_; ++i) {
      found += reports_[i].state == state ? 1 : 0;
    }
    return found;
  }
  void copy(void* to, const void* from, std::size_t bytes) const {
    require_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_.get()),
                 "cudaMemcpyAsync",
                 kCopyAdvice);
    synchronize();
  }
  void synchronize() const {
    require_cuda(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize", kCopyAdvice);
  }
  // Text of the kernel's own constants, byte by byte: beyond its end nothing may be mapped.
  std::string path_at(std::uint64_t address) {
    if (const auto known = paths_.find(address); known != paths_.end()) {
      return known->second;
    }
    std::string& text = paths_[address];
    for (char letter = 1; address != 0 && text.size() < kPathMax;) {
      if (cudaMemcpyAsync(&letter,
                          reinterpret_cast<const void*>(address + text.size()),
                          1,
                          cudaMemcpyDeviceToHost,
                          stream_.get()) != cudaSuccess ||
          cudaStreamSynchronize(stream_.get()) != cudaSuccess || letter == 0) {
        break;
      }
      text.push_back(letter);
    }
    return text;
  }

  DeviceRunOptions options_;
  std::size_t warps_;
  Stream stream_;
  SharedWithDevice<WarpReport> reports_;
  SharedWithDevice<std::uint32_t> stop_;
  DeviceBuffer rings_;
  DeviceBuffer counts_;
  DeviceBuffer regions_;
  std::map<std::uint64_t, std::string> paths_;
};

// How long the deadline takes at the device's clock.
std::chrono::milliseconds deadline_time(std::uint64_t cycles) {
  int kilohertz = 0;
  cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0);
  return std::chrono::milliseconds{cycles / static_cast<std::uint64_t>(std::max(kilohertz, 1)) + 1};
}

// Waits for the kernel, or for the moment to give it up.
DeviceEnd wait_for(cudaStream_t stream,
                   Observer& observer,
                   const DeviceRunOptions& options,
                   DeviceRun& run) {
  const Clock::time_point start = Clock::now();
  const auto deadline = deadline_time(options.deadline);
  const auto grace = 2 * deadline + std::chrono::milliseconds{50};
  std::optional<Clock::time_point> expired;
  Clock::time_point moved = start;
  for (;;) {
    const cudaError_t state = cudaStreamQuery(stream);
    const Clock::time_point now = Clock::now();
    if (state == cudaSuccess) {
      return DeviceEnd::kDone;
    }
    if (state != cudaErrorNotReady) {
      run.error = cudaGetErrorName(state);
      return DeviceEnd::kFailed;
    }
    if (!expired && observer.any_expired()) {
      expired = now;
    }
    if (expired && (observer.all_stand() || now - *expired > grace)) {
      return DeviceEnd::kExpired;
    }
    // Waits that have no deadline have one together.
    if (!observer.none_can_go_on()) {
      moved = now;
    }
    if (options.deadline != 0 && now - moved > deadline) {
      return DeviceEnd::kTimedOut;
    }
    if (now - start > options.timeout) {
      return expired ? DeviceEnd::kExpired : DeviceEnd::kTimedOut;
    }
    std::this_thread::sleep_for(std::chrono::microseconds{200});
  }
}

}  // namespace

std::vector<std::uint32_t> places_of(std::span<const CUtensorMap> maps,
                                     const void* argument,
                                     std::size_t bytes) {
  std::vector<std::uint32_t> places;
  const auto* const first = static_cast<const unsigned char*>(argument);
  for (std::size_t at = 0; at + sizeof(CUtensorMap) <= bytes; at += RecordedEvent::kMapUnit) {
    const auto found = std::find_if(maps.begin(), maps.end(), [&](const CUtensorMap& map) {
      return std::memcmp(&map, first + at, sizeof map) == 0;
    });
    places.push_back(found == maps.end() ? kNoMap
                                         : static_cast<std::uint32_t>(found - maps.begin()));
  }
  return places;
}

void take_late_error(DeviceRun& run, const CudaError& error) {
  if (!is_of_kernel(error.code())) {
    throw CudaError{error};
  }
  run.events.clear();
  if (run.end == DeviceEnd::kDone) {
    run.end = DeviceEnd::kFailed;
    run.error = cudaGetErrorName(error.code());
  }
}

std::string device_name(std::string& why) {
  why = why_no_gpu();
  if (!why.empty()) {
    return "";
  }
  cudaDeviceProp properties{};
  require_cuda(
      cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties", "check the driver");
  const std::string name = std::string{properties.name} + ", sm_" +
                           std::to_string(properties.major) + std::to_string(properties.minor);
  if (properties.minor != 0 || (properties.major != 9 && properties.major != 10)) {
    why = name + " is neither sm_90 nor sm_100";
    return "";
  }
  int driver = 0;
  cudaDriverGetVersion(&driver);
  return name + ", driver for CUDA " + std::to_string(driver / 1000) + "." +
         std::to_string(driver % 1000 / 10);
}

namespace {

// All that a run holds on the device.
struct Resources {
  Resources(const DeviceScenario& scenario,
            const ParameterSet& parameters,
            const Workload& workload,
            const DeviceRunOptions& options)
      : ctas{std::size_t{workload.clusters} * workload.cluster_size},
        tensors{workload, options.input_seed},
        emulation{ctas * EmulationMemory::kWordsPerCta * sizeof(std::uint32_t), 0},
        observer{options, ctas * scenario.warps(parameters)} {}

  std::size_t ctas;
  Tensors tensors;
  DeviceBuffer emulation;
  Observer observer;
  Stream stream;
};

}  // namespace

DeviceRun run_on_device(const DeviceScenario& scenario,
                        const ParameterSet& parameters,
                        const DeviceRunOptions& options) {
  const Workload workload = scenario.workload(parameters);
  auto held = std::make_unique<Resources>(scenario, parameters, workload, options);
  DeviceRun run;
  run.regions = options.regions;
  run.stored_maps = held->tensors.first_stored;
  require_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize", "check the driver");
  const Clock::time_point start = Clock::now();
  scenario.launch(parameters,
                  {held->tensors.maps,
                   held->tensors.addresses,
                   held->emulation.get<std::uint32_t>(),
                   held->observer.observation(),
                   held->stream.get(),
                   &run.map_places});
  run.end = wait_for(held->stream.get(), held->observer, options, run);
  run.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  const bool done = run.end == DeviceEnd::kDone;
  // Freeing would wait for a kernel that does not end: the process gives all of it back.
  Resources& kept = done ? *held : *held.release();
  try {
    if (done) {
      run.events = kept.observer.events();
      take_results(scenario, parameters, kept.tensors, run);
    } else if (run.end != DeviceEnd::kFailed) {
      // What warps wait for comes first: warps that have spoken wait some seconds for the host, and
      // a record may take longer.
      run.warps = kept.observer.stands();
      run.events = kept.observer.events();
      kept.observer.stop();
    }
  } catch (const CudaError& error) {
    take_late_error(run, error);
  }
  return run;
}

}  // namespace warptwin::hw
