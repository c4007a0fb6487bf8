#include "sim/trace/trace_file.hpp"

#include <charconv>
#include <fstream>
#include <istream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <unordered_map>

#include "sim/json/json_text.hpp"

namespace warptwin::sim {

namespace {

using Json = nlohmann::json;

constexpr int kVersion = 2;
constexpr int kOldestVersion = 1;  // its checksums are of another kind
constexpr std::uint64_t kWarpsMax = 1 << 22;
constexpr std::size_t kLineMax = 1 << 20;
constexpr std::uint64_t kSideMax = 1 << 28;  // of a matrix

struct Flag {
  std::uint32_t bit;
  const char* key;
};
constexpr Flag kFlags[] = {{event_flag::kExpectTx, "expect_tx"},
                           {event_flag::kNoComplete, "no_complete"},
                           {event_flag::kDrop, "drop"},
                           {event_flag::kExactPhase, "exact"},
                           {event_flag::kRead, "read"},
                           {event_flag::kFalse, "false"},
                           {event_flag::kPair, "pair"}};

struct Number {
  std::uint32_t TraceOp::*member;
  const char* key;
};
constexpr Number kNumbers[] = {{&TraceOp::cta, "cta"},
                               {&TraceOp::count, "count"},
                               {&TraceOp::bytes, "bytes"},
                               {&TraceOp::wanted, "wanted"},
                               {&TraceOp::mask, "mask"},
                               {&TraceOp::address, "address"},
                               {&TraceOp::data, "data"}};

struct Text {
  std::uint32_t TraceOp::*member;
  const char* key;
};
constexpr Text kTexts[] = {
    {&TraceOp::object, "at"}, {&TraceOp::on, "on"}, {&TraceOp::site, "site"}};

const std::map<std::string, Op>& ops_by_name() {
  static const std::map<std::string, Op> ops = [] {
    std::map<std::string, Op> all;
    for (unsigned i = 0; i < static_cast<unsigned>(Op::kCount); ++i) {
      all.emplace(name_of(static_cast<Op>(i)), static_cast<Op>(i));
    }
    return all;
  }();
  return ops;
}

Json json_of(const Trace& trace) {
  Json roles = Json::array();
  for (const TraceRole& role : trace.roles) {
    roles.push_back({role.name, role.warps});
  }
  Json missing = Json::array();
  for (std::size_t i = 0; i < trace.warps.size(); ++i) {
    const WarpTrace& warp = trace.warps[i];
    if (warp.overwritten != 0 || warp.lost != 0) {
      missing.push_back({i, warp.overwritten, warp.lost});
    }
  }
  Json outputs = Json::array();
  for (const TraceOutput& output : trace.outputs) {
    outputs.push_back({{"name", output.name},
                       {"element", name_of(output.element)},
                       {"rows", output.rows},
                       {"columns", output.columns},
                       {"pitch", output.pitch},
                       {"terms", output.terms},
                       {"magnitude", output.magnitude}});
  }
  return {{"warptwin_trace", kVersion},
          {"source", trace.source},
          {"machine", trace.machine},
          {"scenario", trace.scenario},
          {"parameters", trace.parameters},
          {"ending", trace.ending},
          {"emulated", trace.emulated},
          {"clock", trace.clock == TraceClock::kCycles ? "cycles" : "steps"},
          {"ordered", trace.ordered},
          {"seed", trace.seed},
          {"outputs", std::move(outputs)},
          {"clusters", trace.clusters},
          {"cluster_size", trace.cluster_size},
          {"roles", std::move(roles)},
          {"missing", std::move(missing)}};
}

Json json_of(const Trace& trace, std::size_t warp, const TraceOp& op) {
  Json line{{"warp", warp}, {"time", op.time}, {"op", name_of(op.op)}, {"lanes", op.lanes}};
  for (const Text& text : kTexts) {
    if (op.*text.member != 0) {
      line[text.key] = trace.names[op.*text.member];
    }
  }
  for (const Number& number : kNumbers) {
    if (op.*number.member != 0) {
      line[number.key] = op.*number.member;
    }
  }
  for (const Flag& flag : kFlags) {
    if ((op.flags & flag.bit) != 0) {
      line[flag.key] = true;
    }
  }
  return line;
}

// A row of an output: each element's bits in hexadecimal, as many digits as it has half bytes.
Json json_of(const TraceOutput& output, std::size_t index, std::uint32_t row) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (std::uint32_t column = 0; column < output.columns; ++column) {
    const std::uint32_t bits = encode(output.element, output.at(row, column));
    for (std::uint32_t digit = 2 * bytes_of(output.element); digit-- > 0;) {
      text.push_back(kDigits[bits >> 4 * digit & 0xFU]);
    }
  }
  return {{"output", index}, {"row", row}, {"values", std::move(text)}};
}

// Reads one line after the other, and knows its number.
class Reader {
 public:
  explicit Reader(std::istream& in) : in_{in} {}

