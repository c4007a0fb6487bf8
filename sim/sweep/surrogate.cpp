#include "sim/sweep/surrogate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace warptwin::sim {

namespace {

double matern(const std::vector<double>& a,
              const std::vector<double>& b,
              const std::vector<double>& lengths) {
  double square = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = (a[i] - b[i]) / lengths[i];
    square += d * d;
  }
  const double r = std::sqrt(5 * square);
  return (1 + r + r * r / 3) * std::exp(-r);
}

}  // namespace

Surrogate::Surrogate(const std::vector<std::vector<double>>& places,
                     const std::vector<double>& values)
    : places_{places},
      values_{Eigen::Map<const Eigen::VectorXd>(values.data(),
                                                static_cast<Eigen::Index>(values.size()))} {
  mean_ = values_.mean();
  values_.array() -= mean_;
  scale_ = std::max(std::sqrt(values_.squaredNorm() / static_cast<double>(values.size())), 1e-9);
  values_ /= scale_;
  constexpr std::array kLengths = {0.15, 0.3, 0.6, 1.2, 2.5, 6.0};
  lengths_.assign(places.front().size(), 0.6);
  double likeliest = fit();
  // One coordinate after the other, until none gets likelier.
  const auto better = [&](double& value, double tried) {
    const double before = value;
    value = tried;
    const double likelihood = fit();
    if (likelihood > likeliest + 1e-9) {
      likeliest = likelihood;
      return true;
    }
    value = before;
    return false;
  };
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    bool moved = false;
    for (double& length : lengths_) {
      for (const double tried : kLengths) {
        moved = better(length, tried) || moved;
      }
    }
    for (const double tried : {1e-6, 1e-4, 1e-2}) {
      moved = better(noise_, tried) || moved;
    }
    if (!moved) {
      break;
    }
  }
  fit();
}

double Surrogate::fit() {
  const auto n = static_cast<Eigen::Index>(places_.size());
  Eigen::MatrixXd covariance(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      covariance(i, j) = covariance(j, i) = matern(
          places_[static_cast<std::size_t>(i)], places_[static_cast<std::size_t>(j)], lengths_);
    }
    covariance(i, i) += noise_;
  }
  factor_.compute(covariance);
  if (factor_.info() != Eigen::Success) {
    return -std::numeric_limits<double>::infinity();
  }
  weights_ = factor_.solve(values_);
  const double roots = factor_.matrixLLT().diagonal().array().log().sum();
  // A weak preference for lengths about the middle: few points say little of them.
  double prior = 0;
  for (const double length : lengths_) {
    const double off = std::log(length / 0.8);
    prior -= 0.25 * off * off;
  }
  return -0.5 * values_.dot(weights_) - roots + prior;
}

Surrogate::Guess Surrogate::at(const std::vector<double>& place) const {
  const auto n = static_cast<Eigen::Index>(places_.size());
  Eigen::VectorXd covariance(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    covariance(i) = matern(place, places_[static_cast<std::size_t>(i)], lengths_);
  }
  const Eigen::VectorXd half = factor_.matrixL().solve(covariance);
  const double variance = std::max(1 + noise_ - half.squaredNorm(), 0.0);
  return {mean_ + scale_ * covariance.dot(weights_), scale_ * std::sqrt(variance)};
}

double expected_improvement(const Surrogate::Guess& guess, double best) {
  if (!(guess.deviation > 0)) {
    return std::max(best - guess.mean, 0.0);
  }
  constexpr double kInverseRoot2Pi = 0.3989422804014327;
  const double z = (best - guess.mean) / guess.deviation;
  const double below = 0.5 * std::erfc(-z / std::sqrt(2.0));
  return (best - guess.mean) * below + guess.deviation * kInverseRoot2Pi * std::exp(-0.5 * z * z);
}

}  // namespace warptwin::sim
