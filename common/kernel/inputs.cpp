#include "common/kernel/inputs.hpp"

#include <random>

namespace warptwin {

// Without std::uniform_real_distribution, whose values differ between libraries.
std::vector<float> drawn_values(const TensorSpec& spec, std::uint64_t seed, std::size_t index) {
  std::mt19937_64 random{seed * 1000 + index};
  std::vector<float> values(std::size_t{spec.rows} * spec.columns);
  for (float& value : values) {
    value = static_cast<float>(static_cast<double>(random() >> 40) / double{1 << 23} - 1.0);
  }
  return values;
}

}  // namespace warptwin
