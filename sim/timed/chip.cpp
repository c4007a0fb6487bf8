#include "sim/timed/chip.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/json/json_text.hpp"
#include "sim/timed/shipped_chips.hpp"

namespace warptwin::sim {

namespace {

using Json = nlohmann::json;

constexpr double kLarge = 1e15;
constexpr double kCyclesMost = 1e6;
constexpr std::size_t kFileMost = 1 << 20;  // bytes; no chip is near it

constexpr ChipField kFields[] = {
    {"sms", &Chip::sms, "SM", 1, 4096, "streaming multiprocessors that run CTAs"},
    {"clock",
     &Chip::clock,
     "GHz",
     0.1,
     10,
     "clock that turns cycles into time, where none is given"},
    {"power_kappa",
     &Chip::power_kappa,
     "GHz^3",
     0,
     1000,
     "power cap: clock <= (kappa / tensor-core share)^(1/3); 0: no cap"},
    {"launch_us", &Chip::launch_us, "us", 0, 1000, "a launch, before its first CTA starts"},
    {"launch_gap_us",
     &Chip::launch_gap_us,
     "us",
     0,
     1000,
     "the end of a grid until the first CTA of one launched behind it starts"},
    {"cta_start_us",
     &Chip::cta_start_us,
     "us",
     0,
     1000,
     "start of a CTA until its first instruction"},
    {"cta_gap_us",
     &Chip::cta_gap_us,
     "us",
     0,
     1000,
     "end of a CTA until the first instruction of the next one on its SM"},
    {"cluster_start",
     &Chip::cluster_start,
     "cycle",
     0,
     kCyclesMost,
     "the start of a CTA in a cluster, beside that of one alone and its first cluster barrier"},
    {"tensor_map_fetch",
     &Chip::tensor_map_fetch,
     "cycle",
     0,
     kCyclesMost,
     "the first use of a tensor map on an SM"},
    {"sm_ctas", &Chip::sm_ctas, "CTA", 1, 1024, "CTAs that an SM runs at a time, at most"},
    {"sm_threads", &Chip::sm_threads, "thread", 32, 65536, "threads of all CTAs on an SM"},
    {"sm_registers",
     &Chip::sm_registers,
     "register",
     1024,
     1 << 24,
     "registers of 32 bits of an SM"},
    {"sm_shared_bytes",
     &Chip::sm_shared_bytes,
     "B",
     1024,
     1 << 30,
     "shared memory of all CTAs on an SM"},
    {"sm_shared_per_cta",
     &Chip::sm_shared_per_cta,
     "B",
     0,
     1 << 20,
     "of it what each CTA takes beside what it asks for"},
    {"sm_named_barriers",
     &Chip::sm_named_barriers,
     "barrier",
     16,
     4096,
     "named barriers of all CTAs on an SM"},
    {"issue", &Chip::issue, "cycle", 0, 1000, "issuing any operation"},
    {"mbarrier_arrive",
     &Chip::mbarrier_arrive,
     "cycle",
     0,
     kCyclesMost,
     "an arrival until the barrier has counted it"},
    {"mbarrier_test",
     &Chip::mbarrier_test,
     "cycle",
     0,
     kCyclesMost,
     "a look at a barrier whose phase is complete"},
    {"mbarrier_wake",
     &Chip::mbarrier_wake,
     "cycle",
     0,
     kCyclesMost,
     "completion of a phase until a waiter goes on"},
    {"mbarrier_reach",
     &Chip::mbarrier_reach,
     "cycle",
     0,
     kCyclesMost,
     "the same look, until it is at shared memory's read port"},
    {"mbarrier_port",
     &Chip::mbarrier_port,
     "cycle",
     0,
     kCyclesMost,
     "the read port, an operation on an mbarrier; 0: it takes none"},
    {"named_barrier",
     &Chip::named_barrier,
     "cycle",
     0,
     kCyclesMost,
     "bar.sync, without what each warp adds"},
    {"named_barrier_per_warp",
     &Chip::named_barrier_per_warp,
     "cycle",
     0,
     kCyclesMost,
     "bar.sync, per warp"},
    {"cluster_barrier_relaxed",
     &Chip::cluster_barrier_relaxed,
     "cycle",
     0,
     kCyclesMost,
     "barrier.cluster, relaxed arrival"},
    {"cluster_barrier",
     &Chip::cluster_barrier,
     "cycle",
     0,
     kCyclesMost,
     "barrier.cluster, releasing arrival"},
    {"fence_proxy_async", &Chip::fence_proxy_async, "cycle", 0, kCyclesMost, "fence.proxy.async"},
    {"fence_gpu", &Chip::fence_gpu, "cycle", 0, kCyclesMost, "a fence or an atomic of GPU scope"},
    {"setmaxnreg_dec", &Chip::setmaxnreg_dec, "cycle", 0, kCyclesMost, "setmaxnreg.dec"},
    {"setmaxnreg_inc", &Chip::setmaxnreg_inc, "cycle", 0, kCyclesMost, "setmaxnreg.inc"},
    {"convert_rate",
     &Chip::convert_rate,
     "1/cycle",
     0.1,
     1e6,
     "conversions of two fp32 to a packed pair, per SM"},
    {"fma_rate", &Chip::fma_rate, "1/cycle", 1, 4096, "multiply-adds on registers, an SM"},
    {"mufu_rate", &Chip::mufu_rate, "1/cycle", 1, 4096, "special functions (exp2), an SM"},
    {"integer_rate",
     &Chip::integer_rate,
     "1/cycle",
     1,
     4096,
     "integers, logic, comparisons and selections, an SM; of PTX"},
    {"mma_sync_rate",
     &Chip::mma_sync_rate,
     "1/cycle",
     1,
     1e6,
     "multiply-adds of mma.sync with elements of 16 bits, an SM; of PTX"},
    {"alu_latency",
     &Chip::alu_latency,
     "cycle",
     1,
     kCyclesMost,
     "a multiply-add or an integer until what depends on it is issued; of PTX"},
    {"mufu_latency",
     &Chip::mufu_latency,
     "cycle",
     1,
     kCyclesMost,
     "a special function until what depends on it is issued; of PTX"},
    {"mma_sync_latency",
     &Chip::mma_sync_latency,
     "cycle",
     1,
     kCyclesMost,
     "an mma.sync until what depends on it is issued; of PTX"},
    {"branch_latency",
     &Chip::branch_latency,
     "cycle",
     0,
     kCyclesMost,
     "a branch that is taken until what it goes to is issued; of PTX"},
    {"tma_issue", &Chip::tma_issue, "cycle", 0, kCyclesMost, "issuing a bulk copy"},
    {"tma_row",
     &Chip::tma_row,
     "cycle",
     0.01,
     kCyclesMost,
     "the TMA engine, per row of up to 128 B"},
    {"tma_instruction",
     &Chip::tma_instruction,
     "cycle",
     0,
     kCyclesMost,
     "the TMA engine, per load at least"},
    {"tma_store_row",
     &Chip::tma_store_row,
     "cycle",
     0,
     kCyclesMost,
     "the TMA engine, a row that is stored"},
    {"tma_store_instruction",
     &Chip::tma_store_instruction,
     "cycle",
     0,
     kCyclesMost,
     "the TMA engine, per store at least"},
    {"tma_latency",
     &Chip::tma_latency,
     "cycle",
     0,
     kCyclesMost,
     "a load's last row leaves the engine until its bytes are counted, from L2"},
    {"tma_latency_per_row_byte",
     &Chip::tma_latency_per_row_byte,
     "cycle/B",
     0,
     100,
     "the same, more for each byte of a row"},
    {"tma_store_latency",
     &Chip::tma_store_latency,
     "cycle",
     0,
     kCyclesMost,
     "a store's last row has been read until it is written"},
    {"smem_read", &Chip::smem_read, "B/cycle", 1, 1e6, "read port of shared memory"},
    {"smem_write", &Chip::smem_write, "B/cycle", 1, 1e6, "write port of shared memory"},
    {"smem_conflict",
     &Chip::smem_conflict,
     "ratio",
     0,
     10,
     "how much longer a port takes while the other one is in full use"},
    {"smem_latency", &Chip::smem_latency, "cycle", 0, kCyclesMost, "a load from shared memory"},
    {"mma_issue", &Chip::mma_issue, "cycle", 0, kCyclesMost, "issuing an MMA or a commit"},
    {"wgmma_fence",
     &Chip::wgmma_fence,
     "cycle",
     0,
     kCyclesMost,
     "wgmma.fence, and what a warp computes for the products behind it; 0: there is no wgmma"},
    {"wgmma_issue",
     &Chip::wgmma_issue,
     "cycle",
     0,
     kCyclesMost,
     "issuing a wgmma, without what each column adds; no other warp of the sub-partition issues"},
    {"wgmma_issue_per_column",
     &Chip::wgmma_issue_per_column,
     "cycle",
     0,
     kCyclesMost,
     "issuing a wgmma, per column"},
    {"mma_batch",
     &Chip::mma_batch,
     "cycle",
     0,
     kCyclesMost,
     "a commit of more than one MMA, over that of one"},
    {"commit_latency",
     &Chip::commit_latency,
     "cycle",
     0,
     kCyclesMost,
     "a commit of nothing until a waiter goes on"},
    {"tmem_rate", &Chip::tmem_rate, "B/cycle", 1, 1e6, "tensor-memory port of an SM sub-partition"},
    {"tmem_latency",
     &Chip::tmem_latency,
     "cycle",
     0,
     kCyclesMost,
     "tcgen05.ld or .st, beside its bytes"},
    {"tmem_busy_latency",
     &Chip::tmem_busy_latency,
     "cycle",
     0,
     kCyclesMost,
     "the same, more while the tensor core runs"},
    {"tmem_alloc", &Chip::tmem_alloc, "cycle", 0, kCyclesMost, "tcgen05.alloc or .dealloc"},
    {"tcgen05_cp", &Chip::tcgen05_cp, "cycle", 0, kCyclesMost, "tcgen05.cp of 2 KiB"},
    {"l2_bytes", &Chip::l2_bytes, "B", 1, kLarge, "L2, all of it"},
    {"l2_halves",
     &Chip::l2_halves,
     "halves",
     1,
     2,
     "parts of L2 of which each keeps its own copy for its SMs"},
    {"l2_fill_spread",
     &Chip::l2_fill_spread,
     "ratio",
     0,
     1,
     "how unevenly a half of L2 is filled: a standard deviation, as a share of its size"},
    {"l2_rate", &Chip::l2_rate, "B/cycle", 1, 1e9, "L2 to all SMs together"},
    {"l2_multicast",
     &Chip::l2_multicast,
     "ratio",
     0,
     1,
     "of each copy of a multicast but the first, what L2 hands on once more"},
    {"l2_shared",
     &Chip::l2_shared,
     "ratio",
     0,
     1,
     "of a box that is on its way to another SM of the GPC, what L2 hands on once more"},
    {"l2_store_rate", &Chip::l2_store_rate, "B/cycle", 1, 1e9, "all SMs together to L2"},
    {"l2_clock",
     &Chip::l2_clock,
     "GHz",
     0,
     100,
     "clock of l2_rate and l2_store_rate; 0: that of the SMs"},
    {"l2_latency_ns",
     &Chip::l2_latency_ns,
     "ns",
     0,
     kLarge,
     "of a load's latency, what the clock of the SMs does not change"},
    {"gpcs",
     &Chip::gpcs,
     "GPC",
     0,
     256,
     "groups of SMs, to which clusters are dealt out in turn; 0: neighbours fill a half of L2"},
    {"l2_sm_rate", &Chip::l2_sm_rate, "B/cycle", 1, 1e6, "L2 to one SM"},
    {"l2_far_latency",
     &Chip::l2_far_latency,
     "cycle",
     0,
     kCyclesMost,
     "a line that only the other half has"},
    {"l2_link_rate", &Chip::l2_link_rate, "TB/s", 0.001, 1000, "from one half of L2 to the other"},
    {"global_latency",
     &Chip::global_latency,
     "cycle",
     0,
     kCyclesMost,
     "a word in global memory, from L2"},
    {"dram_rate", &Chip::dram_rate, "TB/s", 0.001, 1000, "DRAM"},
    {"dram_latency_ns",
     &Chip::dram_latency_ns,
     "ns",
     0,
     1e5,
     "a line that only DRAM has, over one in L2"},
    {"dsmem_latency",
     &Chip::dsmem_latency,
     "cycle",
     0,
     kCyclesMost,
     "another operation on another CTA's shared memory"},
    {"dsmem_relaxed",
     &Chip::dsmem_relaxed,
     "cycle",
     0,
     kCyclesMost,
     "a relaxed arrival at another CTA's barrier until it has counted it"},
    {"dsmem_rate", &Chip::dsmem_rate, "B/cycle", 0.1, 4096, "cluster network into one SM"},
    {"clc_latency",
     &Chip::clc_latency,
     "cycle",
     0,
     kCyclesMost,
     "clusterlaunchcontrol.try_cancel until its response has come"},
    {"model_spread",
     &Chip::model_spread,
     "ratio",
     0,
     1,
     "standard deviation of measured over predicted that no constant accounts for"},
};

[[noreturn]] void refuse(const std::string& origin,
                         const std::string& key,
                         const std::string& what) {
  throw ChipError(origin + ": " + (key.empty() ? "" : key + ": ") + what);
}

const Json& member(const Json& object,
                   const char* name,
                   const std::string& origin,
                   const std::string& key) {
  const auto found = object.find(name);
  if (found == object.end()) {
    refuse(origin, key, std::string{"has no '"} + name + "'");
  }
  return *found;
}

std::string text_member(const Json& object,
                        const char* name,
                        const std::string& origin,
                        const std::string& key) {
  const Json& value = member(object, name, origin, key);
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    refuse(origin, key, std::string{"'"} + name + "' is a text that is not empty");
  }
  return value.get<std::string>();
}

double number(const Json& value,
              double least,
              double most,
              const std::string& origin,
              const std::string& key,
              const std::string& name = "value") {
  if (!value.is_number()) {
    refuse(origin, key, "'" + name + "' is a number, not " + text_of_json(value).substr(0, 40));
  }
  const double got = value.get<double>();
  if (!(got >= least && got <= most)) {
    std::ostringstream range;
    range << got << " is out of range: use " << least << " to " << most;
    refuse(origin, key, range.str());
  }
  return got;
}

// Refuses a key that is not one of `known`: a misspelt constant must not be passed over.
void check_keys(const Json& object,
                std::initializer_list<const char*> known,
                const std::string& origin,
                const std::string& key) {
  for (const auto& [name, value] : object.items()) {
    if (std::none_of(known.begin(), known.end(), [n = name](const char* k) { return n == k; })) {
      refuse(origin, key, "there is no '" + name + "' here");
    }
  }
}

// The source of one entry, after its form and unit have been checked.
std::string entry_source(const Json& entry,
                         const std::string& unit,
                         const std::string& origin,
                         const std::string& key) {
  if (!entry.is_object()) {
    refuse(origin, key, "is an object with 'value', 'unit' and 'source'");
  }
  check_keys(entry, {"value", "unit", "source", "spread"}, origin, key);
  const std::string given = text_member(entry, "unit", origin, key);
  if (given != unit) {
    refuse(origin, key, "is in '" + unit + "', not in '" + given + "'");
  }
  return text_member(entry, "source", origin, key);
}

// An entry that says its spread; one that does not has none from a base either.
void read_spread(const Json& entry, const std::string& origin, const std::string& key, Chip& chip) {
  chip.spreads.erase(key);
  if (const auto spread = entry.find("spread"); spread != entry.end()) {
    chip.spreads[key] = number(*spread, 0, 1, origin, key, "spread");
  }
}

const Json& section(const Json& root, const char* name, const std::string& origin) {
  static const Json kEmpty = Json::object();
  const auto found = root.find(name);
  if (found == root.end()) {
    return kEmpty;
  }
  if (!found->is_object()) {
    refuse(origin, name, "is an object");
  }
  return *found;
}

// Whether only whole numbers make sense.
bool is_count(const ChipField& field) {
  static const std::initializer_list<double Chip::*> kCounts = {&Chip::sms,
                                                                &Chip::sm_ctas,
                                                                &Chip::sm_threads,
                                                                &Chip::sm_registers,
                                                                &Chip::sm_shared_bytes,
                                                                &Chip::sm_shared_per_cta,
                                                                &Chip::sm_named_barriers,
                                                                &Chip::l2_halves};
  return std::find(kCounts.begin(), kCounts.end(), field.member) != kCounts.end();
}

const ChipField& field_of(const std::string& key, const std::string& origin) {
  const auto& fields = chip_fields();
  const auto field =
      std::find_if(fields.begin(), fields.end(), [&](const ChipField& f) { return key == f.key; });
  if (field == fields.end()) {
    refuse(origin, key, "is no constant of the model; 'warptwin chip show b200' lists them");
  }
  return *field;
}

void set_field(Chip& chip, const ChipField& field, double value, const std::string& origin) {
  if (is_count(field) && value != std::floor(value)) {
    refuse(origin, field.key, "is a whole number");
  }
  chip.*field.member = value;
  if (field.member == &Chip::gpcs || field.member == &Chip::l2_halves) {
    chip.places.clear();  // they were of others
  }
}

void read_constants(const Json& constants, const std::string& origin, Chip& chip) {
  for (const auto& [key, entry] : constants.items()) {
    const ChipField& field = field_of(key, origin);
    chip.sources[key] = entry_source(entry, field.unit, origin, key);
    read_spread(entry, origin, key, chip);
    set_field(chip,
              field,
              number(member(entry, "value", origin, key), field.least, field.most, origin, key),
              origin);
  }
}

bool is_form(const std::string& name) {
  return std::find(kMmaForms.begin(), kMmaForms.end(), name) != kMmaForms.end();
}

void read_forms(const Json& forms, const std::string& origin, Chip& chip) {
  for (const auto& [name, entry] : forms.items()) {
    const std::string key = "tensor_core: " + name;
    if (!is_form(name)) {
      refuse(origin, key, "is no form of an MMA; '1sm m128 ss' is one");
    }
    chip.sources[name] = entry_source(entry, kMmaFormUnit, origin, key);
    read_spread(entry, origin, name, chip);
    const Json& values = member(entry, "value", origin, key);
    if (!values.is_array() || values.size() != 5) {
      refuse(origin, key, std::string{"'value' is a list of five numbers: "} + kMmaFormUnit);
    }
    const auto at = [&](std::size_t i) { return number(values[i], 0, kCyclesMost, origin, key); };
    chip.mma[name] = {at(0), at(1), at(2), at(3), at(4)};
  }
}

// Every group of SMs with its GPC and its half of L2.
void read_places(const Json& places, const std::string& origin, Chip& chip) {
  check_keys(places, {kPlaces}, origin, "places");
  const auto entry = places.find(kPlaces);
  if (entry == places.end()) {
    return;
  }
  const std::string key = std::string{"places: "} + kPlaces;
  chip.sources[kPlaces] = entry_source(*entry, kPlacesUnit, origin, key);
  const Json& groups = member(*entry, "value", origin, key);
  chip.places.clear();
  for (const Json& group : groups) {
    if (!group.is_array() || group.size() != 3) {
      refuse(origin, key, std::string{"'value' is a list of three numbers each: "} + kPlacesUnit);
    }
    const auto at = [&](std::size_t i, double least, double most) {
      const double value = number(group[i], least, most, origin, key);
      if (value != std::floor(value)) {
        refuse(origin, key, "has whole numbers");
      }
      return static_cast<std::uint32_t>(value);
    };
    chip.places.push_back({at(0, 1, 4096), at(1, 0, 255), at(2, 0, 255)});
  }
}

// That places are of GPCs and halves that there are.
void check_places(const Chip& chip, const std::string& origin) {
  for (const SmGroup& group : chip.places) {
    if (group.gpc >= chip.gpcs || group.half >= chip.l2_halves) {
      refuse(origin, "places", "name a GPC or a half of L2 that is not among gpcs and l2_halves");
    }
  }
}

const ShippedChip* find_shipped(std::string_view name) {
  const std::vector<ShippedChip>& all = shipped_chip_texts();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const ShippedChip& c) { return name == c.name; });
  return found == all.end() ? nullptr : &*found;
}

