#include <algorithm>
#include <array>

#include "sim/program/parser.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kSharedMax = kSharedBase + kSharedBytesPerCtaMax;
constexpr std::uint64_t kGlobalBytesMax = std::uint64_t{64} << 20;
constexpr std::uint32_t kWarpsMax = 4096;  // of the grid
constexpr std::uint32_t kRegionsMax = 256;
constexpr std::size_t kMapsMax = 1024;
constexpr std::size_t kWordsMax = std::size_t{1} << 16;

constexpr const char* kWords =
    "a line of the header (program, cluster, clusters, resident, registers, dependents, flops, "
    "warps, barriers, tile, word, ring, shared, input, output, scratch, initial, map) or of a warp "
    "(cluster N, cta N, warp N:)";

class Header {
 public:
  Header(Reader& reader, Program& program, Names& names)
      : reader_{reader}, program_{program}, names_{names} {}

  void read();

 private:
  using Line = void (Header::*)();
  struct Word {
    const char* name;
    Line line;
  };
  static constexpr std::uint32_t kLineCount = 18;
  static const std::array<Word, kLineCount>& lines();

  void program_name() { program_.name = std::string{reader_.word("a name").text}; }
  void cluster() { launch().cluster_size = number("CTAs of a cluster", 1, 16); }
  void clusters() { launch().clusters = number("clusters of the grid", 1, 1024); }
  void resident() { launch().resident_clusters = number("clusters at a time", 0, 1024); }
  void registers() { launch().registers_per_thread = number("registers of a thread", 0, 255); }
  void dependents() { launch().has_dependents = true; }
  void flops() { launch().flops = reader_.bits("a count of operations"); }
  void warps();
  void barriers();
  void tile();
  void word();
  void ring();
  void shared();
  void input() { tensor(TensorUse::kInput); }
  void output() { tensor(TensorUse::kOutput); }
  void scratch() { tensor(TensorUse::kScratch); }
  void initial();
  void map();

  Workload& launch() { return program_.workload; }
  std::uint32_t number(const char* what, std::uint32_t least, std::uint32_t most) {
    return static_cast<std::uint32_t>(reader_.number(what, least, most));
  }
  Role role(const char* what);
  BarrierContract contract();
  // Names, once each; split at the first dot.
  std::string new_name(const char* what);
  void region(RegionKind kind,
              const std::string& name,
              std::uint32_t count,
              std::uint32_t bytes,
              std::uint32_t alignment);
  void tensor(TensorUse use);
  MapDimension dimension();

  Reader& reader_;
  Program& program_;
  Names& names_;
  std::uint32_t next_ = kSharedBase;  // the shared address behind the last region
  std::uint64_t global_bytes_ = 0;
  BarrierContract contract_;  // of the region that is read
};

const std::array<Header::Word, Header::kLineCount>& Header::lines() {
  static constexpr std::array<Word, kLineCount> kLines{{
      {"program", &Header::program_name},
      {"cluster", &Header::cluster},
      {"clusters", &Header::clusters},
      {"resident", &Header::resident},
      {"registers", &Header::registers},
      {"dependents", &Header::dependents},
      {"flops", &Header::flops},
      {"warps", &Header::warps},
      {"barriers", &Header::barriers},
      {"tile", &Header::tile},
      {"word", &Header::word},
      {"ring", &Header::ring},
      {"shared", &Header::shared},
      {"input", &Header::input},
      {"output", &Header::output},
      {"scratch", &Header::scratch},
      {"initial", &Header::initial},
      {"map", &Header::map},
  }};
  return kLines;
}

Role Header::role(const char* what) {
  const Token& token = reader_.word(what);
  const std::optional<Role> role = role_named(token.text);
  if (!role) {
    std::string known = what;
    for (unsigned i = 0; i <= static_cast<unsigned>(Role::kCount); ++i) {
      known += std::string{i == 0 ? ": " : ", "} + name_of(static_cast<Role>(i));
    }
    reader_.fail(token, known);
  }
  return *role;
}

