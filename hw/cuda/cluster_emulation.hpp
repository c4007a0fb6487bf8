/// EMULATED: what Hopper's clusters lack: copies that a pair's leader counts, and cluster launch
/// control.
///
/// A bulk copy of Hopper counts its bytes where it writes them, or not at all (seen: one that names
/// another CTA's barrier completes neither, silently). The CTA that is not its pair's leader so
/// waits until its copy has landed, and counts the bytes in the leader itself. Copies wait for
/// nobody: neither does the warp, for longer than its copy is under way. All of its lanes wait:
/// ptxas takes a warp for one that is together wherever elect.sync's lane copies, and a lane that
/// waits alone comes apart from the others.

#pragma once

#include "common/machine/machine.hpp"

#include "hw/cuda/emulation_memory.hpp"
#include "hw/ptx/copy.hpp"
#include "hw/ptx/fence.hpp"
#include "hw/ptx/launch.hpp"
#include "hw/ptx/mbarrier.hpp"
#include "hw/ptx/warp.hpp"
#include "hw/ptx/words.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw {

/// A lane that shares a copy, and its part in it.
struct CopyingLane {
  bool issues;  // the copy; one lane does
  bool alone;   // it has no lanes beside it
};

class ClusterEmulation {
 public:
  /// `memory`: see `EmulationMemory`. `argument`: of the kernel, where its tensor maps stand;
  /// `base`: where the CTA's shared memory starts.
  WARPTWIN_HOST_DEVICE ClusterEmulation(std::uint32_t* memory,
                                        const void* argument,
                                        SharedAddress base)
      : memory_{memory}, argument_{static_cast<const char*>(argument)}, base_{base} {}

  /// Copies a box to this CTA, or to those of the mask, and counts it in the leader of each one's
  /// pair.
  ///
  /// Participants: the whole warp, or a lane alone. Blocks: until the copy has landed, if a CTA
  /// that does not lead receives it. Ends the kernel where other CTAs that do not lead receive it
  /// and this one does not.
  template <class At>  // Coordinates or PixelCoordinates
  WARPTWIN_HOST_DEVICE void load_to_pair(SharedAddress smem,
                                         const void* map,
                                         const At& at,
                                         Mbarrier bar,
                                         CtaMask multicast,
                                         CopyingLane lane) const {
    constexpr std::uint32_t kLeaders = 0x5555;
    const std::uint32_t rank = ptx::cluster_cta_rank();
    const std::uint32_t to = multicast.bits == 0 ? 1U << rank : std::uint32_t{multicast.bits};
    if (lane.issues) {
      if (to == 1U << rank && rank % 2 == 0) {
        ptx::cp_async_bulk_tensor_load(smem, map, at, bar, CtaMask{});
      } else if ((to & kLeaders) != 0) {
        const CtaMask leaders{static_cast<std::uint16_t>(to & kLeaders)};
        ptx::cp_async_bulk_tensor_load(smem, map, at, bar, leaders);
      }
    }
    const std::uint32_t others = to & ~kLeaders;
    if (others == 0) {
      return;
    }
    if ((others >> rank & 1U) == 0) {
      ptx::trap();
    }
    const std::uint32_t bytes = box_bytes(map);
    land(smem, map, at, bytes, lane);
    if (!lane.issues) {
      return;
    }
    for (std::uint32_t other = 1; other < ptx::cluster_cta_count(); other += 2) {
      if ((others >> other & 1U) != 0) {
        if (other != rank) {
          hand_on(smem, bytes, other);
        }
        // What the copy wrote is there for whoever sees the count; what overwrites it, after that.
        ptx::fence_proxy_async(ProxySpace::kAll);
        ptx::fence({Semantics::kAcqRel, Scope::kCluster});
        ptx::mbarrier_complete_tx(RemoteMbarrier{ptx::mapa(bar.address, other & ~1U)}, bytes);
      }
    }
  }

  /// Bytes of the box of a map in the kernel's argument; any other ends the kernel.
  WARPTWIN_HOST_DEVICE std::uint32_t box_bytes(const void* map) const {
    const auto place = static_cast<std::uint32_t>(static_cast<const char*>(map) - argument_) /
                       EmulationMemory::kMapUnit;
    const std::uint32_t bytes =
        place < EmulationMemory::kMapPlaces ? *control(0, EmulationMemory::kBoxBytes + place) : 0;
    if (bytes == 0) {
      ptx::trap();
    }
    return bytes;
  }

  // Cluster launch control. All clusters are launched; those that the launcher counts as resident
  // begin, and the others wait until somebody has drawn them: a request, which cancels them, or a
  // cluster that ends, in whose place they begin. They are drawn in order.

