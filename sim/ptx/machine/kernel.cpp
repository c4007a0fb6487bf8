#include "sim/ptx/machine/kernel.hpp"

#include <algorithm>

#include "common/kernel/scenario.hpp"
#include "common/trace/texts.hpp"
#include "common/trace/words.hpp"

#include "sim/model/symbols.hpp"
#include "sim/ptx/code/flow.hpp"

namespace warptwin::ptx {

namespace {

std::uint64_t aligned(std::uint64_t at, std::uint64_t to) {
  return to < 2 ? at : (at + to - 1) / to * to;
}

std::string only_kernel(const Module& module) {
  std::string found;
  std::string names;
  for (const Function& function : module.functions) {
    if (function.is_entry && function.has_body) {
      names += (names.empty() ? "" : ", ") + std::string{function.name};
      found = found.empty() ? std::string{function.name} : "?";
    }
  }
  if (found == "?") {
    throw ConfigError(module.file + " has several kernels; say which: " + names);
  }
  if (found.empty()) {
    throw ConfigError(module.file + " has no kernel");
  }
  return found;
}

}  // namespace

Kernel::Kernel(Module module, std::string_view name) : program_{std::move(module)} {
  const Module& read = program_.module();
  routine_ = &program_.kernel(name.empty() ? only_kernel(read) : std::string{name});
  find_routines();
  place_parameters();
  find_shared();
  place_shared();
  place_locals();
  for (const Variable& variable : read.variables) {
    if (variable.space == Space::kGlobal || variable.space == Space::kConst) {
      variables_.push_back({&variable, std::max<std::uint64_t>(variable.bytes(), 1)});
    }
  }
  std::unordered_map<std::uint32_t, const char*> files;
  const char* own = kept_text(read.file);
  std::uint32_t ops = 0;
  for (const Routine* each_routine : routines_) {
    const Routine& routine = *each_routine;
    RoutineFacts& facts = facts_[&routine];
    facts.first = ops;
    ops += static_cast<std::uint32_t>(routine.code.ops.size());
    std::optional<Liveness> liveness;  // where there is a try
    for (std::uint32_t op = 0; op < routine.code.ops.size(); ++op) {
      const Op& each = routine.code.ops[op];
      const Instruction& source = *each.source;
      SourceSite site{own, static_cast<std::uint32_t>(source.position.line)};
      if (source.location != kNoIndex) {
        const Location& location = read.locations[source.location];
        const auto known = read.files.find(location.file);
        if (known != read.files.end() && location.line != 0) {
          const char*& path = files[location.file];
          path = path == nullptr ? kept_text(known->second) : path;
          site = {path, location.line};
        }
      }
      facts.sites.push_back(site);
      changes_maps_ = changes_maps_ || each.is("tensormap.replace") ||
                      each.is("tensormap.cp_fenceproxy") ||
                      (each.is("fence.proxy") && source.modifiers.has("tensormap::generic"_mod) &&
                       source.modifiers.has("release"_mod));
      waits_for_groups_ =
          waits_for_groups_ || each.is("cp.async.wait_group") || each.is("cp.async.wait_all");
      if (each.is("mbarrier.try_wait") || each.is("mbarrier.test_wait")) {
        if (!liveness) {
          liveness.emplace(routine.code, routine.flow);
        }
        const std::vector<std::uint32_t> live = liveness->live_before(op);
        if (auto loop = wait_loop(program_, routine, op, live)) {
          facts.waits.emplace(op, std::move(*loop));
        }
        std::vector<std::uint32_t>& needed = facts.needed[op];  // perhaps none is
        for (const std::uint32_t number : live) {
          needed.push_back(routine.slots[number]);
        }
      }
    }
  }
  own_facts_ = &facts_.at(routine_);
}

void Kernel::place_parameters() {
  for (const Variable& variable : function().prototype.parameters) {
    parameter_bytes_ = aligned(parameter_bytes_, variable.aligned_to());
    places_[&variable] = parameter_bytes_;
    parameter_bytes_ += variable.bytes();
  }
}

// Other kernels of the module are no part of a launch. Who calls by a register may call each
// function.
void Kernel::find_routines() {
  std::vector<const Routine*> found{routine_};
  const auto add = [&](const Routine* routine) {
    if (routine != nullptr && std::find(found.begin(), found.end(), routine) == found.end()) {
      found.push_back(routine);
    }
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const Argument& argument : found[i]->code.arguments) {
      if (argument.kind == Argument::Kind::kFunction) {
        add(program_.routine_of(argument.index));
      }
    }
    if (!found[i]->code.prototypes.empty()) {
      for (const Routine& routine : program_.routines()) {
        add(routine.code.function->is_entry ? nullptr : &routine);
      }
    }
  }
  for (const Routine& routine : program_.routines()) {
    if (std::find(found.begin(), found.end(), &routine) != found.end()) {
      routines_.push_back(&routine);
    }
  }
}

