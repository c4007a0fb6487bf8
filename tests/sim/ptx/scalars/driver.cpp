#include "tests/sim/ptx/scalars/driver.hpp"

#include <dlfcn.h>

namespace warptwin::ptx::scalars {

namespace {

// Names and numbers of the CUDA Driver API, 13.0.
using Result = int;
using Device = int;
using Handle = void*;
using Address = unsigned long long;

constexpr int kMajor = 75;
constexpr int kMinor = 76;
constexpr int kErrorLog = 5;
constexpr int kErrorLogSize = 6;
constexpr std::uintptr_t kLogBytes = 1 << 20;
constexpr unsigned kThreads = 128;

}  // namespace

struct Gpu::Api {
  void* library = nullptr;
  Result (*init)(unsigned) = nullptr;
  Result (*driver_version)(int*) = nullptr;
  Result (*device_get)(Device*, int) = nullptr;
  Result (*device_name)(char*, int, Device) = nullptr;
  Result (*device_attribute)(int*, int, Device) = nullptr;
  Result (*context_retain)(Handle*, Device) = nullptr;
  Result (*context_release)(Device) = nullptr;
  Result (*context_set)(Handle) = nullptr;
  Result (*context_synchronize)() = nullptr;
  Result (*module_load)(Handle*, const void*, unsigned, int*, void**) = nullptr;
  Result (*module_unload)(Handle) = nullptr;
  Result (*module_function)(Handle*, Handle, const char*) = nullptr;
  Result (*allocate)(Address*, std::size_t) = nullptr;
  Result (*release)(Address) = nullptr;
  Result (*copy_in)(Address, const void*, std::size_t) = nullptr;
  Result (*copy_out)(void*, Address, std::size_t) = nullptr;
  Result (*fill)(Address, unsigned char, std::size_t) = nullptr;
  Result (*launch)(Handle,
                   unsigned,
                   unsigned,
                   unsigned,
                   unsigned,
                   unsigned,
                   unsigned,
                   unsigned,
                   Handle,
                   void**,
                   void**) = nullptr;
  Result (*error_string)(Result, const char**) = nullptr;

  Device device = 0;
  bool retained = false;
  Handle module = nullptr;

  ~Api() {
    if (module != nullptr) {
      module_unload(module);
    }
    if (retained) {
      context_release(device);
    }
    if (library != nullptr) {
      dlclose(library);
    }
  }

  template <class F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library, name));
    if (function == nullptr) {
      throw NoDevice(std::string{"libcuda.so.1 has no "} + name + "; the driver is too old");
    }
  }

  void find_all() {
    find(init, "cuInit");
    find(driver_version, "cuDriverGetVersion");
    find(device_get, "cuDeviceGet");
    find(device_name, "cuDeviceGetName");
    find(device_attribute, "cuDeviceGetAttribute");
    find(context_retain, "cuDevicePrimaryCtxRetain");
    find(context_release, "cuDevicePrimaryCtxRelease_v2");
    find(context_set, "cuCtxSetCurrent");
    find(context_synchronize, "cuCtxSynchronize");
    find(module_load, "cuModuleLoadDataEx");
    find(module_unload, "cuModuleUnload");
    find(module_function, "cuModuleGetFunction");
    find(allocate, "cuMemAlloc_v2");
    find(release, "cuMemFree_v2");
    find(copy_in, "cuMemcpyHtoD_v2");
    find(copy_out, "cuMemcpyDtoH_v2");
    find(fill, "cuMemsetD8_v2");
    find(launch, "cuLaunchKernel");
    find(error_string, "cuGetErrorString");
  }

  std::string text_of(Result result) const {
    const char* text = nullptr;
    error_string(result, &text);
    return text != nullptr ? text : "error " + std::to_string(result);
  }

  template <class Error>
  void check(Result result, const std::string& what) const {
    if (result != 0) {
      throw Error(what + ": " + text_of(result));
    }
  }
};

