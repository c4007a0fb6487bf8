// Fat binaries: which image a chip takes, each way of compression, and what is damaged.

#include "sim/cuda/fat_binary.hpp"

#include <cstring>
#include <lz4.h>
#include <zstd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

namespace warptwin::cuda::fat_binary_test {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string ptx_of(const std::string& target) {
  return "//\n// .target sm_1\n//\n.version 9.0\n.target " + target + "\n.address_size 64\n";
}

enum class Packing { kNone, kLz4, kZstd };

template <class T>
void put(std::string& to, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  to.append(bytes, sizeof value);
}

std::string entry(std::uint16_t kind, std::uint32_t number, std::string text, Packing packing) {
  const std::size_t whole = text.size();
  std::uint64_t flags = 0x11;
  if (packing == Packing::kZstd) {
    flags |= 0x8000;
    std::string packed(ZSTD_compressBound(whole), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), whole, 3));
    text = packed;
  } else if (packing == Packing::kLz4) {
    flags |= 0x2000;
    std::string packed(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(whole))), '\0');
    packed.resize(static_cast<std::size_t>(LZ4_compress_default(
        text.data(), packed.data(), static_cast<int>(whole), static_cast<int>(packed.size()))));
    text = packed;
  }
  const auto packed_bytes = static_cast<std::uint32_t>(packing == Packing::kNone ? 0 : text.size());
  text.resize((text.size() + 7) / 8 * 8, '\0');
  std::string bytes;
  put(bytes, kind);
  put(bytes, std::uint16_t{0x101});
  put(bytes, std::uint32_t{64});
  put(bytes, std::uint64_t{text.size()});
  put(bytes, packed_bytes);
  put(bytes, std::uint32_t{0});
  put(bytes, std::uint32_t{0x90000});
  put(bytes, number);
  put(bytes, std::uint64_t{0});
  put(bytes, flags);
  put(bytes, std::uint64_t{0});
  put(bytes, std::uint64_t{whole});
  return bytes + text;
}

std::string fat(const std::string& entries) {
  std::string bytes;
  put(bytes, std::uint32_t{0xBA55ED50});
  put(bytes, std::uint16_t{1});
  put(bytes, std::uint16_t{16});
  put(bytes, std::uint64_t{entries.size()});
  return bytes + entries;
}

std::vector<Image> read(const std::string& bytes) {
  return images_of({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
}

TEST(FatBinary, EachWayOfCompressionGivesTheText) {
  for (const Packing packing : {Packing::kNone, Packing::kLz4, Packing::kZstd}) {
    const auto images = read(fat(entry(2,
                                       90,
                                       "\x7f"
                                       "ELF....",
                                       Packing::kNone) +
                                 entry(1, 90, ptx_of("sm_90a"), packing)));
    ASSERT_EQ(images.size(), 2U);
    EXPECT_EQ(images[0].kind, Image::Kind::kMachineCode);
    EXPECT_EQ(images[1].kind, Image::Kind::kPtx);
    EXPECT_EQ(images[1].text, ptx_of("sm_90a"));
    EXPECT_EQ(images[1].target, "sm_90a");
  }
}

TEST(FatBinary, TheExactTargetIsTakenElseTheLatestThatRuns) {
  const auto images = read(fat(entry(1, 80, ptx_of("sm_80"), Packing::kZstd) +
                               entry(1, 90, ptx_of("sm_90"), Packing::kZstd) +
                               entry(1, 90, ptx_of("sm_90a"), Packing::kZstd) +
                               entry(1, 100, ptx_of("sm_100f"), Packing::kZstd) +
                               entry(1, 120, ptx_of("sm_120"), Packing::kZstd)));
  EXPECT_EQ(choose_ptx(images, "sm_90a").target, "sm_90a");
  EXPECT_EQ(choose_ptx(images, "sm_90").target, "sm_90");
  EXPECT_EQ(choose_ptx(images, "sm_100a").target, "sm_100f");
  EXPECT_EQ(choose_ptx(images, "sm_103a").target, "sm_100f");
  EXPECT_EQ(choose_ptx(images, "sm_89").target, "sm_80");
}

TEST(FatBinary, NoPtxForTheChipIsRefusedWithWhatThereIs) {
  const auto images =
      read(fat(entry(1, 100, ptx_of("sm_100a"), Packing::kZstd) + entry(2,
                                                                        90,
                                                                        "\x7f"
                                                                        "ELF....",
                                                                        Packing::kNone)));
  EXPECT_THAT([&] { choose_ptx(images, "sm_90a"); },
              ThrowsMessage<ConfigError>(
                  HasSubstr("only PTX for sm_100a, machine code for sm_90; compile it with "
                            "-gencode arch=compute_90a,code=compute_90a,")));
}

TEST(FatBinary, WhatIsDamagedIsRefused) {
  const std::string whole = fat(entry(1, 90, ptx_of("sm_90a"), Packing::kZstd));
  EXPECT_THAT([&] { read("no fat binary at all"); },
              ThrowsMessage<ConfigError>(HasSubstr("no fat binary")));
  for (std::size_t size = 16; size + 1 < whole.size(); size += 7) {
    EXPECT_THROW(read(whole.substr(0, size)), ConfigError) << size;
  }
  // Each byte in turn: an error or images, never more.
  for (std::size_t at = 16; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    try {
      read(changed);
    } catch (const ConfigError&) {
      continue;
    }
  }
}

}  // namespace warptwin::cuda::fat_binary_test
