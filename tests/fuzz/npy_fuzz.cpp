// Any bytes are a matrix or a row of bytes in a .npy file, or an error that names the file.

#include "common/kernel/scenario.hpp"

#include "sim/run/npy.hpp"
#include "tests/fuzz/file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warptwin;
  const fuzz::File file{data, size};
  try {
    const sim::NpyMatrix matrix = sim::read_npy(file.path());
    fuzz::require(matrix.values.size() == std::size_t{matrix.rows} * matrix.columns,
                  "another size than it says",
                  "");
  } catch (const ConfigError& error) {
    fuzz::require_place(error.what(), file.path(), fuzz::text_of(data, size));
  }
  try {
    sim::read_npy_elements(file.path(), ElementType::kI32, 1, 4);
  } catch (const ConfigError& error) {
    fuzz::require_place(error.what(), file.path(), fuzz::text_of(data, size));
  }
  return 0;
}