  Trace read() {
    read_head(next());
    for (;;) {
      const Json line = next();
      if (line.contains("operations")) {
        read_end(line);
        return std::move(trace_);
      }
      line.contains("output") ? read_row(line) : read_op(line);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw TraceError("line " + std::to_string(number_) + ": " + what);
  }

  Json next() {
    ++number_;
    line_.clear();
    for (int c = in_.get(); c != '\n'; c = in_.get()) {
      if (c == std::istream::traits_type::eof()) {
        fail(line_.empty() ? "the trace ends without its last line: it was cut off" : "is cut off");
      }
      if (line_.size() == kLineMax) {
        fail("is longer than any line of a trace");
      }
      line_.push_back(static_cast<char>(c));
    }
    Json json = json_if_any<Json>(line_);
    if (!json.is_object()) {
      fail(number_ == 1 ? "this is no warptwin trace" : "is no JSON object");
    }
    return json;
  }

  std::string text(const Json& line, const char* key) const {
    const auto found = line.find(key);
    if (found == line.end() || !found->is_string()) {
      fail(std::string{"'"} + key + "' must be a text");
    }
    return found->get<std::string>();
  }

  std::uint64_t number_of(const Json& value, const char* key, std::uint64_t most) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
      fail(std::string{"'"} + key + "' must be a whole number, at most " + std::to_string(most));
    }
    return value.get<std::uint64_t>();
  }
  std::uint64_t number(const Json& line, const char* key, std::uint64_t most) const {
    const auto found = line.find(key);
    if (found == line.end()) {
      fail(std::string{"has no '"} + key + "'");
    }
    return number_of(*found, key, most);
  }

  const Json& list(const Json& line, const char* key) const {
    const auto found = line.find(key);
    if (found == line.end() || !found->is_array()) {
      fail(std::string{"'"} + key + "' must be a list");
    }
    return *found;
  }

  void read_head(const Json& head) {
    constexpr std::uint64_t kAny = std::numeric_limits<std::uint32_t>::max();
    if (!head.contains("warptwin_trace")) {
      fail("this is no warptwin trace");
    }
    const std::uint64_t version = number(head, "warptwin_trace", kAny);
    if (version < kOldestVersion || version > kVersion) {
      fail("a trace of version " + std::to_string(version) + ", and this reads versions " +
           std::to_string(kOldestVersion) + " to " + std::to_string(kVersion) +
           "; record it again");
    }
    has_checksums_ = version == kVersion;
    trace_.source = text(head, "source");
    trace_.machine = text(head, "machine");
    trace_.scenario = text(head, "scenario");
    trace_.parameters = text(head, "parameters");
    trace_.ending = text(head, "ending");
    for (const Json& emulated : list(head, "emulated")) {
      if (!emulated.is_string()) {
        fail("'emulated' must be a list of texts");
      }
      trace_.emulated.push_back(emulated.get<std::string>());
    }
    for (const Json& role : list(head, "roles")) {
      if (!role.is_array() || role.size() != 2 || !role[0].is_string()) {
        fail("'roles' must be a list of [name, warps]");
      }
      trace_.roles.push_back({role[0].get<std::string>(),
                              static_cast<std::uint32_t>(number_of(role[1], "roles", 64))});
    }
    read_optional(head);
    trace_.clusters = static_cast<std::uint32_t>(number(head, "clusters", kWarpsMax));
    trace_.cluster_size = static_cast<std::uint32_t>(number(head, "cluster_size", 16));
    const std::uint64_t warps =
        std::uint64_t{trace_.clusters} * trace_.cluster_size * trace_.warps_per_cta();
    if (warps == 0 || warps > kWarpsMax) {
      fail("a launch of " + std::to_string(warps) + " warps");
    }
    trace_.warps.resize(warps);
    for (const Json& row : list(head, "missing")) {
      if (!row.is_array() || row.size() != 3) {
        fail("'missing' must be a list of [warp, overwritten, lost]");
      }
      WarpTrace& warp = trace_.warps[number_of(row[0], "missing", warps - 1)];
      warp.overwritten = number_of(row[1], "missing", ~std::uint64_t{0});
      warp.lost = number_of(row[2], "missing", ~std::uint64_t{0});
    }
  }