std::string Header::new_name(const char* what) {
  const Token& token = reader_.word(what);
  const bool taken = names_.regions.contains(token.text) || names_.tensors.contains(token.text) ||
                     token.is("shared") || token.is("global") || token.is("tmem");
  if (taken || token.text.find("::") != std::string_view::npos) {
    reader_.fail(token, "a name that is not taken");
  }
  return std::string{token.text};
}

// `warps 4`, or `warps producer 1, consumer 2`.
void Header::warps() {
  if (!program_.symbols.roles.empty()) {
    reader_.fail("one line of warps");
  }
  std::uint32_t total = 0;
  do {
    const bool named = reader_.peek().kind == Token::Kind::kWord;
    const Role of = named ? role("a role") : Role::kIdle;
    const std::uint32_t count = number("warps", 1, 32);
    total += count;
    if (total > 32) {
      reader_.fail("at most 32 warps of a CTA");
    }
    program_.symbols.roles.push_back({of, count});
  } while (reader_.take_if(","));
}

void Header::region(RegionKind kind,
                    const std::string& name,
                    std::uint32_t count,
                    std::uint32_t bytes,
                    std::uint32_t alignment) {
  Region region;
  region.kind = kind;
  const std::size_t dot = name.find('.');
  region.owner = name.substr(0, dot);
  region.part = dot == std::string::npos ? "" : name.substr(dot + 1);
  region.count = count;
  region.element_bytes = align_up(bytes, alignment);
  region.contract = contract_;
  std::uint32_t at = align_up(next_, alignment);
  if (reader_.take_if("at")) {
    at = number("a shared address", 0, kSharedMax);
  }
  const std::uint64_t end = at + std::uint64_t{count} * region.element_bytes;
  if (end > kSharedMax) {
    reader_.fail("less shared memory: a CTA has " + std::to_string(kSharedBytesPerCtaMax) +
                 " bytes, and this ends at " + std::to_string(end - kSharedBase));
  }
  if (program_.symbols.regions.size() == kRegionsMax) {
    reader_.fail("at most " + std::to_string(kRegionsMax) + " regions");
  }
  region.address = at;
  next_ = static_cast<std::uint32_t>(end);
  names_.regions[name] = program_.symbols.regions.size();
  program_.symbols.regions.push_back(region);
}

// `bytes N waiter ROLE from ROLE KIND N ...`: who should arrive.
BarrierContract Header::contract() {
  constexpr const char* kKinds[] = {"tma_bytes", "umma_commit", "every_lane", "elected_lane"};
  BarrierContract contract;
  if (reader_.take_if("bytes")) {
    contract.bytes = number("bytes of a phase", 0, kMbarrierCountMax);
  }
  if (reader_.take_if("waiter")) {
    contract.waiter = role("who waits");
  }
  for (std::uint32_t i = 0; reader_.take_if("from"); ++i) {
    if (i == BarrierContract::kContributorsMax) {
      reader_.fail("at most five contributors");
    }
    Contributor& contributor = contract.contributors[i];
    contributor.role = role("who arrives");
    const Token& kind = reader_.word("tma_bytes, umma_commit, every_lane or elected_lane");
    const auto* found = std::find(std::begin(kKinds), std::end(kKinds), kind.text);
    if (found == std::end(kKinds)) {
      reader_.fail(kind, "tma_bytes, umma_commit, every_lane or elected_lane");
    }
    contributor.kind = static_cast<ArrivalKind>(found - std::begin(kKinds));
    contributor.arrivals = number("arrivals of a phase", 0, kMbarrierCountMax);
  }
  return contract;
}

void Header::barriers() {
  const std::string name = new_name("the barriers' name");
  const std::uint32_t count = number("how many barriers", 1, 4096);
  contract_ = contract();
  region(RegionKind::kBarriers, name, count, 8, 8);
  contract_ = BarrierContract{};
}

