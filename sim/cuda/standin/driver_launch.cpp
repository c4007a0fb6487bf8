// The driver's stand-in: launches, and how many blocks fit.

#include <algorithm>
#include <cstring>

#include "sim/cuda/standin/client.hpp"

namespace warptwin::cuda {

namespace {

constexpr unsigned kPortableCluster = 8;
constexpr unsigned kClusterMax = 16;

// The parameters as the kernel reads them, from either form in which a launch gives them. In one
// piece they stand as in the constant bank.
CUresult gather(const Kernel& kernel,
                void** parameters,
                void** extra,
                std::vector<std::byte>& bytes) {
  bytes.resize(kernel.parameter_bytes);
  if (parameters != nullptr) {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const KernelParameter& parameter = kernel.parameters[i];
      std::memcpy(bytes.data() + parameter.offset, parameters[i], parameter.bytes);
    }
    return kSuccess;
  }
  const std::byte* buffer = nullptr;
  std::size_t size = 0;
  for (; extra != nullptr && *extra != nullptr; extra += 2) {
    const auto key = reinterpret_cast<std::uintptr_t>(extra[0]);
    if (key == 1) {
      buffer = static_cast<const std::byte*>(extra[1]);
    } else if (key == 2) {
      size = *static_cast<const std::size_t*>(extra[1]);
    } else {
      return kInvalidValue;
    }
  }
  if (kernel.parameters.empty()) {
    return kSuccess;
  }
  const std::size_t end = kernel.parameters.back().in_bank + kernel.parameters.back().bytes;
  if (buffer == nullptr || size < end) {
    return kInvalidValue;
  }
  for (const KernelParameter& parameter : kernel.parameters) {
    std::memcpy(bytes.data() + parameter.offset, buffer + parameter.in_bank, parameter.bytes);
  }
  return kSuccess;
}

struct Needs {
  long long threads = 0;
  long long shared = 0;
};

int blocks_of(const Kernel& kernel, const Needs& needs) {
  Client& client = Client::get();
  const long long warps = (needs.threads + 31) / 32;
  if (warps == 0 || needs.threads > 1024) {
    return 0;
  }
  const long long shared = needs.shared + kernel.static_shared + 1024;
  long long blocks = std::min(client.chip("sm_ctas"), client.chip("sm_threads") / (warps * 32));
  blocks = std::min(blocks, client.chip("sm_shared_bytes") / shared);
  if (kernel.registers > 0) {
    const long long of_a_warp = (kernel.registers * 32LL + 255) / 256 * 256;
    blocks = std::min(blocks, client.chip("sm_registers") / (of_a_warp * warps));
  }
  return static_cast<int>(blocks);
}

// How many clusters of so many CTAs are on the chip at a time.
long long clusters_of(const Kernel& kernel, const Needs& needs, unsigned size) {
  return Client::get().chip("sms") / size * blocks_of(kernel, needs);
}

CUresult check(const Kernel& kernel, const LaunchOptions& options, const unsigned* cluster) {
  const std::uint64_t threads =
      std::uint64_t{options.block[0]} * options.block[1] * options.block[2];
  const std::uint64_t ctas = std::uint64_t{options.grid[0]} * options.grid[1] * options.grid[2];
  const unsigned size = cluster[0] * cluster[1] * cluster[2];
  if (threads == 0 || threads > static_cast<std::uint64_t>(kernel.threads_max) ||
      options.block[2] > 64 || options.grid[1] > 65535 || options.grid[2] > 65535 ||
      options.grid[0] > 0x7fffffffU || ctas == 0) {
    return kInvalidValue;
  }
  if (size > kClusterMax || (size > kPortableCluster && !kernel.non_portable_cluster)) {
    return kInvalidClusterSize;
  }
  for (int i = 0; i < 3; ++i) {
    const bool other = kernel.cluster[0] != 0 && options.cluster[0] != 0 &&
                       cluster[i] != std::max(options.cluster[i], 1U);
    if (other || cluster[i] == 0 || options.grid[i] % cluster[i] != 0) {
      return kInvalidClusterSize;
    }
  }
  const Needs needs{static_cast<long long>(threads), static_cast<long long>(options.shared_bytes)};
  if (options.cooperative &&
      ctas > static_cast<std::uint64_t>(clusters_of(kernel, needs, size)) * size) {
    return kCooperativeTooLarge;
  }
  if (options.shared_bytes > static_cast<std::size_t>(kernel.dynamic_shared_max)) {
    return kInvalidValue;
  }
  return kSuccess;
}

}  // namespace

