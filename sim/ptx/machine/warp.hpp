/// One warp of a PTX kernel on the model: its strands, and what their instructions are there.
///
/// The strands of a warp are one agent of the machine. They take turns in one fixed way: who parted
/// last goes first, a strand that waits lets the others go before. What two strands of a warp do
/// between their parting and their joining is therefore seen in one order only.
/// `GridContext::parted` says where both sides used the machine, and a proof has to name it.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sim/model/atomic_update.hpp"
#include "sim/model/global_memory.hpp"
#include "sim/model/lane_access.hpp"
#include "sim/model/lane_copies.hpp"
#include "sim/model/last_adders.hpp"
#include "sim/model/matrix.hpp"
#include "sim/model/sim_machine.hpp"
#include "sim/ptx/lanes/tensor_bases.hpp"
#include "sim/ptx/machine/kernel.hpp"
#include "sim/ptx/machine/lane_words.hpp"
#include "sim/ptx/machine/launch.hpp"
#include "sim/ptx/machine/pace.hpp"

namespace warptwin::ptx {

/// What the threads that have come to one barrier with a result have given it.
struct BarrierReduction {
  std::uint32_t warps = 0;
  std::uint32_t threads = 0;
  std::uint32_t holding = 0;                // threads whose predicate holds
  bool unknown = false;                     // of some nobody knows it
  Modifiers asks;                           // of the first who came
  std::optional<std::uint32_t> generation;  // of the barrier, once it is complete
};

/// The atomics of one word of shared memory.
struct SharedAtomics {
  std::array<std::uint32_t, 2> first{};  // CTA and warp
  std::uint32_t change = 0;              // what they do to the word: a `word_change`
  bool several = false;                  // of several warps, or in no order
  bool later = false;                    // a red.async
  bool alike = true;                     // they leave the same in whatever order
  bool told = false;                     // a result of one is used
};

/// What is read of what an atomic returns.
enum class Wanted : std::uint8_t {
  kNothing,
  kSign,
  kOneNumber,  // whether it is that, in one comparison
  kAll
};

/// The registers of an accumulator, as an instruction names them.
struct AccumulatorRegisters {
  std::span<const Argument> parts{};
  const Argument* first = nullptr;  // the same of all that name the same; null: not all are there
  std::uint32_t count = 0;          // of those that are registers
};

/// What all warps of a launch share.
struct GridContext {
  const Kernel* kernel = nullptr;
  LaunchShape shape;
  std::vector<std::byte> parameters;                      // as the kernel reads them
  std::unordered_map<std::uint64_t, std::uint32_t> maps;  // by offset of a parameter
  /// Tensor maps in global memory, by address; `maps_count` is the next number of all.
  struct MemoryMap {
    std::uint32_t number = 0;
    sim::TensorMapState state{};
  };
  std::map<std::uint64_t, MemoryMap> memory_maps;
  std::uint32_t maps_count = 0;
  std::unordered_map<const Variable*, std::uint64_t> global_places;  // of the module's variables
  std::vector<std::pair<std::uint64_t, std::uint64_t>> constants;    // those there: [first, second)
  std::set<std::uint32_t> responses;  // shared addresses that requests for clusters write to
  /// Places where lanes of a warp parted and both ways used the machine.
  std::set<std::string> parted;
  /// .aligned instructions that lanes of a warp executed behind the end of others.
  std::set<std::string> ended;
  /// Where others of a warp come together when lanes have ended that have done something since all
  /// had met.
  std::set<std::string> known_of_ended;
  std::set<std::string> elections;  // elect.sync by warps that name several sets of lanes
  /// Copies whose mbarrier is said to be in a CTA that they do not go to.
  std::set<std::string> signals_elsewhere;
  std::set<std::string> active_masks;  // activemask by lanes that have parted
  std::set<std::string> grid_waits;    // griddepcontrol.wait that a warp has executed
  std::set<std::string> grid_starts;   // griddepcontrol.launch_dependents
  bool changes_registers = false;      // a warp has
  /// Barriers that not all have come to yet, by cluster, CTA and number.
  std::map<std::array<std::uint32_t, 3>, std::shared_ptr<BarrierReduction>> reductions;
  std::unordered_map<std::uint32_t, sim::TensorMapState> map_states;  // by number of a tensor map
  /// Global memory of which every run knows the contents: [first, second).
  std::vector<std::pair<std::uint64_t, std::uint64_t>> real;
  /// Of which a run without data knows which words it does not know.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> tracked;
  std::unordered_map<const Op*, Wanted> wanted;            // of atomics
  std::unordered_map<const Op*, bool> spins;               // whether its loop waits for its result
  std::set<const Op*> no_waits;                            // tries that are known to be none
  std::unordered_map<const Op*, std::uint32_t> far_looks;  // that were no waits, in turn
  /// By function, and in it by op: slots of the registers that are needed from there on.
  std::unordered_map<const Routine*, std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>>
      needed;
  std::unordered_map<const Routine*, Liveness> liveness;
  /// By their first place in the code.
  std::unordered_map<const Argument*, AccumulatorRegisters> accumulators;
  /// Of each wgmma: slots needed behind it that may be names of its accumulator, beside its own.
  std::unordered_map<const Op*, std::vector<std::uint32_t>> other_names;
  /// By global word: the cluster, CTA and warp that was first to write it by an atomic or a flag.
  std::unordered_map<std::uint64_t, std::array<std::uint32_t, 3>> writers;
  std::unordered_set<std::uint64_t> words_of_clusters;  // those that several have written
  std::set<std::string> awaited;  // waits for a word of another cluster, which may not have begun
  /// By cluster, CTA and word of shared memory.
  std::map<std::array<std::uint32_t, 3>, SharedAtomics> shared_atomics;
  /// By cluster, CTA and shared address: a number of the mbarrier that was last initialised there.
  std::map<std::array<std::uint32_t, 3>, std::uint32_t> mbarrier_lives;
  std::uint32_t mbarriers = 0;  // that have been initialised
  std::uint64_t workspace = 0;  // of a cooperative grid
  TensorBases bases;            // where it is free which columns an allocation gets
  /// By cluster and CTA: numbers of its allocations in `bases`, in turn.
  std::map<std::array<std::uint32_t, 2>, std::vector<std::uint32_t>> allocations;
  /// Places where something is made of such an address that depends on which columns it is of, and
  /// operations on columns that are said by number.
  std::set<std::string> asked_bases;
  std::set<std::string> fixed_columns;
  std::set<std::string> rounded;  // approximations, and sums of products, with data
  std::unordered_set<const Op*> rounded_ops;
  std::set<std::string> map_bytes;     // where bytes of a tensor map are loaded
  bool allocates_beside_data = false;  // in a run with data, columns that nobody knows
  /// What printf has said, in a run with data.
  std::shared_ptr<std::string> printed = std::make_shared<std::string>();
  /// Instructions of all threads, a lane of a strand being one.
  std::shared_ptr<std::uint64_t> thread_instructions = std::make_shared<std::uint64_t>(0);
  GridCosts costs;  // of instructions, where an engine keeps time
};

/// An instruction of the machine that a strand has come to.
struct Request {
  Strand& strand;
  Stop& stop;
  const Op& op;
  const Modifiers& modifiers;