std::string names_of_shipped() {
  std::string names;
  for (const std::string_view name : shipped_chips()) {
    names += (names.empty() ? "" : ", ") + std::string{name};
  }
  return names;
}

std::string read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    throw ChipError(path +
                    ": cannot be read, and is not the name of a chip: " + names_of_shipped());
  }
  return text.str();
}

}  // namespace

const char* const kMmaFormUnit =
    "cycle: interval per column, least interval, read port beside operands, latency, "
    "latency per column";
const char* const kPlacesUnit = "SM, GPC, half of L2";

std::span<const ChipField> chip_fields() {
  return kFields;
}

void set_constant(Chip& chip, std::string_view key, double value, const std::string& origin) {
  const ChipField& field = field_of(std::string{key}, origin);
  set_field(chip, field, number(Json(value), field.least, field.most, origin, field.key), origin);
  chip.sources[field.key] = "assumed: " + origin;
  chip.spreads[field.key] = 0;  // what if it were this
}

double spread_of(const Chip& chip, std::string_view key) {
  constexpr double kAssumed = 0.25;
  constexpr double kOther = 0.02;
  if (const auto said = chip.spreads.find(key); said != chip.spreads.end()) {
    return said->second;
  }
  const auto source = chip.sources.find(key);
  const bool assumed = source == chip.sources.end() || source->second.rfind("assumed", 0) == 0;
  return assumed ? kAssumed : kOther;
}