// `tile a 16384`, `tile a 2 x 16384 align 1024`.
void Header::tile() {
  const std::string name = new_name("the tile's name");
  std::uint32_t count = 1;
  std::uint32_t bytes = number("bytes, or how many tiles", 1, kSharedMax);
  if (reader_.take_if("x")) {
    count = bytes;
    bytes = number("bytes of a tile", 1, kSharedMax);
  }
  std::uint32_t alignment = 1024;
  if (reader_.take_if("align")) {
    const Token& token = reader_.peek();
    alignment = number("an alignment", 1, 65536);
    if ((alignment & (alignment - 1)) != 0) {
      reader_.fail(token, "a power of two");
    }
  }
  region(RegionKind::kTile, name, count, bytes, alignment);
}

void Header::word() {
  region(RegionKind::kWord, new_name("the word's name"), 1, 4, 4);
}

// `ring input full [full] empty [empty] stages 4 tiles [tile] bytes 1024`.
void Header::ring() {
  Ring ring;
  ring.owner = std::string{reader_.word("the ring's name").text};
  reader_.expect("full");
  ring.full = read_shared(reader_, program_, names_);
  reader_.expect("empty");
  ring.empty = read_shared(reader_, program_, names_);
  reader_.expect("stages");
  ring.stages = number("how many stages", 0, 4096);
  reader_.expect("tiles");
  ring.tiles = read_shared(reader_, program_, names_);
  reader_.expect("bytes");
  ring.stage_bytes = number("bytes of a stage", 0, kSharedMax);
  program_.symbols.rings.push_back(ring);
}

void Header::shared() {
  next_ = std::max(next_, kSharedBase + number("bytes of shared memory", 0, kSharedBytesPerCtaMax));
}

// `input a 4096`, `input a bf16 128 x 64 pitch 128 before`: bytes, or a matrix.
void Header::tensor(TensorUse use) {
  if (launch().tensors.size() == 64) {
    reader_.fail("at most 64 buffers");
  }
  TensorSpec spec;
  spec.use = use;
  const std::string name = new_name("the buffer's name");
  if (reader_.peek().kind == Token::Kind::kWord) {
    const Token& token = reader_.take();
    const bool words = token.text == name_of(ElementType::kU32);  // of no product
    const std::optional<ElementType> element =
        words ? ElementType::kU32 : element_named(token.text);
    if (!element) {
      reader_.fail(token, "an element type, or how many bytes");
    }
    spec.element = *element;
    spec.rows = number("rows", 1, 1U << 24);
    reader_.expect("x");
    spec.columns = number("columns", 1, 1U << 24);
    const std::uint32_t share = elements_in_unit(spec.element);
    spec.pitch_bytes = align_up(ceil_div(spec.columns, share) * bytes_of(spec.element), 16);
    if (reader_.take_if("pitch")) {
      spec.pitch_bytes =
          number("bytes from row to row, that hold a row", spec.pitch_bytes, 1 << 26);
    }
  } else {
    spec.element = ElementType::kU8;
    spec.rows = 1;
    spec.columns = spec.pitch_bytes = number("bytes", 1, kGlobalBytesMax);
  }
  global_bytes_ += spec.bytes();
  if (global_bytes_ > kGlobalBytesMax) {
    reader_.fail("at most " + std::to_string(kGlobalBytesMax) + " bytes of global memory");
  }
  const auto index = static_cast<std::uint32_t>(launch().tensors.size());
  if (reader_.take_if("before")) {
    launch().from_grid_before.push_back(index);
  }
  spec.name = program_.keep(name);
  launch().tensors.push_back(spec);
  names_.tensors[name] = index;
  names_.tensor_addresses.push_back(program_.buffer_address(index));
}

// `initial [flag+4], 7`.
void Header::initial() {
  const Token& first = reader_.peek();
  const std::uint64_t address = read_global(reader_, program_, names_);
  reader_.expect(",");
  InitialWord word;
  word.value = reader_.u32("a value of 32 bits");
  for (; word.tensor < launch().tensors.size(); ++word.tensor) {
    const std::uint64_t begin = names_.tensor_addresses[word.tensor];
    if (address >= begin && address + 4 <= begin + launch().tensors[word.tensor].bytes() &&
        (address - begin) % 4 == 0) {
      word.offset = address - begin;
      break;
    }
  }
  if (word.tensor == launch().tensors.size()) {
    reader_.fail(first, "a whole word of a buffer");
  }
  if (program_.words.size() == kWordsMax) {
    reader_.fail(first, "at most " + std::to_string(kWordsMax) + " initial words");
  }
  program_.words.push_back(word);
}

