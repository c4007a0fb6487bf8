// What oracle V's machine does to memory: copies, boxes, tiles and tensor memory; each misuse
// beside its right twin.

#include <functional>
#include <vector>

#include "common/kernel/reference.hpp"

#include "tests/sim/oracle/values_draft.hpp"

namespace warptwin::sim::values_memory_test {
namespace {

const std::vector<Case> kCopies = {
    {"a_read_wait_does_not_wait_for_the_write",
     "cp.async.bulk (load)",
     [](Draft& p, bool fault) {
       p.init({1});
       WarpWriter w = p.warp(0);
       Draft::write(w, word(0), 1);
       w.store(p.target, word(0), 16);
       w.commit_group();
       w.wait_group(0, fault);
       Draft::fill(w, bar(0), word(1), p.target, 16);
       Draft::wait(w, bar(0), 0);
     }},
    {"a_store_in_no_group_is_not_waited_for",
     "cp.async.bulk (store)",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       Draft::write(w, word(0), 1);
       w.store(p.target, word(0), 16);
       if (!fault) {
         w.commit_group();
       }
       w.wait_group(0, true);
       w.write(word(0), 2);
     }},
    {"the_newest_group_is_left",
     "cp.async.bulk (store)",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       for (std::uint32_t i = 0; i < 2; ++i) {
         Draft::write(w, word(i), 1);
         w.store(p.target + 16 * i, word(i), 16);
         w.commit_group();
       }
       w.wait_group(1, true);
       w.write(word(fault ? 1 : 0), 2);
     }},
    {"bytes_that_nobody_wrote",
     "go to global memory",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       Draft::write(w, word(0), 1);
       w.store(p.target, word(fault ? 1 : 0), 16);
       w.commit_group();
       w.wait_group(0);
     }},
    {"a_multicast_lands_in_each_cta_by_itself",
     "ld.shared",
     [](Draft& p, bool fault) {
       p.init({1, 1});
       p.warp(0, 0).arrive_expect(bar(0), 16);
       p.warp(0, 1).arrive_expect(bar(0), 16);
       p.warp(0, 0).load(word(0), p.source, 16, bar(0), CtaMask{3});
       Draft::wait(p.warp(0, 0), bar(0), 0);
       if (fault) {
         p.warp(0, 0).arrive_remote(bar(1), 1);
         Draft::wait(p.warp(0, 1), bar(1), 0);
         p.warp(0, 1).read(word(0));
       }
       Draft::wait(p.warp(0, 1), bar(0), 0);
       p.warp(0, 1).read(word(0));
       p.sync();
     },
     1,
     2},
    {"a_copy_that_lands_after_its_cta",
     "a CTA that has ended",
     [](Draft& p, bool fault) {
       p.init({1});
       Draft::fill(p.warp(0), bar(0), word(0), p.source, 16);
       if (!fault) {
         p.warp(0).wait(bar(0), 0);
       }
     }},
    {"an_arrival_on_a_cta_that_has_ended",
     "a CTA that has ended",
     [](Draft& p, bool fault) {
       p.init({1});
       p.warp(0, 0).arrive_remote(bar(0), 1);
       if (!fault) {
         p.warp(0, 1).wait(bar(0), 0);
       }
     },
     1,
     2},
    {"two_stores_to_one_place",
     "global memory ends",
     [](Draft& p, bool fault) {
       for (std::uint32_t i = 0; i < 2; ++i) {
         WarpWriter w = p.warp(i);
         Draft::write(w, word(i), i);
         w.store(p.target + (fault ? 0 : 16 * i), word(i), 16);
         w.commit_group();
         w.wait_group(0);
       }
     }},
    {"additions_commute_and_stores_do_not",
     "global memory ends",
     [](Draft& p, bool fault) {
       p.warp(0).global_add(p.flag, 1);
       fault ? p.warp(1).global_write(p.flag, 2) : p.warp(1).global_add(p.flag, 2);
     }},
    {"a_word_that_nobody_wrote_decides",
     "nobody wrote",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       if (!fault) {
         w.write(word(0), 0);
       }
       w.read(word(0), 1);
       w.jump_if(1, 0, true, w.next());
     }},
    {"a_misaligned_copy",
     "a copy cannot have",
     [](Draft& p, bool fault) {
       p.init({1});
       Draft::fill(p.warp(0), bar(0), word(0), p.source + (fault ? 4 : 16), 16);
       p.warp(0).wait(bar(0), 0);
     }},
    {"a_copy_from_nowhere",
     "outside of global memory",
     [](Draft& p, bool fault) {
       p.init({1});
       Draft::fill(p.warp(0), bar(0), word(0), p.source + (fault ? Places::kBufferBytes : 0), 16);
       p.warp(0).wait(bar(0), 0);
     }},
};

