/// How long a proof takes, beside the run it is made from: ratios, and the growth with the number
/// of operations. With COUNT M N K CTAS: so many proofs of that size, and not a word, for
/// scripts/proof_cost.py.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>

#include "sim/run/proof/prove.hpp"
#include "sim/run/proof/trip_counts.hpp"

namespace {

using namespace warptwin;
using namespace warptwin::sim;

template <class F>
double seconds(F&& f) {
  double best = 1e30;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<ScenarioEntry> all = scenario_list();
  const ScenarioEntry& gemm = *std::find_if(all.begin(), all.end(), [](const ScenarioEntry& e) {
    return std::string_view{e.info->name} == "gemm";
  });
  const auto with = [&](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t ctas) {
    ParameterSet parameters{gemm.parameters};
    parameters.set("m", m);
    parameters.set("n", n);
    parameters.set("k", k);
    parameters.set("ctas", ctas);
    return parameters;
  };
  ProofOptions options;
  options.run.moves_data = false;
  if (argc == 6) {
    const ParameterSet parameters =
        with(std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]), std::atoi(argv[5]));
    for (int i = 0; i < std::atoi(argv[1]); ++i) {
      if (prove(gemm, parameters, options).verdict != ProofVerdict::kProved) {
        return 1;
      }
    }
    return 0;
  }
  RunOptions bare = options.run;
  bare.detect = false;
  bare.schedule.strategy = Strategy::kInTurn;
  RunOptions watched = bare;
  watched.detect = true;

  std::printf("%-34s %10s %9s %9s %9s %9s %9s\n",
              "persistent gemm",
              "operations",
              "bare s",
              "watched",
              "proof s",
              "x bare",
              "us/op");
  double first_operations = 0;
  double first_seconds = 0;
  struct Size {
    std::int64_t m, n, k, ctas;
  };
  // From a thousand operations to a million.
  const Size sizes[] = {
      {128, 128, 2048, 1}, {256, 512, 2048, 4}, {1024, 1024, 4096, 16}, {4096, 4096, 2560, 148}};
  double exponent = 0;
  for (const Size& size : sizes) {
    const ParameterSet parameters = with(size.m, size.n, size.k, size.ctas);
    RunResult run;
    ProofResult proof;
    const double alone = seconds([&] { run = simulate(gemm, parameters, bare); });
    const double detected = seconds([&] { simulate(gemm, parameters, watched); });
    const double proving = seconds([&] { proof = prove(gemm, parameters, options); });
    const auto operations = static_cast<double>(run.operations);
    if (proof.verdict != ProofVerdict::kProved) {
      std::printf("not proved: %s\n", proof.strength().c_str());
      return 1;
    }
    std::printf("%-34s %10.0f %9.4f %8.1fx %9.4f %8.1fx %9.3f\n",
                parameters.to_string().substr(0, 33).c_str(),
                operations,
                alone,
                detected / alone,
                proving,
                proving / alone,
                proving / operations * 1e6);
    if (first_operations == 0) {
      first_operations = operations;
      first_seconds = proving;
    } else {
      exponent = std::log(proving / first_seconds) / std::log(operations / first_operations);
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "growth exponent %.2f; largest resident set %ld MB\n", exponent, usage.ru_maxrss / 1024);

  for (const char* name : {"k", "m"}) {
    TripProof trips;
    const ParameterSet parameters = with(256, 128, 1024, 1);
    const double proving = seconds([&] { trips = prove_trips(gemm, parameters, name, options); });
    std::printf("one CTA, %s: %.1f ms\n", trips.strength().c_str(), proving * 1e3);
    if (!trips.shown) {
      return 1;
    }
  }
  return 0;
}
