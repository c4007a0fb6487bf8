/// The CUDA driver, loaded when the program runs: it builds and starts without CUDA.

#pragma once

#include <memory>
#include <stdexcept>

#include "tests/sim/ptx/scalars/instructions.hpp"

namespace warptwin::ptx::scalars {

/// There is no driver, or no GPU that runs sm_90a. The message says which.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The driver failed at something else than a module's text.
class DriverError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The driver's compiler refuses a module: what it said, with its lines.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Gpu {
 public:
  /// The first GPU. Throws NoDevice.
  Gpu();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// "NVIDIA H100 80GB HBM3, driver API 13.0".
  std::string name() const;
  /// Compiles a module; the one before it is gone. Throws Refused.
  void load(const std::string& ptx);
  /// Runs kernel `name` of the module on all cases. Throws DriverError.
  std::vector<Words> run(const Specimen& specimen,
                         const std::string& name,
                         const std::vector<Words>& cases);

 private:
  struct Api;
  std::unique_ptr<Api> api_;
};

}  // namespace warptwin::ptx::scalars