Gpu::Gpu() : api_{std::make_unique<Api>()} {
  api_->library = dlopen("libcuda.so.1", RTLD_NOW);
  if (api_->library == nullptr) {
    throw NoDevice("there is no CUDA driver: libcuda.so.1 cannot be loaded");
  }
  api_->find_all();
  api_->check<NoDevice>(api_->init(0), "the CUDA driver does not start");
  api_->check<NoDevice>(api_->device_get(&api_->device, 0), "there is no GPU");
  int major = 0;
  int minor = 0;
  api_->check<NoDevice>(api_->device_attribute(&major, kMajor, api_->device), "the GPU");
  api_->check<NoDevice>(api_->device_attribute(&minor, kMinor, api_->device), "the GPU");
  if (major != 9 || minor != 0) {
    throw NoDevice(name() + " is of compute capability " + std::to_string(major) + "." +
                   std::to_string(minor) + "; a Hopper GPU, 9.0, is needed");
  }
  Handle context = nullptr;
  api_->check<NoDevice>(api_->context_retain(&context, api_->device), "the GPU has no context");
  api_->retained = true;
  api_->check<NoDevice>(api_->context_set(context), "the GPU's context");
}

Gpu::~Gpu() = default;

std::string Gpu::name() const {
  char name[256] = {};
  api_->device_name(name, sizeof name - 1, api_->device);
  int version = 0;
  api_->driver_version(&version);
  return std::string{name} + ", driver API " + std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

void Gpu::load(const std::string& ptx) {
  if (api_->module != nullptr) {
    api_->module_unload(api_->module);
    api_->module = nullptr;
  }
  std::string log(kLogBytes, '\0');
  int options[] = {kErrorLog, kErrorLogSize};
  void* values[] = {log.data(), reinterpret_cast<void*>(kLogBytes)};
  const Result result = api_->module_load(&api_->module, ptx.c_str(), 2, options, values);
  if (result != 0) {
    api_->module = nullptr;
    throw Refused(std::string{log.c_str()} + api_->text_of(result));
  }
}

std::vector<Words> Gpu::run(const Specimen& specimen,
                            const std::string& name,
                            const std::vector<Words>& cases) {
  const auto blocks = static_cast<unsigned>((cases.size() + kThreads - 1) / kThreads);
  const std::size_t padded = std::size_t{blocks} * kThreads;
  Words in(padded * specimen.sources.size());
  for (std::size_t index = 0; index < cases.size(); ++index) {
    for (std::size_t source = 0; source < specimen.sources.size(); ++source) {
      in[index * specimen.sources.size() + source] = cases[index][source];
    }
  }
  Words out(padded * kOutputBytes / 8);
  const std::size_t in_bytes = in.size() * 8;
  const std::size_t out_bytes = out.size() * 8;
  Address memory = 0;
  api_->check<DriverError>(api_->allocate(&memory, in_bytes + out_bytes), "memory");
  Address to = memory + in_bytes;
  api_->check<DriverError>(api_->copy_in(memory, in.data(), in_bytes), "a copy to the GPU");
  api_->check<DriverError>(api_->fill(to, 0, out_bytes), "a fill");
  Handle kernel = nullptr;
  api_->check<DriverError>(api_->module_function(&kernel, api_->module, name.c_str()), name);
  void* parameters[] = {&memory, &to};
  api_->check<DriverError>(api_->launch(kernel,
                                        blocks,
                                        1,
                                        1,
                                        kThreads,
                                        1,
                                        1,
                                        0,
                                        nullptr,
                                        static_cast<void**>(parameters),
                                        nullptr),
                           "the launch of " + specimen.key);
  api_->check<DriverError>(api_->context_synchronize(), "the kernel of " + specimen.key);
  api_->check<DriverError>(api_->copy_out(out.data(), to, out_bytes), "a copy from the GPU");
  api_->check<DriverError>(api_->release(memory), "memory");
  std::vector<Words> results;
  for (std::size_t index = 0; index < cases.size(); ++index) {
    const Words both{out[index * 2], out[index * 2 + 1]};
    results.emplace_back(both.begin(),
                         both.begin() + static_cast<std::ptrdiff_t>(specimen.results));
  }
  return results;
}

}  // namespace warptwin::ptx::scalars
