#include "sim/run/proof/mutate.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/program/text.hpp"
#include "sim/run/program_entry.hpp"
#include "sim/run/proof/mutate_oracles.hpp"

namespace warptwin::sim::mutate_test {
namespace {

// A ring of two stages, six passes.
constexpr const char* kRing = R"(program ring
warps producer 1, consumer 1
barriers full 2
barriers empty 2
tile stage 2 x 1024
input src 8192
warp 0:
  repeat 2 s { elect mbarrier.init [full[%s]], 1; elect mbarrier.init [empty[%s]], 1 }
  elect fence.mbarrier_init
  bar.warp.sync
  bar.sync 0
  repeat 6 {
    mbarrier.wait [empty[%i % 2]], phase %i / 2 - 1
    bar.warp.sync
    elect mbarrier.arrive.expect_tx [full[%i % 2]], 1024
    elect cp.async.bulk.shared.global [stage[%i % 2]], [src+1024*%i], 1024, [full[%i % 2]]
    bar.warp.sync
  }
warp 1:
  bar.sync 0
  repeat 6 {
    mbarrier.wait [full[%i % 2]], phase %i / 2
    bar.warp.sync
    elect ld.shared r0, [stage[%i % 2]+16]
    bar.warp.sync
    fence.proxy.async.shared::cta
    elect mbarrier.arrive [empty[%i % 2]]
  }
)";

Program ring() {
  return parse_program(kRing, "ring.txt");
}

std::vector<Edit> edits_of_kind(const Program& program, EditKind kind) {
  std::vector<Edit> found;
  for (const Edit& edit : edits_of(program)) {
    if (edit.kind == kind) {
      found.push_back(edit);
    }
  }
  return found;
}

MutateOptions options_with(std::vector<Oracle> oracles) {
  MutateOptions options;
  options.oracles = std::move(oracles);
  return options;
}

Oracle says(const char* name, Opinion::Verdict of_mutants) {
  const std::string own = text_of(ring());
  return {name, [=](const Program& program) -> Opinion {
            const bool itself = text_of(program) == own;
            return {itself ? Opinion::Verdict::kRight : of_mutants, "so it is"};
          }};
}

TEST(Mutants, EveryKindOfEditOccursAndChangesTheProgram) {
  const Program program = ring();
  std::set<EditKind> kinds;
  for (const Edit& edit : edits_of(program)) {
    kinds.insert(edit.kind);
    EXPECT_NE(text_of(apply(program, edit)), text_of(program)) << describe(program, edit);
    EXPECT_NO_THROW(validate(apply(program, edit))) << describe(program, edit);
  }
  for (const EditKind kind : {EditKind::kDrop,
                              EditKind::kDropLine,
                              EditKind::kTwice,
                              EditKind::kSwap,
                              EditKind::kBarrier,
                              EditKind::kStage,
                              EditKind::kPhase,
                              EditKind::kCount,
                              EditKind::kBytes,
                              EditKind::kRelaxed,
                              EditKind::kIterationLess,
                              EditKind::kIterationMore,
                              EditKind::kExit}) {
    EXPECT_TRUE(kinds.contains(kind)) << name_of(kind);
  }
}

// One pass more is the program with one pass more; one less, one less.
TEST(Mutants, APassOfALoopIsRecognised) {
  const auto with = [](const char* producer, const char* consumer) {
    std::string text = kRing;
    text.replace(text.find("repeat 6"), 8, producer);
    text.replace(text.rfind("repeat 6"), 8, consumer);
    return parse_program(text, "ring.txt");
  };
  const Program program = ring();
  const std::vector<Edit> more = edits_of_kind(program, EditKind::kIterationMore);
  const std::vector<Edit> less = edits_of_kind(program, EditKind::kIterationLess);
  ASSERT_EQ(more.size(), 2U);
  ASSERT_EQ(less.size(), 2U);
  EXPECT_EQ(text_of(apply(program, more[1])), text_of(with("repeat 6", "repeat 7")));
  EXPECT_EQ(text_of(apply(program, less[0])), text_of(with("repeat 5", "repeat 6")));
  EXPECT_EQ(text_of(apply(program, less[1])), text_of(with("repeat 6", "repeat 5")));
}

// A dropped line is dropped in every pass, and jumps go on to where they went.
TEST(Mutants, ALineIsDroppedEverywhere) {
  const Program program = parse_program(R"(barriers b 1
warps 2
warps *:
  again: mbarrier.try_wait r0, [b], phase 0
  bar.warp.sync
  @r0 == 0 bra again
  @r0 == 7 bra end
  bar.sync 0
  end:
)",
                                        "p.txt");
  const std::vector<Edit> lines = edits_of_kind(program, EditKind::kDropLine);
  const auto sync = std::find_if(lines.begin(), lines.end(), [&](const Edit& edit) {
    return program.warps[edit.warp][edit.index].operation.op == Op::kSyncWarp;
  });
  ASSERT_NE(sync, lines.end());
  const Program dropped = apply(program, *sync);
  for (const std::vector<Instruction>& warp : dropped.warps) {
    ASSERT_EQ(warp.size(), 4U);
    EXPECT_EQ(warp[1].target, 0U);
    EXPECT_EQ(warp[2].target, 4U);
  }
}