  Mask mask() const { return stop.mask; }
  std::size_t operands() const { return stop.operands.size(); }
  bool has(std::size_t operand) const {
    return operand < stop.operands.size() && !stop.operands[operand].values.empty();
  }
  const Lanes& value(std::size_t operand, std::size_t part = 0) const {
    return stop.operands[operand].values[part];
  }
};

/// What a handler says of its strand.
enum class Served : std::uint8_t {
  kDone,   // it goes on behind the instruction
  kAgain,  // told no: it comes back to the instruction, others first
};

/// Instructions whose answer may decide whether a warp goes on.
enum class Look : std::uint8_t {
  kWord,    // a load of a word, or an atomic that leaves the word as it is
  kTry,     // of an mbarrier
  kAtomic,  // any atomic, as of a lock
};

/// That an instruction names, or else `standard`.
warptwin::Scope scope_of(const Modifiers& modifiers, warptwin::Scope standard);

class Rehearsal;

/// An access that no memory can hold, which ends the kernel. Who only tries what a strand would do
/// takes it for a refusal.
class OutsideMemory : public ConfigError {
 public:
  OutsideMemory(const std::string& text, const sim::Operation& end)
      : ConfigError{text}, operation{end} {}

  sim::Operation operation;  // by which the warp ends
};

class WarpRun : public Surroundings, public sim::AgentState {
 public:
  WarpRun(GridContext& grid, sim::SimMachine& machine);

