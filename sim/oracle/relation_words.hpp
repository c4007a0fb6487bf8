/// Oracle R's findings in words.

#pragma once

#include <string>

#include "sim/oracle/relation_record.hpp"

namespace warptwin::sim::relation {

/// "mbarrier.arrive of warp 2, line 14".
std::string in_words(const Who& who);
const char* words_of(Fault fault);
/// "bytes 1152 to 1156 of cta 0's shared memory".
std::string in_words(const Access& access, const Footprint& where);

}  // namespace warptwin::sim::relation
