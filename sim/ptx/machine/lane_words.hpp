/// Which lanes of a warp have touched which bytes of memory, and which of that a lane knows.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <boost/unordered_map.hpp>

#include "common/machine/types.hpp"

#include "sim/model/lane_access.hpp"

namespace warptwin::ptx {

/// How lanes touch memory.
enum class Touch : std::uint8_t {
  kLoad,
  kStore,
  kStrongLoad,  // relaxed or volatile: no race with another strong access
  kStrongStore,
  kAdd,  // an atomic that leaves the same in whatever order, and brings no result
};

/// Bytes, kept by words of four where whole words are written.
class LaneWords {
 public:
  /// Adds to the addresses of global memory, whose own begin at 0.
  static constexpr std::uint64_t kGlobal = std::uint64_t{1} << 63;

  /// Notes what the lanes do at `base` + their addresses. Returns the first two lanes of which one
  /// writes what the other touches, in no order; who writes a value again changes nothing. What a
  /// store writes where `access.poison` is set is a value that differs from all others. Two strong
  /// accesses are returned where there is no race.
  std::optional<sim::LaneRace> access(const sim::LaneAccess& access,
                                      std::uint64_t base,
                                      Touch touch,
                                      SourceSite site);
  /// What the lanes were last noted to write there is the detectors' from now on.
  void hand_over(const sim::LaneAccess& access, std::uint64_t base);
  /// The lanes have met: each knows what all of them knew. `all`: those are all that live.
  void meet(std::uint32_t lanes, bool all);
  /// The lanes have released what they know.
  void release(std::uint32_t lanes);
  /// The lanes have waited for somebody, and may have learnt from there what was released.
  void learn(std::uint32_t lanes);

 private:
  static constexpr std::uint32_t kLanes = 32;
  struct Word {
    std::uint32_t readers = 0;  // lanes
    std::uint32_t writers = 0;
    std::uint32_t adders = 0;
    std::uint32_t value = 0;  // that they have written
    bool unknown = false;     // nobody knows the value
    SourceSite read{};
    SourceSite written{};
  };
  using Words = boost::unordered_map<std::uint64_t, Word>;  // by address
  /// Most of what a kernel touches it reads, and nobody writes.
  struct Reads {
    static constexpr std::uint32_t kBytes = 16;
    std::array<std::uint32_t, kBytes> lanes{};  // of each byte: who has read it
    SourceSite site{};
  };
  struct Touched {
    Words words;
    Words bytes;
    Words strong;                                        // by byte
    boost::unordered_map<std::uint64_t, Reads> reads{};  // ordinary ones; by the address / kBytes
    bool written = false;                                // not read alone
    bool empty() const { return words.empty() && bytes.empty() && strong.empty() && reads.empty(); }
  };
  /// Of what the lanes did until some of them, not all, learnt of it: by lane, whose it knows.
  struct Layer {
    std::array<std::uint32_t, kLanes> known{};
    std::uint32_t released = 0;  // whose
    Touched touched;
  };
  /// One word or byte that a lane touches.
  struct Piece {
    std::uint32_t lane = 0;
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;  // 4 or 1
    std::uint32_t value = 0;
    bool unknown = false;
    Touch touch = Touch::kLoad;
  };

  static Piece piece_of(const sim::LaneAccess& access,
                        std::uint64_t base,
                        Touch touch,
                        std::uint32_t lane,
                        std::uint32_t first);
  static void meet_word(const Word& word,
                        const Piece& piece,
                        std::uint32_t shift,
                        std::uint32_t known,
                        bool strong,
                        std::optional<sim::LaneRace>& race);
  static void compare(const Touched& touched,
                      const Piece& piece,
                      std::uint32_t known,
                      std::optional<sim::LaneRace>& race);
  static void note(Words& words, const Piece& piece, SourceSite site);
  void note_reads(const sim::LaneAccess& access, std::uint64_t base, SourceSite site);
  static void join(Words& kept, const Words& more);
  void close();
  void forget();

  Touched touched_;  // what nobody has learnt of yet
  std::vector<Layer> layers_;
};

}  // namespace warptwin::ptx