// A map over the target, boxes of 4 rows of 16 bytes.
Instruction& tensor_copy(WarpWriter w, Op op, std::uint32_t address, std::int32_t row) {
  Operation copies{op};
  copies.lanes = 1;
  auto& copy = copies.as<operands::Copy>();
  copy.shared = address;
  copy.barrier = bar(0);
  copy.rank = 2;
  copy.at[1] = row;
  return w.append(copies);
}
void add_map(Draft& p, std::uint32_t tensor) {
  TensorMapSpec map;
  map.tensor = tensor;
  map.box_rows = 4;
  map.box_columns = 4;
  p.program.workload.maps.push_back(map);
}

const std::vector<Case> kMaps = {
    {"a_box_that_lands_unwaited",
     "ld.shared",
     [](Draft& p, bool fault) {
       add_map(p, Places::kTarget);
       p.init({1});
       WarpWriter w = p.warp(0);
       w.arrive_expect(bar(0), 64);
       tensor_copy(w, Op::kTensorLoad, tile(0), 0);
       if (fault) {
         w.read(tile(0) + 48);
       }
       Draft::wait(w, bar(0), 0);
       w.read(tile(0) + 48);
     },
     1},
    {"a_box_has_all_its_bytes_at_the_edge",
     "deadlock",
     [](Draft& p, bool fault) {
       // Two of four rows are outside: zeros, and counted.
       add_map(p, Places::kTarget);
       p.init({1});
       WarpWriter w = p.warp(0);
       w.arrive_expect(bar(0), fault ? 32 : 64);
       tensor_copy(w, Op::kTensorLoad, tile(0), -2);
       Draft::wait(w, bar(0), 0);
     },
     1},
    {"a_box_of_which_a_row_was_not_written",
     "go to global memory",
     [](Draft& p, bool fault) {
       add_map(p, Places::kTarget);
       WarpWriter w = p.warp(0);
       // The last row is outside of the tensor, and not read.
       const std::int32_t last = Places::kBufferBytes / 256 - 3;
       for (std::uint32_t row = 0; row < (fault ? 2U : 3U); ++row) {
         Draft::write(w, tile(0) + 16 * row, row);
       }
       tensor_copy(w, Op::kTensorStore, tile(0), last);
       w.commit_group();
       w.wait_group(0);
     },
     1},
    {"a_word_that_a_box_brought_decides",
     "deadlock",
     [](Draft& p, bool fault) {
       add_map(p, Places::kFlags);
       p.program.words.push_back({Places::kFlags, 8, fault ? 1U : 0U});
       p.init({1, 1});
       WarpWriter w = p.warp(0);
       w.arrive_expect(bar(0), 64);
       tensor_copy(w, Op::kTensorLoad, tile(0), 0);
       Draft::wait(w, bar(0), 0);
       w.read(tile(0) + 8, 1);
       w.jump_if(1, 0, false, w.next() + 2);
       w.wait(bar(1), 0);
     },
     1},
    {"a_box_that_does_not_fit_the_map",
     "coordinates",
     [](Draft& p, bool fault) {
       add_map(p, Places::kTarget);
       p.init({1});
       WarpWriter w = p.warp(0);
       w.arrive_expect(bar(0), 64);
       tensor_copy(w, Op::kTensorLoad, tile(0), 0).operation.as<operands::Copy>().rank =
           fault ? 3 : 2;
       Draft::wait(w, bar(0), 0);
     },
     1},
};

// Rows of a tile, one in each lane, 16 bytes of them from registers or to them.
Instruction& row_access(WarpWriter w, Op op, std::uint32_t fragment) {
  Operation access{op};
  auto& rows = access.set<operands::SharedRows>();
  rows.tile = tile(0);
  rows.row_bytes = 16;
  Instruction& instruction = w.append(access);
  instruction.fragment = fragment;
  instruction.fragment_registers = 4;
  return instruction;
}

