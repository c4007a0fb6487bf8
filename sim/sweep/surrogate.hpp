/// What some runs tell of the points that were not run: a Gaussian process over a space.

#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cstddef>
#include <vector>

namespace warptwin::sim {

/// Places are rows of coordinates from 0 to 1, values any numbers. The covariance is Matern's of
/// order 5/2 with a length for each coordinate; lengths and noise are those under which the values
/// are likeliest, out of a grid.
///
/// Source: C. E. Rasmussen, C. K. I. Williams, Gaussian Processes for Machine Learning, 2006,
///         chapters 2, 4.2.1 and 5.4.1.
class Surrogate {
 public:
  struct Guess {
    double mean = 0;
    double deviation = 0;
  };

  /// Takes at least one place, all of one length.
  Surrogate(const std::vector<std::vector<double>>& places, const std::vector<double>& values);

  Guess at(const std::vector<double>& place) const;

 private:
  double fit();  // the logarithm of the likelihood; sets factor_ and weights_

  std::vector<std::vector<double>> places_;
  Eigen::VectorXd values_;
  double mean_ = 0;
  double scale_ = 1;
  double noise_ = 1e-4;  // of the variance
  std::vector<double> lengths_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::VectorXd weights_;
};

/// How much less than `best` a value is expected to be, where it is less.
///
/// Source: D. R. Jones, M. Schonlau, W. J. Welch, Efficient global optimization of expensive
///         black-box functions, J. Global Optim. 13, 1998, equation 15.
double expected_improvement(const Surrogate::Guess& guess, double best);

}  // namespace warptwin::sim