  /// Executes the kernel until all lanes have ended. Throws ConfigError, with the place, for what
  /// the kernel may not do or this room does not have.
  void run();
  /// Behind `run`: reports a copy that nobody has waited for.
  void check_end();

  static bool has_handler(const Op& op) { return handler_of(op) != nullptr; }
  /// The lanes of a look, and then what each asks for, operand by operand. Empty where that is not
  /// known, or it is no such look.
  static std::vector<std::uint64_t> asked_by(const Strand& strand, const Stop& stop, Look look);

  Lanes special(SpecialRegister special) override;
  std::uint64_t address_of(const VariableUse& use) override;
  std::uint64_t address_of(const Function& function) override;
  void leaves(const Routine& routine, Mask lanes) override;
  bool leaves_open(const Strand& strand) override;
  void forget_locals(const Routine& routine,
                     Mask lanes,
                     std::vector<std::uint8_t>& bytes,
                     std::vector<std::uint8_t>& poison) const;
  const Function* function_at(std::uint64_t address) override;
  std::uint64_t fingerprint() const override;
  void touches_busy(const Strand& strand, std::uint32_t slot) override;
  void computes_with(const Strand& strand, const Lanes& value, Mask lanes) override;
  void names_apart() override { named_apart_ = true; }
  TensorBases* tensor_bases() override { return &grid_.bases; }
  void asks_tensor_base(const Strand& strand) override;

 private:
  friend class Rehearsal;
  using Handler = Served (WarpRun::*)(Request&);
  struct HandlerRow {
    std::string_view name;
    Handler handler;
    bool gathers = false;  // the live lanes that it names come together there
    bool silent = false;   // and no operation of the machine says so
    bool blind = false;    // nobody else can tell who executes it anything
  };
  static std::span<const HandlerRow> handlers();
  static const HandlerRow* handler_of(const Op& op);

  struct Waiter {
    Strand strand;
    Stop stop;
  };

  // warp.cpp: strands
  void go_on();
  void step(Strand strand);
  void count_steps(const Strand& strand, std::uint64_t more);
  bool count_slice(const Strand& strand);
  bool count_blind(const Strand& strand, bool blind);
  std::uint64_t place_with(const Strand& strand);
  void go_round(const Strand& strand);
  void serve(Strand strand, Stop stop);
  Served handle(Request& request);
  void gather();
  bool gather_at(std::size_t first);
  static void join_stops(Stop& whole, const Stop& other);
  bool resume_waiter();
  void note_ended(const Strand& strand, const Stop& stop);
  void leave(Mask mask);
  static bool names_members(const Op& op);
  Mask members_alike(const Strand& strand, const Stop& stop) const;
  Mask needed_by(const Strand& strand, const Stop& stop) const;
  bool alone(Mask mask) const { return mask == live_; }
  bool by_all(const Request& request) const;
  /// Whether another strand of the warp can act while this one waits.
  bool others_can_go() const {
    const bool further = !ready_.empty() || !joining_.empty() || !gathering_.empty();
    return !waiting_.empty() || (!resuming_ && further);
  }
  [[noreturn]] void refuse(const Strand& strand, std::uint32_t op, const std::string& why) const;
  /// Where bytes are not known: nobody has written them, or this run moves no data.
  [[noreturn]] void refuse_unknown(const Strand& strand,
                                   std::uint32_t op,
                                   const std::string& why) const;
  std::string place_of(const Strand& strand, std::uint32_t op, const std::string& why) const;
  [[noreturn]] void refuse(const Request& request, const std::string& why) const {
    refuse(request.strand, request.stop.op, why);
  }

  // calls.cpp: functions without a body, and trap
  std::string literal(std::uint64_t address) const;
  std::uint64_t given(Strand& strand,
                      const Stop& stop,
                      std::size_t index,
                      std::uint32_t lane) const;
  std::string formatted(const std::string& format,
                        std::uint64_t arguments,
                        std::uint32_t lane) const;
  void print(Strand& strand, const Stop& stop);
  /// An access by `lanes` that no memory holds: what it is, behind the instruction.
  [[noreturn]] void leave_memory(const Request& request, Mask lanes, const std::string& what) const;
  void trap(const Strand& strand, const Stop& stop, std::uint32_t says);
  void end_by(sim::Operation op);
  void called(Strand& strand, const Stop& stop);

