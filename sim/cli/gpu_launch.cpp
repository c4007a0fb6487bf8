#include "sim/cli/gpu_launch.hpp"

#include <array>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdexcept>
#include <unistd.h>

#include "sim/report/packed.hpp"
#include "sim/run/simulate.hpp"
#include "sim/run/workers.hpp"

namespace warptwin::sim {

namespace {

// Names and numbers of the CUDA Driver API, 13.0.
using Result = int;
using Device = int;
using Handle = void*;
using Address = unsigned long long;

constexpr int kMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int kMinor = 76;
constexpr int kErrorLog = 5;  // CU_JIT_ERROR_LOG_BUFFER
constexpr int kErrorLogSize = 6;
constexpr int kDynamicShared = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kLargeClusters = 14;
constexpr int kCooperative = 2;  // CU_LAUNCH_ATTRIBUTE_COOPERATIVE
constexpr int kCluster = 4;
constexpr std::uintptr_t kLogBytes = 1 << 16;
constexpr std::size_t kMapAlignment = 64;

struct Attribute {
  int id = 0;
  int pad = 0;
  std::array<unsigned, 16> value{};
};

struct Config {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  Handle stream;
  Attribute* attributes;
  unsigned attributes_count;
};

struct alignas(kMapAlignment) Map {
  std::array<std::byte, ptx::kTensorMapBytes> bytes;
};

/// There is no GPU that runs it. The message says which.
class NoGpu : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// "sm_90a" runs on 9.0 alone, "sm_100f" on its family, "sm_90" on whatever is not older.
bool runs(const std::string& target, int major, int minor) {
  int number = 0;
  char suffix = ' ';
  if (std::sscanf(target.c_str(), "sm_%d%c", &number, &suffix) < 1) {
    return false;
  }
  const int device = major * 10 + minor;
  return suffix == 'a'   ? device == number
         : suffix == 'f' ? device / 10 == number / 10 && device >= number
                         : device >= number;
}

/// The driver, and one module in it. What it allocates goes with its process.
class Driver {
 public:
  Driver() {
    library_ = dlopen("libcuda.so.1", RTLD_NOW);
    if (library_ == nullptr) {
      throw NoGpu("there is no CUDA driver: libcuda.so.1 cannot be loaded");
    }
    find(error_string_, "cuGetErrorString");
    begin<NoGpu>("the CUDA driver does not start", "cuInit", 0U);
    begin<NoGpu>("there is no GPU", "cuDeviceGet", &device_, 0);
    Handle context = nullptr;
    begin<NoGpu>("the GPU has no context", "cuDevicePrimaryCtxRetain", &context, device_);
    begin<NoGpu>("the GPU has no context", "cuCtxSetCurrent", context);
  }

  std::string name() const {
    char text[256] = {};
    call("its name", "cuDeviceGetName", static_cast<char*>(text), int{sizeof text - 1}, device_);
    return text;
  }

  void require(const std::string& target) const {
    int major = 0;
    int minor = 0;
    call("the GPU", "cuDeviceGetAttribute", &major, kMajor, device_);
    call("the GPU", "cuDeviceGetAttribute", &minor, kMinor, device_);
    if (!runs(target, major, minor)) {
      throw NoGpu(name() + ", of compute capability " + std::to_string(major) + "." +
                  std::to_string(minor) + ", does not run " + target);
    }
  }

  void load(const std::string& ptx) {
    std::string log(kLogBytes, '\0');
    int options[] = {kErrorLog, kErrorLogSize};
    void* values[] = {log.data(), reinterpret_cast<void*>(kLogBytes)};
    const auto load_data =
        function<Result (*)(Handle*, const void*, unsigned, int*, void**)>("cuModuleLoadDataEx");
    if (const Result result = load_data(&module_, ptx.c_str(), 2, options, values); result != 0) {
      throw std::runtime_error("the driver does not load the PTX: " + text_of(result) + " " +
                               log.c_str());
    }
  }