const std::vector<Case> kRowsOfTiles = {
    {"registers_go_out_before_their_wait",
     "",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       w.alloc(word(15), 32);
       w.st(0, 4, 0);
       w.wait_st();
       w.ld(0, 4, 1);
       if (!fault) {
         w.wait_ld(1, 4);
       }
       row_access(w, Op::kSharedStore, 1);
       w.wait_ld(1, 4);
       w.store(p.target, tile(0), 512);
       w.commit_group();
       w.wait_group(0);
       w.dealloc(0, 32);
     },
     1},
    {"registers_of_cells_that_nobody_wrote",
     "go to global memory",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       w.alloc(word(15), 32);
       if (!fault) {
         w.st(0, 4, 0);
         w.wait_st();
       }
       w.ld(0, 4, 1);
       w.wait_ld(1, 4);
       row_access(w, Op::kSharedStore, 1);
       w.store(p.target, tile(0), 512);
       w.commit_group();
       w.wait_group(0);
       w.dealloc(0, 32);
     },
     1},
    {"rows_race",
     "ld.shared",
     [](Draft& p, bool fault) {
       row_access(p.warp(0), Op::kSharedStore, 0);
       if (!fault) {
         p.sync();
       }
       row_access(p.warp(1), Op::kSharedLoad, 0);
     }},
    {"columns_of_rows_are_apart",
     "ld.shared",
     [](Draft& p, bool fault) {
       // Two warps write rows of 32 bytes, each one half; one reads its half meanwhile.
       for (std::uint32_t i = 0; i < 2; ++i) {
         auto& store =
             row_access(p.warp(i), Op::kSharedStore, 0).operation.as<operands::SharedRows>();
         store.row_bytes = 32;
         store.column = 4 * i;
       }
       auto& load = row_access(p.warp(1), Op::kSharedLoad, 1).operation.as<operands::SharedRows>();
       load.row_bytes = 32;
       load.column = fault ? 2 : 4;
     }},
};

void use_columns(Draft& p, const std::function<void(WarpWriter)>& body) {
  WarpWriter w = p.warp(0);
  w.alloc(word(15), 32);
  body(w);
  w.dealloc(0, 32);
}

const std::vector<Case> kLayouts = {
    {"an_operand_goes_on_with_another_swizzle",
     "rows that are not those of the matrix",
     [](Draft& p, bool fault) {
       constexpr std::uint32_t kHalf = 2048;
       Workload& work = p.program.workload;
       const auto tensor = static_cast<std::uint32_t>(work.tensors.size());
       work.tensors.push_back(matrix("operand", TensorUse::kInput, 64, 32));
       work.maps = {{tensor, 32, 32, Swizzle::k64B}, {tensor, 32, 32, Swizzle::kNone}};
       p.init({1, 1});
       WarpWriter w = p.warp(0);
       w.alloc(word(15), 32);
       w.arrive_expect(bar(0), 2 * kHalf);
       w.tensor_load(tile(0), 0, 0, 0, bar(0));
       w.tensor_load(tile(0) + kHalf, fault ? 1 : 0, 0, 32, bar(0));
       Draft::wait(w, bar(0), 0);
       const std::uint64_t operand =
           UmmaSmemDescriptor::make(SharedAddress{tile(0)}, 16, 512, Swizzle::k64B).bits;
       w.multiply(0,
                  operand,
                  operand,
                  UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 64, 16));
       w.commit(bar(1));
       Draft::wait(w, bar(1), 0);
       w.dealloc(0, 32);
     },
     1},
    {"rows_are_stored_with_another_swizzle",
     "rows that are not those of the matrix",
     [](Draft& p, bool fault) {
       Workload& work = p.program.workload;
       const auto tensor = static_cast<std::uint32_t>(work.tensors.size());
       work.tensors.push_back(matrix("result", TensorUse::kScratch, 32, 16, ElementType::kF32));
       work.maps = {{tensor, 32, 16, Swizzle::k64B}};
       WarpWriter w = p.warp(0);
       w.rows(tile(0), 0, 16, fault ? Swizzle::kNone : Swizzle::k64B);
       w.fence_proxy();
       w.sync_warp();
       w.tensor_store(0, 0, 0, tile(0));
       w.commit_group();
       w.wait_group(0);
     },
     1},
};

