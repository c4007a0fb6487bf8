// ldmatrix, stmatrix, movmatrix: 8 x 8 matrices of 16 bits between shared memory and a warp's
// registers.
//
// PTX ISA, "ldmatrix": lane 4 r + c of a register has elements 2 c and 2 c + 1 of row r; by .trans
// those of column r. Lane 8 i + r has the address of row r of matrix i.

#include <algorithm>
#include <cstring>

#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::uint32_t kMatrixRows = 8;
constexpr std::uint32_t kMatrixRowBytes = 16;

/// One 8 x 8 matrix, row by row: bytes, and 1 where nobody has written.
struct Matrix8 {
  std::array<std::uint8_t, kMatrixRows * kMatrixRowBytes> bytes{};
  std::array<std::uint8_t, kMatrixRows * kMatrixRowBytes> poison{};
};

// Where the byte of a lane's register is in the matrix.
std::size_t matrix_byte(std::uint32_t lane, std::uint32_t byte, bool transposed) {
  const std::uint32_t along = lane % 4 * 2 + byte / 2;
  const std::uint32_t row = transposed ? along : lane / 4;
  const std::uint32_t column = transposed ? lane / 4 : along;
  return std::size_t{row} * kMatrixRowBytes + column * 2 + byte % 2;
}

Lanes to_register(const Matrix8& matrix, bool transposed) {
  Lanes lanes;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    for (std::uint32_t byte = 0; byte < 4; ++byte) {
      const std::size_t at = matrix_byte(lane, byte, transposed);
      lanes.value[lane] |= std::uint64_t{matrix.bytes[at]} << (8 * byte);
      lanes.poison[lane] |= static_cast<std::uint8_t>(matrix.poison[at] << byte);
    }
  }
  return lanes;
}

Matrix8 to_matrix(const Lanes& lanes, bool transposed) {
  Matrix8 matrix;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    for (std::uint32_t byte = 0; byte < 4; ++byte) {
      const std::size_t at = matrix_byte(lane, byte, transposed);
      matrix.bytes[at] = static_cast<std::uint8_t>(lanes.value[lane] >> (8 * byte));
      matrix.poison[at] = lanes.poison[lane] >> byte & 1U;
    }
  }
  return matrix;
}

std::uint32_t matrices_of(const Modifiers& modifiers) {
  return modifiers.has("x4"_mod) ? 4 : modifiers.has("x2"_mod) ? 2 : 1;
}

}  // namespace

void WarpRun::require_whole_warp(const Request& request) const {
  if (request.mask() != ~Mask{0}) {
    refuse(request, "all 32 lanes of the warp execute it together, and not all are there");
  }
}

// Registers that are on their way are stored too early. Who computes with one has been told.
void WarpRun::note_unsettled(sim::LaneAccess& access, std::span<const Lanes> values) const {
  for (const Lanes& value : values) {
    if (const std::uint32_t flight = flight_in(value, ~Mask{0}); flight != kNoIndex) {
      access.unsettled = true;
      access.of_accumulator = flights_[flight].by == warptwin::Op::kWgmmaWait;
      return;
    }
  }
}

// The rows that the first lanes have the addresses of; the whole warp accesses them.
sim::LaneAccess WarpRun::rows_of_matrices(const Request& request,
                                          std::size_t operand,
                                          std::uint32_t matrices) {
  require_whole_warp(request);
  require_form(request);
  sim::LaneAccess access{kMatrixRowBytes};
  const std::uint32_t rows = matrices * kMatrixRows;
  access.mask = static_cast<Mask>(low_bits(rows));
  for (std::uint32_t lane = 0; lane < rows; ++lane) {
    access.address[lane] = own_shared(request, known(request, operand, Mask{1} << lane));
  }
  return access;
}

// Which lane reads or writes which bytes of the rows: those of its own register.
void WarpRun::touch_matrices(const Request& request,
                             const sim::LaneAccess& rows,
                             std::uint32_t matrices,
                             Touch touch) {
  const bool transposed = request.modifiers.has("trans"_mod);
  const std::uint32_t bytes = transposed ? 2 : 4;
  for (std::uint32_t matrix = 0; matrix < matrices; ++matrix) {
    for (std::uint32_t part = 0; part < 4; part += bytes) {
      sim::LaneAccess own{bytes};
      own.mask = ~Mask{0};
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t at = matrix_byte(lane, part, transposed);
        const std::size_t row = matrix * kMatrixRows + at / kMatrixRowBytes;
        own.address[lane] = rows.address[row] + at % kMatrixRowBytes;
        const std::size_t first = row * kMatrixRowBytes + at % kMatrixRowBytes;
        std::copy_n(&rows.data[first], bytes, &own.data[std::size_t{lane} * bytes]);
        std::copy_n(&rows.poison[first], bytes, &own.poison[std::size_t{lane} * bytes]);
      }
      this->touch(request, own, shared_base(machine_.cta_rank()), touch);
    }
  }
}

Served WarpRun::ldmatrix(Request& request) {
  const std::uint32_t matrices = matrices_of(request.modifiers);
  sim::LaneAccess access = rows_of_matrices(request, 1, matrices);
  touch_matrices(request, access, matrices, Touch::kLoad);
  sim::Operation op = collective(warptwin::Op::kSharedLoad, request);
  op.set<sim::operands::LaneBytes>() = {&access, machine_.cta_rank(), 0};
  perform(op);
  for (std::uint32_t i = 0; i < matrices; ++i) {
    Matrix8 matrix;
    std::memcpy(matrix.bytes.data(), &access.data[i * matrix.bytes.size()], matrix.bytes.size());
    std::memcpy(
        matrix.poison.data(), &access.poison[i * matrix.bytes.size()], matrix.poison.size());
    request.strand.write(
        request.stop, 0, i, to_register(matrix, request.modifiers.has("trans"_mod)));
  }
  return Served::kDone;
}

Served WarpRun::stmatrix(Request& request) {
  const std::uint32_t matrices = matrices_of(request.modifiers);
  sim::LaneAccess access = rows_of_matrices(request, 0, matrices);
  const auto& values = request.stop.operands[1].values;
  for (std::uint32_t i = 0; i < matrices && i < values.size(); ++i) {
    const Matrix8 matrix = to_matrix(values[i], request.modifiers.has("trans"_mod));
    std::memcpy(&access.data[i * matrix.bytes.size()], matrix.bytes.data(), matrix.bytes.size());
    std::memcpy(
        &access.poison[i * matrix.bytes.size()], matrix.poison.data(), matrix.poison.size());
  }
  note_unsettled(access, values);
  touch_matrices(request, access, matrices, Touch::kStore);
  sim::Operation op = collective(warptwin::Op::kSharedStore, request);
  op.set<sim::operands::LaneBytes>() = {&access, machine_.cta_rank(), 0};
  perform(op);
  return Served::kDone;
}

// A matrix from registers to registers, transposed.
Served WarpRun::movmatrix(Request& request) {
  require_whole_warp(request);
  request.strand.write(request.stop, 0, 0, to_register(to_matrix(request.value(1), false), true));
  return Served::kDone;
}

}  // namespace warptwin::ptx
