/// The pipeline of spin/ring.pml as a protocol: how long our search and our proof take on it.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sim/prove/conditions.hpp"
#include "sim/prove/explore.hpp"

namespace {

using namespace warptwin::sim;

struct Shape {
  std::uint32_t stages, accums, steps, tiles, loads, readers;
};

Protocol pipeline(const Shape& shape) {
  Protocol protocol;
  const auto barriers = [&](std::uint32_t count, std::uint32_t arrivals) {
    const auto first = static_cast<std::uint32_t>(protocol.barriers.size());
    protocol.barriers.insert(protocol.barriers.end(), count, {arrivals, PhaseTest::kParity, {}});
    return first;
  };
  const std::uint32_t full = barriers(shape.stages, 1);
  const std::uint32_t empty = barriers(shape.stages, 1);
  const std::uint32_t done = barriers(shape.accums, 1);
  const std::uint32_t freed = barriers(shape.accums, shape.readers);
  enum : std::uint32_t { kLoad, kMma, kTensor, kReaders };
  protocol.agents.resize(kReaders + shape.readers);
  const auto add = [&](std::uint32_t agent, const ProtocolOp& op) {
    protocol.agents[agent].ops.push_back(op);
    return static_cast<std::uint32_t>(protocol.agents[agent].ops.size() - 1);
  };
  std::vector<ProtocolAgent> copies(std::size_t{shape.stages} * shape.loads);
  std::uint32_t step = 0;
  for (std::uint32_t tile = 0; tile < shape.tiles; ++tile) {
    const std::uint32_t accum = tile % shape.accums;
    const auto lap_of_tile = static_cast<std::int32_t>(tile / shape.accums);
    std::uint32_t issued = add(kMma, wait_op(freed + accum, lap_of_tile - 1));
    for (std::uint32_t k = 0; k < shape.steps; ++k, ++step) {
      const std::uint32_t stage = step % shape.stages;
      const auto lap = static_cast<std::int32_t>(step / shape.stages);
      add(kLoad, wait_op(empty + stage, lap - 1));
      const std::uint32_t armed = add(kLoad, arrive_expect_op(full + stage, 16 * shape.loads));
      for (std::uint32_t i = 0; i < shape.loads; ++i) {
        // As in the model, the copies of one stage are one process each, lap after lap.
        std::vector<ProtocolOp>& ops = copies[stage * shape.loads + i].ops;
        ops.push_back(after_op(kLoad, armed));
        ops.push_back(complete_op(full + stage, 16));
      }
      issued = add(kMma, wait_op(full + stage, lap));
      add(kTensor, after_op(kMma, issued));
      add(kTensor, arrive_op(empty + stage));
    }
    add(kTensor, arrive_op(done + accum));
    for (std::uint32_t reader = 0; reader < shape.readers; ++reader) {
      add(kReaders + reader, wait_op(done + accum, lap_of_tile));
      add(kReaders + reader, arrive_op(freed + accum));
    }
  }
  protocol.agents.insert(protocol.agents.end(), copies.begin(), copies.end());
  return protocol;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const bool full = argc == 8 && std::strcmp(argv[7], "--full") == 0;
  Shape shape{};
  std::uint32_t* fields[] = {
      &shape.stages, &shape.accums, &shape.steps, &shape.tiles, &shape.loads, &shape.readers};
  bool good = argc == 7 || full;
  for (int i = 0; i < 6 && good; ++i) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(argv[i + 1], &end, 10);
    good = *end == '\0' && value >= 1 && value <= 64;
    *fields[i] = static_cast<std::uint32_t>(value);
  }
  if (!good) {
    std::fprintf(stderr,
                 "usage: pipeline_benchmark STAGES ACCUMS STEPS TILES LOADS READERS [--full]\n"
                 "each 1 to 64; prints the time of the search and of the proof as JSON\n");
    return 2;
  }
  const Protocol protocol = pipeline(shape);
  auto start = std::chrono::steady_clock::now();
  const std::optional<CanonicalRun> run = run_once(protocol);
  const bool proved = run && broken_conditions(protocol, *run).empty();
  const double proof_seconds = seconds_since(start);
  ExploreOptions options;
  options.reduce = options.symmetry = !full;
  options.states_max = 400'000'000;
  start = std::chrono::steady_clock::now();
  const ExploreResult searched = run ? explore(protocol, *run, options) : ExploreResult{};
  const double search_seconds = seconds_since(start);
  constexpr const char* kVerdicts[] = {"right", "wrong", "incomplete"};
  std::printf(
      "{\"proved\": %s, \"proof_seconds\": %.9f, \"verdict\": \"%s\", \"states\": %llu, "
      "\"transitions\": %llu, \"seconds\": %.6f}\n",
      proved ? "true" : "false",
      proof_seconds,
      kVerdicts[static_cast<unsigned>(searched.verdict)],
      static_cast<unsigned long long>(searched.states),
      static_cast<unsigned long long>(searched.transitions),
      search_seconds);
  return proved && searched.verdict == Explored::kRight ? 0 : 1;
}