  // request.cpp: operands, and operations made of them
  sim::Operation make(warptwin::Op kind, const Request& request, Mask lanes) const;
  sim::Operation collective(warptwin::Op kind, const Request& request) const;
  /// Calls `f(lanes)` for each set of lanes of `mask` that has the same bits in each operand.
  void for_equal(const Request& request,
                 std::initializer_list<std::size_t> operands,
                 const std::function<void(Mask)>& f) const;
  /// `orders`: a load of a global word acquires, a store or an atomic releases. Relaxed ones are
  /// the model's acquiring loads and releasing stores, too.
  void perform(sim::Operation& operation, bool orders = true);
  /// Has the machine execute it. An engine that keeps time is told what came before.
  void execute(sim::Operation& operation);
  void come_together(const Request& request);
  void note_parted(const sim::Operation& operation);
  void note_order(const sim::Operation& operation, bool orders);
  std::uint64_t known(const Request& request,
                      std::size_t operand,
                      Mask lanes,
                      std::size_t part = 0) const;
  std::uint64_t uniform(const Request& request, std::size_t operand, std::size_t part = 0) const;
  std::uint32_t own_shared(const Request& request, std::uint64_t address) const;
  std::uint32_t shared_of(const Request& request, std::uint64_t address) const;
  std::uint32_t map_of(const Request& request, std::uint64_t address);
  std::uint32_t window_of(std::uint32_t offset) const;
  CtaGroup group_of(const Request& request) const;

  // memory.cpp
  struct Place {
    Space space = Space::kGlobal;
    std::uint32_t rank = 0;  // of shared memory
    std::uint64_t address = 0;
  };
  static std::uint64_t shared_base(std::uint32_t rank) { return std::uint64_t{rank} << 24; }
  void touch(const Request& request,
             const sim::LaneAccess& access,
             std::uint64_t base,
             Touch touch);
  void touch_words(const Request& request,
                   Mask lanes,
                   const std::array<Place, kLanes>& places,
                   Touch touch);
  void touch_mbarrier(const Request& request, Mask lanes, std::uint32_t address);
  Place place_of(const Request& request, Space space, std::uint64_t address) const;
  bool is_constant(std::uint64_t address) const;
  void require_constant(const Request& request, Space space, std::uint64_t address) const;
  /// Of an address of global memory, or of constant memory.
  void require_writable(const Request& request, std::uint64_t address) const;
  /// Refuses what is not there whatever its operands are.
  void require_form(const Request& request) const;
  static Space space_of(const Modifiers& modifiers);
  static bool names_own_shared(const Modifiers& modifiers);
  /// The .sem and .scope of an access of a global word: of one that is relaxed, or volatile, by a
  /// flag.
  static void set_order(const Modifiers& modifiers, sim::Operation& op);
  Served any_load(Request& request);
  Served any_store(Request& request);
  Served load(Request& request);
  Served store(Request& request);
  Served cvta(Request& request);
  Served isspacep(Request& request);
  Served mapa(Request& request);
  Served getctarank(Request& request);
  Served prefetch(Request& request);
  void require_line(const Request& request) const;
  Served applypriority(Request& request);
  Served discard(Request& request);
  Served store_bulk(Request& request);
  Served prefetch_bulk(Request& request);
  Served prefetch_tensor(Request& request);
  Served createpolicy(Request& request);
  Served reduce(Request& request);
  struct Bytes;
  std::array<Place, kLanes> places_of(const Request& request, std::size_t operand) const;
  bool load_response(const Request& request, const std::array<Place, kLanes>& places, Bytes& bytes);
  void move_private(
      const Request& request, const Place& place, std::uint32_t lane, bool loads, Bytes& bytes);
  void move_shared(const Request& request,
                   Mask lanes,
                   const std::array<Place, kLanes>& places,
                   bool loads,
                   Bytes& bytes);
  void move_global(const Request& request,
                   Mask lanes,
                   const std::array<Place, kLanes>& places,
                   bool loads,
                   Bytes& bytes);
  void take_tensor_bases(const Request& request, Bytes& bytes);
  std::optional<std::uint32_t> mark_of_allocation(const Request& request,
                                                  std::uint32_t lane,
                                                  std::uint8_t kind);
  std::optional<Served> poll(Request& request);
  std::optional<std::uint32_t> asked_number(const Request& request);
  std::optional<Served> ask_whether_last(Request& request,
                                         Wanted wanted,
                                         const std::array<Place, kLanes>& places);
  Served wait_as_last(Request& request, std::uint64_t address, sim::Adder self);
  using CountQuestion = sim::LastQuestion;
  std::optional<CountQuestion> count_question(const Request& request);
  std::uint32_t add_to_global(const Request& request,
                              const std::array<Place, kLanes>& places,
                              const CountQuestion& question);
  std::uint32_t add_to_shared(const Request& request,
                              const std::array<Place, kLanes>& places,
                              const CountQuestion& question);
  /// Slots of the registers that are needed from `op` on.
  const std::vector<std::uint32_t>& needed_at(const Routine& routine, std::uint32_t op);
  void move(const Request& request, std::size_t address, bool loads, Bytes& bytes);

