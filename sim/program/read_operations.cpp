#include <algorithm>
#include <iterator>

#include "sim/model/global_memory.hpp"
#include "sim/program/operations.hpp"
#include "sim/program/parser.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kCountMax = 1U << 24;  // beyond what an mbarrier takes

class OperationReader {
 public:
  OperationReader(Reader& reader, const Program& program, const Names& names)
      : reader_{reader}, program_{program}, names_{names} {}

  Instruction read(Executing who);

 private:
  void suffixes(const Token& mnemonic, std::string_view text);
  bool take_ordering(const std::vector<std::string_view>& parts, std::size_t& next);
  void operands(Operands of);
  void barrier_operands(Operands of);
  void copy_operands(Operands of);
  void tensor_operands(Operands of);
  void word_operands(Operands of);

  void arrive();
  void wait();
  void target();  // of a load: the barrier, a mask
  void coordinates();
  void mma();
  void block_scale();
  void wgmma();
  void rows();
  void stage_note();

  void comma() { reader_.expect(","); }
  std::uint32_t shared() { return read_shared(reader_, program_, names_); }
  std::uint64_t global() { return read_global(reader_, program_, names_); }
  std::uint32_t tmem();
  /// The CTA's own barrier, or one of its cluster.
  std::uint32_t barrier();
  std::uint32_t map();
  CtaMask mask();
  std::uint64_t descriptor();
  std::optional<std::uint32_t> numbered(char letter, std::uint32_t below);
  void result();  // `r1,`, or nothing
  std::uint32_t fragment_number();
  void fragment(std::uint32_t registers);
  ElementType element();
  /// "m128n16".
  void shape(std::uint32_t& m, std::uint32_t& n);
  template <std::size_t kCount>
  std::uint32_t one_of(const char* const (&words)[kCount]);
  Operation& op() { return read_.operation; }
  template <class T>
  T& as() {
    return op().as<T>();
  }

  Reader& reader_;
  const Program& program_;
  const Names& names_;
  Instruction read_;
  const Verb* verb_ = nullptr;
  std::uint32_t registers_ = 0;  // of a fragment, as the suffix .x16 says
  bool says_ordering_ = false;
};

Instruction OperationReader::read(Executing who) {
  const Token& mnemonic = reader_.word("an operation");
  verb_ = find_verb(mnemonic.text);
  if (verb_ == nullptr) {
    reader_.fail(mnemonic, known_verbs());
  }
  if (verb_->one_lane && who.lanes != 1) {
    reader_.fail(mnemonic, "'elect' or 'lane N' in front of what one lane issues");
  }
  op() = Operation{verb_->op};
  op().lanes = who.lanes;
  op().lane = who.lane;
  switch (verb_->op) {
    case Op::kMbarrierArrive:
      op().flags = verb_->variant;
      break;
    case Op::kFenceProxyTensormap:
      op().ordering = {verb_->variant != 0 ? Semantics::kAcquire : Semantics::kRelease,
                       Scope::kGpu};
      break;
    case Op::kTensorLoad:
      as<operands::Copy>().mode = static_cast<TensorMode>(verb_->variant);
      break;
    case Op::kBulkWaitGroup:
      op().flags = verb_->variant != 0 ? event_flag::kRead : std::uint32_t{0};
      as<operands::BulkWait>().of_lane = who.lanes == 1;
      op().lanes = 1;
      break;
    case Op::kGlobalLoad:
      op().flags = verb_->variant != 0 ? event_flag::kReadOnly : std::uint32_t{0};
      break;
    case Op::kSetmaxnreg:
      op().flags = verb_->variant != 0 ? event_flag::kIncrease : std::uint32_t{0};
      break;
    case Op::kTcgen05Mma:
      op().flags = (verb_->variant & 2U) != 0 ? event_flag::kSparse : std::uint32_t{0};
      op().flags |= (verb_->variant & 1U) != 0 ? event_flag::kBlockScale : std::uint32_t{0};
      break;
    case Op::kWgmma:
      op().flags = verb_->variant != 0 ? event_flag::kSparse : std::uint32_t{0};
      break;
    case Op::kTcgen05Cp:
      as<operands::TmemCopy>().shape = static_cast<TmemCopy>(verb_->variant);
      as<operands::TmemCopy>().columns = columns_of(static_cast<TmemCopy>(verb_->variant));
      break;
    case Op::kTcgen05Ld:
      as<operands::TmemAccess>().half_rows = verb_->variant == 1;
      as<operands::TmemAccess>().shape =
          verb_->variant == 2 ? TmemShape::k16x256b : TmemShape::k32x32b;
      break;
    case Op::kSharedStore:
    case Op::kSharedLoad:
      if (verb_->variant != 0) {
        auto& tile = op().set<operands::SharedRows>();
        tile.by_columns = verb_->variant == 2 || verb_->variant == 4;
        tile.half_rows = verb_->variant == 3 || verb_->variant == 4;
        tile.of_accumulator = verb_->variant == 5;
      }
      break;
    case Op::kClcTryCancel:
      as<operands::ClcRequest>().mask.bits = static_cast<std::uint16_t>(
          verb_->variant != 0 ? (1U << program_.workload.cluster_size) - 1 : 0U);
      break;
    case Op::kClcQuery:
      as<operands::ClcQuery>().word = verb_->variant;
      break;
    default:
      break;
  }
  suffixes(mnemonic, mnemonic.text.substr(verb_->name.size()));
  operands(verb_->operands);
  if (has_ordering(verb_->op) && !says_ordering_) {
    op().ordering = standard_ordering(op());
  }
  return std::move(read_);
}

