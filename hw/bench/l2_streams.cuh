/// Streams of boxes from L2: one thread of each SM keeps some on their way, of lines of its own or
/// of those that others read, too.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hw/bench/l2_places.cuh"

namespace warptwin::hw::bench {

#ifdef __CUDACC__

namespace {

inline constexpr std::uint32_t kBox = 8192;
inline constexpr std::uint32_t kDepthMost = 24;
inline constexpr std::uint32_t kBoxesOfStream =
    32;  // then from the first one again: L2 has them all
inline constexpr std::uint32_t kNotes = 64;
inline constexpr std::uint32_t kEach = 16;  // boxes from note to note
inline constexpr std::uint32_t kIdle = ~0U;

/// What one SM loads.
struct Part {
  std::uint32_t stream;  // kIdle: loads nothing
  std::uint32_t delay;   // cycles, before the first load
};

/// `count` is 0 before. All begin together, but for their delays.
__global__ void __launch_bounds__(32, 1) stream_boxes(const char* data,
                                                      const Part* parts,
                                                      std::uint32_t depth,
                                                      std::uint32_t active,
                                                      std::uint32_t* count,
                                                      std::uint32_t* notes) {
  extern __shared__ __align__(1024) char boxes[];
  __shared__ __align__(8) std::uint64_t barriers[kDepthMost];
  const Part part = parts[own_sm()];
  const auto came = [&](std::uint32_t n) {
    while (*static_cast<volatile std::uint32_t*>(count) < n) {
    }
  };
  if (threadIdx.x != 0) {
    return;
  }
  if (part.stream == kIdle) {
    came(active);
    return;
  }
  const auto address = [](const void* at) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
  };
  for (std::uint32_t i = 0; i < depth; ++i) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&barriers[i])));
  }
  asm volatile("fence.mbarrier_init.release.cluster;");
  atomicAdd(count, 1);
  came(active);
  const std::uint64_t begin = clock64();
  while (clock64() - begin < part.delay) {
  }
  const char* from = data + std::size_t{part.stream} * kBoxesOfStream * kBox;
  const auto issue = [&](std::uint32_t box, std::uint32_t stage) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address(&barriers[stage])),
        "r"(kBox));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(address(boxes + stage * kBox)),
        "l"(from + std::size_t{box % kBoxesOfStream} * kBox),
        "r"(kBox),
        "r"(address(&barriers[stage]))
        : "memory");
  };
  for (std::uint32_t i = 0; i < depth; ++i) {
    issue(i, i);
  }
  std::uint32_t stage = 0;
  std::uint32_t parity = 0;
  const auto wait = [&] {
    std::uint32_t done = 0;
    while (done == 0) {
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; "
          "}"
          : "=r"(done)
          : "r"(address(&barriers[stage])), "r"(parity)
          : "memory");
    }
  };
  const auto advance = [&] {
    if (++stage == depth) {
      stage = 0;
      parity ^= 1;
    }
  };
  for (std::uint32_t i = 0; i < kNotes * kEach; ++i) {
    wait();
    if (i % kEach == kEach - 1) {
      notes[own_sm() * kNotes + i / kEach] = static_cast<std::uint32_t>(clock64() - begin);
    }
    issue(i + depth, stage);
    advance();
  }
  for (std::uint32_t i = 0; i < depth; ++i) {
    wait();
    advance();
  }
}

/// All SMs, and the GPC of each.
class Ports {
 public:
  Ports() : sms_{sm_count()}, gpc_{gpcs_of(sms_)} {}
  std::uint32_t sms() const { return sms_; }
  const std::vector<std::uint32_t>& gpc() const { return gpc_; }

  /// When each note of each SM was made; the second of two runs.
  std::vector<std::uint32_t> run(const std::vector<Part>& parts, std::uint32_t depth) {
    SharedWithDevice<Part> given{kSmsMost};
    std::uint32_t active = 0;
    for (std::uint32_t sm = 0; sm < sms_; ++sm) {
      given[sm].stream = parts[sm].stream;
      given[sm].delay = parts[sm].delay;
      active += parts[sm].stream == kIdle ? 0 : 1;
    }
    DeviceBuffer notes{sizeof(std::uint32_t) * kNotes * kSmsMost, 0};
    for (int i = 0; i < 2; ++i) {
      DeviceBuffer count{sizeof(std::uint32_t), 0};
      const char* data = data_.get<char>();
      const Part* in = given.get();
      auto* arrived = count.get<std::uint32_t>();
      auto* to = notes.get<std::uint32_t>();
      void* arguments[] = {&data, &in, &depth, &active, &arrived, &to};
      launch(reinterpret_cast<const void*>(&stream_boxes),
             {sms_, 1, 32, kDepthMost * kBox + 1024},
             arguments,
             nullptr);
      synchronize(nullptr);
    }
    std::vector<std::uint32_t> all(kNotes * sms_);
    require_cuda(
        cudaMemcpy(
            all.data(), notes.get(), sizeof(std::uint32_t) * all.size(), cudaMemcpyDeviceToHost),
        "cudaMemcpy",
        "the kernel before it failed");
    return all;
  }

