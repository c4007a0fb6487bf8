/// EMULATED: tensor memory and its MMA for GPUs that have neither, that the one kernel text runs
/// there.
///
/// Tensor memory is a piece of global memory for each CTA; the MMA is a loop of the calling lanes.
/// Right and very slow: for tests of the protocol, never for timings. One CTA per MMA only.

#pragma once

#include <cstdio>

#include "common/machine/umma_descriptor.hpp"

#include "hw/ptx/address.hpp"
#include "hw/ptx/fence.hpp"
#include "hw/ptx/mbarrier.hpp"
#include "hw/ptx/warp.hpp"
#include "hw/ptx/words.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw {

/// One warp's view of its CTA's emulated tensor memory.
///
/// Lanes that compute a row of D and lanes that read it are ordered as any global accesses are: by
/// the fence and the arrival in `commit`, and the wait for that arrival.
class TmemEmulation {
 public:
  /// Cells of one CTA, of 32 bits; column-major, so that the lanes of a warp touch one line.
  static constexpr std::uint32_t kCells = kTmemLanes * kTmemColumns;

  /// `scratch` is for the whole grid: kCells words for each CTA.
  WARPTWIN_HOST_DEVICE explicit TmemEmulation(std::uint32_t* scratch)
      : cells_{scratch + std::size_t{kCells} * ptx::cta_index()} {}

  /// Ends the kernel, with a message, where the text asks for a pair of CTAs.
  WARPTWIN_HOST_DEVICE static void require_one_cta(CtaGroup group) {
    NV_IF_TARGET(NV_IS_DEVICE, (if (group == CtaGroup::kTwo) {
                   std::printf(
                       "warptwin: CTA %u: tcgen05 emulation has no pairs of CTAs; "
                       "run this kernel on sm_100a\n",
                       blockIdx.x);
                   __trap();
                 }))
  }

  /// Columns follow each other in the order they are asked for; one warp asks for all.
  ///
  /// Participants: the whole warp. Blocks: never; ends the kernel when there are none left.
  WARPTWIN_HOST_DEVICE void alloc(SharedAddress word, std::uint32_t columns, bool elected) {
    if (used_ + columns > kTmemColumns) {
      ptx::trap();
    }
    if (elected) {
      ptx::st_shared_u32(word, used_);
    }
    used_ += columns;
    ptx::sync_warp();
  }
  /// The columns can be had again once all later ones have been freed too.
  WARPTWIN_HOST_DEVICE void dealloc(TmemAddress address, std::uint32_t columns) {
    if (address.column() + columns == used_) {
      used_ = address.column();
    }
  }

  /// D = A * B^T (+ D), rows `first`, `first + step`... of D; done when it returns.
  WARPTWIN_HOST_DEVICE void mma(TmemAddress d,
                                UmmaSmemDescriptor a,
                                UmmaSmemDescriptor b,
                                UmmaInstructionDescriptor instruction,
                                bool accumulate,
                                std::uint32_t first,
                                std::uint32_t step) const {
    const bool half = instruction.m() == 64;
    for (std::uint32_t m = first; m < instruction.m(); m += step) {
      const std::uint32_t lane = half ? 32 * (m / 16) + m % 16 : m;
      for (std::uint32_t n = 0; n < instruction.n(); ++n) {
        std::uint32_t& cell = at(d.at_lane(lane).at_column(n));
        const float sum = accumulate ? std::bit_cast<float>(cell) : 0.0F;
        cell = std::bit_cast<std::uint32_t>(sum + dot(a, b, instruction, m, n));
      }
    }
  }
  /// Makes D and the end of the reads of A and B known to whoever sees the arrival.
  ///
  /// Participants: all lanes that computed; `lanes_follow` when that is the whole warp.
  WARPTWIN_HOST_DEVICE void commit(Mbarrier bar,
                                   CtaMask mask,
                                   bool arrives,
                                   bool lanes_follow) const {
    ptx::fence({Semantics::kAcqRel, Scope::kGpu});
    ptx::fence_proxy_async(ProxySpace::kSharedCta);
    if (lanes_follow) {
      ptx::sync_warp();
    }
    if (!arrives) {
      return;
    }
    if (mask.bits == 0) {
      ptx::mbarrier_arrive(bar, 1, kReleaseCluster);
    }
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      if (mask.contains(rank)) {
        ptx::mbarrier_arrive(RemoteMbarrier{ptx::mapa(bar.address, rank)}, 1, kReleaseCluster);
      }
    }
  }

  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void ld(std::uint32_t (&registers)[kRegisters], TmemAddress address) const {
    const TmemAddress row = address.at_lane(ptx::lane_index());
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kRegisters; ++i) {
      registers[i] = at(row.at_column(i));
    }
  }
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void st(TmemAddress address,
                               const std::uint32_t (&registers)[kRegisters]) const {
    const TmemAddress row = address.at_lane(ptx::lane_index());
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kRegisters; ++i) {
      at(row.at_column(i)) = registers[i];
    }
  }

 private:
  WARPTWIN_HOST_DEVICE std::uint32_t& at(TmemAddress address) const {
    return cells_[address.column() * kTmemLanes + address.lane()];
  }

  // One element of the product: 32 bytes of row m of A and of row n of B.
  WARPTWIN_HOST_DEVICE static float dot(UmmaSmemDescriptor a,
                                        UmmaSmemDescriptor b,
                                        UmmaInstructionDescriptor instruction,
                                        std::uint32_t m,
                                        std::uint32_t n) {
    const std::uint32_t bits = 8 * bytes_of(instruction.a_type());
    const std::uint32_t mask = bits == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << bits) - 1;
    float sum = 0.0F;
    for (std::uint32_t k = 0; k < 32; k += 4) {
      const std::uint32_t word_a = ptx::ld_shared_u32(operand_word(a, m, k));
      const std::uint32_t word_b = ptx::ld_shared_u32(operand_word(b, n, k));
      for (std::uint32_t shift = 0; shift < 32; shift += bits) {
        sum += decode(instruction.a_type(), (word_a >> shift) & mask) *
               decode(instruction.b_type(), (word_b >> shift) & mask);
      }
    }
    return sum;
  }

  // Where byte k of a K-major operand's row lies. Swizzled: groups of eight rows one span apart.
  // Unswizzled: pieces of eight rows by 16 bytes. The pattern is anchored at the address, so it is
  // applied to the address.
  WARPTWIN_HOST_DEVICE static SharedAddress operand_word(UmmaSmemDescriptor descriptor,
                                                         std::uint32_t row,
                                                         std::uint32_t k) {
    const Swizzle swizzle = swizzle_of_code(descriptor.swizzle_code());
    const std::uint32_t group = descriptor.start().value + row / 8 * descriptor.stride_bytes();
    if (swizzle == Swizzle::kNone) {
      return {group + row % 8 * 16 + k / 16 * descriptor.leading_bytes() + k % 16};
    }
    return {swizzled(group + row % 8 * static_cast<std::uint32_t>(swizzle) + k, swizzle)};
  }
  WARPTWIN_HOST_DEVICE static Swizzle swizzle_of_code(std::uint32_t code) {
    return code == 2   ? Swizzle::k128B
           : code == 4 ? Swizzle::k64B
           : code == 6 ? Swizzle::k32B
                       : Swizzle::kNone;
  }

  std::uint32_t* cells_;
  std::uint32_t used_ = 0;
};

}  // namespace warptwin::hw

#pragma GCC diagnostic pop
