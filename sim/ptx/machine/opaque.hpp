/// What PTX calls opaque, and an instruction brings to registers: the state of an arrival, the
/// response to a request for a cluster.
///
/// Its bytes are unknown to everything but the instruction that asks it, and may be moved alone:
/// none of them is 0, as all are that are computed of unknown bytes.

#pragma once

#include <cstdint>
#include <optional>

namespace warptwin::ptx {

/// 64 bits that stand for a number of at most 63.
std::uint64_t opaque_of(std::uint64_t number);
/// The number that such bits stand for.
std::uint64_t number_in(std::uint64_t opaque);

/// What a response tells: each half of it stands for that.
struct ClaimedCluster {
  bool is_there = false;
  std::uint32_t first_cta = 0;
};
std::uint64_t response_of(ClaimedCluster cluster);
/// None of bits that stand for something else.
std::optional<ClaimedCluster> response_in(std::uint64_t opaque);

}  // namespace warptwin::ptx
