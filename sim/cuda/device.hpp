/// The device that a program sees: its memory, its modules and their kernels. Allocations have
/// addresses that are never given again, so that what is freed is found when it is used.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sim/run/ptx_entry.hpp"

namespace warptwin::cuda {

/// Bytes that a kernel can address: an allocation, a variable of a module, or the host's.
struct Region {
  std::string name;
  std::vector<std::byte> bytes;
  bool allocated = false;  // by the program: it may be freed
  bool of_host = false;
};

struct Module {
  std::string ptx;
  std::string file;  // what reports call it where there is no .loc
  ptx::Module read;
  std::map<std::string, std::uint64_t, std::less<>> variables;
  std::map<std::string, std::shared_ptr<const ptx::Kernel>, std::less<>> kernels;
};

/// Rows of bytes, `pitch` apart, in planes.
struct Box {
  std::uint64_t address = 0;
  std::uint64_t width = 0;
  std::uint64_t rows = 1;
  std::uint64_t pitch = 0;
  std::uint64_t planes = 1;
  std::uint64_t plane_pitch = 0;

  std::uint64_t bytes() const { return width * rows * planes; }
};

/// What a program launches.
struct LaunchRequest {
  std::size_t module = 0;
  std::string kernel;
  ptx::LaunchShape shape;
  std::vector<std::byte> parameters;
  std::uint64_t stream = 0;
  bool follows_early = false;  // programmatic: it may begin before that of its stream has ended
  bool measured = false;       // the program asks how long its work takes
};

class Device {
 public:
  /// `target` is the chip's: "sm_90a".
  explicit Device(std::string target) : target_{std::move(target)} {}

  /// The address; 0 where there is no room.
  std::uint64_t allocate(std::uint64_t bytes);
  /// Memory of the host at its own address: what kernels see of it is what was written last.
  void attach(std::uint64_t address, std::uint64_t bytes);
  bool free(std::uint64_t address);
  /// Null where the bytes are not all in one region.
  std::byte* at(std::uint64_t address, std::uint64_t bytes);
  /// The rows of a box, in order; none where they are not all in one region.
  std::vector<std::byte*> rows_of(const Box& box);
  const std::map<std::uint64_t, Region>& regions() const { return regions_; }

  /// Loads a fat binary, or PTX, and gives its variables places. Throws ConfigError.
  std::size_t load(std::span<const std::byte> image);
  void unload(std::size_t module);
  const Module& module(std::size_t number) const;
  /// Throws ConfigError for a kernel that is not there, or not PTX that is read.
  std::shared_ptr<const ptx::Kernel> kernel(std::size_t module, const std::string& name);

  /// The launch with all memory as it is now.
  sim::PtxLaunch launch_of(const LaunchRequest& request);
  /// What a run of a launch left in memory. Returns the regions that are not what they were.
  std::set<std::uint64_t> take(sim::GlobalMemory& memory);
  /// The first address of the region that has this one; 0: none has.
  std::uint64_t region_of(std::uint64_t address) const;
  /// "bytes 0 to 15 of allocation_1"
  std::string name_of(std::uint64_t address, std::uint64_t bytes) const;

  /// What launches of a stream may still use when the next one of it begins early: regions.
  struct InUse {
    std::set<std::uint64_t> written;
    std::set<std::uint64_t> read;
  };
  std::map<std::uint64_t, InUse> unfinished;  // by stream

 private:
  std::string target_;
  std::map<std::uint64_t, Region> regions_;  // by address
  std::vector<std::unique_ptr<Module>> modules_;
  std::uint64_t next_ = std::uint64_t{0x2000} << 32;
  std::uint64_t allocated_bytes_ = 0;
  std::uint32_t allocations_ = 0;
};

}  // namespace warptwin::cuda
