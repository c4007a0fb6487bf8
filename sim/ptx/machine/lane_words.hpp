/// Which lanes of a warp have touched which bytes of memory, and which of that a lane knows.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/machine/types.hpp"

#include "sim/model/lane_access.hpp"
#include "sim/model/lane_judge.hpp"
#include "sim/ptx/machine/address_table.hpp"

namespace warptwin::ptx {

/// How lanes touch memory.
enum class Touch : std::uint8_t {
  kLoad,
  kStore,
  kStrongLoad,  // relaxed or volatile: no race with another strong access
  kStrongStore,
  kAdd,   // an atomic that leaves the same in whatever order, and brings no result
  kInit,  // of an mbarrier: it writes what nobody stores; what follows other rules judge
};

/// Bytes, kept by words of four where whole words are written.
class LaneWords {
 public:
  /// Of a warp that is numbered in the grid. `judge` may be null: every wait then brings what lanes
  /// have released before.
  LaneWords(const sim::LaneJudge* judge, std::uint32_t warp) : judge_{judge}, warp_{warp} {}

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
  /// What the lanes were last noted to write there is the detectors' from now on. Another lane's
  /// atomic need not be behind one that is handed over: a store in front of that stays noted.
  void hand_over(const sim::LaneAccess& access, std::uint64_t base, Touch touch);
  /// The lanes have met: each knows what all of them knew. `live`: those that have not ended; what
  /// others did before they ended nobody knows by that.
  void meet(std::uint32_t lanes, std::uint32_t live);
  /// The lanes have released what they know.
  void release(std::uint32_t lanes);
  /// The lanes have waited for somebody, and know what has come to them from there.
  void learn(std::uint32_t lanes);

 private:
  static constexpr std::uint32_t kLanes = 32;
  struct Word {
    std::uint32_t readers = 0;  // lanes
    std::uint32_t writers = 0;
    std::uint32_t adders = 0;
    std::uint32_t value = 0;    // that they have written
    std::uint32_t read = 0;     // the last that did: its site's number
    std::uint32_t written = 0;  // likewise
    bool unknown = false;       // nobody knows the value
    bool several = false;       // they have stored other values before
    std::uint8_t size = 0;      // of strong accesses: bytes of each; kSizes: not of all the same
    static constexpr std::uint8_t kSizes = 0xff;
    void note_size(std::uint8_t bytes);
  };
  template <std::uint32_t kUnit>
  using Words = AddressLines<Word, kUnit>;
  /// Most of what a kernel touches it reads, and nobody writes.
  struct Reads {
    static constexpr std::uint32_t kBytes = 16;
    std::array<std::uint32_t, kBytes> lanes{};  // of each byte: who has read it
    std::uint32_t site = 0;                     // its number
  };
  struct Touched {
    Words<4> words;
    Words<1> bytes;
    Words<1> strong;
    AddressTable<Reads> reads{};  // ordinary ones; by the address / kBytes
    bool written = false;         // not read alone
    bool empty() const { return words.empty() && bytes.empty() && strong.empty() && reads.empty(); }
    void clear() {
      words.clear();
      bytes.clear();
      strong.clear();
      reads.clear();
      written = false;
    }
  };
  /// When a lane came to know of more of a layer, and of whose.
  struct Growth {
    std::uint32_t lane = 0;
    std::uint32_t time = 0;
    std::uint32_t known = 0;
    friend bool operator==(const Growth&, const Growth&) = default;
  };
  /// Of what the lanes did until some of them, not all, learnt of it: by lane, whose it knows.
  struct Layer {
    std::array<std::uint32_t, kLanes> known{};
    std::vector<Growth> growths;  // since each knew of itself alone
    std::uint32_t time = 0;       // of the last access
    std::uint32_t releases = 0;   // before it
    std::uint32_t lanes = 0;      // that touched
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
    std::uint8_t size = 0;  // of the access
  };

  static Piece piece_of(const sim::LaneAccess& access,
                        std::uint64_t base,
                        Touch touch,
                        std::uint32_t lane,
                        std::uint32_t first);
  void meet_word(const Word& word,
                 const Piece& piece,
                 std::uint32_t shift,
                 std::uint32_t known,
                 bool strong,
                 std::optional<sim::LaneRace>& race) const;
  static bool is_quiet(const Touched& touched, const Piece& piece, std::uint32_t known);
  static std::uint32_t quiet_lanes(const Touched& touched,
                                   const sim::LaneAccess& access,
                                   std::uint64_t base,
                                   bool store,
                                   std::uint32_t lanes,
                                   const std::array<std::uint32_t, kLanes>& known);
  std::uint32_t quiet_lanes(const sim::LaneAccess& access, std::uint64_t base, bool store) const;
  void note_stores(const sim::LaneAccess& access,
                   std::uint64_t base,
                   std::uint32_t lanes,
                   std::uint32_t site);
  void compare(const Touched& touched,
               const Piece& piece,
               std::uint32_t known,
               std::optional<sim::LaneRace>& race) const;
  std::uint32_t number_of(const SourceSite& site);
  static void note(Word& word, const Piece& piece, std::uint32_t site);
  static void note_store(
      Word& word, std::uint32_t lane, std::uint32_t value, bool unknown, std::uint32_t site);
  void note_reads(const sim::LaneAccess& access, std::uint64_t base, std::uint32_t site);
  static void join(Word& one, const Word& word);
  template <std::uint32_t kUnit>
  static void join(Words<kUnit>& kept, const Words<kUnit>& more);
  void close();
  void forget(std::uint32_t live = ~std::uint32_t{0});
  std::uint32_t now();
  bool brought(std::uint32_t lanes, std::uint32_t other, std::uint32_t time) const;
  std::uint32_t brought(const Layer& layer, std::uint32_t lanes, std::uint32_t known) const;
  void grow(Layer& layer, std::uint32_t lane, std::uint32_t known, std::uint32_t time);

  const sim::LaneJudge* judge_;
  std::uint32_t warp_;
  std::uint32_t steps_ = 0;                       // the time where there is no judge
  std::uint32_t releases_ = 0;                    // how many there were
  std::array<std::uint32_t, kLanes> released_{};  // when each lane did last; 0: never
  Touched touched_;                               // what nobody has learnt of yet
  std::uint32_t touched_by_ = 0;
  std::uint32_t touched_at_ = 0;  // the last of it
  std::vector<Layer> layers_;
  std::vector<SourceSite> sites_;             // each once
  AddressTable<std::uint32_t> site_numbers_;  // by what a site is made of, as one number
};

}  // namespace warptwin::ptx
