/// What a warp would do if a look said yes or no: its strands, copied, go on by themselves until
/// they look again, or come to anything else that somebody could notice.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "sim/model/word_test.hpp"
#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

/// What a warp says of itself, and nothing is told to it.
class Asked : public Surroundings {
 public:
  explicit Asked(Surroundings& warp) : warp_{warp} {}
  Lanes special(SpecialRegister special) override { return warp_.special(special); }
  std::uint64_t address_of(const VariableUse& use) override { return warp_.address_of(use); }
  std::uint64_t address_of(const Function& function) override { return warp_.address_of(function); }
  const Function* function_at(std::uint64_t address) override { return warp_.function_at(address); }
  TensorBases* tensor_bases() override { return warp_.tensor_bases(); }
  bool leaves_open(const Strand& strand) override { return warp_.leaves_open(strand); }

 private:
  Surroundings& warp_;
};

/// The same, with local memory of its own.
class OfCopy : public Asked {
 public:
  OfCopy(WarpRun& warp, std::vector<std::uint8_t>& local, std::vector<std::uint8_t>& poison)
      : Asked{warp}, run_{warp}, local_{local}, poison_{poison} {}
  void leaves(const Routine& routine, Mask lanes) override {
    run_.forget_locals(routine, lanes, local_, poison_);
  }

 private:
  WarpRun& run_;
  std::vector<std::uint8_t>& local_;
  std::vector<std::uint8_t>& poison_;
};

/// The word that a look has brought, as a register holds it: ((word ^ flip) & mask), or the word
/// and a number.
struct LookedAt {
  bool yes = false;  // of a look that was told yes
  std::uint32_t flip = 0;
  std::uint32_t mask = ~std::uint32_t{0};
  std::uint32_t plus = 0;
  bool operator==(const LookedAt&) const = default;
};

/// The test of a word that a comparison with a number is; `reversed`: of the number with the word.
std::optional<sim::WordTest> test_of(const Modifiers& modifiers,
                                     bool reversed,
                                     std::uint32_t number);

/// Whether of a register no bit but the sign matters, wherever it is read: it is compared so, or
/// what `xor` makes of it.
bool asks_sign_alone(const Code& code, std::uint32_t number, bool behind_xor = false);

/// Whether a register is read by one comparison for equality alone, itself or with a number added,
/// and once: behind it nobody needs the register.
bool asks_one_number(const Code& code,
                     const Liveness& liveness,
                     std::uint32_t number,
                     bool behind_add = false);

/// What a rehearsal is about.
struct Looking {
  const Op* op = nullptr;             // the first look; others have the same words
  std::vector<std::uint64_t> asks{};  // lanes, and what each asks for
  Look look = Look::kWord;
  /// A word passes where the one comparison that it is used in says so, or (`inverted`) says no.
  bool inverted = false;
  std::optional<sim::WordTest> test{};  // of the first comparison that was seen
  bool fails = false;                   // another comparison says something else
  std::vector<LookedAt> words{};        // what registers have held
  /// Places of looks that ask the word for something else. They are behind the wait.
  std::set<std::vector<std::uint64_t>> behind{};
};

class Rehearsal {
 public:
  enum class End : std::uint8_t {
    kLooks,      // at a look that asks for the same, all other strands at rest
    kElsewhere,  // at anything else
    kStuck,      // no strand can go on by itself
    kUnclear,    // strands that have not come so far in the warp itself would have to go on
  };

  /// The warp, whose strand `looking` has come to the look `stop`.
  Rehearsal(WarpRun& warp, Looking& about, const Strand& looking, const Stop& stop);

  /// The lanes that look are told yes (`yes`) or no, and the warp goes on. One for each way that
  /// it may take where it branches on what nobody knows; too many are none.
  std::vector<Rehearsal> told(Mask yes) const;

  End end() const { return end_; }
  /// Lanes of more than one branched together on what nobody knows.
  bool parted_unknown() const { return parted_unknown_; }
  /// There was a fence between a look that said yes and the next.
  bool fenced() const { return fenced_; }
  /// Instructions between lanes since the look, in turn.
  const std::vector<const Op*>& exchanges() const { return exchanges_; }
  /// Where all strands are, and what they still need.
  std::vector<std::uint64_t> state() const;
  /// Whether what is still needed is known as well as it was in `start`, or is the word that
  /// passed: then two of the same state are the same.
  bool is_settled(const Rehearsal& start) const;

 private:
  struct Use;

  void own_frames();
  void go_on(std::vector<Rehearsal>& others);
  void step(Strand strand, std::vector<Rehearsal>& others);
  void serve(Strand strand, Stop stop);
  void pass_fence(Strand strand, const Stop& stop);
  void arrive(Strand strand, const Stop& stop, End end);
  bool gather();
  bool is_look(const Strand& strand, const Stop& stop) const;
  bool is_private(Strand& strand, Stop& stop) const;
  void call(Strand& strand, Stop& stop);
  std::vector<const Strand*> strands() const;
  struct Span {
    std::span<const std::uint8_t> bytes{};
    std::span<const std::uint8_t> poison{};
  };
  const Frame* frame_of(std::uint32_t lane, const Frame& like) const;
  bool bytes_settled(Span now, const Span* before, std::size_t begin, std::size_t end) const;
  bool parameters_settled(const Frame& frame, const Frame* before, std::uint32_t lane) const;

  Lanes word(const LookedAt& held) const;
  const LookedAt* held_in(const Lanes& lanes, std::uint32_t lane) const;
  std::optional<Use> use_of(const Strand& strand) const;
  void note_use(Strand& strand, const Use& use);

  WarpRun* warp_;
  Looking* about_;
  std::vector<Strand> unripe_;  // that could go on in the warp itself
  std::vector<Strand> ready_;
  std::vector<Strand> joining_;
  std::vector<WarpRun::Waiter> gathering_;
  std::vector<WarpRun::Waiter> waiting_;
  Strand looking_;  // or, elsewhere, who is there
  Stop stop_;
  std::vector<std::uint8_t> local_;
  std::vector<std::uint8_t> local_poison_;
  End end_ = End::kLooks;
  bool arrived_ = true;  // at `stop_`
  bool passes_ = false;  // all were told yes: then a fence is something else
  bool parted_unknown_ = false;
  bool fenced_ = false;
  std::vector<const Op*> exchanges_;
  std::uint32_t steps_ = 0;
};

/// What a look waits for.
struct Awaited {
  bool waits = false;
  bool unclear = false;  // other lanes have to go on before that can be said
  bool far = false;      // none was found among so many places that more are not looked at
  sim::WordTest test{};  // of a word: what passes
};

/// Whether the strand waits at the look `stop`: told no, the warp looks again and does nothing
/// else, however often and wherever it is told so; told yes as often as it asks, it comes to one
/// place with the same registers.
Awaited awaited(WarpRun& warp, const Strand& looking, const Stop& stop, Look look);

}  // namespace warptwin::ptx
