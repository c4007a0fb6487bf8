#include "common/kernel/inputs.hpp"

#include <cmath>
#include <random>

namespace warptwin {

// Without std::uniform_real_distribution, whose values differ between libraries.
std::vector<float> drawn_values(const TensorSpec& spec, std::uint64_t seed, std::size_t index) {
  std::mt19937_64 random{seed * 1000 + index};
  std::vector<float> values(std::size_t{spec.rows} * spec.columns);
  for (float& value : values) {
    const std::uint64_t bits = random();
    value = static_cast<float>(static_cast<double>(bits >> 40) / double{1 << 23} - 1.0);
    if (spec.element == ElementType::kF4E2M1) {
      value *= 6.0F;  // its largest
    } else if (spec.element >= ElementType::kI8) {
      value = std::floor(8.0F * (is_signed(spec.element) ? value : value + 1.0F));
    } else if (is_scale(spec.element)) {
      value = std::ldexp(1.5F + 0.5F * value, static_cast<int>(bits & 7U) - 4);  // 1/16 to 16
    }
  }
  return values;
}

}  // namespace warptwin
