// Runs the kept inputs of one fuzz target, without libFuzzer: an ordinary test.
//
//   fuzz_replay TARGET FOLDER...
//
// Exit code 1 for a folder without files; a target that fails ends the program.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>

#include "tests/fuzz/targets.hpp"

#define WARPTWIN_ROW(name) extern "C" int warptwin_fuzz_##name(const std::uint8_t*, std::size_t);
WARPTWIN_FOR_EACH_FUZZ_TARGET(WARPTWIN_ROW)
#undef WARPTWIN_ROW

int main(int argc, char** argv) {
  const std::map<std::string, int (*)(const std::uint8_t*, std::size_t)> targets = {
#define WARPTWIN_ROW(name) {#name, &warptwin_fuzz_##name},
      WARPTWIN_FOR_EACH_FUZZ_TARGET(WARPTWIN_ROW)
#undef WARPTWIN_ROW
  };
  const auto target = targets.find(argc > 1 ? argv[1] : "");
  if (target == targets.end() || argc < 3) {
    std::cerr << "usage: fuzz_replay TARGET FOLDER...\n";
    return 2;
  }
  std::size_t files = 0;
  for (int i = 2; i < argc; ++i) {
    const std::filesystem::path folder = std::filesystem::absolute(argv[i]);
    for (const auto& file : std::filesystem::directory_iterator{folder}) {
      std::ifstream in{file.path(), std::ios::binary};
      const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
      std::cerr << file.path().filename().string() << "\n";  // the last one named is the culprit
      target->second(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++files;
    }
  }
  std::cout << target->first << ": " << files << " inputs\n";
  return files == 0 ? 1 : 0;
}