  Handle kernel(const std::string& name) const {
    Handle kernel = nullptr;
    call("the kernel", "cuModuleGetFunction", &kernel, module_, name.c_str());
    return kernel;
  }

  Address buffer(const std::vector<std::byte>& bytes) const {
    Address address = 0;
    call("memory", "cuMemAlloc_v2", &address, bytes.size());
    const void* const from = bytes.data();
    call("a copy to the GPU", "cuMemcpyHtoD_v2", address, from, bytes.size());
    return address;
  }

  void read(Address address, std::vector<std::byte>& bytes) const {
    void* const to = bytes.data();
    call("a copy from the GPU", "cuMemcpyDtoH_v2", to, address, bytes.size());
  }

  Map encode(const GpuMap& map, Address address) const {
    Map encoded{};
    Map* const to = &encoded;
    void* const from = reinterpret_cast<void*>(address);
    if (map.pixels == 0) {
      call("a tensor map",
           "cuTensorMapEncodeTiled",
           to,
           map.type,
           map.rank,
           from,
           &map.extents[0],
           &map.strides[0],
           &map.box[0],
           &map.steps[0],
           0,
           map.swizzle,
           0,
           0);
    } else {
      call("a tensor map",
           "cuTensorMapEncodeIm2col",
           to,
           map.type,
           map.rank,
           from,
           &map.extents[0],
           &map.strides[0],
           &map.lower[0],
           &map.upper[0],
           map.box[0],
           map.pixels,
           &map.steps[0],
           0,
           map.swizzle,
           0,
           0);
    }
    return encoded;
  }

  // `parameters` are where each begins. The other form of a launch takes them in one piece, at the
  // driver's offsets: the constant bank's begin is a multiple of 16, so a map among them is not
  // where PTX has it.
  void launch(Handle kernel, const ptx::LaunchShape& shape, std::vector<void*> parameters) const {
    call("dynamic shared memory",
         "cuFuncSetAttribute",
         kernel,
         kDynamicShared,
         static_cast<int>(shape.dynamic_shared_bytes));
    std::vector<Attribute> attributes;
    if (shape.explicit_cluster || shape.cluster_size() > 1) {
      attributes.push_back({kCluster, 0, {shape.cluster[0], shape.cluster[1], shape.cluster[2]}});
    }
    if (shape.cluster_size() > 8) {
      call("large clusters", "cuFuncSetAttribute", kernel, kLargeClusters, 1);
    }
    if (shape.cooperative) {
      attributes.push_back({kCooperative, 0, {1}});
    }
    Config config{{shape.grid[0], shape.grid[1], shape.grid[2]},
                  {shape.block[0], shape.block[1], shape.block[2]},
                  shape.dynamic_shared_bytes,
                  nullptr,
                  attributes.data(),
                  static_cast<unsigned>(attributes.size())};
    const Config* const with = &config;
    void** const none = nullptr;
    call("the launch", "cuLaunchKernelEx", with, kernel, parameters.data(), none);
    call("the kernel", "cuCtxSynchronize");
  }

 private:
  template <class F>
  F function(const char* name) const {
    const auto found = reinterpret_cast<F>(dlsym(library_, name));
    if (found == nullptr) {
      throw NoGpu(std::string{"libcuda.so.1 has no "} + name + "; the driver is too old");
    }
    return found;
  }

  template <class F>
  void find(F& to, const char* name) const {
    to = function<F>(name);
  }

  std::string text_of(Result result) const {
    const char* text = nullptr;
    error_string_(result, &text);
    return text != nullptr ? text : "error " + std::to_string(result);
  }

  template <class Error, class... Arguments>
  void begin(const char* what, const char* name, Arguments... arguments) const {
    if (const Result result = function<Result (*)(Arguments...)>(name)(arguments...); result != 0) {
      throw Error(std::string{what} + ": " + text_of(result));
    }
  }
  template <class... Arguments>
  void call(const char* what, const char* name, Arguments... arguments) const {
    begin<std::runtime_error>(what, name, arguments...);
  }

