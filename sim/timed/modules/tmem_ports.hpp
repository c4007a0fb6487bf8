/// The tensor-memory ports of one SM, one for each sub-partition: loads and stores of warps, slower
/// while the tensor core uses the same memory.

#pragma once

#include <array>

#include "sim/timed/modules/agenda.hpp"
#include "sim/timed/modules/completions.hpp"
#include "sim/timed/modules/fabric.hpp"
#include "sim/timed/modules/tensor_core.hpp"

namespace warptwin::sim {

inline constexpr std::uint32_t kSubPartitions = 4;

class TmemPorts : public Agenda<Errand> {
 public:
  TmemPorts(const sc_core::sc_module_name& name,
            Timeline& timeline,
            const Chip& chip,
            const TensorCore& tensor,
            Completions& completions,
            CauseLog* log = nullptr)
      : Agenda{name, timeline},
        chip_{chip},
        tensor_{tensor},
        completions_{completions},
        log_{log} {}

  /// A tcgen05.ld or .st of `bytes` by a warp of sub-partition `part`; steps `slot` when done.
  void move(std::uint32_t part, double bytes, AgentSlot slot) {
    const Ticks end = ports_[part].reserve(now(), to_ticks(bytes / chip_.tmem_rate));
    const double beside = tensor_.busy_at(now()) ? chip_.tmem_busy_latency : 0.0;
    // One warp's are done in order: a later one does not overtake.
    done_[part] = std::max(done_[part], end + to_ticks(chip_.tmem_latency + beside));
    Causes& causes = causes_[part];
    causes.port = add_step(log_, Unit::kTmemPort, end, acting_in(log_), causes.port);
    causes.done = add_step(log_, Unit::kTmemLatency, done_[part], causes.port, causes.done);
    at(done_[part], {slot, causes.done});
  }
  const Port& port(std::uint32_t part) const { return ports_[part]; }

 private:
  struct Causes {
    Cause port = kNoCause;
    Cause done = kNoCause;
  };

  void due(const Errand& errand) override { step(completions_, log_, errand.slot, errand.cause); }

  const Chip& chip_;
  const TensorCore& tensor_;
  Completions& completions_;
  std::array<Port, kSubPartitions> ports_;
  std::array<Ticks, kSubPartitions> done_{};
  CauseLog* log_;
  std::array<Causes, kSubPartitions> causes_{};
};

}  // namespace warptwin::sim
