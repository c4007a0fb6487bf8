#include "sim/cli/ptx_engines.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "common/kernel/tensor_bytes.hpp"
#include "common/machine/rounding.hpp"
#include "common/trace/words.hpp"

namespace warptwin::sim {

namespace {

// A kernel that hangs is killed behind it.
constexpr std::chrono::seconds kGpuLimit{60};

using Bytes = std::vector<std::byte>;

// What memory holds of the first `tensors`.
std::vector<Bytes> held(GlobalMemory& memory,
                        std::span<const GlobalAddress> addresses,
                        const std::vector<TensorSpec>& tensors) {
  std::vector<Bytes> all;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Bytes& bytes = all.emplace_back(tensors[i].bytes());
    if (const std::byte* from = memory.at(addresses[i].value, bytes.size()); from != nullptr) {
      std::memcpy(bytes.data(), from, bytes.size());
    }
  }
  return all;
}

std::string element_text(const TensorSpec& spec, const Bytes& bytes, std::uint64_t unit) {
  const std::uint32_t size = bytes_of(spec.element);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + unit * size, size);
  char text[64];
  std::snprintf(text,
                sizeof text,
                "0x%0*llx",
                static_cast<int>(2 * size),
                static_cast<unsigned long long>(bits));
  std::string said = text;
  if (!is_integer(spec.element)) {
    const std::uint64_t units = spec.units();
    const std::byte* row = bytes.data() + unit / units * spec.pitch_bytes;
    const auto column = static_cast<std::uint32_t>(unit % units) * elements_in_unit(spec.element);
    const bool is_double = spec.element == ElementType::kF64;
    const double value = is_double ? std::bit_cast<double>(bits)
                                   : static_cast<double>(read_element(spec, row, column));
    std::snprintf(text, sizeof text, "%.*g", is_double ? 17 : 9, value);
    said = std::string{text} + " (" + said + ")";
  }
  return said;
}

HostTensor numbers_of(const TensorSpec& spec, const Bytes& bytes) {
  HostTensor tensor{spec, {}};
  if (!fits_float(spec.element)) {
    tensor.bytes = bytes;
  }
  for (std::uint32_t row = 0; row < spec.rows; ++row) {
    const std::byte* at = bytes.data() + std::size_t{row} * spec.pitch_bytes;
    for (std::uint32_t column = 0; column < spec.columns; ++column) {
      tensor.values.push_back(read_element(spec, at, column));
    }
  }
  return tensor;
}

Rounding rounding_of(const ptx::Kernel& kernel) {
  using ptx::operator""_mod;
  using ptx::Type;
  Rounding rounding = Rounding::kSame;
  for (const ptx::Routine& routine : kernel.program().routines()) {
    for (const ptx::Op& op : routine.code.ops) {
      const ptx::Modifiers& modifiers = op.source->modifiers;
      const bool wgmma = op.is("wgmma.mma_async");
      const Type factor = modifiers.type(1);
      if (wgmma && (factor == Type::kE4m3 || factor == Type::kE5m2)) {
        return Rounding::kFewerBits;
      }
      if (wgmma || op.is("mma") || op.is("tcgen05.mma") || modifiers.has("approx"_mod) ||
          modifiers.has("full"_mod)) {
        rounding = Rounding::kOther;
      }
    }
  }
  return rounding;
}

// Of two runs that each round: twice what explains one.
Tolerance of_two_runs(const HostTensor& one, const HostTensor& other, Rounding rounding) {
  Tolerance bound = compare(one, other).tolerance;
  bound.relative *= 2;
  bound.absolute *= 2;
  if (rounding == Rounding::kFewerBits) {
    double largest = 0;
    for (const float value : other.values) {
      largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    bound.absolute += largest * kShareOfFewerBits;
  }
  return bound;
}

std::string text_of(const MemoryComparison& buffer) {
  if (buffer.different == 0) {
    return "the same bits, " + plural(buffer.elements, "element");
  }
  std::string text = std::to_string(buffer.different) + " of " +
                     plural(buffer.elements, "element") + " have other bits, the first at (" +
                     std::to_string(buffer.row) + ", " + std::to_string(buffer.column) +
                     "): " + buffer.simulated + " and " + buffer.on_gpu;
  if (buffer.error) {
    const Comparison& error = *buffer.error;
    char worst[128];
    std::snprintf(worst,
                  sizeof worst,
                  "; the largest error is %.3g of its bound, at (%u, %u): %.9g and %.9g",
                  error.worst,
                  error.row,
                  error.column,
                  error.expected,
                  error.got);
    text += worst;
  }
  return text;
}

std::string text_of(const GpuRun& run) {
  switch (run.end) {
    case GpuRun::End::kDone:
      return "done on " + run.said;
    case GpuRun::End::kNoGpu:
      return "left out: " + run.said;
    case GpuRun::End::kFailed:
      return "failed: " + run.said;
    case GpuRun::End::kHung:
      return "hangs: " + run.said;
  }
  return "";
}

std::string said_of(const PtxEnginesResult& result) {
  return result.gpu ? text_of(*result.gpu) : "left out: the functional run did not come to its end";
}

}  // namespace

