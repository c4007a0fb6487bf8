#include "common/machine/roles.hpp"

#include <gtest/gtest.h>

namespace warptwin::roles_test {
namespace {

constexpr RoleTable kRoles{
    RoleWarps{Role::kEpilogue, 4}, RoleWarps{Role::kMma, 1}, RoleWarps{Role::kLoad, 2}};

TEST(RoleTableTest, RolesTakeTheirWarpsInOrder) {
  EXPECT_EQ(kRoles.warps(), 7U);
  EXPECT_EQ(kRoles.role_of(0), Role::kEpilogue);
  EXPECT_EQ(kRoles.role_of(3), Role::kEpilogue);
  EXPECT_EQ(kRoles.role_of(4), Role::kMma);
  EXPECT_EQ(kRoles.role_of(6), Role::kLoad);
  EXPECT_EQ(kRoles.first_warp(Role::kLoad), 5U);
  EXPECT_EQ(kRoles.lanes(Role::kEpilogue), 128U);
}

TEST(RoleTableTest, AWarpBeyondTheTableHasNoRoleAndAnAbsentRoleNoWarps) {
  EXPECT_EQ(kRoles.role_of(7), Role::kCount);
  EXPECT_EQ(kRoles.warps(Role::kSoftmax), 0U);
  EXPECT_STREQ(name_of(Role::kCount), "none");
}

}  // namespace
}  // namespace warptwin::roles_test