bool OperationReader::take_ordering(const std::vector<std::string_view>& parts, std::size_t& next) {
  const auto* semantics =
      std::find(std::begin(kSemanticsWords), std::end(kSemanticsWords), parts[next]);
  if (semantics == std::end(kSemanticsWords) || next + 1 == parts.size()) {
    return false;
  }
  const auto* scope = std::find(std::begin(kScopeWords), std::end(kScopeWords), parts[next + 1]);
  if (scope == std::end(kScopeWords)) {
    return false;
  }
  op().ordering = {static_cast<Semantics>(semantics - std::begin(kSemanticsWords)),
                   static_cast<Scope>(scope - std::begin(kScopeWords))};
  says_ordering_ = true;
  next += 2;
  return true;
}

void OperationReader::suffixes(const Token& mnemonic, std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find('.'), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  const bool in_group = op().op == Op::kTcgen05Alloc || op().op == Op::kTcgen05Dealloc ||
                        op().op == Op::kTcgen05Relinquish || op().op == Op::kTcgen05Mma ||
                        op().op == Op::kTcgen05Cp || op().op == Op::kTcgen05Commit ||
                        op().op == Op::kTensorLoad || op().op == Op::kBulkLoad;
  const bool in_registers = op().op == Op::kTcgen05Ld || op().op == Op::kTcgen05St;
  for (std::size_t next = 0; next < parts.size();) {
    if (has_ordering(op().op) && take_ordering(parts, next)) {
      continue;
    }
    if (in_group && parts[next] == "cta_group::2") {
      op().set_group(CtaGroup::kTwo);
      ++next;
      continue;
    }
    if (in_group && parts[next] == "cta_group::1") {
      ++next;
      continue;
    }
    if (op().op == Op::kTcgen05Commit && parts[next] == "multicast") {
      ++next;  // the mask says it
      continue;
    }
    if (op().op == Op::kFenceProxyAsync) {
      const auto* space =
          std::find(std::begin(kProxyWords) + 1, std::end(kProxyWords), parts[next]);
      if (space != std::end(kProxyWords)) {
        as<operands::ProxyFence>().space = static_cast<ProxySpace>(space - std::begin(kProxyWords));
        ++next;
        continue;
      }
    }
    bool known = false;
    for (std::uint32_t registers = 1; in_registers && registers <= 128; registers *= 2) {
      if (parts[next] == "x" + std::to_string(registers)) {
        registers_ = registers;
        known = true;
      }
    }
    if (!known) {
      reader_.fail(
          mnemonic,
          "no '." + std::string{parts[next]} + "' behind '" + std::string{verb_->name} + "'");
    }
    ++next;
  }
  if (in_registers && registers_ == 0) {
    reader_.fail(mnemonic, "how many registers: .x1 to .x128");
  }
}