  // barriers.cpp
  Served mbarrier_init(Request& request);
  Served mbarrier_inval(Request& request);
  void aim_at_barrier(const Request& request,
                      std::size_t operand,
                      Mask lanes,
                      sim::Operation& op) const;
  Served mbarrier_tx(Request& request);
  std::uint32_t phase_of_state(const Request& request,
                               std::size_t operand,
                               std::uint32_t mbarrier,
                               Mask lanes);
  std::uint32_t& mbarrier_life(std::uint32_t address);
  Served mbarrier_arrive(Request& request);
  bool is_wait(const Request& request, bool& unclear);
  bool counts_tries(const Request& request);
  void forget_refused(Mask lanes);
  std::uint64_t needed_by_try(const Request& request) const;
  Served mbarrier_try(Request& request);
  Served bar(Request& request);
  Served cluster_barrier(Request& request);
  Served sync_warp(Request& request);
  Served fence(Request& request);
  Served fence_mbarrier_init(Request& request);
  Served fence_proxy(Request& request);

  // lanes.cpp: lanes of a warp between each other, and the launch
  Served shfl(Request& request);
  Served vote(Request& request);
  Served match(Request& request);
  Served redux(Request& request);
  Served elect(Request& request);
  Served activemask(Request& request);
  void part_all(Request& request);
  Served setmaxnreg(Request& request);
  Served griddepcontrol(Request& request);
  Served nanosleep(Request& request);
  Served try_cancel(Request& request);
  Served query_cancel(Request& request);

  // copies.cpp
  Served tensor_copy(Request& request);
  Served bulk_copy(Request& request);
  Served bulk_group(Request& request);
  sim::TensorMode tensor_mode_of(const Request& request) const;
  void place_copy(const Request& request, sim::Operation& op, std::size_t map, Mask lane);
  sim::CopyReduction reduction_of(const Request& request, const sim::TensorMapState* map) const;
  CtaMask multicast_mask(const Request& request, std::size_t operand, Mask lane) const;
  void aim(Request& request, sim::Operation& op, std::size_t barrier, std::size_t mask, Mask lane);

  // tensor_maps.cpp: tensor maps in memory
  std::optional<std::vector<std::byte>> peek(const Request& request, std::uint64_t address);
  std::uint32_t map_in_memory(const Request& request, std::uint64_t address);
  void change_map(const Request& request,
                  Mask lanes,
                  std::uint64_t address,
                  const sim::TensorMapState& state,
                  bool by_warp = false);
  void note_map_stores(const Request& request, const sim::LaneAccess& access);
  void release_maps(const Request& request);
  void note_map_bytes(const Request& request);
  void replace_field(const Request& request, Mask lane, sim::TensorMapState& map) const;
  void move_map(const Request& request, sim::LaneAccess& access, const Place& place, bool loads);
  Served replace_in_map(Request& request);
  Served copy_map(Request& request);

  // matrices.cpp
  using Fragment = std::shared_ptr<sim::FragmentData>;
  Served wgmma(Request& request);
  Served wgmma_step(Request& request);
  std::uint64_t operand_of(const Request& request, std::size_t at) const;
  Fragment accumulator_of(Request& request, std::uint32_t registers);
  Fragment registers_of_a(const Request& request) const;
  Fragment metadata_of_a(Request& request);

  // async_copies.cpp: cp.async
  class CopyIssuer;
  std::array<std::uint32_t, kLanes> source_bytes(const Request& request, std::uint32_t size) const;
  Served async_copy(Request& request);
  Served async_group(Request& request);
  Served async_arrive(Request& request);

