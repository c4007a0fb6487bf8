/// The proof against brute force for as long as one likes.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/support/cross_check.hpp"

int main(int argc, char** argv) {
  using namespace warptwin::sim;
  std::uint64_t seed = 1;
  std::uint64_t programs = 100'000;
  for (int i = 1; i < argc; ++i) {
    char* end = nullptr;
    const bool value = i + 1 < argc;
    if (value && std::strcmp(argv[i], "--seed") == 0) {
      seed = std::strtoull(argv[++i], &end, 10);
    } else if (value && std::strcmp(argv[i], "--programs") == 0) {
      programs = std::strtoull(argv[++i], &end, 10);
    }
    if (end == nullptr || *end != '\0') {
      std::fprintf(stderr,
                   "usage: prove_fuzz [--seed N] [--programs N]\n\n"
                   "Draws random protocols until N of each shape have run to their end, decides "
                   "each by the proof\nand by full search, and counts how they agree. Exit 1 when "
                   "they do not.\n");
      return 2;
    }
  }
  std::printf("%-14s %12s %12s %12s %12s %8s %12s %12s %10s %8s\n",
              "shape",
              "drawn",
              "ran",
              "right",
              "wrong",
              "unsound",
              "refused: C4",
              "refused else",
              "disagreed",
              "skipped");
  const auto print = [](const char* name, const CrossCount& c) {
    std::printf("%-14s %12llu %12llu %12llu %12llu %8llu %12llu %12llu %10llu %8llu\n",
                name,
                static_cast<unsigned long long>(c.drawn),
                static_cast<unsigned long long>(c.ran),
                static_cast<unsigned long long>(c.right),
                static_cast<unsigned long long>(c.wrong),
                static_cast<unsigned long long>(c.unsound),
                static_cast<unsigned long long>(c.refused_c4),
                static_cast<unsigned long long>(c.refused_else),
                static_cast<unsigned long long>(c.disagreed),
                static_cast<unsigned long long>(c.skipped));
    std::fflush(stdout);
  };
  CrossCount all;
  for (unsigned number = 0; number < static_cast<unsigned>(ProtocolShape::kCount); ++number) {
    const auto shape = static_cast<ProtocolShape>(number);
    Draw draw{seed * 1000 + number};
    CrossCount count;
    int complaints = 0;
    while (count.ran < programs && count.drawn < 200 * programs) {
      cross_check(random_protocol(draw, shape, 3), count, [&](const std::string& text) {
        if (++complaints <= 5) {
          std::printf("%s\n", text.c_str());
        }
      });
    }
    print(name_of(shape), count);
    all.add(count);
  }
  print("all", all);
  return all.agrees() ? 0 : 1;
}