void OperationReader::operands(Operands of) {
  switch (of) {
    case Operands::kNone:
      return;
    case Operands::kBarrier:
    case Operands::kBarrierCount:
    case Operands::kArrive:
    case Operands::kWait:
    case Operands::kNamed:
    case Operands::kStageNote:
      return barrier_operands(of);
    case Operands::kTensorLoad:
    case Operands::kTensorStore:
    case Operands::kBulkLoad:
    case Operands::kBulkStore:
    case Operands::kMap:
    case Operands::kMapGlobal:
    case Operands::kMapExtent:
    case Operands::kClcRequest:
    case Operands::kClcQuery:
      return copy_operands(of);
    case Operands::kTmemAlloc:
    case Operands::kTmemRegion:
    case Operands::kMma:
    case Operands::kCp:
    case Operands::kCommit:
    case Operands::kTmemLoad:
    case Operands::kTmemStore:
    case Operands::kFragment:
    case Operands::kWgmma:
    case Operands::kNumberFragment:
      return tensor_operands(of);
    default:
      return word_operands(of);
  }
}

// --- Barriers ---------------------------------------------------------------------------------

std::uint32_t OperationReader::barrier() {
  const Token& first = reader_.peek();
  const Place place = read_place(reader_, program_, names_);
  if (place.space == Place::Space::kRemote) {
    op().flags |= event_flag::kRemote;
  } else if (place.space != Place::Space::kShared) {
    reader_.fail(first, "a place in shared memory");
  }
  return place.address;
}

void OperationReader::barrier_operands(Operands of) {
  switch (of) {
    case Operands::kBarrier:
      as<operands::Mbarrier>().address = shared();
      return;
    case Operands::kBarrierCount: {
      auto& bar = as<operands::Mbarrier>();
      bar.address = op().op == Op::kMbarrierInit ? shared() : barrier();
      comma();
      (op().op == Op::kMbarrierInit ? bar.count : bar.bytes) = reader_.u32("a count", kCountMax);
      return;
    }
    case Operands::kArrive:
      return arrive();
    case Operands::kWait:
      return wait();
    case Operands::kStageNote:
      return stage_note();
    default:
      as<operands::NamedBarrier>().id = reader_.u32("a named barrier", 255);
      if (op().op == Op::kBarArrive || reader_.peek().is(",")) {
        comma();
        as<operands::NamedBarrier>().threads = reader_.u32("how many threads", 4096);
      }
  }
}

void OperationReader::arrive() {
  auto& bar = as<operands::Mbarrier>();
  bar.address = barrier();
  bar.count = 1;
  if ((op().flags & event_flag::kExpectTx) != 0) {
    comma();
    bar.bytes = reader_.u32("how many bytes", kCountMax);
  } else if (reader_.take_if(",")) {
    bar.count = reader_.u32("how many arrivals", kCountMax);
  }
}

void OperationReader::wait() {
  auto& bar = as<operands::Mbarrier>();
  if (op().op == Op::kMbarrierTryWait) {
    result();
  }
  bar.address = shared();
  comma();
  if (reader_.take_if("parity")) {
    bar.phase = reader_.u32("a parity");
  } else if (reader_.take_if("phase")) {
    bar.phase = static_cast<std::uint32_t>(reader_.number("a phase", -1, INT32_MAX));
    op().flags |= event_flag::kExactPhase;
  } else {
    reader_.fail("'phase' or 'parity'");
  }
}

void OperationReader::stage_note() {
  auto& note = as<operands::Note>();
  note.full = shared();
  comma();
  note.stages = reader_.u32("how many stages");
  comma();
  note.step = static_cast<StageStep>(one_of(kStageWords));
  comma();
  reader_.expect("index");
  note.index = reader_.u32("a stage");
  comma();
  reader_.expect("lap");
  note.lap = reader_.u32("a lap");
}

// --- Copies -----------------------------------------------------------------------------------

CtaMask OperationReader::mask() {
  reader_.expect("mask");
  return {static_cast<std::uint16_t>(reader_.u32("a mask of CTAs", 0xFFFF))};
}

std::uint32_t OperationReader::map() {
  const Token& name = reader_.word("a tensor map's name");
  const auto found = names_.maps.find(name.text);
  if (found == names_.maps.end()) {
    reader_.fail(name, "a tensor map's name");
  }
  return found->second;
}

void OperationReader::target() {
  comma();
  as<operands::Copy>().barrier = shared();
  if (reader_.take_if(",")) {
    as<operands::Copy>().mask = mask();
  }
}

void OperationReader::coordinates() {
  auto& copy = as<operands::Copy>();
  comma();
  reader_.expect("{");
  do {
    if (copy.rank == 5) {
      reader_.fail("at most five coordinates");
    }
    copy.at[copy.rank++] =
        static_cast<std::int32_t>(reader_.number("a coordinate", INT32_MIN / 4, INT32_MAX / 4));
  } while (reader_.take_if(","));
  reader_.expect("}");
}

