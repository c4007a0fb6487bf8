/// What was judged as bytes, from one process to another of the same command.

#pragma once

#include <nlohmann/json.hpp>

#include "sim/report/judged.hpp"

namespace warptwin::sim {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JudgedPlace, file, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JudgedStep, agent, what, place, number)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JudgedOpen, reason, place)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JudgedGone, fingerprint, id, object, file)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JudgedFinding,
                                   id,
                                   severity,
                                   message,
                                   object,
                                   agent,
                                   details,
                                   place,
                                   schedule,
                                   replay,
                                   text,
                                   fingerprint,
                                   fails,
                                   known,
                                   reason,
                                   steps)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(
    Judged, scenario, parameters, exit, right, answer, findings, open, gone, not_kept, proved)

/// Any bytes in texts come through.
template <class T>
std::string packed(const T& value) {
  std::string bytes;
  nlohmann::json::to_cbor(nlohmann::json(value), bytes);
  return bytes;
}

template <class T>
T unpacked(const std::string& bytes) {
  return nlohmann::json::from_cbor(bytes).get<T>();
}

}  // namespace warptwin::sim