  // What the first traces did not say: the hardware's were in cycles, nothing else was known.
  void read_optional(const Json& head) {
    const std::string clock = head.contains("clock")        ? text(head, "clock")
                              : trace_.source == "hardware" ? "cycles"
                                                            : "steps";
    if (clock != "cycles" && clock != "steps") {
      fail("'clock' must be cycles or steps");
    }
    trace_.clock = clock == "cycles" ? TraceClock::kCycles : TraceClock::kSteps;
    trace_.ordered = head.value("ordered", Json{}) == Json(true);
    trace_.seed = head.contains("seed") ? number(head, "seed", ~std::uint64_t{0}) : 0;
    if (!head.contains("outputs")) {
      return;
    }
    for (const Json& row : list(head, "outputs")) {
      read_output(row);
    }
  }

  void read_output(const Json& row) {
    if (!row.is_object()) {
      fail("'outputs' must be a list of objects");
    }
    TraceOutput output;
    output.name = text(row, "name");
    const std::string element = text(row, "element");
    bool known = false;
    for (unsigned i = 0; i <= static_cast<unsigned>(ElementType::kU8); ++i) {
      if (element == name_of(static_cast<ElementType>(i))) {
        output.element = static_cast<ElementType>(i);
        known = true;
      }
    }
    const auto magnitude = row.find("magnitude");
    if (!known || magnitude == row.end() || !magnitude->is_number()) {
      fail("output '" + output.name + "' has no known element type, or no magnitude");
    }
    output.magnitude = magnitude->get<double>();
    output.rows = static_cast<std::uint32_t>(number(row, "rows", kSideMax));
    output.columns = static_cast<std::uint32_t>(number(row, "columns", kSideMax));
    output.pitch = static_cast<std::uint32_t>(number(row, "pitch", kSideMax));
    output.terms = static_cast<std::uint32_t>(number(row, "terms", kSideMax));
    trace_.outputs.push_back(std::move(output));
  }

  void read_row(const Json& line) {
    if (trace_.outputs.empty()) {
      fail("the trace has no outputs");
    }
    TraceOutput& output = trace_.outputs[number(line, "output", trace_.outputs.size() - 1)];
    const std::string values = text(line, "values");
    const std::size_t digits = 2 * std::size_t{bytes_of(output.element)};
    if (number(line, "row", kSideMax) * output.columns != output.values.size() ||
        values.size() != output.columns * digits) {
      fail("row of '" + output.name + "' that does not follow the one before, or is too short");
    }
    for (std::size_t at = 0; at < values.size(); at += digits) {
      std::uint32_t bits = 0;
      const char* const end = values.data() + at + digits;
      if (std::from_chars(values.data() + at, end, bits, 16).ptr != end) {
        fail("'values' must be hexadecimal");
      }
      output.values.push_back(decode(output.element, bits));
    }
  }

  void read_op(const Json& line) {
    constexpr std::uint64_t kAny = std::numeric_limits<std::uint32_t>::max();
    WarpTrace& warp = trace_.warps[number(line, "warp", trace_.warps.size() - 1)];
    TraceOp op;
    const std::string name = text(line, "op");
    const auto found = ops_by_name().find(name);
    if (found == ops_by_name().end()) {
      fail("there is no operation '" + name + "'");
    }
    op.op = found->second;
    op.time = number(line, "time", ~std::uint64_t{0});
    op.lanes = static_cast<std::uint8_t>(number(line, "lanes", kWarpLanes));
    for (const Number& member : kNumbers) {
      if (line.contains(member.key)) {
        op.*member.member = static_cast<std::uint32_t>(number(line, member.key, kAny));
      }
    }
    if (op.cta >= trace_.clusters * trace_.cluster_size) {
      fail("there is no CTA " + std::to_string(op.cta));
    }
    for (const Text& member : kTexts) {
      if (line.contains(member.key)) {
        op.*member.member = index_of(text(line, member.key));
      }
    }
    for (const Flag& flag : kFlags) {
      if (line.contains(flag.key)) {
        op.flags |= flag.bit;
      }
    }
    op.data = has_checksums_ ? op.data : 0;
    read_order(line, warp);
    read_box(line, warp, is_load(op.op) ? "reads" : "writes");
    read_tokens(line, warp);
    warp.ops.push_back(op);
    ++operations_;
  }

  void read_order(const Json& line, WarpTrace& warp) {
    if (!line.contains("after")) {
      return;
    }
    for (const Json& row : list(line, "after")) {
      if (!row.is_array() || row.size() != 2) {
        fail("'after' must be a list of [warp, operations]");
      }
      constexpr std::uint64_t kAny = std::numeric_limits<std::uint32_t>::max();
      warp.after.push_back(
          {static_cast<std::uint32_t>(warp.ops.size()),
           static_cast<std::uint32_t>(number_of(row[0], "after", trace_.warps.size() - 1)),
           static_cast<std::uint32_t>(number_of(row[1], "after", kAny))});
    }
  }

