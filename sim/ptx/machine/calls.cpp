// Functions without a body, which nvcc's device library leaves to the driver: printf and
// assertions. And trap.

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "common/trace/texts.hpp"

#include "sim/model/trap_cause.hpp"
#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::size_t kPrintedMax = std::size_t{1} << 20;  // bytes of a run, as much as CUDA's FIFO
constexpr const char* kNotConstant = "(a text that is no constant of the module)";

/// One conversion of a format: "%-8.3f".
struct Conversion {
  std::string text;     // without the length modifier
  char kind = '\0';     // d, u, f, s, c, p, %; 0: the format is cut off
  bool wide = false;    // of 64 bits
  std::size_t end = 0;  // of the format
  std::uint32_t stars = 0;
};

Conversion conversion_at(const std::string& format, std::size_t at) {
  Conversion found;
  found.text = "%";
  for (std::size_t i = at + 1; i < format.size(); ++i) {
    const char c = format[i];
    if (c == 'l' || c == 'j' || c == 'z' || c == 't') {
      found.wide = true;
    } else if (c != 'h') {
      found.text += c;
      found.stars += c == '*' ? 1 : 0;
    }
    if (std::strchr("diouxXeEfFgGaAcsp%", c) != nullptr) {
      found.kind = c;
      found.end = i + 1;
      return found;
    }
  }
  found.end = format.size();
  return found;
}

template <class T>
std::string printed(std::string conversion, std::span<const int> stars, T value) {
  char text[512];
  const char* format = conversion.c_str();
  int size = 0;
  switch (stars.size()) {
    case 0:
      size = std::snprintf(text, sizeof text, format, value);  // NOLINT: checked by conversion_at
      break;
    case 1:
      size = std::snprintf(text, sizeof text, format, stars[0], value);  // NOLINT
      break;
    default:
      size = std::snprintf(text, sizeof text, format, stars[0], stars[1], value);  // NOLINT
      break;
  }
  return std::string{text, std::min<std::size_t>(sizeof text - 1, std::max(size, 0))};
}

}  // namespace

// A constant text of the module at an address.
std::string WarpRun::literal(std::uint64_t address) const {
  for (const auto& [variable, place] : grid_.global_places) {
    if (address < place || address - place >= variable->bytes() || bytes_of(variable->type) != 1) {
      continue;
    }
    std::string text(variable->bytes(), '\0');
    for (const InitialValue& value : variable->initial) {
      if (value.element < text.size()) {
        text[value.element] = static_cast<char>(value.bits);
      }
    }
    text.erase(0, address - place);
    return text.substr(0, text.find('\0'));
  }
  return kNotConstant;
}

// Parameter `index` of a call, in a lane.
std::uint64_t WarpRun::given(Strand& strand,
                             const Stop& stop,
                             std::size_t index,
                             std::uint32_t lane) const {
  const Code& code = strand.frame->routine->code;
  const auto all = code.parts_of(code.arguments_of(code.ops[stop.op])[2]);
  if (index >= all.size() || all[index].kind != Argument::Kind::kVariable) {
    return 0;
  }
  const Variable& variable = *code.variables[all[index].index].variable;
  const ParameterBytes& bytes = strand.parameter(variable);
  std::uint64_t value = 0;
  std::memcpy(&value, &bytes.bytes[lane * bytes.size], std::min<std::uint64_t>(bytes.size, 8));
  return value;
}

