/// The images that nvcc puts into a program: PTX and machine code, by architecture, compressed.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptwin::cuda {

/// One entry of a fat binary.
struct Image {
  enum class Kind : unsigned char { kPtx, kMachineCode, kOther };
  Kind kind = Kind::kOther;
  std::string text;    // of PTX, without what follows its end
  std::string target;  // of PTX "sm_90a", as its text says; of others from the number: "sm_90"
};

/// Whether bytes begin as a fat binary does.
bool is_fat_binary(std::span<const std::byte> bytes);

/// The bytes that a fat binary at `at` has: its header says so.
std::size_t fat_binary_bytes(const void* at);

/// Throws ConfigError for what is no fat binary, or is damaged.
std::vector<Image> images_of(std::span<const std::byte> bytes);

/// The target that PTX is for, as its directive says; empty where it has none.
std::string target_of(std::string_view ptx);

/// The PTX for a chip with the target `chip`, as the driver takes it: that of the exact target,
/// else the latest that the chip still runs. Throws ConfigError, with what there is, for none.
const Image& choose_ptx(const std::vector<Image>& images, const std::string& chip);

}  // namespace warptwin::cuda
