/// What an epilogue makes of a sum before it rounds it: a small struct, of a kernel's `Parts`.
///
///     struct SiluOfBiased {
///       float scale = 1;
///       template <class Float>
///       constexpr Float operator()(Float sum, Float bias) const {
///         return silu(sum + bias) * scale;
///       }
///     };
///
/// `Float` is float in a kernel, and double in what its results are compared with. A kernel that
/// brings its epilogue a source calls it with that beside the sum: an element of C, or the column's
/// bias. The others call it with the sum alone, and make it themselves where it holds no values.

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace warptwin {

/// The sum as it is.
struct Unchanged {
  /// `sum`.
  template <class Float>
  constexpr Float operator()(Float sum) const {
    return sum;
  }
};

/// The value of a sum of whole numbers, which an MMA leaves as 32 bits with a sign.
struct FromS32 {
  /// The number whose bits a register that is read as `sum` holds, rounded to nearest even.
  constexpr float operator()(float sum) const {
    return static_cast<float>(std::bit_cast<std::int32_t>(sum));
  }
  /// A result to compare with is a number already.
  void operator()(double sum) const = delete;
};

/// `Function` of a sum of whole numbers, and of a source where it has one.
template <class Function>
struct OfS32 : Function {
  /// Of the number whose bits a register that is read as `sum` holds.
  template <class... Source>
    requires std::is_invocable_v<const Function&, float, Source...>
  constexpr float operator()(float sum, Source... source) const {
    return Function::operator()(FromS32{}(sum), source...);
  }
  /// A result to compare with is a number already.
  template <class... Source>
    requires std::is_invocable_v<const Function&, double, Source...>
  constexpr double operator()(double sum, Source... source) const {
    return Function::operator()(sum, source...);
  }
};

/// A multiple of the sum.
struct TimesAlpha {
  float alpha = 1;  // the factor of the sum

  /// `sum` * alpha.
  template <class Float>
  constexpr Float operator()(Float sum) const {
    return sum * static_cast<Float>(alpha);
  }
};

/// A 256th of the sum: whole numbers that are quantised again.
struct Per256 {
  /// `sum` / 256.
  template <class Float>
  constexpr Float operator()(Float sum) const {
    return sum / Float{256};
  }
};

/// What is negative becomes zero.
struct Relu {
  /// The larger of `sum` and 0.
  template <class Float>
  constexpr Float operator()(Float sum) const {
    return sum < Float{0} ? Float{0} : sum;
  }
};

/// The sum and a multiple of the source.
struct AddSource {
  float beta = 1;  // the factor of the source

  /// `sum` + beta * `source`.
  template <class Float>
  constexpr Float operator()(Float sum, Float source) const {
    return sum + static_cast<Float>(beta) * source;
  }
};

/// Multiples of both: of a sum that is quantised again, and of the source.
struct LinearCombination {
  float alpha = 1;  // the factor of the sum
  float beta = 1;   // the factor of the source

  /// alpha * `sum` + beta * `source`.
  template <class Float>
  constexpr Float operator()(Float sum, Float source) const {
    return static_cast<Float>(alpha) * sum + static_cast<Float>(beta) * source;
  }
};

/// x times the logistic function of x.
template <class Float>
constexpr Float silu(Float x) {
  return x / (Float{1} + std::exp(-x));
}

/// A multiple of the activated sum of both.
struct SiluOfBoth {
  float scale = 1;  // the factor of the result

  /// silu(`sum` + `source`) * scale.
  template <class Float>
  constexpr Float operator()(Float sum, Float source) const {
    return silu(sum + source) * static_cast<Float>(scale);
  }
};

}  // namespace warptwin