// What printf says of a lane's arguments, which lie one behind the other in its local memory, each
// at a multiple of its size.
std::string WarpRun::formatted(const std::string& format,
                               std::uint64_t arguments,
                               std::uint32_t lane) const {
  std::string text;
  std::uint64_t at = arguments - kLocalWindow;
  bool known = true;
  const auto next = [&](std::uint32_t size) {
    at = (at + size - 1) / size * size;
    std::uint64_t value = 0;
    const std::uint64_t bytes = kernel_.local_bytes();
    if (at > bytes || size > bytes - at) {
      known = false;
      return value;
    }
    const std::size_t from = std::size_t{lane} * bytes + at;
    std::memcpy(&value, &local_[from], size);
    for (std::uint32_t byte = 0; byte < size; ++byte) {
      known = known && local_poison_[from + byte] == 0;
    }
    at += size;
    return value;
  };
  for (std::size_t i = 0; i < format.size();) {
    if (format[i] != '%') {
      text += format[i++];
      continue;
    }
    const Conversion each = conversion_at(format, i);
    i = each.end;
    int stars[2] = {};
    for (std::uint32_t star = 0; star < each.stars && star < 2; ++star) {
      stars[star] = static_cast<int>(next(4));
    }
    const std::span<const int> with{stars, std::min<std::size_t>(each.stars, 2)};
    known = true;
    std::string said;
    std::string wide = each.text;
    wide.insert(wide.size() - 1, "ll");
    if (each.kind == '%' || each.kind == '\0') {
      said = each.kind == '%' ? "%" : each.text;
    } else if (each.kind == 's') {
      said = printed(each.text, with, literal(next(8)).c_str());
    } else if (each.kind == 'p') {
      said = printed(each.text, with, reinterpret_cast<void*>(next(8)));  // NOLINT: is printed only
    } else if (each.kind == 'c') {
      said = printed(each.text, with, static_cast<int>(next(4)));
    } else if (std::strchr("eEfFgGaA", each.kind) != nullptr) {
      said = printed(each.text, with, std::bit_cast<double>(next(8)));
    } else if (each.kind == 'd' || each.kind == 'i') {
      const std::uint64_t value = next(each.wide ? 8 : 4);
      said = printed(wide,
                     with,
                     each.wide ? static_cast<long long>(value)
                               : static_cast<long long>(static_cast<std::int32_t>(value)));
    } else {
      said = printed(wide, with, static_cast<unsigned long long>(next(each.wide ? 8 : 4)));
    }
    text += known ? said : "?";
  }
  return text;
}

void WarpRun::print(Strand& strand, const Stop& stop) {
  for (std::uint32_t lane = 0; lane < kLanes && machine_.moves_data(); ++lane) {
    if ((stop.mask >> lane & 1U) != 0 && grid_.printed->size() < kPrintedMax) {
      *grid_.printed +=
          formatted(literal(given(strand, stop, 0, lane)), given(strand, stop, 1, lane), lane);
    }
  }
}

// Ends the kernel: this warp here, the others at what they do next.
void WarpRun::end_by(sim::Operation op) {
  execute(op);
  live_ = 0;
  copies_.forget();
}

void WarpRun::leave_memory(const Request& request, Mask lanes, const std::string& what) const {
  sim::Operation op = make(warptwin::Op::kTrap, request, lanes);
  const bool bulk = request.op.form->name.find("bulk") != std::string_view::npos;
  op.as<sim::operands::Trap>() = {
      bulk ? sim::TrapCause::kCopyOutside : sim::TrapCause::kWordOutside,
      1 + number_of_text(std::string{request.op.source->text} + " " + what)};
  throw OutsideMemory{place_of(request.strand, request.stop.op, what), op};
}

void WarpRun::trap(const Strand& strand, const Stop& stop, std::uint32_t says) {
  sim::Operation op{warptwin::Op::kTrap};
  op.lanes = 1;
  op.lane = static_cast<std::uint8_t>(std::countr_zero(stop.mask));
  op.site = kernel_.site_of(*strand.frame->routine, stop.op);
  op.as<sim::operands::Trap>().says = says;
  end_by(op);
}

// Functions without a body.
void WarpRun::called(Strand& strand, const Stop& stop) {
  const std::string_view name = stop.function->name;
  if (name == "__assertfail") {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(stop.mask));
    const auto line = static_cast<std::uint32_t>(given(strand, stop, 2, lane));
    trap(strand,
         stop,
         1 + number_of_text(literal(given(strand, stop, 1, lane)) + ":" + std::to_string(line) +
                            ": " + literal(given(strand, stop, 3, lane)) + ": assertion `" +
                            literal(given(strand, stop, 0, lane)) + "` fails"));
    return;
  }
  if (name != "vprintf") {
    refuse(strand, stop.op, "function " + std::string{name} + " has no body");
  }
  print(strand, stop);
  for (const Variable& returned : stop.function->prototype.returns) {
    ParameterBytes& bytes = strand.parameter(returned);
    std::fill(bytes.poison.begin(), bytes.poison.end(), std::uint8_t{0});
  }
  strand.complete(stop);
}

}  // namespace warptwin::ptx
