// Registers that an asynchronous operation will write: until it is waited for they are unknown.
//
// Each such register says, beside that nobody knows it, whose it is: a compiler may give it another
// name by mov before the wait.

#include <algorithm>

#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

// A register's bits while it is on its way: the operation's number, and which of its registers.
constexpr std::uint32_t kIndexBits = 8;
constexpr std::uint32_t kMark = 0xA0000000;
constexpr std::uint32_t kMarkMask = 0xF0000000;

}  // namespace

// The number of the operation that will write the register; kNoIndex: none.
std::uint32_t WarpRun::flight_in(const Lanes& lanes) const {
  const auto bits = static_cast<std::uint32_t>(lanes.value[0]);
  const std::uint32_t number = (bits & ~kMarkMask) >> kIndexBits;
  const bool marked = lanes.poison[0] != 0 && (bits & kMarkMask) == kMark;
  return marked && number < flights_.size() && flights_[number].data != nullptr ? number : kNoIndex;
}

std::uint32_t WarpRun::mark_in_flight(Request& request,
                                      std::size_t operand,
                                      const InFlight& flight) {
  auto place = std::find_if(flights_.begin(), flights_.end(), [&](const InFlight& known) {
    return known.data == nullptr || known.data == flight.data;
  });
  if (place == flights_.end()) {
    place = flights_.insert(place, flight);
  }
  *place = flight;
  const auto number = static_cast<std::uint32_t>(place - flights_.begin());
  for (std::uint32_t i = 0; i < flight.data->registers; ++i) {
    Lanes lanes = Lanes::unknown();
    lanes.value.fill(kMark | number << kIndexBits | i);
    request.strand.write(request.stop, operand, i, lanes);
  }
  return number;
}

// What operations of this kind have written is in the registers that stand for it, wherever they
// are now.
void WarpRun::settle(Strand& strand, warptwin::Op by) {
  std::vector<bool> landed(flights_.size());
  for (std::size_t number = 0; number < flights_.size(); ++number) {
    const InFlight& flight = flights_[number];
    landed[number] = flight.data != nullptr && flight.by == by && flight.data->settled;
  }
  if (std::find(landed.begin(), landed.end(), true) == landed.end()) {
    return;
  }
  for (Lanes& slot : strand.frame->slots) {
    const std::uint32_t number = flight_in(slot);
    if (number == kNoIndex || !landed[number]) {
      continue;
    }
    const sim::FragmentData& data = *flights_[number].data;
    const std::uint32_t index =
        static_cast<std::uint32_t>(slot.value[0]) & ((1U << kIndexBits) - 1);
    if (data.bits.empty()) {
      slot = Lanes::unknown();
      continue;
    }
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      slot.value[lane] = data.bits[std::size_t{lane} * data.registers + index];
      slot.poison[lane] = 0;
    }
  }
  for (std::size_t number = 0; number < flights_.size(); ++number) {
    if (landed[number]) {
      flights_[number] = {};
    }
  }
}

}  // namespace warptwin::ptx