void OperationReader::copy_operands(Operands of) {
  switch (of) {
    case Operands::kTensorLoad:
      as<operands::Copy>().shared = shared();
      comma();
      as<operands::Copy>().map = map();
      coordinates();
      return target();
    case Operands::kTensorStore:
      as<operands::Copy>().map = map();
      coordinates();
      comma();
      as<operands::Copy>().shared = shared();
      return;
    case Operands::kBulkLoad:
      as<operands::Copy>().shared = shared();
      comma();
      as<operands::Copy>().global = global();
      comma();
      as<operands::Copy>().bytes = reader_.u32("how many bytes", kSharedAddressMax);
      return target();
    case Operands::kBulkStore:
      as<operands::Copy>().global = global();
      comma();
      as<operands::Copy>().shared = shared();
      comma();
      as<operands::Copy>().bytes = reader_.u32("how many bytes", kSharedAddressMax);
      return;
    case Operands::kMap:
      as<operands::MapFence>().map = map();
      return;
    case Operands::kMapGlobal:
      as<operands::MapChange>().map = map();
      comma();
      as<operands::MapChange>().address = global();
      return;
    case Operands::kMapExtent: {
      auto& change = as<operands::MapChange>();
      change.map = map();
      comma();
      change.dimension = reader_.u32("a dimension, from 0", TensorMapState::kRankMax - 1);
      comma();
      change.extent = reader_.u32("how many elements", ~std::uint32_t{0});
      return;
    }
    case Operands::kClcRequest:
      as<operands::ClcRequest>().response = shared();
      comma();
      as<operands::ClcRequest>().barrier = shared();
      return;
    default:
      result();
      as<operands::ClcQuery>().response = shared();
  }
}

// --- Tensor memory ----------------------------------------------------------------------------

std::uint32_t OperationReader::tmem() {
  const Token& first = reader_.peek();
  const Place place = read_place(reader_, program_, names_);
  if (place.space != Place::Space::kTmem) {
    reader_.fail(first, "a place in tensor memory: [tmem column 0]");
  }
  return place.address;
}

// `desc([tile], swizzle 128, stride 1024, leading 16)`, or its 64 bits.
std::uint64_t OperationReader::descriptor() {
  if (!reader_.take_if("desc")) {
    return reader_.bits("a descriptor: desc([tile], swizzle 128, stride 1024), or its 64 bits");
  }
  reader_.expect("(");
  const std::uint32_t start = shared();
  comma();
  const Swizzle swizzle = read_swizzle(reader_);
  comma();
  reader_.expect("stride");
  const std::uint32_t stride = reader_.u32("bytes from eight rows to the next", 0x3FFF0);
  std::uint32_t leading = 16;
  if (reader_.take_if(",")) {
    reader_.expect("leading");
    leading = reader_.u32("the leading offset in bytes", 0x3FFF0);
  }
  reader_.expect(")");
  return UmmaSmemDescriptor::make({start}, leading, stride, swizzle).bits;
}

// `r3`, `f3`: the number behind the letter.
std::optional<std::uint32_t> OperationReader::numbered(char letter, std::uint32_t below) {
  const Token& token = reader_.peek();
  if (token.kind != Token::Kind::kWord || token.text.front() != letter || token.text.size() < 2 ||
      token.text.size() > 5) {
    return std::nullopt;
  }
  std::uint32_t number = 0;
  for (const char c : token.text.substr(1)) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  if (number >= below) {
    reader_.fail("a number below " + std::to_string(below) + " behind '" + letter + "'");
  }
  reader_.take();
  return number;
}

void OperationReader::result() {
  if (const auto number = numbered('r', kProgramRegisters)) {
    read_.result = *number;
    comma();
  }
}

std::uint32_t OperationReader::fragment_number() {
  const auto number = numbered('f', kProgramFragments);
  if (!number) {
    reader_.fail("a fragment: f0");
  }
  return *number;
}

void OperationReader::fragment(std::uint32_t registers) {
  read_.fragment = fragment_number();
  read_.fragment_registers = registers;
}

ElementType OperationReader::element() {
  const Token& token = reader_.word("an element type");
  const std::optional<ElementType> type = element_named(token.text);
  if (!type) {
    reader_.fail(token, "an element type");
  }
  return *type;
}