 private:
  std::uint32_t sms_;
  std::vector<std::uint32_t> gpc_;
  DeviceBuffer data_{std::size_t{kSmsMost} * kBoxesOfStream * kBox, 0};
};

/// Bytes a cycle, from note `first` to note `last`.
inline double rate(const std::vector<std::uint32_t>& notes,
                   std::uint32_t sm,
                   std::uint32_t first,
                   std::uint32_t last) {
  const std::uint32_t spent = notes[sm * kNotes + last] - notes[sm * kNotes + first];
  return spent == 0 ? 0 : double{kBox} * kEach * (last - first) / spent;
}

/// Their mean over `of`, while all load: the first ones to end do so at about note 40.
inline double mean_rate(const std::vector<std::uint32_t>& notes,
                        const std::vector<std::uint32_t>& of) {
  double sum = 0;
  for (const std::uint32_t sm : of) {
    sum += rate(notes, sm, 4, 38);
  }
  return of.empty() ? 0 : sum / static_cast<double>(of.size());
}

/// SMs of each GPC, by its number.
inline std::vector<std::vector<std::uint32_t>> members_of(const std::vector<std::uint32_t>& gpcs) {
  std::vector<std::vector<std::uint32_t>> members;
  for (std::uint32_t sm = 0; sm < gpcs.size(); ++sm) {
    members.resize(std::max<std::size_t>(members.size(), gpcs[sm] + 1));
    members[gpcs[sm]].push_back(sm);
  }
  return members;
}

/// By which GPC's port each SM asks L2: its own; or, of a TPC that no cluster joins with others,
/// that of the GPC whose SMs get less beside it, each of lines of its own, and of the smallest one
/// where no other's do.
inline std::vector<std::uint32_t> asked_ports(Ports& ports) {
  constexpr std::uint32_t kTpc = 2;
  constexpr std::uint32_t kDepth = kDepthMost;
  constexpr double kLess = 0.95;  // a port of 16 SMs that serves 18 gives each 11 % less
  const auto members = members_of(ports.gpc());
  const auto rate_beside = [&](std::uint32_t gpc, const std::vector<std::uint32_t>& beside) {
    std::vector<Part> parts(ports.sms(), Part{kIdle, 0});
    for (const std::uint32_t sm : members[gpc]) {
      parts[sm] = {sm, 0};
    }
    for (const std::uint32_t sm : beside) {
      parts[sm] = {sm, 0};
    }
    return mean_rate(ports.run(parts, kDepth), members[gpc]);
  };
  std::uint32_t smallest = 0;
  for (std::uint32_t gpc = 0; gpc < members.size(); ++gpc) {
    if (members[gpc].size() > kTpc && members[gpc].size() < members[smallest].size()) {
      smallest = gpc;
    }
  }
  std::vector<std::uint32_t> asked = ports.gpc();
  for (const auto& lone : members) {
    for (std::uint32_t gpc = 0; gpc < members.size() && lone.size() <= kTpc; ++gpc) {
      const bool less = gpc != smallest && members[gpc].size() > kTpc &&
                        rate_beside(gpc, lone) < kLess * rate_beside(gpc, {});
      for (const std::uint32_t sm : lone) {
        asked[sm] = less ? gpc : asked[sm] == ports.gpc()[sm] ? smallest : asked[sm];
      }
    }
  }
  return asked;
}

/// On which SM each CTA of a grid is that fills the GPU.
inline std::vector<std::uint32_t> sms_of_ctas(std::uint32_t sms) {
  SharedWithDevice<std::uint32_t> where_it_was{sms};
  for (int round = 0; round < 2; ++round) {  // a grid begins with the GPC behind the last one's
    std::uint32_t* to = where_it_was.get();
    void* arguments[] = {&to};
    launch(reinterpret_cast<const void*>(&where), {sms, 1, 32, 200 * 1024}, arguments, nullptr);
    synchronize(nullptr);
  }
  return {where_it_was.get(), where_it_was.get() + sms};
}

}  // namespace

#endif  // __CUDACC__

}  // namespace warptwin::hw::bench
