/// What oracle R finds in executions of one launch of PTX.

#include <algorithm>
#include <iostream>
#include <string>

#include <boost/program_options.hpp>

#include "sim/run/ptx_entry.hpp"
#include "sim/run/relation_run.hpp"

namespace {

using namespace warptwin::sim;
namespace options = boost::program_options;

struct Arguments {
  std::string ptx;
  std::string launch;
  std::uint32_t interleavings = 16;
  std::uint64_t seed = 1;
  std::uint64_t steps = 30'000;
  bool strict = false;
};

std::string place_of(const warptwin::SourceSite& site) {
  return site.line == 0 ? "" : std::string{site.file} + ":" + std::to_string(site.line);
}

// 0: it finds nothing; 1: something; 5: nothing, but an execution was given up.
int ask(const Arguments& arguments) {
  const ScenarioEntry entry = entry_of_launch_file(arguments.ptx, arguments.launch, {});
  RelationOptions relation = arguments.strict ? RelationOptions{} : practical_relation();
  relation.interleavings = arguments.interleavings;
  relation.seed = arguments.seed;
  RunOptions run;
  run.limits.steps_max = arguments.steps;
  const RelationInput input = relation_input(entry, warptwin::ParameterSet{entry.parameters}, run);

  std::size_t found = 0;
  bool given_up = false;
  for (const RelationFinding& finding : judge_relation(input, relation)) {
    const bool bound = finding.kind == RelationKind::kIncomplete;
    given_up = given_up || bound;
    found += bound ? 0 : 1;
    std::cout << name_of(finding.kind) << ": " << finding.why << " [" << finding.schedule << "]";
    for (const warptwin::SourceSite& site : {finding.first, finding.second}) {
      std::cout << (site.line == 0 ? "" : " ") << place_of(site);
    }
    std::cout << "\n";
  }
  std::cout << entry.info->name << ": oracle R finds "
            << (found == 0 ? "nothing" : "causes: " + std::to_string(found)) << "\n";
  return found != 0 ? 1 : given_up ? 5 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  options::options_description described{
      "usage: ptx_relation --ptx FILE --launch FILE [OPTION]...\n\n"
      "Executes the launch under several schedules, with data, and asks oracle R about each.\n"
      "Prints each cause once, with its schedule and its lines. Exit 1 where R finds something,\n"
      "5 where it finds nothing and an execution was given up"};
  described.add_options()("help,h", "this text")(
      "ptx", options::value(&arguments.ptx)->required(), "the kernel")(
      "launch", options::value(&arguments.launch)->required(), "the launch file")(
      "interleavings", options::value(&arguments.interleavings), "how many executions (16)")(
      "seed", options::value(&arguments.seed), "of the random ones (1)")(
      "max-steps",
      options::value(&arguments.steps),
      "of an execution, or it is given up (30000): memory grows by the square of them")(
      "strict",
      options::bool_switch(&arguments.strict),
      "grant nothing that production kernels take for granted");
  try {
    options::variables_map given;
    options::store(options::parse_command_line(argc, argv, described), given);
    if (given.count("help") != 0) {
      std::cout << described;
      return 0;
    }
    options::notify(given);
  } catch (const options::error& error) {
    std::cerr << "ptx_relation: " << error.what() << "; see --help\n";
    return 2;
  }
  try {
    return ask(arguments);
  } catch (const std::exception& error) {
    std::cerr << "ptx_relation: " << error.what() << "\n";
    return 2;
  }
}