// `extent 128 stride 64 box 8 step 2`.
MapDimension Header::dimension() {
  MapDimension dimension;
  reader_.expect("extent");
  dimension.extent = number("elements of the dimension", 1, 1U << 26);
  reader_.expect("stride");
  dimension.stride_bytes = number("bytes from one to the next", 0, 1U << 26);
  reader_.expect("box");
  dimension.box = number("elements of a box", 1, 256);
  if (reader_.take_if("step")) {
    dimension.step = number("an element stride", 1, 8);
  }
  return dimension;
}

// `map m over a box 64 x 64 swizzle 128`, then `dimension extent E stride S box B` of other shapes.
void Header::map() {
  const Token& name = reader_.word("the map's name");
  if (names_.maps.contains(name.text) || launch().maps.size() == kMapsMax) {
    reader_.fail(name,
                 "a name that is not taken, of at most " + std::to_string(kMapsMax) + " maps");
  }
  reader_.expect("over");
  const Token& buffer = reader_.word("a buffer's name");
  const auto tensor = names_.tensors.find(buffer.text);
  if (tensor == names_.tensors.end()) {
    reader_.fail(buffer, "a buffer's name");
  }
  TensorMapSpec spec;
  spec.tensor = static_cast<std::uint32_t>(tensor->second);
  reader_.expect("box");
  spec.box_rows = number("rows of a box", 1, 65536);
  reader_.expect("x");
  spec.box_columns = number("columns of a box", 1, 256);
  if (reader_.peek().is("swizzle")) {
    spec.swizzle = read_swizzle(reader_);
  }
  for (std::uint32_t i = 0; reader_.take_if("dimension"); ++i) {
    if (i == TensorMapSpec::kOuterMax) {
      reader_.fail("at most four outer dimensions");
    }
    spec.outer[i] = dimension();
  }
  if (const char* fault = fault_of(spec, launch())) {
    reader_.refuse(name, fault);
  }
  names_.maps.emplace(name.text, static_cast<std::uint32_t>(launch().maps.size()));
  program_.map_names.emplace_back(name.text);
  launch().maps.push_back(spec);
}

void Header::read() {
  for (reader_.skip_newlines(); !reader_.at_end(); reader_.skip_newlines()) {
    const Token& first = reader_.word(kWords);
    if (first.is("cta") || first.is("warp")) {
      reader_.go_to(reader_.position() - 1);
      break;
    }
    // `cluster 2` is a size; `cluster 0 warp 1:` and `warps 0-3:` begin a warp's lines.
    if (first.is("cluster") || first.is("warps")) {
      const std::size_t here = reader_.position();
      bool begins = false;
      while (!reader_.at_line_end()) {
        begins = reader_.take().is(":") || begins;
      }
      reader_.go_to(begins ? here - 1 : here);
      if (begins) {
        break;
      }
    }
    const auto* found = std::find_if(
        lines().begin(), lines().end(), [&](const Word& word) { return first.is(word.name); });
    if (found == lines().end()) {
      reader_.fail(first, kWords);
    }
    (this->*found->line)();
    reader_.expect_line_end();
  }
  if (program_.symbols.roles.empty()) {
    program_.symbols.roles.push_back({Role::kIdle, 1});
  }
  // A swizzle stays within a line of 128 bytes.
  program_.symbols.bytes = align_up(next_, 128) - kSharedBase;
  const std::uint64_t warps =
      std::uint64_t{launch().clusters} * launch().cluster_size * program_.warps_per_cta();
  if (warps > kWarpsMax) {
    reader_.fail("at most " + std::to_string(kWarpsMax) + " warps of the grid, not " +
                 std::to_string(warps));
  }
  program_.warps.resize(static_cast<std::size_t>(warps));
}

}  // namespace

void read_header(Reader& reader, Program& program, Names& names) {
  Header{reader, program, names}.read();
}

}  // namespace warptwin::sim
