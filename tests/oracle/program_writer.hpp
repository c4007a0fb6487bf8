/// Writes programs operation by operation, in the words of the machine: what the drawn programs and
/// the hand-written ones of the tests are made with.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "common/machine/umma_descriptor.hpp"

#include "sim/program/program.hpp"

namespace warptwin::sim {

/// Appends operations to one warp. Operations of one lane are the elected lane's.
class WarpWriter {
 public:
  explicit WarpWriter(std::vector<Instruction>& code) : code_{&code} {}

  /// The number of the next instruction: a jump's target.
  std::uint32_t next() const { return static_cast<std::uint32_t>(code_->size()); }
  /// Appends `operation` as it is.
  Instruction& append(const Operation& operation);

  // mbarriers of the own CTA, by one lane
  Instruction& init(std::uint32_t bar, std::uint32_t count);
  Instruction& inval(std::uint32_t bar);
  Instruction& fence_mbarrier_init();
  Instruction& arrive(std::uint32_t bar, std::uint32_t count = 1, Ordering ordering = kReleaseCta);
  Instruction& arrive_remote(std::uint32_t bar,
                             std::uint32_t rank,
                             Ordering ordering = kReleaseCluster);
  Instruction& arrive_expect(std::uint32_t bar, std::uint32_t bytes);
  Instruction& expect(std::uint32_t bar, std::uint32_t bytes);
  /// A wait of the whole warp for phase `phase`; `exact` false names its parity alone.
  Instruction& wait(std::uint32_t bar,
                    std::uint32_t phase,
                    bool exact = true,
                    Ordering ordering = kAcquireCta);
  /// Leaves its answer in register `result`.
  Instruction& try_wait(std::uint32_t bar,
                        std::uint32_t phase,
                        std::uint32_t result,
                        bool exact = true,
                        Ordering ordering = kAcquireCta);

  // Barriers and fences of the whole warp, but for fence_proxy, which is one lane's
  Instruction& sync_warp();
  Instruction& elect_sync();
  Instruction& bar_sync(std::uint32_t id, std::uint32_t threads);
  Instruction& bar_arrive(std::uint32_t id, std::uint32_t threads);
  Instruction& cta_sync() { return bar_sync(0, 0); }
  Instruction& cluster_arrive(Ordering ordering = kReleaseCluster);
  Instruction& cluster_wait();
  Instruction& fence(Ordering ordering);
  Instruction& fence_proxy(ProxySpace space = ProxySpace::kSharedCta);
  Instruction& fence_before();
  Instruction& fence_after();

  // Copies, by one lane
  Instruction& load(std::uint32_t to,
                    std::uint64_t from,
                    std::uint32_t bytes,
                    std::uint32_t bar,
                    CtaMask mask = {});
  Instruction& store(std::uint64_t to, std::uint32_t from, std::uint32_t bytes);
  Instruction& commit_group();
  Instruction& wait_group(std::uint32_t pending, bool read = false);

  // Tensor memory
  Instruction& alloc(std::uint32_t word, std::uint32_t columns, CtaGroup group = CtaGroup::kOne);
  Instruction& dealloc(std::uint32_t address,
                       std::uint32_t columns,
                       CtaGroup group = CtaGroup::kOne);
  Instruction& relinquish(CtaGroup group = CtaGroup::kOne);
  /// D of 128 rows and kOutputColumns columns at `d`; A and B, K-major without swizzle, both begin
  /// at `tile`, of which A takes kOperandBytes. By one lane.
  Instruction& mma(std::uint32_t d,
                   std::uint32_t tile,
                   bool accumulate = false,
                   CtaGroup group = CtaGroup::kOne);
  /// 128 lanes and 4 columns at `to`, from the first half of each eight rows of `tile`. By one
  /// lane.
  Instruction& cp(std::uint32_t to, std::uint32_t tile);
  /// Of any source and shape.
  Instruction& cp(std::uint32_t to, std::uint64_t source, TmemCopy shape);
  /// An MMA of any operands: descriptors of shared memory.
  Instruction& multiply(std::uint32_t d,
                        std::uint64_t a,
                        std::uint64_t b,
                        UmmaInstructionDescriptor instruction,
                        bool accumulate = false);
  /// The same of a block-scaled kind, with its factors' places in tensor memory.
  Instruction& multiply_scaled(std::uint32_t d,
                               std::uint64_t a,
                               std::uint64_t b,
                               UmmaInstructionDescriptor instruction,
                               std::uint32_t scale_a,
                               std::uint32_t scale_b);
  Instruction& commit(std::uint32_t bar, CtaMask mask = {}, CtaGroup group = CtaGroup::kOne);
  // The MMA of a warpgroup: D of 64 rows, kOutputColumns columns in a fragment; A and B as of mma
  Instruction& wgmma_fence();
  Instruction& wgmma(std::uint32_t tile, std::uint32_t fragment, bool accumulate);
  Instruction& wgmma_commit();
  Instruction& wgmma_wait(std::uint32_t pending, std::uint32_t fragment);
  Instruction& ld(std::uint32_t address, std::uint32_t columns, std::uint32_t fragment);
  Instruction& st(std::uint32_t address, std::uint32_t columns, std::uint32_t fragment);
  Instruction& wait_ld(std::uint32_t fragment, std::uint32_t columns);
  /// Its registers are read.
  Instruction& use(std::uint32_t fragment, std::uint32_t registers);
  Instruction& wait_st();

