#include "tests/sim/ptx/machine/one_kernel.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <gmock/gmock.h>

#include "sim/ptx/text/parse.hpp"

namespace warptwin::sim {

ScenarioEntry entry_of(const OneKernel& kernel) {
  std::string text = ".version 8.7\n.target sm_100a\n.address_size 64\n";
  text += kernel.variables;
  text +=
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .align 64 .b8 first[128],\n"
      "  .param .align 64 .b8 second[128])\n" +
      kernel.directives +
      "{\n"
      "  .reg .pred %p<32>;\n  .reg .b16 %h<32>;\n  .reg .b32 %r<96>;\n  .reg .f32 %f<32>;\n"
      "  .reg .b64 %rd<32>;\n  .reg .f64 %fd<40>;\n  .shared .align 128 .b8 tile[16384];\n"
      "  mov.u32 %r1, %tid.x;\n  ld.param.u64 %rd1, [in];\n  ld.param.u64 %rd2, [out];\n"
      "  mov.b64 %rd20, first;\n  cvta.param.u64 %rd20, %rd20;\n"
      "  mov.b64 %rd21, second;\n  cvta.param.u64 %rd21, %rd21;\n";
  text += kernel.body;
  text += "  ret;\n}\n";
  PtxLaunch launch;
  launch.kernel = std::make_shared<const ptx::Kernel>(ptx::parse_module(text, "k.ptx"), "k");
  launch.name = launch.kernel->name();
  launch.shape.block = {kernel.threads, 1, 1};
  launch.shape.grid = {kernel.ctas, 1, 1};
  launch.shape.cluster = {kernel.cluster, 1, 1};
  launch.shape.cooperative = kernel.cooperative;
  const auto buffer = [&](const char* name, TensorUse use, std::uint32_t words) {
    TensorSpec spec{};
    spec.name = name;
    spec.use = use;
    spec.element = kernel.element;
    spec.columns = kernel.columns != 0 ? kernel.columns : (words + 3) / 4 * 4;
    spec.rows = kernel.columns != 0 ? words / kernel.columns : 1;
    spec.pitch_bytes = spec.columns * 4;
    launch.workload.tensors.push_back(spec);
  };
  const auto words = std::max<std::uint32_t>(4, static_cast<std::uint32_t>(kernel.in.size()));
  buffer("in", kernel.control ? TensorUse::kScratch : TensorUse::kInput, words);
  buffer("out", TensorUse::kOutput, kernel.out_words);
  if (kernel.from_grid_before) {
    launch.workload.from_grid_before = {0};
  }
  if (kernel.read_by_grid_before) {
    launch.read_by_grid_before = {0};
  }
  launch.contents.resize(2);
  launch.contents[0].resize(kernel.in.size() * 4);
  if (!kernel.in.empty()) {
    std::memcpy(launch.contents[0].data(), kernel.in.data(), kernel.in.size() * 4);
  }
  launch.parameters.bytes.resize(64 + 2 * ptx::kTensorMapBytes);
  launch.parameters.pointers = {{0, 0, 0}, {8, 1, 0}};
  for (std::uint32_t map = 0; map < kernel.maps.size(); ++map) {
    launch.workload.maps.push_back(kernel.maps[map]);
    launch.parameters.maps.push_back({64 + map * ptx::kTensorMapBytes, map, 0});
  }
  return entry_of(std::move(launch));
}

OneRun run_of(const OneKernel& kernel) {
  ScenarioEntry entry = entry_of(kernel);
  OneRun run;
  std::uint64_t out = 0;
  entry.body = [&out, body = entry.body](const ParameterSet& parameters,
                                         std::span<const SimTensorMap> maps,
                                         std::span<const GlobalAddress> addresses) {
    out = addresses[1].value;
    return body(parameters, maps, addresses);
  };
  RunOptions options;
  options.engine = [&](Gpu& gpu, const WarpBody& body) {
    const auto scheduler = make_scheduler(ScheduleSpec{});
    const RunStats stats = run_functional(gpu, body, *scheduler, EngineLimits{});
    run.out.resize(kernel.out_words);
    if (const std::byte* from = gpu.memory().at(out, kernel.out_words * 4); from != nullptr) {
      std::memcpy(run.out.data(), from, kernel.out_words * 4);
    }
    return stats;
  };
  run.result = simulate(entry, ParameterSet{entry.parameters}, options);
  run.printed = entry.printed();
  return run;
}

namespace {

ProofResult proof_by(const OneKernel& kernel, Rules rules) {
  const ScenarioEntry entry = entry_of(kernel);
  ProofOptions options;
  options.run.moves_data = false;
  options.run.rules = std::move(rules);
  return prove(entry, ParameterSet{entry.parameters}, options);
}

}  // namespace

ProofResult proof_of(const OneKernel& kernel) {
  return proof_by(kernel, {});
}

ProofResult proof_under(const OneKernel& kernel, const char* rule) {
  Rules rules;
  choose_rule(rules, rule);
  return proof_by(kernel, rules);
}

std::vector<std::string> ids_in(const RunResult& run) {
  std::vector<std::string> ids;
  for (const Finding& finding : run.findings) {
    ids.push_back(finding.info->id);
  }
  return ids;
}

std::vector<std::string> ids_in(const ProofResult& proof) {
  std::vector<std::string> ids = ids_in(proof.run);
  for (const Refutation& refutation : proof.refutations) {
    ids.push_back(refutation.finding.info->id);
  }
  return ids;
}

void expect_proved(const OneKernel& kernel) {
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << kernel.body << proof.strength();
  EXPECT_THAT(ids_in(proof), testing::IsEmpty()) << kernel.body;
}

void expect_found(const OneKernel& kernel, const char* id) {
  const ProofResult proof = proof_of(kernel);
  EXPECT_NE(proof.verdict, ProofVerdict::kProved) << kernel.body;
  EXPECT_THAT(ids_in(proof), testing::Contains(id)) << kernel.body;
}

void expect_undecided(const OneKernel& kernel, const char* reason) {
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kUndecided) << proof.strength();
  EXPECT_THAT(ids_in(proof), testing::IsEmpty());
  std::string reasons;
  for (const Undecided& open : proof.undecided) {
    reasons += open.reason + "\n";
  }
  EXPECT_THAT(reasons, testing::HasSubstr(reason));
}

std::string repeated(const std::string& text, std::uint32_t count) {
  std::string all;
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const char letter : text) {
      if (letter == '$') {
        all += std::to_string(i);
      } else {
        all += letter;
      }
    }
  }
  return all;
}

}  // namespace warptwin::sim
