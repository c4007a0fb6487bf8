/// What is written of Perfetto's public messages (protos/perfetto/trace): the numbers of their
/// fields, by message, and of the values of their enumerations.

#pragma once

#include <cstdint>

namespace warptwin::sim::perfetto {

enum class Trace : std::uint32_t { kPacket = 1 };

enum class TracePacket : std::uint32_t {
  kTimestamp = 8,
  kTrustedPacketSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
};
inline constexpr std::uint32_t kSeqIncrementalStateCleared = 1;  // of kSequenceFlags
inline constexpr std::uint32_t kSeqNeedsIncrementalState = 2;

enum class TrackDescriptor : std::uint32_t {
  kUuid = 1,
  kName = 2,
  kParentUuid = 5,
  kCounter = 8,
  kChildOrdering = 11,
  kSiblingOrderRank = 12,
};
inline constexpr std::int32_t kExplicit = 3;  // of kChildOrdering

enum class CounterDescriptor : std::uint32_t { kUnitName = 6 };

enum class TrackEvent : std::uint32_t {
  kCategoryIids = 3,
  kDebugAnnotations = 4,
  kType = 9,
  kNameIid = 10,
  kTrackUuid = 11,
  kDoubleCounterValue = 44,
  kFlowIds = 47,
};
inline constexpr std::int32_t kSliceBegin = 1;  // of kType
inline constexpr std::int32_t kSliceEnd = 2;
inline constexpr std::int32_t kInstant = 3;
inline constexpr std::int32_t kCounter = 4;

enum class DebugAnnotation : std::uint32_t {
  kNameIid = 1,
  kUintValue = 3,
  kStringValueIid = 17,
};

enum class InternedData : std::uint32_t {
  kEventCategories = 1,
  kEventNames = 2,
  kDebugAnnotationNames = 3,
  kDebugAnnotationStringValues = 29,
};

/// Each of the messages of InternedData.
enum class InternedText : std::uint32_t { kIid = 1, kText = 2 };

}  // namespace warptwin::sim::perfetto
