#include "tests/oracle/program_writer.hpp"

#include "common/kernel/reference.hpp"

#include "sim/model/symbols.hpp"

namespace warptwin::sim {

namespace {

Operation whole(Op op) {
  return Operation{op};
}

Operation single(Op op) {
  Operation operation = whole(op);
  operation.lanes = 1;
  return operation;
}

Operation on_barrier(Operation operation, std::uint32_t address) {
  operation.as<operands::Mbarrier>().address = address;
  return operation;
}

}  // namespace

Instruction& WarpWriter::append(const Operation& operation) {
  code_->emplace_back();
  code_->back().operation = operation;
  return code_->back();
}

Instruction& WarpWriter::init(std::uint32_t bar, std::uint32_t count) {
  Operation op = on_barrier(single(Op::kMbarrierInit), bar);
  op.as<operands::Mbarrier>().count = count;
  return append(op);
}

Instruction& WarpWriter::inval(std::uint32_t bar) {
  return append(on_barrier(single(Op::kMbarrierInval), bar));
}

Instruction& WarpWriter::fence_mbarrier_init() {
  return append(single(Op::kFenceMbarrierInit));
}

Instruction& WarpWriter::arrive(std::uint32_t bar, std::uint32_t count, Ordering ordering) {
  Operation op = on_barrier(single(Op::kMbarrierArrive), bar);
  op.as<operands::Mbarrier>().count = count;
  op.ordering = ordering;
  return append(op);
}

Instruction& WarpWriter::arrive_remote(std::uint32_t bar, std::uint32_t rank, Ordering ordering) {
  Instruction& instruction = arrive((rank << 24) | bar, 1, ordering);
  instruction.operation.flags = event_flag::kRemote;
  return instruction;
}

Instruction& WarpWriter::arrive_expect(std::uint32_t bar, std::uint32_t bytes) {
  Instruction& instruction = arrive(bar);
  instruction.operation.flags = event_flag::kExpectTx;
  instruction.operation.as<operands::Mbarrier>().bytes = bytes;
  return instruction;
}

Instruction& WarpWriter::expect(std::uint32_t bar, std::uint32_t bytes) {
  Operation op = on_barrier(single(Op::kMbarrierExpectTx), bar);
  op.as<operands::Mbarrier>().bytes = bytes;
  return append(op);
}

Instruction& WarpWriter::wait(std::uint32_t bar,
                              std::uint32_t phase,
                              bool exact,
                              Ordering ordering) {
  Operation op = on_barrier(whole(Op::kMbarrierWait), bar);
  op.as<operands::Mbarrier>().phase = exact ? phase : phase & 1U;
  op.flags = exact ? event_flag::kExactPhase : std::uint32_t{0};
  op.ordering = ordering;
  return append(op);
}

Instruction& WarpWriter::try_wait(
    std::uint32_t bar, std::uint32_t phase, std::uint32_t result, bool exact, Ordering ordering) {
  Instruction& instruction = wait(bar, phase, exact, ordering);
  instruction.operation.op = Op::kMbarrierTryWait;
  instruction.result = result;
  return instruction;
}

Instruction& WarpWriter::sync_warp() {
  return append(whole(Op::kSyncWarp));
}

Instruction& WarpWriter::elect_sync() {
  return append(whole(Op::kElectSync));
}

Instruction& WarpWriter::bar_sync(std::uint32_t id, std::uint32_t threads) {
  Operation op = whole(Op::kBarSync);
  op.as<operands::NamedBarrier>() = {id, threads};
  return append(op);
}

Instruction& WarpWriter::bar_arrive(std::uint32_t id, std::uint32_t threads) {
  Operation op = whole(Op::kBarArrive);
  op.as<operands::NamedBarrier>() = {id, threads};
  return append(op);
}

Instruction& WarpWriter::cluster_arrive(Ordering ordering) {
  Operation op = whole(Op::kClusterArrive);
  op.ordering = ordering;
  return append(op);
}

Instruction& WarpWriter::cluster_wait() {
  return append(whole(Op::kClusterWait));
}

Instruction& WarpWriter::fence(Ordering ordering) {
  Operation op = single(Op::kFence);
  op.ordering = ordering;
  return append(op);
}

Instruction& WarpWriter::fence_proxy(ProxySpace space) {
  Operation op = single(Op::kFenceProxyAsync);
  op.as<operands::ProxyFence>().space = space;
  return append(op);
}

Instruction& WarpWriter::fence_before() {
  return append(whole(Op::kTcgen05FenceBefore));
}

Instruction& WarpWriter::fence_after() {
  return append(whole(Op::kTcgen05FenceAfter));
}

Instruction& WarpWriter::load(
    std::uint32_t to, std::uint64_t from, std::uint32_t bytes, std::uint32_t bar, CtaMask mask) {
  Operation op = single(Op::kBulkLoad);
  auto& copy = op.as<operands::Copy>();
  copy.shared = to;
  copy.global = from;
  copy.bytes = bytes;
  copy.barrier = bar;
  copy.mask = mask;
  return append(op);
}

Instruction& WarpWriter::store(std::uint64_t to, std::uint32_t from, std::uint32_t bytes) {
  Operation op = single(Op::kBulkStore);
  auto& copy = op.as<operands::Copy>();
  copy.shared = from;
  copy.global = to;
  copy.bytes = bytes;
  return append(op);
}

Instruction& WarpWriter::commit_group() {
  return append(single(Op::kBulkCommitGroup));
}

Instruction& WarpWriter::wait_group(std::uint32_t pending, bool read) {
  Operation op = single(Op::kBulkWaitGroup);
  op.as<operands::BulkWait>() = {pending, true};
  op.flags = read ? event_flag::kRead : std::uint32_t{0};
  return append(op);
}

Instruction& WarpWriter::alloc(std::uint32_t word, std::uint32_t columns, CtaGroup group) {
  Operation op = whole(Op::kTcgen05Alloc);
  op.as<operands::TmemAllocation>() = {word, columns, group};
  return append(op);
}

Instruction& WarpWriter::dealloc(std::uint32_t address, std::uint32_t columns, CtaGroup group) {
  Operation op = whole(Op::kTcgen05Dealloc);
  op.as<operands::TmemRegion>() = {{address}, columns, group};
  return append(op);
}

Instruction& WarpWriter::relinquish(CtaGroup group) {
  Operation op = whole(Op::kTcgen05Relinquish);
  op.set_group(group);
  return append(op);
}

std::uint64_t plain_operand(std::uint32_t tile) {
  constexpr std::uint32_t kLeading = 128;
  constexpr std::uint32_t kStride = 256;
  return UmmaSmemDescriptor::make(SharedAddress{tile}, kLeading, kStride, Swizzle::kNone).bits;
}

Instruction& WarpWriter::cp(std::uint32_t to, std::uint32_t tile) {
  return cp(to, plain_operand(tile), TmemCopy::k128x128b);
}

Instruction& WarpWriter::cp(std::uint32_t to, std::uint64_t source, TmemCopy shape) {
  Operation op = single(Op::kTcgen05Cp);
  op.as<operands::TmemCopy>() = {{to}, {source}, shape, columns_of(shape)};
  return append(op);
}

Instruction& WarpWriter::multiply(std::uint32_t d,
                                  std::uint64_t a,
                                  std::uint64_t b,
                                  UmmaInstructionDescriptor instruction,
                                  bool accumulate) {
  Operation op = single(Op::kTcgen05Mma);
  auto& mma = op.as<operands::Mma>();
  mma.d.value = d;
  mma.a.bits = a;
  mma.b.bits = b;
  mma.instruction = instruction;
  op.flags = accumulate ? event_flag::kAccumulate : std::uint32_t{0};
  return append(op);
}

Instruction& WarpWriter::multiply_scaled(std::uint32_t d,
                                         std::uint64_t a,
                                         std::uint64_t b,
                                         UmmaInstructionDescriptor instruction,
                                         std::uint32_t scale_a,
                                         std::uint32_t scale_b) {
  Instruction& written = multiply(d, a, b, instruction);
  written.operation.flags |= event_flag::kBlockScale;
  written.operation.as<operands::Mma>().scale_a.value = scale_a;
  written.operation.as<operands::Mma>().scale_b.value = scale_b;
  return written;
}

Instruction& WarpWriter::mma(std::uint32_t d, std::uint32_t tile, bool accumulate, CtaGroup group) {
  const auto instruction = UmmaInstructionDescriptor::make(
      ElementType::kBf16, ElementType::kBf16, group == CtaGroup::kTwo ? 256 : 128, kOutputColumns);
  Instruction& written =
      multiply(d, plain_operand(tile), plain_operand(tile), instruction, accumulate);
  written.operation.set_group(group);
  return written;
}

Instruction& WarpWriter::commit(std::uint32_t bar, CtaMask mask, CtaGroup group) {
  Operation op = single(Op::kTcgen05Commit);
  op.as<operands::Commit>() = {bar, mask, group};
  return append(op);
}

Instruction& WarpWriter::wgmma_fence() {
  return append(whole(Op::kWgmmaFence));
}

Instruction& WarpWriter::wgmma(std::uint32_t tile, std::uint32_t fragment, bool accumulate) {
  const auto made = UmmaInstructionDescriptor::make(
      ElementType::kBf16, ElementType::kBf16, kWgmmaRows, kOutputColumns);
  Operation op = whole(Op::kWgmma);
  auto& product = op.as<operands::Wgmma>();
  product.a.bits = product.b.bits = plain_operand(tile);
  product.instruction = made;
  product.columns = kOutputColumns;
  op.flags = accumulate ? event_flag::kAccumulate : std::uint32_t{0};
  Instruction& instruction = append(op);
  instruction.fragment = fragment;
  instruction.fragment_registers = kOutputColumns / 2;
  return instruction;
}

Instruction& WarpWriter::wgmma_commit() {
  return append(whole(Op::kWgmmaCommit));
}

Instruction& WarpWriter::wgmma_wait(std::uint32_t pending, std::uint32_t fragment) {
  Operation op = whole(Op::kWgmmaWait);
  op.as<operands::WgmmaWait>().pending = pending;
  Instruction& instruction = append(op);
  instruction.fragment = fragment;
  return instruction;
}

Instruction& WarpWriter::ld(std::uint32_t address, std::uint32_t columns, std::uint32_t fragment) {
  Operation op = whole(Op::kTcgen05Ld);
  op.as<operands::TmemAccess>().address.value = address;
  op.as<operands::TmemAccess>().columns = columns;
  Instruction& instruction = append(op);
  instruction.fragment = fragment;
  instruction.fragment_registers = columns;
  return instruction;
}

Instruction& WarpWriter::st(std::uint32_t address, std::uint32_t columns, std::uint32_t fragment) {
  Instruction& instruction = ld(address, columns, fragment);
  instruction.operation.op = Op::kTcgen05St;
  return instruction;
}

Instruction& WarpWriter::wait_ld(std::uint32_t fragment, std::uint32_t columns) {
  Instruction& instruction = append(whole(Op::kTcgen05WaitLd));
  instruction.fragment = fragment;
  instruction.fragment_registers = columns;
  return instruction;
}

Instruction& WarpWriter::use(std::uint32_t fragment, std::uint32_t registers) {
  Instruction& instruction = append(whole(Op::kFragmentRead));
  instruction.fragment = fragment;
  instruction.fragment_registers = registers;
  return instruction;
}

Instruction& WarpWriter::rows(std::uint32_t tile,
                              std::uint32_t fragment,
                              std::uint32_t registers,
                              Swizzle swizzle) {
  Operation op = whole(Op::kSharedStore);
  auto& stored = op.set<operands::SharedRows>();
  stored.tile = tile;
  stored.row_bytes = 4 * registers;
  stored.swizzle = swizzle;
  Instruction& instruction = append(op);
  instruction.fragment = fragment;
  instruction.fragment_registers = registers;
  return instruction;
}

Instruction& WarpWriter::accumulator(std::uint32_t tile,
                                     std::uint32_t row,
                                     std::uint32_t fragment) {
  Instruction& instruction = rows(tile, fragment, kOutputColumns / 2, Swizzle::kNone);
  auto& stored = instruction.operation.as<operands::SharedRows>();
  stored.of_accumulator = true;
  stored.row = row;
  stored.row_bytes = 4 * kOutputColumns;
  return instruction;
}

namespace {

Operation through_map(
    Op kind, std::uint32_t tile, std::uint32_t map, std::uint32_t column, std::uint32_t row) {
  Operation op = single(kind);
  auto& copy = op.as<operands::Copy>();
  copy.shared = tile;
  copy.map = map;
  copy.rank = 2;
  copy.at[0] = static_cast<std::int32_t>(column);
  copy.at[1] = static_cast<std::int32_t>(row);
  return op;
}

}  // namespace

Instruction& WarpWriter::tensor_load(std::uint32_t to,
                                     std::uint32_t map,
                                     std::uint32_t column,
                                     std::uint32_t row,
                                     std::uint32_t bar) {
  Operation op = through_map(Op::kTensorLoad, to, map, column, row);
  op.as<operands::Copy>().barrier = bar;
  return append(op);
}

Instruction& WarpWriter::tensor_store(std::uint32_t map,
                                      std::uint32_t column,
                                      std::uint32_t row,
                                      std::uint32_t from) {
  return append(through_map(Op::kTensorStore, from, map, column, row));
}

Instruction& WarpWriter::replace_map(std::uint32_t map, std::uint64_t address) {
  Operation op = single(Op::kTensormapReplace);
  op.as<operands::MapChange>().map = map;
  op.as<operands::MapChange>().address = address;
  return append(op);
}

Instruction& WarpWriter::release_maps() {
  Operation op = single(Op::kFenceProxyTensormap);
  op.ordering = {Semantics::kRelease, Scope::kGpu};
  return append(op);
}

Instruction& WarpWriter::acquire_map(std::uint32_t map) {
  Operation op = single(Op::kFenceProxyTensormap);
  op.ordering = {Semantics::kAcquire, Scope::kGpu};
  op.as<operands::MapFence>().map = map;
  return append(op);
}

Instruction& WarpWriter::wait_st() {
  return append(whole(Op::kTcgen05WaitSt));
}

Instruction& WarpWriter::read(std::uint32_t address, std::uint32_t result) {
  Operation op = single(Op::kSharedLoad);
  op.as<operands::SharedWord>().address = address;
  Instruction& instruction = append(op);
  instruction.result = result;
  return instruction;
}

Instruction& WarpWriter::write(std::uint32_t address, std::uint32_t value) {
  Operation op = single(Op::kSharedStore);
  op.as<operands::SharedWord>() = {address, value};
  return append(op);
}

namespace {

Operation global_word(Op kind, std::uint64_t address, std::uint32_t value) {
  Operation op = single(kind);
  op.as<operands::GlobalWord>().address = address;
  op.as<operands::GlobalWord>().value = value;
  return op;
}

}  // namespace

Instruction& WarpWriter::global_write(std::uint64_t address, std::uint32_t value) {
  return append(global_word(Op::kGlobalStoreRelease, address, value));
}

Instruction& WarpWriter::global_add(std::uint64_t address, std::uint32_t value) {
  return append(global_word(Op::kGlobalRedAdd, address, value));
}

Instruction& WarpWriter::global_poll(std::uint64_t address, std::uint32_t value) {
  return append(global_word(Op::kGlobalWait, address, value));
}

Instruction& WarpWriter::global_read(std::uint64_t address, std::uint32_t result) {
  Instruction& instruction = append(global_word(Op::kGlobalLoadAcquire, address, 0));
  instruction.result = result;
  return instruction;
}

Instruction& WarpWriter::clc_request(std::uint32_t response, std::uint32_t bar, CtaMask mask) {
  Operation op = single(Op::kClcTryCancel);
  op.as<operands::ClcRequest>() = {response, bar, mask};
  return append(op);
}

Instruction& WarpWriter::clc_canceled(std::uint32_t response, std::uint32_t result) {
  Operation op = single(Op::kClcQuery);
  op.as<operands::ClcQuery>().response = response;
  Instruction& instruction = append(op);
  instruction.result = result;
  return instruction;
}

Instruction& WarpWriter::griddepcontrol_wait() {
  return append(whole(Op::kGriddepcontrolWait));
}

Instruction& WarpWriter::griddepcontrol_launch() {
  return append(whole(Op::kGriddepcontrolLaunch));
}

Instruction& WarpWriter::setmaxnreg(std::uint32_t registers, bool increase) {
  Operation op = whole(Op::kSetmaxnreg);
  op.as<operands::Registers>().count = registers;
  op.flags = increase ? event_flag::kIncrease : std::uint32_t{0};
  return append(op);
}

Instruction& WarpWriter::note(std::uint32_t full,
                              std::uint32_t stages,
                              StageStep step,
                              std::uint32_t index,
                              std::uint32_t lap) {
  Operation op = whole(Op::kStageNote);
  op.as<operands::Note>() = {full, stages, index, lap, step};
  return append(op);
}

Instruction& WarpWriter::jump_if(std::uint32_t tested,
                                 std::uint32_t value,
                                 bool negated,
                                 std::uint32_t target) {
  code_->emplace_back();
  Instruction& instruction = code_->back();
  instruction.kind = Instruction::Kind::kJump;
  instruction.tested = tested;
  instruction.value = value;
  instruction.negated = negated;
  instruction.target = target;
  return instruction;
}

Instruction& WarpWriter::jump(std::uint32_t target) {
  return jump_if(Instruction::kNone, 0, false, target);
}

Program empty_program(const std::string& name,
                      std::uint32_t warps,
                      std::uint32_t cluster_size,
                      std::uint32_t clusters) {
  constexpr std::uint32_t kColumns = 64;
  constexpr std::uint32_t kRows = ProgramPlaces::kBufferBytes / (4 * kColumns);
  Program program;
  program.name = name;
  program.workload.tensors = {
      matrix("source", TensorUse::kInput, kRows, kColumns, ElementType::kF32),
      matrix("target", TensorUse::kScratch, kRows, kColumns, ElementType::kF32),
      matrix("flag", TensorUse::kScratch, 1, kColumns, ElementType::kF32)};
  program.workload.cluster_size = cluster_size;
  program.workload.clusters = clusters;
  program.workload.registers_per_thread = 168;
  RecordingLayout layout{{ProgramPlaces::kFirst}, program.symbols};
  layout.barriers({"p", "bar"}, ProgramPlaces::kBarriers, BarrierContract{});
  layout.tiles({"p", "word"}, ProgramPlaces::kWords, 16, 16);
  layout.tiles({"p", "tile"}, ProgramPlaces::kTiles, kOperandBytes, 1024);
  program.symbols.roles = {RoleWarps{Role::kIdle, warps}};
  program.warps.resize(std::size_t{warps} * cluster_size * clusters);
  return program;
}

WarpWriter warp_of(Program& program, std::uint32_t cta, std::uint32_t warp) {
  return WarpWriter{program.warps[std::size_t{cta} * program.warps_per_cta() + warp]};
}

}  // namespace warptwin::sim