TEST(Mutate, WhatIsProvedIsAskedOfTheOracles) {
  const Program program = ring();
  const MutateResult alone = mutate(program, options_with({}));
  EXPECT_EQ(alone.mutants.size(), alone.edits);
  EXPECT_GT(alone.count(MutantClass::kFound), 0U);
  EXPECT_GT(alone.count(MutantClass::kUnjudged), 0U);
  EXPECT_EQ(alone.count(MutantClass::kMissed) + alone.count(MutantClass::kHarmless), 0U);
  const std::size_t proved = alone.count(MutantClass::kUnjudged);
  const MutateResult right = mutate(program, options_with({says("a", Opinion::Verdict::kRight)}));
  EXPECT_EQ(right.count(MutantClass::kHarmless), proved);
  // One that finds fault outweighs one that does not.
  const MutateResult wrong = mutate(
      program,
      options_with({says("a", Opinion::Verdict::kRight), says("b", Opinion::Verdict::kWrong)}));
  EXPECT_EQ(wrong.count(MutantClass::kMissed), proved);
  EXPECT_EQ(wrong.count(MutantClass::kFound), alone.count(MutantClass::kFound));
  const MutateResult silent = mutate(program, options_with({says("a", Opinion::Verdict::kNone)}));
  EXPECT_EQ(silent.count(MutantClass::kUnjudged), proved);
}

TEST(Mutate, AnOracleThatRefusesTheProgramItselfIsNotAsked) {
  const Oracle grim{"grim", [](const Program&) -> Opinion {
                      return {Opinion::Verdict::kWrong, "everything"};
                    }};
  const MutateResult result = mutate(ring(), options_with({grim}));
  EXPECT_EQ(result.count(MutantClass::kMissed), 0U);
  EXPECT_THAT(result.oracles_left_out, testing::ElementsAre("grim: everything"));
}

TEST(Mutate, AProgramThatIsNotProvedIsRefused) {
  std::string text = kRing;
  const std::string wait = "    mbarrier.wait [empty[%i % 2]], phase %i / 2 - 1\n";
  text.erase(text.find(wait), wait.size());
  EXPECT_THROW(mutate(parse_program(text, "p.txt"), options_with({})), ConfigError);
}

TEST(Mutate, ALimitIsSpreadOverAllEdits) {
  MutateOptions options;
  options.mutants_max = 10;
  const MutateResult result = mutate(ring(), options);
  ASSERT_EQ(result.mutants.size(), 10U);
  EXPECT_GT(result.mutants.back().number, result.edits * 8 / 10);
}

// What holds the ring together is found by its name; what is not needed is a redundant line. The
// oracles of the tool find nothing that the proof misses here.
TEST(Mutate, TheRing) {
  const Program program = ring();
  const MutateResult result = mutate(program, options_with(mutate_oracles()));
  EXPECT_TRUE(result.oracles_left_out.empty());
  for (const JudgedMutant& mutant : result.mutants) {
    EXPECT_NE(mutant.of, MutantClass::kMissed)
        << describe(program, mutant.edit) << ": " << mutant.oracle;
    const Operation& op = program
                              .warps[mutant.edit.warp][std::min<std::size_t>(
                                  mutant.edit.index, program.warps[mutant.edit.warp].size() - 1)]
                              .operation;
    const bool holds = op.op == Op::kMbarrierWait || op.op == Op::kMbarrierArrive ||
                       op.op == Op::kBulkLoad || op.op == Op::kBarSync ||
                       op.op == Op::kFenceProxyAsync;
    if (mutant.edit.kind == EditKind::kDropLine && holds) {
      EXPECT_EQ(mutant.of, MutantClass::kFound) << describe(program, mutant.edit);
      EXPECT_FALSE(mutant.ids.empty());
    }
  }
  std::set<std::string> lines;
  for (const JudgedMutant* mutant : result.redundant()) {
    lines.insert(describe(program, mutant->edit));
  }
  EXPECT_THAT(lines, testing::Contains("drop line: elect fence.mbarrier_init"));
}

}  // namespace
}  // namespace warptwin::sim::mutate_test
