// cp.async: what the instructions say. What they do is in sim/model/lane_copies.hpp.

#include <array>
#include <bit>
#include <optional>

#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

Mask lane_bit(std::uint32_t lane) {
  return Mask{1} << lane;
}

}  // namespace

// The operations of copies are made for an instruction.
class WarpRun::CopyIssuer final : public sim::CopiesOfWarp::Issuer {
 public:
  CopyIssuer(WarpRun& run, const Request& request) : run_{run}, request_{request} {}
  sim::Operation make(warptwin::Op kind, std::uint32_t lanes) const override {
    return run_.make(kind, request_, lanes);
  }
  void perform(sim::Operation& operation) override { run_.perform(operation); }
  void touches(const sim::LaneAccess& access, warptwin::Op kind) override {
    const bool loads = kind == warptwin::Op::kGlobalLoad;
    run_.touch(request_,
               access,
               loads ? LaneWords::kGlobal : own_base(),
               loads ? Touch::kLoad : Touch::kStore);
  }
  void hands_over(const sim::LaneAccess& access) override {
    run_.touched_.hand_over(access, own_base(), Touch::kStore);
  }

 private:
  std::uint64_t own_base() const { return shared_base(run_.machine_.cta_rank()); }

  WarpRun& run_;
  const Request& request_;
};

// The bytes of the source that each lane reads; the rest of the copy is zeros.
std::array<std::uint32_t, kLanes> WarpRun::source_bytes(const Request& request,
                                                        std::uint32_t size) const {
  std::array<std::uint32_t, kLanes> bytes;
  bytes.fill(size);
  const bool hinted = request.modifiers.has("L2::cache_hint"_mod);
  if (request.operands() < (hinted ? 5 : 4)) {
    return bytes;
  }
  const Argument& argument = *request.stop.operands[3].argument;
  const Routine& routine = *request.strand.frame->routine;
  const bool ignores =
      argument.kind == Argument::Kind::kRegister && routine.bits_of(argument.index) == 1;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((request.mask() & lane_bit(lane)) != 0) {
      const std::uint64_t value = known(request, 3, lane_bit(lane));
      bytes[lane] = ignores ? (value != 0 ? 0 : size) : static_cast<std::uint32_t>(value);
      if (bytes[lane] > size) {
        refuse(request, "a cp.async reads no more than it writes");
      }
    }
  }
  return bytes;
}

// [dst], [src], cp-size{, src-size or ignore-src}{, cache-policy}.
Served WarpRun::async_copy(Request& request) {
  const auto size = static_cast<std::uint32_t>(uniform(request, 2));
  if (size != 16 && (request.modifiers.has("cg"_mod) || (size != 4 && size != 8))) {
    refuse(request, "a cp.async is of 4, 8 or 16 bytes, by .cg of 16");
  }
  sim::LaneCopies copies{request.mask(), size};
  copies.bytes = source_bytes(request, size);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((request.mask() & lane_bit(lane)) == 0) {
      continue;
    }
    copies.from[lane] = known(request, 1, lane_bit(lane));
    copies.to[lane] = own_shared(request, known(request, 0, lane_bit(lane)));
    const std::uint32_t read = copies.bytes[lane];
    if (read != size && read != 0 && copies.from[lane] % size != 0) {
      refuse(request, "the source of a cp.async is not aligned to its size");
    }
  }
  CopyIssuer issuer{*this, request};
  copies_.issue(issuer, copies);
  return Served::kDone;
}

Served WarpRun::async_group(Request& request) {
  const bool all = request.op.is("cp.async.wait_all");
  if (all || request.op.is("cp.async.commit_group")) {
    copies_.commit(request.mask());
  }
  if (!request.op.is("cp.async.commit_group")) {
    CopyIssuer issuer{*this, request};
    copies_.wait(issuer, request.mask(), all ? 0 : uniform(request, 0));
  }
  return Served::kDone;
}

// cp.async.mbarrier.arrive{.noinc} [mbarrier].
Served WarpRun::async_arrive(Request& request) {
  const bool counted = request.modifiers.has("noinc"_mod);
  for_equal(request, {0}, [&](Mask lanes) {
    CopyIssuer issuer{*this, request};
    copies_.arrive(issuer, lanes, own_shared(request, known(request, 0, lanes)), counted);
  });
  return Served::kDone;
}

void WarpRun::check_end() {
  if (std::optional<sim::Operation> left = copies_.end()) {
    perform(*left);
  }
}

}  // namespace warptwin::ptx
