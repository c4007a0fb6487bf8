/// What a page is made of, as CMake puts it into the library: page/, and d3.

#pragma once

namespace warptwin::sim::page_text {

extern const char* const kHtml;
extern const char* const kCss;
extern const char* const kData;
extern const char* const kTimeline;
extern const char* const kPage;
/// d3, and its licence as a comment.
extern const char* const kLibrary;
extern const char* const kLicence;

}  // namespace warptwin::sim::page_text
