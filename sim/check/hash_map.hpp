/// Maps and sets by number. Detectors do little but look things up in them: Boost's do not divide
/// to find a bucket, the standard library's do.

#pragma once

#include <boost/unordered_map.hpp>
#include <boost/unordered_set.hpp>

namespace warptwin::sim {

template <class Key, class Value>
using HashMap = boost::unordered_map<Key, Value>;

template <class Key>
using HashSet = boost::unordered_set<Key>;

}  // namespace warptwin::sim