CUresult launch(Kernel& kernel, const LaunchOptions& options, void** parameters, void** extra) {
  Client& client = Client::get();
  if (client.sticky() != kSuccess) {
    return client.sticky();
  }
  unsigned cluster[3] = {1, 1, 1};
  for (int i = 0; i < 3; ++i) {
    cluster[i] = kernel.cluster[0] != 0    ? std::max(kernel.cluster[i], 1U)
                 : options.cluster[0] != 0 ? options.cluster[i]
                                           : 1;
  }
  const CUresult wrong = check(kernel, options, cluster);
  std::vector<std::byte> bytes;
  if (wrong != kSuccess) {
    return wrong;
  }
  if (const CUresult error = gather(kernel, parameters, extra, bytes); error != kSuccess) {
    return error;
  }
  client.push_host_memory();
  const Message answer = client.ask({{"do", "launch"},
                                     {"module", kernel.library->number},
                                     {"kernel", kernel.name},
                                     {"grid", options.grid},
                                     {"block", options.block},
                                     {"cluster", cluster},
                                     {"shared_bytes", options.shared_bytes},
                                     {"stream", options.stream},
                                     {"cooperative", options.cooperative},
                                     {"programmatic", options.programmatic}},
                                    bytes);
  // As on a GPU, a launch that fails is told by the next call that looks.
  client.result_of(answer);
  if (client.sticky() == kSuccess) {
    client.pull_host_memory(answer.header.value("written", nlohmann::json::array()));
  }
  return kSuccess;
}

CUresult take_attributes(std::span<const LaunchAttribute> attributes, LaunchOptions& options) {
  const Dim3* preferred = nullptr;
  for (const LaunchAttribute& attribute : attributes) {
    switch (attribute.id) {
      case kAttributeCluster:
        options.cluster[0] = attribute.cluster.x;
        options.cluster[1] = attribute.cluster.y;
        options.cluster[2] = attribute.cluster.z;
        break;
      case kAttributePreferredCluster:
        preferred = &attribute.cluster;
        break;
      case kAttributeProgrammatic:
        options.programmatic = attribute.number != 0;
        break;
      case kAttributeCooperative:
        options.cooperative = attribute.number != 0;
        break;
      case 0:  // none
      case 1:  // what L2 holds on to
      case 3:  // how the host waits
      case 5:  // how clusters are spread
      case kAttributePriority:
      case 9:   // domains of fences
      case 10:  //
      case 14:  // how much shared memory is preferred
        break;  // no value depends on it
      default:
        missing(("launch attribute " + std::to_string(attribute.id)).c_str(), nullptr);
    }
  }
  // A GPU may make some clusters of the one size and some of the other.
  if (preferred != nullptr &&
      (preferred->x != options.cluster[0] || preferred->y != options.cluster[1] ||
       preferred->z != options.cluster[2])) {
    missing("a preferred cluster of another size than the launch's", nullptr);
  }
  return kSuccess;
}

