#include "sim/cuda/device.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "sim/cuda/fat_binary.hpp"
#include "sim/ptx/text/parse.hpp"

namespace warptwin::cuda {

namespace {

// A buffer of the simulator is one row of bytes, and all of it is copied at each launch.
constexpr std::uint64_t kRegionMax = (std::uint64_t{1} << 32) - 512;
constexpr std::uint64_t kAllMax = std::uint64_t{8} << 30;
// What fresh memory holds: no zeros, for a GPU promises none.
constexpr std::byte kFresh{0xff};

std::uint64_t behind(std::uint64_t address, std::uint64_t bytes) {
  constexpr std::uint64_t kAlignment = 512;
  return (address + bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

std::uint64_t Device::allocate(std::uint64_t bytes) {
  if (bytes == 0 || bytes > kRegionMax || allocated_bytes_ + bytes > kAllMax) {
    return 0;
  }
  const std::uint64_t address = next_;
  next_ = behind(next_, bytes);
  allocated_bytes_ += bytes;
  Region& region = regions_[address];
  region.name = "allocation_" + std::to_string(++allocations_);
  region.bytes.assign(bytes, kFresh);
  region.allocated = true;
  return address;
}

void Device::attach(std::uint64_t address, std::uint64_t bytes) {
  Region& region = regions_[address];
  region.name = "host_" + std::to_string(++allocations_);
  region.bytes.assign(bytes, std::byte{0});
  region.allocated = region.of_host = true;
  allocated_bytes_ += bytes;
}

bool Device::free(std::uint64_t address) {
  const auto found = regions_.find(address);
  if (found == regions_.end() || !found->second.allocated) {
    return false;
  }
  allocated_bytes_ -= found->second.bytes.size();
  regions_.erase(found);
  return true;
}

std::byte* Device::at(std::uint64_t address, std::uint64_t bytes) {
  auto found = regions_.upper_bound(address);
  if (found == regions_.begin()) {
    return nullptr;
  }
  --found;
  const std::uint64_t offset = address - found->first;
  std::vector<std::byte>& held = found->second.bytes;
  return offset <= held.size() && bytes <= held.size() - offset ? held.data() + offset : nullptr;
}

std::vector<std::byte*> Device::rows_of(const Box& box) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;  // of each: no product of them overflows
  std::vector<std::byte*> rows;
  if (box.rows > kMost || box.planes > kMost || box.rows * box.planes > kMost ||
      box.width > kAllMax || box.pitch > kAllMax || box.plane_pitch > kAllMax) {
    return rows;
  }
  const std::uint64_t first = region_of(box.address);
  for (std::uint64_t plane = 0; plane < box.planes; ++plane) {
    for (std::uint64_t row = 0; row < box.rows; ++row) {
      const std::uint64_t place = box.address + plane * box.plane_pitch + row * box.pitch;
      std::byte* bytes = region_of(place) == first ? at(place, box.width) : nullptr;
      if (bytes == nullptr) {
        return {};
      }
      rows.push_back(bytes);
    }
  }
  return rows;
}

std::size_t Device::load(std::span<const std::byte> image) {
  auto module = std::make_unique<Module>();
  if (is_fat_binary(image)) {
    module->ptx = choose_ptx(images_of(image), target_).text;
  } else {
    module->ptx.assign(reinterpret_cast<const char*>(image.data()), image.size());
    module->ptx.resize(std::min(module->ptx.find('\0'), module->ptx.size()));
    if (module->ptx.starts_with("\x7f"
                                "ELF")) {
      throw ConfigError("a module is machine code; PTX of it is needed, or a fat binary with PTX");
    }
  }
  module->file = "module_" + std::to_string(modules_.size()) + ".ptx";
  try {
    module->read = ptx::parse_module(module->ptx, module->file);
  } catch (const std::exception& error) {
    throw ConfigError("PTX of the program cannot be read: " + std::string{error.what()});
  }
  const auto is_global = [](const ptx::Variable& variable) {
    return variable.space == ptx::Space::kGlobal || variable.space == ptx::Space::kConst;
  };
  for (const ptx::Variable& variable : module->read.variables) {
    if (is_global(variable)) {
      const std::uint64_t bytes = std::max<std::uint64_t>(variable.bytes(), 1);
      module->variables.emplace(variable.name, next_);
      Region& region = regions_[next_];
      region.name = variable.name;
      region.bytes.resize(bytes);
      next_ = behind(next_, bytes);
    }
  }
  for (const ptx::Variable& variable : module->read.variables) {
    if (is_global(variable)) {
      const auto place = [&](std::string_view name) {
        return module->variables.find(name)->second;
      };
      regions_[place(variable.name)].bytes = sim::initial_bytes(module->read, variable, place);
    }
  }
  modules_.push_back(std::move(module));
  return modules_.size() - 1;
}

void Device::unload(std::size_t number) {
  if (number < modules_.size() && modules_[number] != nullptr) {
    for (const auto& [name, address] : modules_[number]->variables) {
      regions_.erase(address);
    }
    modules_[number] = nullptr;
  }
}

const Module& Device::module(std::size_t number) const {
  if (number >= modules_.size() || modules_[number] == nullptr) {
    throw ConfigError("there is no module " + std::to_string(number));
  }
  return *modules_[number];
}

std::shared_ptr<const ptx::Kernel> Device::kernel(std::size_t number, const std::string& name) {
  static_cast<void>(module(number));
  Module& from = *modules_[number];
  std::shared_ptr<const ptx::Kernel>& kernel = from.kernels[name];
  if (kernel == nullptr) {
    kernel = std::make_shared<const ptx::Kernel>(ptx::parse_module(from.ptx, from.file), name);
  }
  return kernel;
}

sim::PtxLaunch Device::launch_of(const LaunchRequest& request) {
  sim::PtxLaunch launch;
  launch.kernel = kernel(request.module, request.kernel);
  // The driver would launch so many clusters.
  if (launch.kernel->function().directives.blocks_are_clusters) {
    throw ConfigError(
        request.kernel +
        ": a grid that counts clusters (.blocksareclusters) is not simulated; compile "
        "the kernel without it, and launch CTAs with the attribute of clusters");
  }
  launch.name = request.kernel;
  launch.shape = request.shape;
  launch.parameters.bytes = request.parameters;
  launch.variables = module(request.module).variables;
  const auto before = unfinished.find(request.stream);
  for (const auto& [address, region] : regions_) {
    if (request.follows_early && before != unfinished.end()) {
      const auto number = static_cast<std::uint32_t>(launch.workload.tensors.size());
      if (before->second.written.contains(address)) {
        launch.workload.from_grid_before.push_back(number);
      } else if (before->second.read.contains(address)) {
        launch.read_by_grid_before.push_back(number);
      }
    }
    TensorSpec spec{};
    spec.name = region.name.c_str();
    spec.use = TensorUse::kScratch;
    spec.element = ElementType::kU8;
    spec.rows = 1;
    spec.columns = static_cast<std::uint32_t>(region.bytes.size());
    spec.pitch_bytes = spec.columns;
    launch.workload.tensors.push_back(spec);
    launch.contents.push_back(region.bytes);
    launch.places.push_back(address);
  }
  return launch;
}

std::set<std::uint64_t> Device::take(sim::GlobalMemory& memory) {
  std::set<std::uint64_t> changed;
  for (auto& [address, region] : regions_) {
    const std::byte* from = memory.at(address, region.bytes.size());
    if (from != nullptr && std::memcmp(region.bytes.data(), from, region.bytes.size()) != 0) {
      std::memcpy(region.bytes.data(), from, region.bytes.size());
      changed.insert(address);
    }
  }
  return changed;
}

std::uint64_t Device::region_of(std::uint64_t address) const {
  const auto behind_it = regions_.upper_bound(address);
  if (behind_it == regions_.begin()) {
    return 0;
  }
  const auto& [first, region] = *std::prev(behind_it);
  return address - first < region.bytes.size() ? first : 0;
}

std::string Device::name_of(std::uint64_t address, std::uint64_t bytes) const {
  const std::uint64_t first = region_of(address);
  const std::uint64_t from = address - first;
  return "bytes " + std::to_string(from) + " to " + std::to_string(from + bytes - 1) +
         (first == 0 ? " of memory that is freed" : " of " + regions_.at(first).name);
}

}  // namespace warptwin::cuda