  // Tiles from registers: a row of f32 to each lane; a warp's rows of a wgmma's D
  Instruction& rows(std::uint32_t tile,
                    std::uint32_t fragment,
                    std::uint32_t registers,
                    Swizzle swizzle);
  Instruction& accumulator(std::uint32_t tile, std::uint32_t row, std::uint32_t fragment);

  // Copies through tensor map `map` of two dimensions, and changes of it, by one lane
  Instruction& tensor_load(std::uint32_t to,
                           std::uint32_t map,
                           std::uint32_t column,
                           std::uint32_t row,
                           std::uint32_t bar);
  Instruction& tensor_store(std::uint32_t map,
                            std::uint32_t column,
                            std::uint32_t row,
                            std::uint32_t from);
  Instruction& replace_map(std::uint32_t map, std::uint64_t address);
  Instruction& release_maps();
  Instruction& acquire_map(std::uint32_t map);

  // Words, by one lane
  Instruction& read(std::uint32_t address, std::uint32_t result = Instruction::kNone);
  Instruction& write(std::uint32_t address, std::uint32_t value);
  Instruction& global_write(std::uint64_t address, std::uint32_t value);
  Instruction& global_add(std::uint64_t address, std::uint32_t value);
  Instruction& global_poll(std::uint64_t address, std::uint32_t value);
  Instruction& global_read(std::uint64_t address, std::uint32_t result);

  // Launch
  Instruction& clc_request(std::uint32_t response, std::uint32_t bar, CtaMask mask = {});
  Instruction& clc_canceled(std::uint32_t response, std::uint32_t result);
  Instruction& griddepcontrol_wait();
  Instruction& griddepcontrol_launch();
  Instruction& setmaxnreg(std::uint32_t registers, bool increase);

  /// What the protocol layer says of stage `index`, in lap `lap`, of the ring of `stages` stages
  /// whose first full barrier is `full`.
  Instruction& note(std::uint32_t full,
                    std::uint32_t stages,
                    StageStep step,
                    std::uint32_t index,
                    std::uint32_t lap);

  /// To instruction `target` where register `tested` is `value`, or is not if `negated`.
  Instruction& jump_if(std::uint32_t tested,
                       std::uint32_t value,
                       bool negated,
                       std::uint32_t target);
  Instruction& jump(std::uint32_t target);

 private:
  std::vector<Instruction>* code_;
};

/// Bytes of the A operand of `WarpWriter::mma`.
inline constexpr std::uint32_t kOperandBytes = 4096;
/// Columns of tensor memory that its D takes.
inline constexpr std::uint32_t kOutputColumns = 16;

/// The descriptor of a K-major tile without swizzle, eight rows of 32 bytes after the other.
std::uint64_t plain_operand(std::uint32_t tile);

/// Where things are in every program that is written here: 16 mbarriers, 16 words of 16 bytes each,
/// tiles of kOperandBytes; in global memory an input, a target, and flags.
struct ProgramPlaces {
  static constexpr std::uint32_t kBarriers = 16;
  static constexpr std::uint32_t kWords = 16;
  static constexpr std::uint32_t kTiles = 4;
  static constexpr std::uint32_t kFirst = 1024;
  static constexpr std::uint32_t bar(std::uint32_t i) { return kFirst + 8 * i; }
  static constexpr std::uint32_t word(std::uint32_t i) { return kFirst + 128 + 16 * i; }
  static constexpr std::uint32_t tile(std::uint32_t i) { return 2048 + kOperandBytes * i; }
  static constexpr std::uint32_t kSource = 0, kTarget = 1, kFlags = 2;  // tensors
  static constexpr std::uint32_t kBufferBytes = kOperandBytes;
};

/// A program without instructions: `warps` warps in each of `clusters` x `cluster_size` CTAs, and
/// the places above.
Program empty_program(const std::string& name,
                      std::uint32_t warps,
                      std::uint32_t cluster_size = 1,
                      std::uint32_t clusters = 1);

/// The writer of warp `warp` of CTA `cta` of the grid.
WarpWriter warp_of(Program& program, std::uint32_t cta, std::uint32_t warp);

}  // namespace warptwin::sim