void Kernel::find_shared() {
  std::vector<const Variable*> named;
  for (const Routine* routine : routines_) {
    for (const VariableUse& use : routine->code.variables) {
      named.push_back(use.variable);
    }
  }
  for (const Variable& variable : program_.module().variables) {
    if (variable.space == Space::kShared &&
        std::find(named.begin(), named.end(), &variable) != named.end()) {
      shared_variables_.push_back(&variable);
    }
  }
  for (const Routine* routine : routines_) {
    for (const Scope& scope : routine->code.function->scopes) {
      for (const Variable& variable : scope.variables) {
        if (variable.space == Space::kShared) {
          shared_variables_.push_back(&variable);
        }
      }
    }
  }
}

// Static variables first; those of no size are dynamic memory, all at one place.
void Kernel::place_shared() {
  std::vector<const Variable*> dynamic;
  std::uint64_t at = sim::kSharedBase;
  std::uint64_t alignment = 16;
  for (const Variable* variable : shared_variables_) {
    if (variable->bytes() == 0 || variable->linkage.is_extern) {
      dynamic.push_back(variable);
      alignment = std::max<std::uint64_t>(alignment, variable->aligned_to());
      continue;
    }
    at = aligned(at, variable->aligned_to());
    places_[variable] = at;
    at += variable->bytes();
  }
  shared_end_ = aligned(at, alignment);
  for (const Variable* variable : dynamic) {
    places_[variable] = shared_end_;
  }
}

// A thread's local memory: every local variable of every function has a place of its own, and
// between two of them are bytes of none.
void Kernel::place_locals() {
  constexpr std::uint64_t kGap = 32;
  for (const Routine* routine : routines_) {
    for (const Scope& scope : routine->code.function->scopes) {
      for (const Variable& variable : scope.variables) {
        if (variable.space == Space::kLocal) {
          local_bytes_ =
              aligned(local_bytes_ + (locals_.empty() ? 0 : kGap), variable.aligned_to());
          places_[&variable] = local_bytes_;
          locals_.push_back({local_bytes_, variable.bytes()});
          facts_[routine].locals.push_back(locals_.back());
          local_bytes_ += variable.bytes();
        }
      }
    }
  }
}

bool Kernel::is_local(std::uint64_t at, std::uint64_t bytes) const {
  const auto above =
      std::upper_bound(locals_.begin(), locals_.end(), at, [](std::uint64_t byte, const auto& one) {
        return byte < one.at;
      });
  return above != locals_.begin() && at - std::prev(above)->at <= std::prev(above)->bytes &&
         bytes <= std::prev(above)->bytes - (at - std::prev(above)->at);
}

std::string Kernel::local_before(std::uint64_t at) const {
  const Variable* found = nullptr;
  for (const auto& [variable, place] : places_) {
    if (variable->space == Space::kLocal && place <= at &&
        (found == nullptr || place > places_.at(found))) {
      found = variable;
    }
  }
  return found == nullptr
             ? ""
             : ", byte " + std::to_string(at - places_.at(found)) + " of " +
                   std::string{found->name} + ", which has " + std::to_string(found->bytes());
}

namespace {

std::uint64_t place_in(const std::unordered_map<const Variable*, std::uint64_t>& places,
                       const Variable& variable) {
  const auto found = places.find(&variable);
  if (found == places.end()) {
    throw ConfigError("variable " + std::string{variable.name} + " has no place");
  }
  return found->second;
}

}  // namespace