const std::vector<Case> kTensor = {
    {"registers_before_their_wait",
     "fragment read",
     [](Draft& p, bool fault) {
       use_columns(p, [&](WarpWriter w) {
         w.st(0, 16, 0);
         w.wait_st();
         w.ld(0, 16, 1);
         if (!fault) {
           w.wait_ld(1, 16);
         }
         Instruction& read = w.append(Operation{Op::kFragmentRead});
         read.fragment = 1;
         read.fragment_registers = 16;
         if (fault) {
           w.wait_ld(1, 16);
         }
       });
     },
     1},
    {"a_store_is_not_settled_before_its_wait",
     "tcgen05.ld",
     [](Draft& p, bool fault) {
       use_columns(p, [&](WarpWriter w) {
         w.st(0, 16, 0);
         if (!fault) {
           w.wait_st();
         }
         w.ld(0, 16, 1);
         w.wait_ld(1, 16);
         w.wait_st();
       });
     },
     1},
    {"an_accumulator_is_overwritten_while_it_is_read",
     "tcgen05.ld",
     [](Draft& p, bool fault) {
       p.init({1, 1});
       WarpWriter w = p.warp(0);
       w.alloc(word(15), 32);
       Draft::fill(w, bar(0), tile(0), p.source, kOperandBytes);
       Draft::wait(w, bar(0), 0);
       for (std::uint32_t i = 0; i < 2; ++i) {
         w.mma(0, tile(0));
         w.commit(bar(1));
         Draft::wait(w, bar(1), i);
         w.ld(0, kOutputColumns, 0);
         if (!fault || i == 1) {
           w.wait_ld(0, kOutputColumns);
         }
       }
       w.dealloc(0, 32);
     },
     1},
    {"a_commit_of_another_lane_tracks_nothing",
     "tcgen05.ld",
     [](Draft& p, bool fault) {
       p.init({1, 1, 1});
       WarpWriter w = p.warp(0);
       w.alloc(word(15), 32);
       Draft::fill(w, bar(0), tile(0), p.source, kOperandBytes);
       Draft::wait(w, bar(0), 0);
       w.mma(0, tile(0));
       w.commit(bar(1)).operation.lane = fault ? 1 : 0;
       Draft::wait(w, bar(1), 0);
       w.ld(0, kOutputColumns, 0);
       w.wait_ld(0, kOutputColumns);
       w.commit(bar(2));
       Draft::wait(w, bar(2), 0);
       w.dealloc(0, 32);
     },
     1},
    {"an_accumulator_that_nobody_wrote",
     "an MMA reads what nobody wrote",
     [](Draft& p, bool fault) {
       p.init({1, 1});
       WarpWriter w = p.warp(0);
       w.alloc(word(15), 32);
       Draft::fill(w, bar(0), tile(0), p.source, kOperandBytes);
       Draft::wait(w, bar(0), 0);
       w.mma(0, tile(0), fault);
       w.commit(bar(1));
       Draft::wait(w, bar(1), 0);
       w.dealloc(0, 32);
     },
     1},
    {"freed_while_an_mma_writes",
     "not allocated",
     [](Draft& p, bool fault) {
       p.init({1, 1});
       WarpWriter w = p.warp(0);
       w.alloc(word(15), 32);
       Draft::fill(w, bar(0), tile(0), p.source, kOperandBytes);
       Draft::wait(w, bar(0), 0);
       w.mma(0, tile(0));
       w.commit(bar(1));
       if (!fault) {
         Draft::wait(w, bar(1), 0);
       }
       w.dealloc(0, 32);
       if (fault) {
         Draft::wait(w, bar(1), 0);
       }
     },
     1},
    {"left_allocated",
     "at the end of its CTA",
     [](Draft& p, bool fault) {
       p.warp(0).alloc(word(15), 32);
       if (!fault) {
         p.warp(0).dealloc(0, 32);
       }
     },
     1},
    {"freed_twice",
     "no allocation",
     [](Draft& p, bool fault) {
       p.warp(0).alloc(word(15), 32);
       p.warp(0).dealloc(0, 32);
       if (fault) {
         p.warp(0).dealloc(0, 32);
       }
     },
     1},
    {"freed_in_part",
     "no allocation",
     [](Draft& p, bool fault) {
       p.warp(0).alloc(word(15), 64);
       p.warp(0).dealloc(0, fault ? 32 : 64);
     },
     1},
    {"an_allocation_that_grows",
     "larger",
     [](Draft& p, bool fault) {
       for (const std::uint32_t columns : {64U, fault ? 128U : 32U}) {
         p.warp(0).alloc(word(15), columns);
         p.warp(0).dealloc(0, columns);
       }
     },
     1},
    {"an_allocation_waits_for_columns",
     "deadlock",
     [](Draft& p, bool fault) {
       for (std::uint32_t i = 0; i < 2; ++i) {
         WarpWriter w = p.warp(i);
         w.alloc(word(14 + i), 512);
         if (fault) {
           w.bar_sync(1, 64);
         }
         w.dealloc(0, 512);
       }
     }},
    {"lanes_of_another_warp",
     "another warp's",
     [](Draft& p, bool fault) {
       use_columns(p, [&](WarpWriter w) {
         w.st((fault ? 32U : 0U) << 16, 16, 0);
         w.wait_st();
       });
     },
     1},
    {"a_pair_allocates_together",
     "deadlock",
     [](Draft& p, bool fault) {
       for (std::uint32_t cta = 0; cta < 2; ++cta) {
         WarpWriter w = p.warp(0, cta);
         if (cta == 0 || !fault) {
           w.alloc(word(15), 32, CtaGroup::kTwo);
           w.dealloc(0, 32, CtaGroup::kTwo);
         }
       }
     },
     1,
     2},
    {"the_peer_may_not_have_allocated",
     "not allocated",
     [](Draft& p, bool fault) {
       p.init({1, 1});
       for (std::uint32_t cta = 0; cta < 2; ++cta) {
         Draft::fill(p.warp(0, cta), bar(0), tile(0), p.source, kOperandBytes);
         Draft::wait(p.warp(0, cta), bar(0), 0);
       }
       p.sync();
       for (std::uint32_t cta = 0; cta < 2; ++cta) {
         p.warp(0, cta).alloc(word(15), 32, CtaGroup::kTwo);
       }
       if (!fault) {
         p.sync();
       }
       p.warp(0, 0).mma(0, tile(0), false, CtaGroup::kTwo);
       p.warp(0, 0).commit(bar(1), CtaMask{3}, CtaGroup::kTwo);
       for (std::uint32_t cta = 0; cta < 2; ++cta) {
         Draft::wait(p.warp(0, cta), bar(1), 0);
       }
       p.sync();
       for (std::uint32_t cta = 0; cta < 2; ++cta) {
         p.warp(0, cta).dealloc(0, 32, CtaGroup::kTwo);
       }
     },
     1,
     2},
    {"a_free_of_a_pair_may_wait",
     "deadlock",
     [](Draft& p, bool fault) {
       for (std::uint32_t cta = 0; cta < 2; ++cta) {
         WarpWriter w = p.warp(0, cta);
         w.alloc(word(15), 32, CtaGroup::kTwo);
         // One frees and then meets, the other meets and then frees.
         if (cta == 1 || !fault) {
           w.cluster_arrive();
           w.cluster_wait();
         }
         w.dealloc(0, 32, CtaGroup::kTwo);
         if (cta == 0 && fault) {
           w.cluster_arrive();
           w.cluster_wait();
         }
       }
     },
     1,
     2},
};

INSTANTIATE_TEST_SUITE_P(Copies, TwinsTest, testing::ValuesIn(kCopies), name_of_case);
INSTANTIATE_TEST_SUITE_P(Maps, TwinsTest, testing::ValuesIn(kMaps), name_of_case);
INSTANTIATE_TEST_SUITE_P(Tiles, TwinsTest, testing::ValuesIn(kRowsOfTiles), name_of_case);
INSTANTIATE_TEST_SUITE_P(Layouts, TwinsTest, testing::ValuesIn(kLayouts), name_of_case);
INSTANTIATE_TEST_SUITE_P(Tensor, TwinsTest, testing::ValuesIn(kTensor), name_of_case);

}  // namespace
}  // namespace warptwin::sim::values_memory_test