template <std::size_t kCount>
std::uint32_t OperationReader::one_of(const char* const (&words)[kCount]) {
  std::string known;
  for (const char* word : words) {
    known += (known.empty() ? "" : ", ") + std::string{word};
  }
  const Token& token = reader_.word(known);
  const auto* found = std::find(std::begin(words), std::end(words), token.text);
  if (found == std::end(words)) {
    reader_.fail(token, known);
  }
  return static_cast<std::uint32_t>(found - std::begin(words));
}

void OperationReader::shape(std::uint32_t& m, std::uint32_t& n) {
  const Token& token = reader_.word("a shape: m128n16");
  const std::size_t split = token.text.find('n');
  const auto digits = [&](std::string_view text) {
    std::uint32_t number = 0;
    if (text.empty() || text.size() > 3) {
      reader_.fail(token, "a shape: m128n16");
    }
    for (const char c : text) {
      if (c < '0' || c > '9') {
        reader_.fail(token, "a shape: m128n16");
      }
      number = number * 10 + static_cast<std::uint32_t>(c - '0');
    }
    return number;
  };
  if (token.text.front() != 'm' || split == std::string_view::npos) {
    reader_.fail(token, "a shape: m128n16");
  }
  m = digits(token.text.substr(1, split - 1));
  n = digits(token.text.substr(split + 1));
  if (m % 16 != 0 || m > 496 || n % 8 != 0 || n > 504) {
    reader_.fail(token, "a shape with m a multiple of 16, n of 8");
  }
}

void OperationReader::mma() {
  auto& mma = as<operands::Mma>();
  mma.d.value = tmem();
  comma();
  if (reader_.peek().is("[")) {
    mma.tmem_a.value = tmem();
    op().flags |= event_flag::kTmemA;
  } else {
    mma.a.bits = descriptor();
  }
  comma();
  mma.b.bits = descriptor();
  comma();
  if (reader_.take_if("instruction")) {
    mma.instruction.bits = reader_.u32("the 32 bits of an instruction descriptor");
    comma();
    mma.instruction.kind = static_cast<MmaKind>(one_of(kKindWords));
  } else if ((op().flags & event_flag::kBlockScale) == 0) {
    std::uint32_t m = 0;
    std::uint32_t n = 0;
    shape(m, n);
    comma();
    const ElementType a = element();
    comma();
    mma.instruction = UmmaInstructionDescriptor::make(a, element(), m, n);
    if ((op().flags & event_flag::kSparse) != 0) {
      comma();
      reader_.expect("selector");
      mma.instruction = mma.instruction.with_sparse_a(reader_.u32("a sparsity selector", 3));
    }
  } else {
    block_scale();
  }
  if ((op().flags & event_flag::kSparse) != 0) {
    comma();
    mma.metadata.value = tmem();
  }
  if ((op().flags & event_flag::kBlockScale) != 0) {
    comma();
    mma.scale_a.value = tmem();
    comma();
    mma.scale_b.value = tmem();
  }
  if (reader_.take_if(",")) {
    reader_.expect("accumulate");
    op().flags |= event_flag::kAccumulate;
  }
}

// `m128n128, mxf8f6f4, f8e4m3, bytes 0, 0`.
void OperationReader::block_scale() {
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  shape(m, n);
  comma();
  const auto kind = static_cast<MmaKind>(one_of(kKindWords));
  comma();
  const ElementType type = element();
  comma();
  reader_.expect("bytes");
  const std::uint32_t a = reader_.u32("the first byte of A's factors", 3);
  comma();
  const std::uint32_t b = reader_.u32("the first byte of B's factors", 3);
  auto& instruction = as<operands::Mma>().instruction;
  instruction =
      UmmaInstructionDescriptor::make_block_scaled(kind, type, m, n).with_scale_bytes(a, b);
  instruction.kind = kind;
  if ((op().flags & event_flag::kSparse) != 0) {
    instruction = instruction.with_sparse_a(0);
  }
}

void OperationReader::wgmma() {
  auto& wgmma = as<operands::Wgmma>();
  fragment(0);
  comma();
  wgmma.a.bits = descriptor();
  comma();
  wgmma.b.bits = descriptor();
  comma();
  const Token& token = reader_.peek();
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  shape(m, n);
  if (m != 64 || n == 0 || n > 256) {
    reader_.fail(token, "a shape from m64n8 to m64n256");
  }
  comma();
  const ElementType type = element();
  wgmma.instruction = UmmaInstructionDescriptor::make(type, type, m, n);
  wgmma.columns = n;
  read_.fragment_registers = n / 2;
  if ((op().flags & event_flag::kSparse) != 0) {
    comma();
    read_.metadata = fragment_number();
    comma();
    reader_.expect("selector");
    wgmma.instruction = wgmma.instruction.with_sparse_a(reader_.u32("a sparsity selector", 3));
  }
  bool more = reader_.take_if(",");
  if (more && reader_.take_if("mn_major")) {
    const Major a = reader_.take_if("a") ? Major::kMn : Major::kK;
    const Major b = reader_.take_if("b") ? Major::kMn : Major::kK;
    wgmma.instruction = wgmma.instruction.with_majors(a, b);
    more = reader_.take_if(",");
  }
  if (more) {
    reader_.expect("accumulate");
    op().flags |= event_flag::kAccumulate;
  }
}