std::vector<std::string_view> shipped_chips() {
  std::vector<std::string_view> names;
  for (const ShippedChip& chip : shipped_chip_texts()) {
    names.emplace_back(chip.name);
  }
  return names;
}

std::string names_of_chips_with_wgmma() {
  std::string names;
  for (const std::string_view name : shipped_chips()) {
    if (load_chip(std::string{name}).has_wgmma()) {
      names += (names.empty() ? "" : ", ") + std::string{name};
    }
  }
  return names;
}

Chip parse_chip(std::string_view text, const std::string& origin) {
  if (text.size() > kFileMost) {
    refuse(origin, "", "is larger than any chip");
  }
  if (nests_too_deep(text)) {
    refuse(origin, "", kNestsTooDeep);
  }
  Json root;
  try {
    root = parsed_json<Json>(text);
  } catch (const Json::exception& error) {
    refuse(origin, "", "is not JSON: " + words_of_json_error(error.what()));
  }
  if (!root.is_object()) {
    refuse(origin, "", "is not a JSON object");
  }
  check_keys(root, {"name", "summary", "base", "constants", "tensor_core", "places"}, origin, "");
  Chip chip;
  if (root.contains("base")) {
    const std::string base = text_member(root, "base", origin, "");
    const ShippedChip* shipped = find_shipped(base);
    if (shipped == nullptr) {
      refuse(origin, "base", "'" + base + "' is no shipped chip; there are: " + names_of_shipped());
    }
    if (origin == shipped->name) {
      refuse(origin, "base", "is the chip itself");
    }
    chip = parse_chip(shipped->text, shipped->name);
  }
  chip.name = text_member(root, "name", origin, "");
  chip.summary = text_member(root, "summary", origin, "");
  read_constants(section(root, "constants", origin), origin, chip);
  read_forms(section(root, "tensor_core", origin), origin, chip);
  read_places(section(root, "places", origin), origin, chip);
  for (const ChipField& field : chip_fields()) {
    if (chip.sources.find(field.key) == chip.sources.end()) {
      refuse(origin, field.key, "is missing, and there is no 'base' to take it from");
    }
  }
  check_places(chip, origin);
  return chip;
}

Chip load_chip(const std::string& name_or_file) {
  if (const ShippedChip* shipped = find_shipped(name_or_file)) {
    return parse_chip(shipped->text, shipped->name);
  }
  return parse_chip(read_file(name_or_file), name_or_file);
}

}  // namespace warptwin::sim
