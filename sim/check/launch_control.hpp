/// Cluster launch control: requests while the CTA has seen none fail, responses that are all read.
/// Source: PTX ISA, "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel".

#pragma once

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_launch_control(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
