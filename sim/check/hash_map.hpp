/// Maps and sets by number. Detectors do little but look things up in them: Boost's do not divide
/// to find a bucket, the standard library's do.

#pragma once

#include <cstdint>

#include <boost/unordered_map.hpp>
#include <boost/unordered_set.hpp>

namespace warptwin::sim {

template <class Key, class Value>
using HashMap = boost::unordered_map<Key, Value>;

/// State by CTA. What is asked for is the CTA of one event, and often that of the next.
template <class State>
class ByCta {
 public:
  State& operator[](std::uint32_t cta) {
    if (last_ == nullptr || cta != cta_of_last_) {
      last_ = &states_[cta];
      cta_of_last_ = cta;
    }
    return *last_;
  }
  void erase(std::uint32_t cta) {
    states_.erase(cta);
    last_ = nullptr;
  }
  auto begin() { return states_.begin(); }
  auto end() { return states_.end(); }

 private:
  HashMap<std::uint32_t, State> states_;  // none of which moves
  State* last_ = nullptr;
  std::uint32_t cta_of_last_ = 0;
};

template <class Key>
using HashSet = boost::unordered_set<Key>;

}  // namespace warptwin::sim
