#include "tests/sim/ptx/scalars/instructions.hpp"

#include <algorithm>
#include <set>

namespace warptwin::ptx::scalars {

namespace {

using WordList = std::vector<std::string>;

constexpr std::size_t kProductMax = 300;  // kernels of a form; above it choices are rotated

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

// What each choice of a form may be; "" is its absence.
std::vector<WordList> choices_of(const Form& form) {
  std::vector<WordList> choices;
  for (const ModifierChoice& choice : form.choices) {
    WordList& words = choices.emplace_back();
    if (choice.optional) {
      words.emplace_back();
    }
    for (std::uint16_t word = 0; word < choice.of.size(); ++word) {
      if (choice.of[word]) {
        words.emplace_back(name_of(Modifier{word}));
      }
    }
  }
  return choices;
}

std::vector<WordList> product_of(const std::vector<WordList>& choices) {
  std::vector<WordList> lists{{}};
  for (const WordList& words : choices) {
    std::vector<WordList> longer;
    for (const WordList& begun : lists) {
      for (const std::string& word : words) {
        longer.push_back(begun);
        longer.back().push_back(word);
      }
    }
    lists = std::move(longer);
  }
  return lists;
}

// Each word of each choice at least once.
std::vector<WordList> rotation_of(const std::vector<WordList>& choices, std::size_t turn) {
  std::size_t longest = 0;
  for (const WordList& words : choices) {
    longest = std::max(longest, words.size());
  }
  std::vector<WordList> lists;
  for (std::size_t variant = 0; variant < longest; ++variant) {
    WordList& list = lists.emplace_back();
    for (std::size_t choice = 0; choice < choices.size(); ++choice) {
      list.push_back(choices[choice][(variant + turn * choice) % choices[choice].size()]);
    }
  }
  return lists;
}

// Whether a comparison of this type takes a word (PTX ISA 9.0, "set", "setp", "slct").
bool takes(Type compared, const std::string& word) {
  if (word == "ftz") {
    return compared == Type::kF32 || compared == Type::kF16 || compared == Type::kF16x2;
  }
  const bool unsigned_order = word == "lo" || word == "ls" || word == "hi" || word == "hs";
  const bool order = unsigned_order || word == "lt" || word == "le" || word == "gt" || word == "ge";
  const bool is_bits = traits_of(compared).of == TypeClass::kBits;
  return !(order && is_bits) && !(unsigned_order && is_signed(compared));
}

bool is_plain_conversion(const Form& form) {
  return form.name == "cvt" && form.types.size() == 2 && form.types[1].size() > 8;
}

// The roundings that PTX ISA 9.0, "cvt", names for a pair of types.
WordList roundings_of(Type to, Type from) {
  if (is_float(to)) {
    if (to == from) {
      return {"", "rni", "rzi", "rmi", "rpi"};
    }
    const bool widens = is_float(from) && bits_of(to) > bits_of(from);
    return widens ? WordList{""} : WordList{"rn", "rz", "rm", "rp"};
  }
  return is_float(from) ? WordList{"rni", "rzi", "rmi", "rpi"} : WordList{""};
}

std::vector<WordList> word_lists(const Form& form,
                                 const std::vector<Type>& types,
                                 std::size_t type_count,
                                 std::size_t turn) {
  std::vector<WordList> choices = choices_of(form);
  if (is_plain_conversion(form)) {
    choices[0] = roundings_of(types[0], types[1]);
    if (types[0] != Type::kF32 && types[1] != Type::kF32) {
      choices[1] = {""};
    }
    return product_of(choices);
  }
  if (form.name == "set" || form.name == "setp" || form.name == "slct") {
    for (WordList& words : choices) {
      std::erase_if(words, [&](const std::string& word) { return !takes(types.back(), word); });
    }
  }
  std::size_t product = type_count;
  for (const WordList& words : choices) {
    product *= words.size();
  }
  return product > kProductMax ? rotation_of(choices, turn) : product_of(choices);
}

std::string mnemonic_of(const Form& form, const WordList& words, const std::vector<Type>& types) {
  std::string modifiers;
  for (const std::string& word : words) {
    modifiers += word.empty() ? "" : "." + word;
  }
  std::string names;
  for (const Type type : types) {
    names += "." + std::string{name_of(type)};
  }
  if (form.name == "prmt") {
    return std::string{form.name} + names + modifiers;
  }
  if (form.name == "mad.cc") {
    return "mad" + modifiers + ".cc" + names;
  }
  return std::string{form.name} + modifiers + names;
}

std::string register_type(const Source& source) {
  if (source.type == Type::kPred) {
    return "pred";
  }
  if (source.bits == 8 && traits_of(source.type).elements == 2) {
    return "b8";
  }
  return "b" + std::to_string(std::max(source.bits, 16U));
}

Source source_of(const OperandRule& rule, const std::vector<Type>& types) {
  const Type type = rule.type != Type::kNone ? rule.type : types.at(rule.type_place);
  return {type, bits_of(type) * (rule.wide ? 2 : 1)};
}

std::string load(const Source& source, std::size_t index) {
  const std::string name = "s" + std::to_string(index);
  const std::string at = "[from+" + std::to_string(index * 8) + "];\n";
  const std::string type = register_type(source);
  if (type == "pred") {
    const std::string word = "w" + std::to_string(index);
    return ".reg .b32 " + word + ";\n.reg .pred " + name + ";\nld.global.b32 " + word + ", " + at +
           "and.b32 " + word + ", " + word + ", 1;\nsetp.ne.b32 " + name + ", " + word + ", 0;\n";
  }
  return ".reg ." + type + " " + name + ";\nld.global." + type + " " + name + ", " + at;
}

std::string store(const std::string& name, const std::string& type, std::size_t index) {
  const std::string at = "[to+" + std::to_string(index * 8) + "]";
  if (type == "pred") {
    const std::string word = "v" + std::to_string(index);
    return ".reg .b32 " + word + ";\nselp.b32 " + word + ", 1, 0, " + name + ";\nst.global.b32 " +
           at + ", " + word + ";\n";
  }
  return "st.global." + type + " " + at + ", " + name + ";\n";
}

enum class Carry { kNone, kReads, kWrites, kBoth };

Carry carry_of(const std::string& mnemonic) {
  const bool reads =
      mnemonic.starts_with("addc") || mnemonic.starts_with("subc") || mnemonic.starts_with("madc");
  const bool writes = mnemonic.find(".cc.") != std::string::npos;
  return reads ? (writes ? Carry::kBoth : Carry::kReads) : writes ? Carry::kWrites : Carry::kNone;
}

// The carry is set from a last source, 0 or 1, and read by the same kind of instruction.
void surround_with_carry(Specimen& made, std::string& instruction, Carry carry) {
  const bool subtracts = made.mnemonic.starts_with("sub");
  if (carry == Carry::kReads || carry == Carry::kBoth) {
    const std::string index = std::to_string(made.sources.size());
    made.sources.push_back({Type::kPred, 1});
    made.statements += load(made.sources.back(), made.sources.size() - 1);
    const std::string set =
        subtracts ? "sub.cc.u32 flag, 0, w" + index : "add.cc.u32 flag, w" + index + ", 0xffffffff";
    instruction = ".reg .b32 flag;\n" + set + ";\n" + instruction;
  }
  if (carry == Carry::kWrites || carry == Carry::kBoth) {
    made.results = 2;
    instruction +=
        ".reg .b32 after;\n" + std::string{subtracts ? "subc" : "addc"} + ".u32 after, 0, 0;\n";
  }
}

Specimen wide_move() {
  Specimen made;
  made.key = "mov.b128/2";
  made.mnemonic = "mov.b128";
  made.name = "mov";
  made.type = Type::kB128;
  made.sources = {{Type::kB64, 64}, {Type::kB64, 64}};
  made.results = 2;
  made.statements = load(made.sources[0], 0) + load(made.sources[1], 1) +
                    ".reg .b128 q<2>;\n.reg .b64 d<2>;\nmov.b128 q0, {s0, s1};\n"
                    "mov.b128 q1, q0;\nmov.b128 {d0, d1}, q1;\n" +
                    store("d0", "b64", 0) + store("d1", "b64", 1);
  return made;
}

// `immediate`: what stands for source 3, of lop3; empty: a register.
Specimen specimen_of(const Form& form,
                     const WordList& words,
                     const std::vector<Type>& types,
                     const std::string& immediate) {
  Specimen made;
  made.mnemonic = mnemonic_of(form, words, types);
  made.name = form.name;
  made.type = form.operands[0].type != Type::kNone ? form.operands[0].type : types[0];
  std::string operands;
  for (std::size_t operand = 1; operand < form.operands.size(); ++operand) {
    if (operand == 4 && !immediate.empty()) {
      operands += ", " + immediate;
      continue;
    }
    made.sources.push_back(source_of(form.operands[operand], types));
    made.statements += load(made.sources.back(), made.sources.size() - 1);
    operands += ", s" + std::to_string(made.sources.size() - 1);
  }
  made.key = made.mnemonic + "/" + std::to_string(made.sources.size()) +
             (immediate.empty() ? "" : "/" + immediate);
  const std::string result = register_type(source_of(form.operands[0], types));
  const bool one_half = types[0] == Type::kF16 || types[0] == Type::kBf16;
  const bool second =
      (form.name == "setp" && !one_half) || (form.name == "lop3" && form.choices.size() == 1);
  std::string instruction = ".reg ." + result + " d;\n" + (second ? ".reg .pred p;\n" : "") +
                            made.mnemonic + (second ? " d|p" : " d") + operands + ";\n";
  surround_with_carry(made, instruction, carry_of(made.mnemonic));
  const bool carries = made.results == 2;
  made.results = second || carries ? 2 : 1;
  made.statements += instruction + store("d", result, 0) + (second ? store("p", "pred", 1) : "") +
                     (carries ? store("after", "b32", 1) : "");
  return made;
}

}  // namespace

std::vector<Specimen> specimens() {
  std::vector<Specimen> all;
  std::set<std::string> known;
  for (const Form& form : forms()) {
    if (form.group != Group::kScalar) {
      continue;
    }
    const WordList immediates =
        form.name == "lop3" ? WordList{"0x80", "0x96", "0xca", "0xe8", "0x1b"} : WordList{""};
    const auto lists = type_lists(form);
    for (std::size_t turn = 0; turn < lists.size(); ++turn) {
      for (const WordList& words : word_lists(form, lists[turn], lists.size(), turn)) {
        for (const std::string& immediate : immediates) {
          Specimen made = lists[turn][0] == Type::kB128
                              ? wide_move()
                              : specimen_of(form, words, lists[turn], immediate);
          if (known.insert(made.key).second) {
            all.push_back(std::move(made));
          }
        }
      }
    }
  }
  return all;
}

std::uint32_t input_bytes(const Specimen& specimen) {
  return static_cast<std::uint32_t>(specimen.sources.size() * 8);
}

std::string kernel_text(const Specimen& specimen, const std::string& name) {
  return ".visible .entry " + name +
         "(.param .u64 in, .param .u64 out) {\n"
         ".reg .b64 from, to;\n.reg .b32 index, block, width;\n"
         "ld.param.u64 from, [in];\nld.param.u64 to, [out];\n"
         "mov.u32 index, %tid.x;\nmov.u32 block, %ctaid.x;\nmov.u32 width, %ntid.x;\n"
         "mad.lo.u32 index, block, width, index;\nmad.wide.u32 from, index, " +
         std::to_string(input_bytes(specimen)) + ", from;\nmad.wide.u32 to, index, " +
         std::to_string(kOutputBytes) + ", to;\n" + specimen.statements + "ret;\n}\n";
}

}  // namespace warptwin::ptx::scalars
