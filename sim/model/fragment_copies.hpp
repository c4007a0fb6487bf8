/// The registers of a machine that is copied, and which are whose in the copy.

#pragma once

#include <memory>
#include <unordered_map>

#include "sim/model/operation.hpp"

namespace warptwin::sim {

class FragmentCopies {
 public:
  /// The copy of `data`, which is made when it is first asked for; of null null.
  const std::shared_ptr<FragmentData>& of(const std::shared_ptr<FragmentData>& data) {
    std::shared_ptr<FragmentData>& copy = copies_[data];
    if (copy == nullptr && data != nullptr) {
      copy = std::make_shared<FragmentData>(*data);
    }
    return copy;
  }

 private:
  std::unordered_map<std::shared_ptr<FragmentData>, std::shared_ptr<FragmentData>> copies_;
};

}  // namespace warptwin::sim
