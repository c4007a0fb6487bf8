#include "sim/ptx/lanes/scalar.hpp"

#include <gmock/gmock.h>

namespace warptwin::ptx::scalar_test {
namespace {

// The first modifier of each choice that has to be made.
Modifiers least_modifiers(const Form& form) {
  Modifiers modifiers;
  modifiers.words = form.base;
  for (const ModifierChoice& choice : form.choices) {
    for (std::size_t word = 0; word < choice.of.size() && !choice.optional; ++word) {
      if (choice.of[word]) {
        modifiers.words.set(word);
        break;
      }
    }
  }
  return modifiers;
}

// Every choice of types of a form.
std::vector<std::vector<Type>> type_lists(const Form& form) {
  std::vector<std::vector<Type>> lists{{}};
  for (const auto& place : form.types) {
    std::vector<std::vector<Type>> longer;
    for (const auto& begun : lists) {
      for (const Type type : place) {
        longer.push_back(begun);
        longer.back().push_back(type);
      }
    }
    lists = std::move(longer);
  }
  return lists;
}

TEST(PtxScalar, EveryScalarFormOfTheTableIsCarriedOut) {
  std::size_t count = 0;
  for (const Form& form : forms()) {
    if (form.group != Group::kScalar) {
      continue;
    }
    for (const auto& types : type_lists(form)) {
      Instruction instruction;
      instruction.modifiers = least_modifiers(form);
      for (const Type type : types) {
        instruction.modifiers.add(name_of(type));
      }
      Op op;
      op.form = &form;
      op.source = &instruction;
      op.count = static_cast<std::uint32_t>(form.operands.size());
      const Scalar found = find_scalar(op);
      EXPECT_NE(found.execute, nullptr) << form.name << " ." << name_of(types.at(0));
      EXPECT_NE(found.poison, nullptr);
      ++count;
    }
  }
  EXPECT_GT(count, 400U);
}

TEST(PtxScalar, OtherGroupsAreNotCarriedOutHere) {
  Instruction instruction;
  Op op;
  op.form = find_form("bar.sync").form;
  op.source = &instruction;
  EXPECT_EQ(find_scalar(op).execute, nullptr);
}

}  // namespace
}  // namespace warptwin::ptx::scalar_test