  void* library_ = nullptr;
  Result (*error_string_)(Result, const char**) = nullptr;
  Device device_ = 0;
  Handle module_ = nullptr;
};

// In the process that may hang.
GpuRun run_here(const GpuLaunch& launch) {
  GpuRun run;
  try {
    Driver driver;
    run.said = driver.name();
    driver.require(launch.target);
    driver.load(launch.ptx);
    const Handle kernel = driver.kernel(launch.kernel);
    std::vector<Address> places;
    for (const std::vector<std::byte>& bytes : launch.buffers) {
      places.push_back(driver.buffer(bytes));
    }
    std::vector<std::byte> parameters = launch.parameters;
    for (const ptx::ParameterPlace& place : launch.pointers) {
      const Address address = places[place.index] + place.added;
      std::memcpy(parameters.data() + place.offset, &address, sizeof address);
    }
    for (const GpuMap& map : launch.maps) {
      const Map encoded = driver.encode(map, places[map.buffer]);
      std::memcpy(parameters.data() + map.offset, &encoded, sizeof encoded);
    }
    std::vector<void*> begins;
    for (const std::uint32_t begin : launch.begins) {
      begins.push_back(parameters.data() + begin);
    }
    driver.launch(kernel, launch.shape, std::move(begins));
    run.buffers = launch.buffers;
    for (std::size_t i = 0; i < places.size(); ++i) {
      driver.read(places[i], run.buffers[i]);
    }
  } catch (const NoGpu& error) {
    run.end = GpuRun::End::kNoGpu;
    run.said = error.what();
  } catch (const std::exception& error) {
    run.end = GpuRun::End::kFailed;
    run.said += (run.said.empty() ? "" : ": ") + std::string{error.what()};
  }
  return run;
}

std::string bytes_of(const GpuRun& run) {
  nlohmann::json json = {
      {"end", static_cast<int>(run.end)}, {"said", run.said}, {"buffers", nlohmann::json::array()}};
  for (const std::vector<std::byte>& bytes : run.buffers) {
    std::vector<std::uint8_t> plain(bytes.size());
    std::memcpy(plain.data(), bytes.data(), bytes.size());
    json["buffers"].push_back(nlohmann::json::binary(std::move(plain)));
  }
  return packed(json);
}

GpuRun run_of(const std::string& bytes) {
  const auto json = unpacked<nlohmann::json>(bytes);
  GpuRun run;
  run.end = static_cast<GpuRun::End>(json["end"].get<int>());
  run.said = json["said"];
  for (const auto& buffer : json["buffers"]) {
    const std::vector<std::uint8_t>& plain = buffer.get_binary();
    std::memcpy(run.buffers.emplace_back(plain.size()).data(), plain.data(), plain.size());
  }
  return run;
}

// CUtensorMapDataType. What tensor cores alone compute with moves as bytes.
int data_type(ElementType element) {
  switch (element) {
    case ElementType::kI16:
    case ElementType::kU16:
      return 1;
    case ElementType::kU32:
      return 2;
    case ElementType::kI32:
      return 3;
    case ElementType::kU64:
      return 4;
    case ElementType::kI64:
      return 5;
    case ElementType::kF16:
      return 6;
    case ElementType::kF32:
      return 7;
    case ElementType::kF64:
      return 8;
    case ElementType::kBf16:
      return 9;
    case ElementType::kTf32:
      return 11;
    default:
      return 0;
  }
}

// CUtensorMapSwizzle.
int swizzle_number(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::kNone:
      return 0;
    case Swizzle::k32B:
      return 1;
    case Swizzle::k64B:
      return 2;
    case Swizzle::k128B:
      return 3;
    case Swizzle::k128BAtom32B:
      return 4;
  }
  return 0;
}

GpuMap gpu_map_of(const TensorMapSpec& spec, const TensorSpec& tensor, std::uint32_t offset) {
  GpuMap map;
  map.offset = offset;
  map.buffer = spec.tensor;
  const TensorMapState state = decode_map(spec, tensor, GlobalAddress{});
  const bool packed = spec.packing != Packing::kNone;
  map.type = packed ? static_cast<int>(state.type) : data_type(tensor.element);
  map.swizzle = swizzle_number(spec.swizzle);
  map.pixels = spec.im2col.pixels;
  map.extents[0] = state.extent[0];
  map.box[0] = spec.box_columns;
  map.steps[0] = 1;
  map.rank = 1;
  for (const MapDimension& outer : outer_dimensions(spec, tensor)) {
    map.extents[map.rank] = outer.extent;
    map.strides[map.rank - 1] = outer.stride_bytes;
    map.box[map.rank] = outer.box * outer.step;  // what is traversed
    map.steps[map.rank] = outer.step;
    ++map.rank;
  }
  std::memcpy(map.lower, spec.im2col.lower, sizeof map.lower);
  std::memcpy(map.upper, spec.im2col.upper, sizeof map.upper);
  return map;
}

}  // namespace

