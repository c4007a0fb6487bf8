/// What a scenario is to those who run it: values. A name, parameters with ranges, the tensors it
/// works on, the tensor maps it copies by, the result it should give. Host code; no backend.
///
/// A scenario is a struct with
///   static constexpr ScenarioInfo kInfo;
///   static std::span<const Parameter> parameters();
///   static Extents extents(const ParameterSet&);               // run-time extents, for the
/// simulator
///   using StaticExtents = ...;                                 // constants, for the GPU build
///   static Workload workload(const ParameterSet&);             // throws ConfigError to refuse
///   static void reference(const ParameterSet&, std::span<HostTensor>);  // fills the output
/// tensors
///   template <Machine M, class Extents> using Kernel = ...;    // see common/kernel/dispatch.hpp

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/machine/element.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/machine/types.hpp"

namespace warptwin {

/// The user asked for something impossible. The message says what to do instead.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An integer a user can set with `--set name=value`.
struct Parameter {
  const char* name;
  const char* summary;
  std::int64_t standard;  // the default
  std::int64_t minimum;
  std::int64_t maximum;
  /// Of a trip count: the parameter that says how much of it one trip takes, several joined by '*',
  /// or "" for 1. The same operations are repeated for each trip; null for what is no trip count.
  const char* trip_step = nullptr;
  /// Something outside the kernel decides it: a proof covers every value.
  bool choice = false;
};

/// Whether a scenario is right, has a seeded fault, or compares engines with hardware.
enum class ScenarioKind : std::uint8_t { kClean, kBroken, kConformance };

/// What a scenario is called, and what is expected of it.
struct ScenarioInfo {
  const char* name;
  ScenarioKind kind;
  const char* summary;        // one line
  const char* expected = "";  // broken: the id of the diagnostic that must be reported
  const char* twin = "";      // broken: the clean scenario it differs from by one fault
};

/// Values for all parameters of one scenario.
class ParameterSet {
 public:
  /// Every parameter at its default.
  explicit ParameterSet(std::span<const Parameter> parameters);

  /// Sets one value. Throws ConfigError for an unknown name, naming the known ones, or a value out
  /// of
  /// range, naming the range.
  void set(std::string_view name, std::int64_t value);
  std::int64_t operator[](std::string_view name) const;
  std::uint32_t u32(std::string_view name) const {
    return static_cast<std::uint32_t>((*this)[name]);
  }
  /// "k=1024 m=512 ...", sorted by name: the same for the same values.
  std::string to_string() const;

 private:
  std::span<const Parameter> parameters_;
  std::map<std::string, std::int64_t, std::less<>> values_;
};

/// What a launch does with a tensor: reads it, writes it, or keeps words of its own in it.
enum class TensorUse : std::uint8_t { kInput, kOutput, kScratch };

/// A matrix in global memory: `rows` rows of `columns` elements, `pitch_bytes` apart. Elements that
/// share a unit of memory fill whole ones.
struct TensorSpec {
  const char* name;
  TensorUse use = TensorUse::kInput;
  ElementType element = ElementType::kF32;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t pitch_bytes = 0;
  /// Of an output: by how much of the largest result any may be off, beside its own rounding. The
  /// default is for fp32 sums of terms that cancel.
  double error_share = 0x1p-16;

  std::uint64_t bytes() const { return std::uint64_t{rows} * pitch_bytes; }
  /// Units of memory of a row: what a tensor map counts in.
  std::uint32_t units() const { return columns / elements_in_unit(element); }
};

/// A dimension of a tensor map outside its columns: elements, the bytes from one to the next, and
/// how many of them a box has. A box takes every `step`-th element (the element stride of the
/// driver's maps, at most 8); what lies between is not copied, and not counted.
struct MapDimension {
  std::uint32_t extent = 0;
  std::uint64_t stride_bytes = 0;
  std::uint32_t box = 0;
  std::uint32_t step = 1;
};

/// A tensor map over a matrix: the box one copy moves, and how it lies in shared memory. Elements
/// outside the matrix are read as zero and not written. Columns are units of memory.
struct TensorMapSpec {
  static constexpr std::uint32_t kOuterMax = 4;

  std::uint32_t tensor = 0;  // index into Workload::tensors
  std::uint32_t box_rows = 0;
  std::uint32_t box_columns = 0;
  Swizzle swizzle = Swizzle::kNone;
  /// Of a map with more than two dimensions: what the rows are made of, inner first; the rest has
  /// no extent. `box_rows` is the product of their boxes.
  MapDimension outer[kOuterMax] = {};
};

/// The dimensions of a map outside its columns, inner first: the rows, unless they are several.
std::vector<MapDimension> outer_dimensions(const TensorMapSpec& map, const TensorSpec& tensor);

/// All that a launch needs beyond the kernel.
struct Workload {
  std::vector<TensorSpec> tensors;
  std::vector<TensorMapSpec> maps;
  std::uint32_t clusters = 1;
  std::uint32_t cluster_size = 1;
  /// Clusters that the simulated machine has room for at a time; 0: as many as fit. A kernel that
  /// asks for the clusters which have not begun (cluster launch control) gets those beyond.
  std::uint32_t resident_clusters = 0;
  /// Of a thread at its start: what ptxas gives, in units of 8; 0: not said.
  std::uint32_t registers_per_thread = 0;
  std::uint64_t flops = 0;  // useful floating-point operations of the launch; 0: not said
  std::vector<std::uint32_t> from_grid_before{};  // tensors that the grid before may still write
  bool has_dependents = false;  // a grid behind this one starts when told to, or at its end
};

/// A matrix on the host, as numbers: what inputs are given as and results compared with.
struct HostTensor {
  TensorSpec spec;
  std::vector<float> values;       // rows * columns, row-major
  std::vector<std::byte> bytes{};  // of an output of whole numbers: as they stand

  float& at(std::uint32_t row, std::uint32_t column) {
    return values[std::size_t{row} * spec.columns + column];
  }
  float at(std::uint32_t row, std::uint32_t column) const {
    return values[std::size_t{row} * spec.columns + column];
  }
};

}  // namespace warptwin