extern "C" {

WARPTWIN_CALL CUresult cuLaunchKernel(CUfunction function,
                                      unsigned grid_x,
                                      unsigned grid_y,
                                      unsigned grid_z,
                                      unsigned block_x,
                                      unsigned block_y,
                                      unsigned block_z,
                                      unsigned shared_bytes,
                                      CUstream stream,
                                      void** parameters,
                                      void** extra) {
  const Turn turn;
  if (function == nullptr || !is_stream(stream)) {
    return kInvalidHandle;
  }
  LaunchOptions options;
  const unsigned grid[] = {grid_x, grid_y, grid_z};
  const unsigned block[] = {block_x, block_y, block_z};
  std::copy(std::begin(grid), std::end(grid), options.grid);
  std::copy(std::begin(block), std::end(block), options.block);
  options.shared_bytes = shared_bytes;
  options.stream = number_of(stream);
  return launch(*function, options, parameters, extra);
}

WARPTWIN_CALL CUresult cuLaunchKernelEx(const DriverLaunchConfig* config,
                                        CUfunction function,
                                        void** parameters,
                                        void** extra) {
  const Turn turn;
  if (function == nullptr || !is_stream(config->stream)) {
    return kInvalidHandle;
  }
  LaunchOptions options;
  std::copy(std::begin(config->grid), std::end(config->grid), options.grid);
  std::copy(std::begin(config->block), std::end(config->block), options.block);
  options.shared_bytes = config->shared_bytes;
  options.stream = number_of(config->stream);
  const CUresult error = take_attributes({config->attributes, config->attribute_count}, options);
  return error != kSuccess ? error : launch(*function, options, parameters, extra);
}

WARPTWIN_CALL CUresult cuLaunchCooperativeKernel(CUfunction function,
                                                 unsigned grid_x,
                                                 unsigned grid_y,
                                                 unsigned grid_z,
                                                 unsigned block_x,
                                                 unsigned block_y,
                                                 unsigned block_z,
                                                 unsigned shared_bytes,
                                                 CUstream stream,
                                                 void** parameters) {
  LaunchAttribute attribute{};
  attribute.id = kAttributeCooperative;
  attribute.number = 1;
  const DriverLaunchConfig config{
      {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, &attribute, 1};
  return cuLaunchKernelEx(&config, function, parameters, nullptr);
}

WARPTWIN_CALL CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                   CUfunction function,
                                                                   int threads,
                                                                   std::size_t shared_bytes) {
  const Turn turn;
  *blocks = blocks_of(*function, {threads, static_cast<long long>(shared_bytes)});
  return kSuccess;
}

WARPTWIN_CALL CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, CUfunction function, int threads, std::size_t shared_bytes, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}

WARPTWIN_CALL CUresult cuOccupancyMaxActiveClusters(int* clusters,
                                                    CUfunction function,
                                                    const DriverLaunchConfig* config) {
  const Turn turn;
  LaunchOptions options;
  take_attributes({config->attributes, config->attribute_count}, options);
  const unsigned size = std::max(1U, options.cluster[0] * options.cluster[1] * options.cluster[2]);
  const Needs needs{static_cast<long long>(config->block[0]) * config->block[1] * config->block[2],
                    config->shared_bytes};
  *clusters = static_cast<int>(clusters_of(*function, needs, size));
  return kSuccess;
}

WARPTWIN_CALL CUresult cuOccupancyMaxPotentialClusterSize(int* size,
                                                          CUfunction function,
                                                          const DriverLaunchConfig*) {
  *size = static_cast<int>(function->non_portable_cluster ? kClusterMax : kPortableCluster);
  return kSuccess;
}

WARPTWIN_CALL CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes,
                                                               CUfunction function,
                                                               int blocks,
                                                               int) {
  const Turn turn;
  const long long each = Client::get().chip("sm_shared_bytes") / std::max(blocks, 1) - 1024;
  *bytes = static_cast<std::size_t>(
      std::clamp(each - function->static_shared, 0LL, Client::get().chip("shared_optin")));
  return kSuccess;
}

}  // extern "C"

}  // namespace warptwin::cuda