  void read_box(const Json& line, WarpTrace& warp, const char* key) {
    if (!line.contains(key)) {
      return;
    }
    const Json& row = list(line, key);
    if (row.size() != 5 || !row[0].is_string()) {
      fail("'" + std::string{key} + "' must be [tensor, first byte, rows, bytes of a row, pitch]");
    }
    const auto part = [&](std::size_t i) {
      return static_cast<std::uint32_t>(
          number_of(row[i], key, std::numeric_limits<std::uint32_t>::max()));
    };
    warp.boxes.push_back({static_cast<std::uint32_t>(warp.ops.size()),
                          index_of(row[0].get<std::string>()),
                          number_of(row[1], key, std::uint64_t{1} << 50),
                          part(2),
                          part(3),
                          part(4)});
  }

  void read_tokens(const Json& line, WarpTrace& warp) {
    if (!line.contains("saw")) {
      return;
    }
    for (const Json& row : list(line, "saw")) {
      if (!row.is_array() || row.size() != 5 || !row[0].is_string()) {
        fail("'saw' must be a list of [place, CTA, address, bytes, checksum]");
      }
      const auto part = [&](std::size_t i, std::uint64_t most) {
        return static_cast<std::uint32_t>(number_of(row[i], "saw", most));
      };
      constexpr std::uint64_t kAny = std::numeric_limits<std::uint32_t>::max();
      warp.tokens.push_back({static_cast<std::uint32_t>(warp.ops.size()),
                             part(1, trace_.clusters * trace_.cluster_size - 1),
                             index_of(row[0].get<std::string>()),
                             part(2, kAny),
                             part(3, kAny),
                             part(4, kAny)});
    }
  }

  void read_end(const Json& line) {
    for (const TraceOutput& output : trace_.outputs) {
      if (output.values.size() != std::size_t{output.rows} * output.columns) {
        fail("rows of '" + output.name + "' are missing");
      }
    }
    const std::uint64_t said = number(line, "operations", ~std::uint64_t{0});
    if (said != operations_) {
      fail("the trace has " + std::to_string(operations_) + " operations and should have " +
           std::to_string(said));
    }
    if (in_.peek() != std::istream::traits_type::eof()) {
      fail("something follows the end of the trace");
    }
  }

  std::uint32_t index_of(const std::string& name) {
    const auto [at, added] =
        indices_.emplace(name, static_cast<std::uint32_t>(trace_.names.size()));
    if (name.empty()) {
      return 0;
    }
    if (added) {
      trace_.names.push_back(name);
    }
    return at->second;
  }

  std::istream& in_;
  std::size_t number_ = 0;
  std::string line_;
  std::uint64_t operations_ = 0;
  bool has_checksums_ = true;
  std::unordered_map<std::string, std::uint32_t> indices_;
  Trace trace_;
};

}  // namespace

void write_trace(const Trace& trace, std::ostream& out) {
  const auto put = [&](const Json& line) { out << text_of_json(line) << "\n"; };
  put(json_of(trace));
  std::uint64_t operations = 0;
  for (std::size_t warp = 0; warp < trace.warps.size(); ++warp) {
    const WarpTrace& one = trace.warps[warp];
    auto order = one.after.begin();
    auto box = one.boxes.begin();
    auto token = one.tokens.begin();
    for (std::size_t at = 0; at < one.ops.size(); ++at) {
      Json line = json_of(trace, warp, one.ops[at]);
      for (; order != one.after.end() && order->at == at; ++order) {
        line["after"].push_back({order->warp, order->ops});
      }
      if (box != one.boxes.end() && box->at == at) {
        line[is_load(one.ops[at].op) ? "reads" : "writes"] = {
            trace.names[box->tensor], box->begin, box->rows, box->row_bytes, box->pitch};
        ++box;
      }
      for (; token != one.tokens.end() && token->at == at; ++token) {
        line["saw"].push_back(
            {trace.names[token->object], token->cta, token->address, token->bytes, token->data});
      }
      put(line);
      ++operations;
    }
  }
  for (std::size_t index = 0; index < trace.outputs.size(); ++index) {
    for (std::uint32_t row = 0; row < trace.outputs[index].rows; ++row) {
      put(json_of(trace.outputs[index], index, row));
    }
  }
  put({{"operations", operations}});
}

Trace read_trace(std::istream& in) {
  return Reader{in}.read();
}

void write_trace_file(const Trace& trace, const std::string& path) {
  std::ofstream out{path, std::ios::binary};
  write_trace(trace, out);
  out.flush();
  if (!out) {
    throw TraceError(path + ": cannot be written");
  }
}

Trace read_trace_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in) {
    throw TraceError(path + ": cannot be read");
  }
  try {
    return read_trace(in);
  } catch (const TraceError& error) {
    throw TraceError(path + ": " + error.what());
  }
}

}  // namespace warptwin::sim