std::uint64_t Kernel::parameter_offset(const Variable& variable) const {
  return place_in(places_, variable);
}

std::uint32_t Kernel::shared_offset(const Variable& variable) const {
  return static_cast<std::uint32_t>(place_in(places_, variable));
}

std::uint64_t Kernel::local_offset(const Variable& variable) const {
  return place_in(places_, variable);
}

SourceSite Kernel::site_of(const Routine& routine, std::uint32_t op) const {
  const auto& sites = facts_of(routine).sites;
  return op < sites.size() ? sites[op] : SourceSite{};
}

std::string Kernel::line_of(const Routine& routine, std::uint32_t op) const {
  const SourceSite site = site_of(routine, op);
  return std::string{site.file} + ":" + std::to_string(site.line);
}

std::vector<const Instruction*> Kernel::instructions_at(const SourceSite& site) const {
  std::vector<const Instruction*> all;
  for (const Routine* routine : routines_) {
    const std::vector<SourceSite>& sites = facts_of(*routine).sites;
    for (std::size_t op = 0; op < sites.size(); ++op) {
      if (sites[op].line == site.line && std::string_view{sites[op].file} == site.file) {
        all.push_back(routine->code.ops[op].source);
      }
    }
  }
  return all;
}

std::string Kernel::loop_around(const Routine& routine, std::uint32_t op) const {
  constexpr std::size_t kShown = 3;
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
  std::vector<std::string> sites;
  for (const std::uint32_t block : ptx::loop_around(routine.flow, op)) {
    for (std::uint32_t i = routine.flow.blocks[block].begin; i < routine.flow.blocks[block].end;
         ++i) {
      const std::uint64_t line = routine.code.ops[i].source->position.line;
      first = std::min(first, line);
      last = std::max(last, line);
      const SourceSite site = site_of(routine, i);
      const std::string text = short_site(site.file, site.line);
      if (site.file != program_.module().file &&
          std::find(sites.begin(), sites.end(), text) == sites.end()) {
        sites.push_back(text);
      }
    }
  }
  if (last == 0) {
    return "";
  }
  std::string words =
      "lines " + std::to_string(first) + " to " + std::to_string(last) + " of the PTX";
  for (std::size_t i = 0; i < sites.size() && i < kShown; ++i) {
    words += (i == 0 ? ", at " : ", ") + sites[i];
  }
  return words;
}

std::string Kernel::loop_at(const SourceSite& site) const {
  std::string words;
  for (const Routine* routine : routines_) {
    const std::vector<SourceSite>& sites = facts_of(*routine).sites;
    for (std::uint32_t op = 0; op < sites.size() && words.empty(); ++op) {
      if (sites[op].line == site.line && std::string_view{sites[op].file} == site.file) {
        words = loop_around(*routine, op);
      }
    }
  }
  return words;
}

std::uint32_t Kernel::place_of(const Routine& routine, std::uint32_t op) const {
  return facts_of(routine).first + op;
}

bool Kernel::is_for_sm(std::uint32_t least) const {
  constexpr std::string_view kPrefix = "sm_";
  const auto& targets = program_.module().targets;
  return std::any_of(targets.begin(), targets.end(), [&](std::string_view target) {
    std::uint32_t number = 0;
    for (const char digit : target.substr(target.starts_with(kPrefix) ? kPrefix.size() : 0)) {
      if (digit < '0' || digit > '9') {
        break;
      }
      number = number * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    return number >= least;
  });
}

bool Kernel::waits(Surroundings& warp, const Strand& strand, const Stop& tried) const {
  const RoutineFacts& facts = facts_of(*strand.frame->routine);
  const auto found = facts.waits.find(tried.op);
  return found != facts.waits.end() && comes_back(program_, warp, strand, tried, found->second);
}

const std::vector<std::uint32_t>& Kernel::needed_at_try(const Routine& routine,
                                                        std::uint32_t op) const {
  return facts_of(routine).needed.at(op);
}

}  // namespace warptwin::ptx