MemoryComparison compare_memory(const TensorSpec& spec,
                                const std::vector<std::byte>& simulated,
                                const std::vector<std::byte>& on_gpu,
                                Rounding rounding,
                                const std::optional<Tolerance>& tolerance) {
  MemoryComparison result;
  result.buffer = spec.name;
  const std::uint32_t size = bytes_of(spec.element);
  result.elements = spec.bytes() / size;
  for (std::uint64_t i = 0; i < result.elements; ++i) {
    if (std::memcmp(simulated.data() + i * size, on_gpu.data() + i * size, size) == 0) {
      continue;
    }
    if (result.different++ == 0) {
      result.row = static_cast<std::uint32_t>(i / spec.units());
      result.column = static_cast<std::uint32_t>(i % spec.units()) * elements_in_unit(spec.element);
      result.simulated = element_text(spec, simulated, i);
      result.on_gpu = element_text(spec, on_gpu, i);
    }
  }
  if (result.different != 0 && rounding != Rounding::kSame && !is_integer(spec.element)) {
    const HostTensor other = numbers_of(spec, on_gpu);
    const HostTensor one = numbers_of(spec, simulated);
    result.error = compare(other, one, tolerance ? *tolerance : of_two_runs(other, one, rounding));
  }
  return result;
}

bool PtxEnginesResult::agrees() const {
  const bool ended = !gpu || gpu->end == GpuRun::End::kDone || gpu->end == GpuRun::End::kNoGpu;
  return ended && std::all_of(buffers.begin(), buffers.end(), [](const MemoryComparison& buffer) {
           return buffer.agrees();
         });
}

PtxEnginesResult run_ptx_on_engines(const ReadLaunch& read,
                                    const ScenarioEntry& scenario,
                                    const RunOptions& options) {
  static_cast<void>(gpu_launch_of(read, {}));  // what is refused is so before anything runs
  const std::vector<TensorSpec>& tensors = read.launch.workload.tensors;
  std::vector<Bytes> begin;
  std::vector<Bytes> end;
  ScenarioEntry watched = scenario;
  watched.initial = [&](GlobalMemory& memory, std::span<const GlobalAddress> addresses) {
    if (scenario.initial) {
      scenario.initial(memory, addresses);
    }
    begin = held(memory, addresses, tensors);
  };
  RunOptions run = options;
  run.at_end = [&](GlobalMemory& memory, std::span<const GlobalAddress> addresses) {
    end = held(memory, addresses, tensors);
  };
  PtxEnginesResult result;
  result.functional = simulate(watched, ParameterSet{scenario.parameters}, run);
  if (result.functional.end != Ending::kDone) {
    return result;
  }
  result.gpu = run_on_gpu(gpu_launch_of(read, std::move(begin)), kGpuLimit);
  if (result.gpu->end != GpuRun::End::kDone) {
    return result;
  }
  const Rounding rounding = rounding_of(*read.launch.kernel);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& expected = read.launch.expected;
    MemoryComparison one =
        compare_memory(tensors[i],
                       end[i],
                       result.gpu->buffers[i],
                       rounding,
                       i < expected.size() ? expected[i].tolerance : std::nullopt);
    if (tensors[i].use != TensorUse::kInput || one.different != 0) {
      result.buffers.push_back(std::move(one));
    }
  }
  return result;
}

std::string text_of(const PtxEnginesResult& result) {
  std::string text = "functional: " + result.functional.ending() + ", " +
                     plural(result.functional.operations, "operation") + "\n";
  text += "hw: " + said_of(result) + "\n";
  for (const MemoryComparison& buffer : result.buffers) {
    text += "functional and hw, " + buffer.buffer + ": " + (buffer.agrees() ? "" : "DIFFER: ") +
            text_of(buffer) + "\n";
  }
  return text;
}

Json json_of(const PtxEnginesResult& result) {
  Json buffers = Json::array();
  for (const MemoryComparison& buffer : result.buffers) {
    buffers.push_back({{"buffer", buffer.buffer},
                       {"agrees", buffer.agrees()},
                       {"elements", buffer.elements},
                       {"different", buffer.different},
                       {"said", text_of(buffer)}});
  }
  constexpr const char* kEnds[] = {"done", "left out", "failed", "hung"};
  return {{"functional", result.functional.ending()},
          {"hw", result.gpu ? kEnds[static_cast<std::size_t>(result.gpu->end)] : "left out"},
          {"said", said_of(result)},
          {"buffers", buffers}};
}

}  // namespace warptwin::sim