  /// Whether this cluster begins; else none of its warps runs the kernel.
  ///
  /// Participants: the whole warp. Blocks: until that is decided.
  WARPTWIN_HOST_DEVICE bool begins() {
    clusters_yield_ = true;
    if (ptx::cluster_index() < *control(0, EmulationMemory::kResidentClusters)) {
      return true;
    }
    std::uint32_t fate = EmulationMemory::kWaits;
    while (fate == EmulationMemory::kWaits) {
      fate = ptx::ld_acquire_global_u32(of_cluster(ptx::cluster_index(), EmulationMemory::kFate));
    }
    ptx::sync_warp();
    return fate == EmulationMemory::kBegins;
  }
  /// This warp has ended; the last one of a cluster makes room for another. `warps`: of a CTA.
  ///
  /// Participants: the whole warp. Blocks: never.
  WARPTWIN_HOST_DEVICE void ends(std::uint32_t warps, bool elected) const {
    ptx::sync_warp();
    if (elected) {
      const GlobalAddress ended = of_cluster(ptx::cluster_index(), EmulationMemory::kEndedWarps);
      const std::uint32_t before = ptx::atom_add_acq_rel_global_u32(ended, 1);
      if (before + 1 == warps * ptx::cluster_cta_count()) {
        draw(EmulationMemory::kBegins);
      }
    }
  }
  /// See `Machine`; the response's first word says whether it brought a cluster, the second is the
  /// index of its first CTA. Ends a kernel whose clusters run without `begins`: theirs is no work
  /// that can be claimed. Participants: each lane for itself.
  WARPTWIN_HOST_DEVICE void try_cancel(SharedAddress response, Mbarrier bar, bool multicast) const {
    if (!clusters_yield_) {
      ptx::trap();
    }
    const std::uint32_t cluster = draw(EmulationMemory::kCanceled);
    const bool canceled = cluster < ptx::cluster_count();
    const std::uint32_t words[4] = {
        canceled ? 1U : 0U, canceled ? cluster * ptx::cluster_cta_count() : 0U, 0, 0};
    for (std::uint32_t rank = 0; rank < ptx::cluster_cta_count(); ++rank) {
      if (multicast || rank == ptx::cluster_cta_rank()) {
        ptx::st_async_v4(
            ptx::mapa(response, rank), words, RemoteMbarrier{ptx::mapa(bar.address, rank)});
      }
    }
  }
  WARPTWIN_HOST_DEVICE static bool is_canceled(SharedAddress response) {
    return ptx::ld_shared_u32(response) != 0;
  }
  WARPTWIN_HOST_DEVICE static std::uint32_t first_cta(SharedAddress response) {
    return ptx::ld_shared_u32(response + 4);
  }

 private:
  WARPTWIN_HOST_DEVICE std::uint32_t* control(std::uint32_t cta, std::uint32_t word) const {
    return memory_ + EmulationMemory::kWordsPerCta * cta + EmulationMemory::kCells + word;
  }
  WARPTWIN_HOST_DEVICE GlobalAddress of_cluster(std::uint32_t cluster, std::uint32_t word) const {
    return ptx::global_address(control(cluster * ptx::cluster_cta_count(), word));
  }

  // The next cluster, which has not begun, and its fate; beyond the grid: there is none.
  WARPTWIN_HOST_DEVICE std::uint32_t draw(EmulationMemory::Fate fate) const {
    const GlobalAddress drawn = ptx::global_address(control(0, EmulationMemory::kDrawnClusters));
    const std::uint32_t cluster = *control(0, EmulationMemory::kResidentClusters) +
                                  ptx::atom_add_acq_rel_global_u32(drawn, 1);
    if (cluster < ptx::cluster_count()) {
      ptx::st_release_global_u32(of_cluster(cluster, EmulationMemory::kFate), fate);
    }
    return cluster;
  }

  // Copies a box to this CTA, with an mbarrier behind the storage: the lane's own, or that of the
  // warp's first.
  template <class At>
  WARPTWIN_HOST_DEVICE void land(SharedAddress smem,
                                 const void* map,
                                 const At& at,
                                 std::uint32_t bytes,
                                 CopyingLane lane) const {
    const std::uint32_t thread =
        lane.alone ? ptx::thread_index() : ptx::thread_index() / kWarpLanes * kWarpLanes;
    const Mbarrier landed{base_ + (ptx::dynamic_shared_bytes() -
                                   EmulationMemory::shared_bytes(ptx::thread_count() - thread))};
    if (lane.issues) {
      ptx::mbarrier_init(landed, 1);
      ptx::fence_mbarrier_init();
      ptx::fence_proxy_async(ProxySpace::kSharedCta);
      ptx::mbarrier_arrive_expect_tx(landed, bytes);
      ptx::cp_async_bulk_tensor_load(smem, map, at, landed, CtaMask{});
    }
    follow(lane);
    while (!ptx::mbarrier_try_wait_parity(landed, 0, kAcquireCluster)) {
    }
    follow(lane);
    if (lane.issues) {
      ptx::mbarrier_inval(landed);
    }
  }
  WARPTWIN_HOST_DEVICE static void follow(CopyingLane lane) {
    if (!lane.alone) {
      ptx::sync_warp();
    }
  }

  // The same bytes at the same place of another CTA of the cluster.
  WARPTWIN_HOST_DEVICE static void hand_on(SharedAddress smem,
                                           std::uint32_t bytes,
                                           std::uint32_t rank) {
    for (std::uint32_t at = 0; at < bytes; at += 16) {
      std::uint32_t words[4];
      ptx::ld_shared_v4(words, smem + at);
      ptx::st_cluster_v4(ptx::mapa(smem + at, rank), words);
    }
  }

  std::uint32_t* memory_;
  const char* argument_;
  SharedAddress base_;
  bool clusters_yield_ = false;  // known wherever `begins` is inlined
};

}  // namespace warptwin::hw

#pragma GCC diagnostic pop