void OperationReader::tensor_operands(Operands of) {
  switch (of) {
    case Operands::kTmemAlloc:
      as<operands::TmemAllocation>().word = shared();
      comma();
      as<operands::TmemAllocation>().columns = reader_.u32("how many columns", 4096);
      return;
    case Operands::kTmemRegion:
      as<operands::TmemRegion>().address.value = tmem();
      comma();
      as<operands::TmemRegion>().columns = reader_.u32("how many columns", 4096);
      return;
    case Operands::kMma:
      return mma();
    case Operands::kCp:
      as<operands::TmemCopy>().to.value = tmem();
      comma();
      as<operands::TmemCopy>().from.bits = descriptor();
      return;
    case Operands::kCommit:
      as<operands::Commit>().barrier = shared();
      if (reader_.take_if(",")) {
        as<operands::Commit>().mask = mask();
      }
      return;
    case Operands::kTmemLoad: {
      fragment(registers_);
      comma();
      auto& access = as<operands::TmemAccess>();
      access.address.value = tmem();
      access.columns = registers_ * (access.of_16_lanes() ? 2 : 1);
      return;
    }
    case Operands::kTmemStore:
      as<operands::TmemAccess>().address.value = tmem();
      comma();
      fragment(registers_);
      as<operands::TmemAccess>().columns = registers_;
      return;
    case Operands::kWgmma:
      return wgmma();
    case Operands::kNumberFragment:
      as<operands::WgmmaWait>().pending = reader_.u32("how many groups stay", 4096);
      if (reader_.take_if(",")) {
        fragment(0);
      }
      return;
    default:
      if (!reader_.at_line_end() && !reader_.peek().is("}")) {
        fragment(0);
      }
  }
}

// --- Words ------------------------------------------------------------------------------------

// `row 0, column 0, bytes 128, f32, swizzle 128`, and how many registers a lane stores.
void OperationReader::rows() {
  auto& tile = as<operands::SharedRows>();
  comma();
  reader_.expect("row");
  tile.row = reader_.u32("a row", 4095);
  comma();
  reader_.expect("column");
  tile.column = reader_.u32("a column", 4095);
  comma();
  reader_.expect("bytes");
  tile.row_bytes = reader_.u32("bytes of a row", 4096);
  comma();
  tile.element = element();
  comma();
  tile.swizzle = read_swizzle(reader_);
  comma();
  reader_.expect("registers");
  read_.fragment_registers = reader_.u32("registers of a lane", 128);
}

void OperationReader::word_operands(Operands of) {
  switch (of) {
    case Operands::kNumber:
      (op().op == Op::kSetmaxnreg ? as<operands::Registers>().count
                                  : as<operands::BulkWait>().pending) =
          reader_.u32("a number", 4096);
      return;
    case Operands::kSharedStore:
      as<operands::SharedWord>().address = shared();
      comma();
      as<operands::SharedWord>().value = reader_.u32("a value of 32 bits");
      return;
    case Operands::kSharedLoad:
      result();
      as<operands::SharedWord>().address = shared();
      return;
    case Operands::kRowsStore:
    case Operands::kAccumulator:
      as<operands::SharedRows>().tile = shared();
      comma();
      fragment(0);
      return rows();
    case Operands::kRowsLoad:
      fragment(0);
      comma();
      as<operands::SharedRows>().tile = shared();
      return rows();
    case Operands::kGlobalLoad:
      result();
      as<operands::GlobalWord>().address = global();
      return;
    default:
      as<operands::GlobalWord>().address = global();
      comma();
      as<operands::GlobalWord>().value = reader_.u32("a value of 32 bits");
  }
}

}  // namespace

Instruction read_operation(Reader& reader,
                           const Program& program,
                           const Names& names,
                           Executing who) {
  return OperationReader{reader, program, names}.read(who);
}

}  // namespace warptwin::sim
