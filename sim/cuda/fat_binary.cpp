#include "sim/cuda/fat_binary.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <lz4.h>
#include <zstd.h>

#include "common/kernel/scenario.hpp"

namespace warptwin::cuda {

namespace {

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::uint64_t kLz4 = 0x2000;
constexpr std::uint64_t kZstd = 0x8000;
constexpr std::uint64_t kImageMax = std::uint64_t{1} << 30;

struct Header {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t bytes;  // behind the header
};

struct EntryHeader {
  std::uint16_t kind;  // 1: PTX, 2: machine code
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;
  std::uint32_t compressed_bytes;
  std::uint32_t options_at;
  std::uint16_t minor;
  std::uint16_t major;
  std::uint32_t architecture;
  std::uint32_t name_at;
  std::uint32_t name_bytes;
  std::uint64_t flags;
  std::uint64_t unused;
  std::uint64_t whole_bytes;
};
static_assert(sizeof(Header) == 16 && sizeof(EntryHeader) == 64);

[[noreturn]] void damaged(const std::string& why) {
  throw ConfigError("a fat binary is damaged: " + why);
}

std::string unpacked(std::span<const std::byte> bytes, const EntryHeader& entry) {
  const char* from = reinterpret_cast<const char*>(bytes.data());
  if ((entry.flags & (kLz4 | kZstd)) == 0) {
    return {from, bytes.size()};
  }
  if (entry.compressed_bytes > bytes.size() || entry.whole_bytes > kImageMax) {
    damaged("an image of " + std::to_string(entry.whole_bytes) + " bytes in " +
            std::to_string(bytes.size()));
  }
  std::string whole(entry.whole_bytes, '\0');
  if ((entry.flags & kZstd) != 0) {
    const std::size_t size =
        ZSTD_decompress(whole.data(), whole.size(), from, entry.compressed_bytes);
    if (ZSTD_isError(size) != 0 || size != whole.size()) {
      damaged("Zstd cannot unpack an image");
    }
  } else {
    const int size = LZ4_decompress_safe(from,
                                         whole.data(),
                                         static_cast<int>(entry.compressed_bytes),
                                         static_cast<int>(whole.size()));
    if (size < 0 || static_cast<std::size_t>(size) != whole.size()) {
      damaged("LZ4 cannot unpack an image");
    }
  }
  return whole;
}

// A target in its parts: "sm_90a" is 90 and 'a'.
struct Target {
  int number = 0;
  char suffix = ' ';
};

Target parts_of(const std::string& name) {
  Target target;
  std::size_t at = name.find('_');
  at = at == std::string::npos ? name.size() : at + 1;
  while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0) {
    target.number = target.number * 10 + (name[at++] - '0');
  }
  target.suffix = at < name.size() ? name[at] : ' ';
  return target;
}

// How well PTX of `image` suits the chip; 0: it does not run there. PTX of a suffix 'a' is for that
// chip alone, of 'f' for its family.
int suits(const Target& image, const Target& chip) {
  if (image.suffix == 'a') {
    return image.number == chip.number && chip.suffix == 'a' ? 100'000 : 0;
  }
  if (image.suffix == 'f') {
    return image.number / 10 == chip.number / 10 && image.number <= chip.number
               ? 10'000 + image.number
               : 0;
  }
  return image.number <= chip.number ? image.number : 0;
}

}  // namespace

bool is_fat_binary(std::span<const std::byte> bytes) {
  std::uint32_t magic = 0;
  if (bytes.size() < sizeof(Header)) {
    return false;
  }
  std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic == kMagic;
}

std::string target_of(std::string_view ptx) {
  // Behind the comments of the beginning; what a comment names is none.
  std::size_t line = 0;
  while (line < ptx.size()) {
    const std::size_t end = std::min(ptx.find('\n', line), ptx.size());
    std::string_view text = ptx.substr(line, end - line);
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (text.starts_with(".target")) {
      const std::size_t from = text.find("sm_");
      if (from == std::string_view::npos) {
        return "";
      }
      const std::size_t to = text.find_first_of(", \t\r/", from);
      return std::string{text.substr(from, to == std::string_view::npos ? to : to - from)};
    }
    line = end + 1;
  }
  return "";
}

std::vector<Image> images_of(std::span<const std::byte> bytes) {
  if (!is_fat_binary(bytes)) {
    throw ConfigError("what a program registers is no fat binary");
  }
  Header header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.header_bytes < sizeof header || header.header_bytes > bytes.size() ||
      header.bytes > bytes.size() - header.header_bytes) {
    damaged("it ends before its header says");
  }
  bytes = bytes.subspan(header.header_bytes, header.bytes);
  std::vector<Image> images;
  while (bytes.size() >= sizeof(EntryHeader)) {
    EntryHeader entry{};
    std::memcpy(&entry, bytes.data(), sizeof entry);
    if (entry.header_bytes < sizeof entry || entry.header_bytes > bytes.size() ||
        entry.bytes > bytes.size() - entry.header_bytes) {
      damaged("an entry ends behind it");
    }
    Image image;
    image.kind = entry.kind == 1   ? Image::Kind::kPtx
                 : entry.kind == 2 ? Image::Kind::kMachineCode
                                   : Image::Kind::kOther;
    image.target = "sm_" + std::to_string(entry.architecture);
    if (image.kind == Image::Kind::kPtx) {
      image.text = unpacked(bytes.subspan(entry.header_bytes, entry.bytes), entry);
      image.text.resize(std::min(image.text.find('\0'), image.text.size()));
      const std::string target = target_of(image.text);
      image.target = target.empty() ? image.target : target;
    }
    images.push_back(std::move(image));
    bytes = bytes.subspan(entry.header_bytes + entry.bytes);
  }
  return images;
}

const Image& choose_ptx(const std::vector<Image>& images, const std::string& chip) {
  const Image* best = nullptr;
  int best_suits = 0;
  std::string there;
  for (const Image& image : images) {
    there += (there.empty() ? "" : ", ") +
             std::string{image.kind == Image::Kind::kPtx ? "PTX" : "machine code"} + " for " +
             image.target;
    const int now =
        image.kind == Image::Kind::kPtx ? suits(parts_of(image.target), parts_of(chip)) : 0;
    if (now > best_suits) {
      best = &image;
      best_suits = now;
    }
  }
  if (best == nullptr) {
    const std::string compute = "compute_" + chip.substr(chip.find('_') + 1);
    throw ConfigError("the program has no PTX that runs on " + chip + ", only " +
                      (there.empty() ? "nothing" : there) +
                      "; compile it with -gencode arch=" + compute + ",code=" + compute +
                      ", without -rdc and without code=sm_... alone, or name another chip");
  }
  return *best;
}

}  // namespace warptwin::cuda
