/// A role that does nothing is said; roles that do not fit kRoles are refused.

#include "sim/run/proof/role_work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/proof.hpp"
#include "sim/run/instantiate.hpp"
#include "sim/run/proof/prove.hpp"
#include "tests/support/small_kernel.hpp"

namespace warptwin::sim::role_work_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using tests::SmallKernel;

constexpr Mbarrier kBarrier{{2048}};

// A producer that arrives and a consumer that waits, or does not.
SmallKernel handshake(Role second, bool waits) {
  SmallKernel kernel;
  kernel.roles = {{Role::kProducer, 1}, {second, 2}};
  kernel.body = [waits](SimMachine& m, const ParameterSet&, GlobalAddress) {
    if (m.warp_index() == 0) {
      m.elect_one([&] {
        m.mbarrier_init(kBarrier, 1);
        m.fence_mbarrier_init();
      });
      m.sync_warp();
    }
    m.cta_sync();
    if (m.warp_index() == 0) {
      m.elect_one([&] { m.mbarrier_arrive(kBarrier); });
    } else if (waits) {
      m.mbarrier_wait_parity(kBarrier, WaitPhase::number(0));
      m.sync_warp();
    }
    m.cta_sync();
  };
  return kernel;
}

ProofResult proof_of(const SmallKernel& kernel) {
  ProofOptions options;
  options.run.moves_data = false;
  return prove(entry_of(kernel), ParameterSet{kernel.parameters}, options);
}

TEST(RoleWorkTest, ARoleWithoutAnOperationOfItsOwnIsSaidInTextAndJson) {
  const SmallKernel kernel = handshake(Role::kConsumer, false);
  const ProofResult result = proof_of(kernel);
  EXPECT_EQ(result.verdict, ProofVerdict::kProved);
  EXPECT_THAT(result.idle_roles, ElementsAre("consumer"));
  EXPECT_THAT(result.strength(), HasSubstr("\nnote: role consumer did nothing"));
  const Json json = json_of(result, entry_of(kernel), ParameterSet{kernel.parameters});
  EXPECT_EQ(json["idle_roles"], Json({"consumer"}));
}

TEST(RoleWorkTest, RolesThatWorkAndIdleWarpsAreNotSaid) {
  EXPECT_THAT(proof_of(handshake(Role::kConsumer, true)).idle_roles, IsEmpty());
  const ProofResult idle = proof_of(handshake(Role::kIdle, false));
  EXPECT_THAT(idle.idle_roles, IsEmpty());
  EXPECT_THAT(idle.strength(), Not(HasSubstr("note")));
}

constexpr Parameter kWarps[] = {{"warps", "of the consumer", 1, 1, 4}};

struct Consumers {
  static constexpr ScenarioInfo kInfo{"consumers", ScenarioKind::kClean, "one role"};
  struct Extents {
    std::uint32_t warps;
  };
  template <class M, class E>
  struct Kernel {
    static constexpr RoleTable kRoles{RoleWarps{Role::kConsumer, 2}};
    static constexpr auto roles(const E& extents) {
      return RoleTable{RoleWarps{Role::kConsumer, extents.warps}};
    }
    struct Problem {
      E extents;
    };
    struct Storage {
      constexpr Storage(auto& layout, const E&) { static_cast<void>(layout); }
      constexpr void init(M&) const {}
    };
    static Problem problem(const ParameterSet&,
                           const E& extents,
                           std::span<const typename M::TensorMap>,
                           std::span<const GlobalAddress>) {
      return {extents};
    }
    static constexpr void consumer(M& machine, const Problem&, const Storage&) {
      machine.sync_warp();
    }
  };
  static std::span<const Parameter> parameters() { return kWarps; }
  static Extents extents(const ParameterSet& p) { return {p.u32("warps")}; }
  static Workload workload(const ParameterSet&) { return {}; }
  static void reference(const ParameterSet&, std::span<HostTensor>) {}
};

TEST(RoleWorkTest, MoreWarpsThanKRolesGivesARoleAreRefused) {
  const ScenarioEntry entry = instantiate<Consumers>();
  ParameterSet parameters{kWarps};
  parameters.set("warps", 2);
  EXPECT_EQ(entry.symbols(parameters).roles.size(), 1U);
  parameters.set("warps", 3);
  try {
    entry.symbols(parameters);
    FAIL() << "must be refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("roles() gives role 'consumer' 3 warps"));
  }
}

}  // namespace
}  // namespace warptwin::sim::role_work_test