  // counted_copies.cpp: copies that an mbarrier counts
  void for_each_counted(Request& request,
                        const std::function<void(Mask, std::uint32_t, sim::AsyncAccess&)>& f);
  void issue_counted(Request& request,
                     Mask lanes,
                     std::uint32_t barrier,
                     const sim::AsyncAccess& access,
                     Touch touch);
  Served async_store(Request& request);
  Served async_reduce(Request& request);
  void copy_to_cta(Request& request, Mask lane, sim::CopyReduction reduction);

  // atomics.cpp
  /// The new value of the old one `x`; b and c are the operands.
  static std::uint64_t updated(
      const Modifiers& modifiers, bool flushes, std::uint64_t x, std::uint64_t b, std::uint64_t c);
  static sim::AtomicWord updated(const Modifiers& modifiers,
                                 bool flushes,
                                 const sim::AtomicWord& x,
                                 const sim::AtomicWord& b,
                                 const sim::AtomicWord& c);
  sim::AtomicWord known_word(const Request& request, std::size_t operand, Mask lane) const;
  /// Whether it leaves the same in the word, in whatever order several do it.
  static bool commutes(const Modifiers& modifiers);
  bool others_write(std::uint64_t address, Mask lanes);
  void note_awaited(const Request& request, std::uint64_t address);
  Wanted wanted_of_result(const Request& request);
  bool waits_for_result(const Request& request);
  void require_contents(const Request& request, std::uint64_t address) const;
  bool tracked(std::uint64_t address) const;
  bool by_data(const Request& request, std::size_t at, Mask lane) const;
  Served atomic(Request& request);
  Served vector_atomic(Request& request);
  void global_atomics(
      Request& request, Mask lanes, std::size_t at, Wanted wanted, std::span<Lanes> result);
  void shared_atomic(Request& request,
                     const Place& place,
                     std::uint32_t lane,
                     std::size_t at,
                     bool used,
                     std::span<Lanes> result);
  SharedAtomics note_shared_atomic(const Request& request, const Place& place, bool used);
  bool relaxed(Request& request, std::size_t at, bool loads);

  // barrier_reductions.cpp
  Served bar_red(Request& request);
  Served mbarrier_pending_count(Request& request);

  // float_reductions.cpp
  Served redux_any(Request& request);

  // matrix_fragments.cpp: matrices of 8 x 8 between shared memory and registers
  void require_whole_warp(const Request& request) const;
  void note_unsettled(sim::LaneAccess& access, std::span<const Lanes> values) const;
  sim::LaneAccess rows_of_matrices(const Request& request,
                                   std::size_t operand,
                                   std::uint32_t matrices);
  void touch_matrices(const Request& request,
                      const sim::LaneAccess& rows,
                      std::uint32_t matrices,
                      Touch touch);
  Served ldmatrix(Request& request);
  Served stmatrix(Request& request);
  Served movmatrix(Request& request);

  // mma.cpp
  Served mma(Request& request);

  // tensor_memory.cpp
  void require_no_end(const Request& request) const;
  Served tmem_alloc(Request& request);
  std::uint32_t tensor_address(const Request& request, std::size_t operand, Mask lanes) const;
  std::uint32_t one_tensor_address(const Request& request, std::size_t operand) const;
  Served tmem_dealloc(Request& request);
  Served tmem_relinquish(Request& request);
  Served tmem_fence(Request& request);
  Served tmem_load(Request& request);
  Served tmem_store(Request& request);
  void shape_tmem_access(const Request& request, sim::Operation& op, std::uint32_t registers) const;
  Served tmem_wait(Request& request);
  Served tmem_mma(Request& request);
  void require_plain_mma(const Request& request, UmmaInstructionDescriptor mma) const;
  void require_plain_sparse(const Request& request, const sim::operands::Mma& mma) const;
  Served tmem_copy(Request& request);
  Served tmem_commit(Request& request);

