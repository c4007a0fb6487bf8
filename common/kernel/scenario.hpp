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
  const char* name;       // as `--set` and `u32` call it
  const char* summary;    // one line, for listings
  std::int64_t standard;  // the default
  std::int64_t minimum;   // the least that `set` takes
  std::int64_t maximum;   // the largest that `set` takes
  /// Of a trip count: the parameter that says how much of it one trip takes, several joined by '*',
  /// or "" for 1. The same operations are repeated for each trip; null for what is no trip count.
  const char* trip_step = nullptr;
  /// Something outside the kernel decides it: a proof covers every value.
  bool choice = false;
};

/// Whether a scenario is right, has a seeded fault, or compares engines with hardware.
enum class ScenarioKind : std::uint8_t {
  kClean,        // right: nothing is to be found
  kBroken,       // has one fault, of which `expected` is to be found
  kConformance,  // compares the engines with hardware
};

/// What a scenario is called, and what is expected of it.
struct ScenarioInfo {
  const char* name;           // what commands take: the name of the scenario's file
  ScenarioKind kind;          // right, wrong on purpose, or a comparison
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
  std::int64_t operator[](std::string_view name) const;  // std::logic_error if not declared
  /// The same in 32 bits, of a parameter whose range fits.
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
enum class TensorUse : std::uint8_t {
  kInput,    // read
  kOutput,   // written, and compared with the reference
  kScratch,  // both; control data, which moves even when tile data does not
};

/// A matrix in global memory: `rows` rows of `columns` elements, `pitch_bytes` apart. Elements that
/// share a unit of memory fill whole ones.
struct TensorSpec {
  const char* name;                         // as launch files and reports call it
  TensorUse use = TensorUse::kInput;        // what the launch does with it
  ElementType element = ElementType::kF32;  // what each element is
  std::uint32_t rows = 0;                   // of the matrix
  std::uint32_t columns = 0;                // elements of a row
  std::uint32_t pitch_bytes = 0;            // from a row to the next
  /// Of an output: by how much of the largest result any may be off, beside its own rounding. The
  /// default is for fp32 sums of terms that cancel.
  double error_share = 0x1p-16;
  /// Of scratch: the words that the launch begins with, row-major, nothing between rows; none:
  /// zeros.
  std::vector<std::uint32_t> words{};

  std::uint64_t bytes() const { return std::uint64_t{rows} * pitch_bytes; }  // rows and their gaps
  /// Units of memory of a row: what a tensor map counts in.
  std::uint32_t units() const { return columns / elements_in_unit(element); }
};

/// A dimension of a tensor map outside its columns: elements, the bytes from one to the next, and
/// how many of them a box has. A box takes every `step`-th element (the element stride of the
/// driver's maps, at most 8); what lies between is not copied, and not counted.
struct MapDimension {
  std::uint32_t extent = 0;        // elements; 0: no such dimension
  std::uint64_t stride_bytes = 0;  // from an element to the next along it
  std::uint32_t box = 0;           // elements of a box along it, not counting those between
  std::uint32_t step = 1;          // 1: every element is taken
};

/// Of a tensor map of im2col mode: the bounding box of the places that copies go through, and how
/// many of them a copy takes (PTX ISA, "im2col mode").
struct Im2colSpec {
  std::uint32_t pixels = 0;    // of a copy; 0: the map is one of tiles
  std::int32_t lower[3] = {};  // where the box begins, in each dimension but C and N, W first
  std::int32_t upper[3] = {};  // where it ends, from the tensor's last element on
};

/// Elements of four or six bits that a tensor map takes as such, sixteen at a time, as the driver's
/// types of these names do (CUDA driver API, "cuTensorMapEncodeTiled").
enum class Packing : std::uint8_t {
  kNone,          // elements of whole bytes, and bytes that hold two
  k16U4Align8B,   // of four bits, in shared memory as in global memory
  k16U4Align16B,  // of four bits: 8 bytes, and 8 of padding behind them in shared memory
  k16U6Align16B,  // of six bits: 12 bytes, and 4 of padding
};

/// A packing as launch files call it; of none nothing.
constexpr const char* name_of(Packing packing) {
  constexpr const char* kNames[] = {"", "16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B"};
  return kNames[static_cast<unsigned>(packing)];
}

/// A tensor map over a matrix: the box one copy moves, and how it lies in shared memory. Elements
/// outside the matrix are read as zero and not written. Columns are units of memory.
struct TensorMapSpec {
  static constexpr std::uint32_t kOuterMax = 4;  // a map has at most five dimensions

  std::uint32_t tensor = 0;          // index into Workload::tensors
  std::uint32_t box_rows = 0;        // rows that one copy moves
  std::uint32_t box_columns = 0;     // units of memory of each of these rows
  Swizzle swizzle = Swizzle::kNone;  // of the box in shared memory
  /// Of a map with more than two dimensions: what the rows are made of, inner first; the rest has
  /// no extent. `box_rows` is the product of their boxes.
  MapDimension outer[kOuterMax] = {};
  /// `box_columns` are the channels of a pixel then, and `box_rows` the pixels.
  Im2colSpec im2col{};
  /// The tensor of scratch in which the map stands, behind the maps before it that stand there: one
  /// that the kernel may change. Otherwise it is a part of the kernel's argument.
  std::uint32_t stored_in = kInArgument;
  static constexpr std::uint32_t kInArgument = ~std::uint32_t{0};  // in no tensor
  static constexpr std::uint32_t kBytes = 128;                     // of a map in memory
  /// Of kernels in PTX alone. The rows of the matrix are bytes then, and `box_columns` elements.
  Packing packing = Packing::kNone;
};

/// The dimensions of a map outside its columns, inner first: the rows, unless they are several.
std::vector<MapDimension> outer_dimensions(const TensorMapSpec& map, const TensorSpec& tensor);

/// All that a launch needs beyond the kernel.
struct Workload {
  std::vector<TensorSpec> tensors;  // in the order in which maps and references name them
  std::vector<TensorMapSpec> maps;  // in the order in which the kernel is given them
  std::uint32_t clusters = 1;       // of the grid
  std::uint32_t cluster_size = 1;   // CTAs in each of them
  /// A divisor of `cluster_size`, the size that the machine prefers: it may make clusters of so
  /// many CTAs of those of a preferred one (CUDA runtime,
  /// "cudaLaunchAttributePreferredClusterDimension"). 0: the launch has one size.
  std::uint32_t fallback_size = 0;
  /// In which of the preferred clusters' places it does, by number; behind its end: in none.
  std::vector<bool> falls_back{};
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
  TensorSpec spec;                 // its shape and what its elements are
  std::vector<float> values;       // rows * columns, row-major
  std::vector<std::byte> bytes{};  // of an output of whole numbers: as they stand

  /// The value in row `row` and column `column`, both from 0; nothing checks them.
  float& at(std::uint32_t row, std::uint32_t column) {
    return values[std::size_t{row} * spec.columns + column];
  }
  /// The same, of a tensor that stays as it is.
  float at(std::uint32_t row, std::uint32_t column) const {
    return values[std::size_t{row} * spec.columns + column];
  }
};

}  // namespace warptwin