GpuLaunch gpu_launch_of(const ReadLaunch& read, std::vector<std::vector<std::byte>> buffers) {
  const PtxLaunch& from = read.launch;
  for (std::size_t i = 0; i < from.places.size(); ++i) {
    if (from.places[i] != 0) {
      throw ConfigError("--on hw: a GPU gives buffer '" +
                        std::string{from.workload.tensors[i].name} +
                        "' another address than the launch file says");
    }
  }
  const ptx::Module& module = from.kernel->program().module();
  GpuLaunch launch;
  launch.ptx = *module.text;
  launch.target = module.targets.empty() ? std::string{} : std::string{module.targets.front()};
  launch.kernel = std::string{from.kernel->name()};
  launch.shape = from.shape;
  launch.parameters = from.parameters.bytes;
  for (const ptx::Variable& parameter : from.kernel->function().prototype.parameters) {
    launch.begins.push_back(static_cast<std::uint32_t>(from.kernel->parameter_offset(parameter)));
  }
  launch.pointers = from.parameters.pointers;
  for (const ptx::ParameterPlace& place : from.parameters.maps) {
    const TensorMapSpec& map = from.workload.maps[place.index];
    launch.maps.push_back(gpu_map_of(map, from.workload.tensors[map.tensor], place.offset));
  }
  launch.buffers = std::move(buffers);
  return launch;
}

GpuRun run_on_gpu(const GpuLaunch& launch, std::chrono::milliseconds limit) {
  constexpr std::size_t kOne = 0;
  std::map<std::size_t, WorkEnd> ends;
  WorkerPool pool;
  pool.start(kOne, {}, [&](std::size_t) {
    // What the kernel prints is not of the report.
    if (const int null = open("/dev/null", O_WRONLY); null >= 0) {
      dup2(null, STDOUT_FILENO);
    }
    return bytes_of(run_here(launch));
  });
  using Steady = std::chrono::steady_clock;
  const Steady::time_point end = Steady::now() + limit;
  while (ends.empty() && Steady::now() < end) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Steady::now());
    pool.wait(ends, static_cast<int>(std::max<std::int64_t>(left.count(), 1)));
  }
  if (ends.empty()) {
    return {GpuRun::End::kHung,
            "it did not end within " + std::to_string(limit.count() / 1000) + " s",
            {}};
  }
  const WorkEnd& ended = ends[kOne];
  if (ended.why == WorkEnd::Why::kDone) {
    return run_of(ended.text);
  }
  return {GpuRun::End::kFailed,
          ended.why == WorkEnd::Why::kSignal
              ? "its process ended by signal " + std::to_string(ended.signal)
              : ended.text,
          {}};
}

}  // namespace warptwin::sim