  // fragments.cpp: registers that an asynchronous operation will write
  struct InFlight {
    Fragment data;
    warptwin::Op by = warptwin::Op::kCount;
    bool packed = false;   // two words of it, their lower halves, are a register
    bool arrived = false;  // a register of it has been used
  };
  /// A register that such an operation reads or writes.
  struct BusyRegister {
    std::shared_ptr<Frame> frame;
    std::uint32_t slot = 0;
    Busy how = Busy::kNo;
    InFlight flight;
  };
  void set_busy(Request& request, std::size_t operand, Busy how, const InFlight& flight);
  void free_registers();
  void report_touched(const Strand& strand, const InFlight& flight);
  void note_registers(Request& request);
  void note_accumulator(const Request& request);
  const AccumulatorRegisters& registers_of_accumulator(const Request& request) const;
  bool keeps_accumulator(const Request& request) const;
  bool written_since_fence(const Request& request, std::size_t operand) const;
  std::uint32_t mark_in_flight(Request& request, std::size_t operand, const InFlight& flight);
  std::uint32_t flight_of(const Lanes& value, std::uint32_t lane) const;
  std::uint32_t flight_in(const Lanes& value, Mask lanes) const;
  bool land(Lanes& slot, std::uint32_t mark, const Lanes& written) const;
  static std::vector<std::uint32_t> names_in(const Routine& routine);
  const std::vector<std::uint32_t>& other_names(const Request& request);
  void outdate_names(const Request& request, const Fragment& accumulator);
  void settle(const Strand& strand, warptwin::Op by);
  void wait_for_loads(const Strand& strand, sim::Operation& wait);
  static Lanes landed(const InFlight& flight, std::uint32_t index);
  std::optional<Lanes> arrived(const Strand& strand, const Lanes& value, Mask lanes);
  void operands_arrive(Request& request);

  GridContext& grid_;
  const Kernel& kernel_;
  sim::SimMachine& machine_;
  std::vector<Strand> ready_;
  std::vector<Strand> joining_;    // at a join
  std::vector<Waiter> gathering_;  // at an instruction for which live lanes come together
  std::vector<Waiter> waiting_;    // told no
  Mask live_ = 0;
  Mask began_ = 0;           // lanes of the warp at its start
  Mask acted_ = 0;           // that have used the machine since all met
  Mask performed_ = 0;       // likewise, by what the machine knows of
  std::uint64_t steps_ = 0;  // instructions since the last operation
  std::uint64_t blind_ = 0;  // instructions that use the machine since one that was told anything
  std::uint64_t been_ = 0;   // where the warp was when `steps_` were many, as `fingerprint` has it
  std::uint64_t been_blindly_ = 0;  // likewise of `blind_`
  /// A try that was no wait and said no, and what its lanes needed then.
  struct RefusedTry {
    const Op* op = nullptr;
    Mask mask = 0;
    std::uint64_t state = 0;
  };
  std::vector<RefusedTry> refused_;  // since the lanes' last operation that was none
  Mask serving_ = 0;                 // lanes of the instruction that is executed
  const Strand* served_ = nullptr;   // whose it is
  bool resuming_ = false;            // a strand that was told no tries again
  std::vector<Mask> used_apart_;     // lanes that used the machine while not all were together
  bool parted_ = false;              // lanes have, and all have not synchronised since
  bool waited_apart_ = false;        // lanes that have parted have, for what others may do
  Mask elects_of_ = 0;               // the members of its last elect.sync
  bool unmet_ = false;               // has synchronised with others since all were together
  std::vector<std::uint8_t> local_;  // lane by lane
  std::vector<std::uint8_t> local_poison_;  // 1: never written
  std::optional<Pace> pace_;                // where an engine keeps time
  LaneWords touched_;
  std::optional<sim::LaneRace> race_;  // that the next operation shows
  Mask relaxed_ = 0;                   // lanes with relaxed accesses of global words
  Mask fenced_ = 0;                    // lanes that have executed a fence
  Mask looked_alone_ = 0;              // lanes of relaxed loads, until their next fence
  Mask waited_alone_ = 0;              // of them, those of waits
  Mask stores_ = 0;                    // lanes that have begun bulk stores
  std::vector<InFlight> flights_;
  std::vector<BusyRegister> busy_;
  bool named_apart_ = false;  // a register may be on its way in some lanes, and not in others
  Fragment outdated_;         // what names of an accumulator are of behind the next wgmma to it
  /// The accumulator of the last wgmma, as long as nothing has touched its registers.
  struct {
    std::shared_ptr<Frame> frame;
    const Argument* registers = nullptr;  // AccumulatorRegisters::first
    Fragment data;
  } accumulator_;
  std::set<std::uint64_t> stored_maps_;  // where they begin, since their last release
  sim::CopiesOfWarp copies_;
};

}  // namespace warptwin::ptx
