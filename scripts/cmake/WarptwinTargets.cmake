# How a target of this project is made.

# Warnings, for our own targets only; not installed.
add_library(warptwin_warnings INTERFACE)
add_library(warptwin::warnings ALIAS warptwin_warnings)
target_compile_options(
  warptwin_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${WARPTWIN_WERROR}>>:-Werror>)

# warptwin_add_library(<name> [VERIFY_HEADERS] [NOT_INSTALLED | USES_CUDA] [HOT | COLD]
#                      [SOURCES <file>...] [HEADERS <file>...]
#                      [LINKS <target>...] [PRIVATE_LINKS <target>...])
#
# A static library warptwin::<name>, or an interface one when it has headers alone. Its headers are
# found from the top of the tree, here and where it is installed. VERIFY_HEADERS compiles every
# header alone, in the default build. What USES_CUDA needs CUDA's runtime, and is exported apart.
# HOT: every operation of a run goes through it; a release optimises it further. COLD: none does; it
# is compiled quickly.
function(warptwin_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "VERIFY_HEADERS;NOT_INSTALLED;USES_CUDA;HOT;COLD" ""
                        "SOURCES;HEADERS;LINKS;PRIVATE_LINKS")
  set(target warptwin_${name})
  if(arg_SOURCES)
    set(usage PUBLIC)
    add_library(${target} STATIC ${arg_SOURCES})
    target_link_libraries(
      ${target} PRIVATE ${arg_PRIVATE_LINKS} $<BUILD_INTERFACE:warptwin::warnings>)
    if(arg_HOT)
      # GCC 12 warns of overlaps that its own std::string cannot have (its bug 105651).
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O3>
                                               $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
    elseif(arg_COLD)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    # One translation unit a library: most of what a file costs to compile is what it includes.
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF UNITY_BUILD ${WARPTWIN_UNITY}
                                               UNITY_BUILD_BATCH_SIZE 0)
  else()
    set(usage INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(warptwin::${name} ALIAS ${target})
  target_sources(
    ${target} ${usage} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  target_compile_features(${target} ${usage} cxx_std_20)
  target_link_libraries(${target} ${usage} ${arg_LINKS})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  if(arg_USES_CUDA)
    set_property(GLOBAL APPEND PROPERTY WARPTWIN_INSTALLED_CUDA_TARGETS ${target})
  elseif(NOT arg_NOT_INSTALLED)
    set_property(GLOBAL APPEND PROPERTY WARPTWIN_INSTALLED_TARGETS ${target})
  endif()
  if(arg_VERIFY_HEADERS)
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
    add_custom_target(${target}_headers ALL)
    add_dependencies(${target}_headers ${target}_verify_interface_header_sets)
  endif()
endfunction()

# warptwin_add_test(<path> [ALONE | NO_MAIN] [LINKS <target>...] [LABELS <label>...]
#                   [DEFINES <name=value>...])
#
# tests/<path>_test.cpp; its cases are found when it has been built, as <path>:SUITE.CASE. The tests
# of one folder are one executable, named after it, and one translation unit for every eight; a
# namespace named after the file keeps their names apart. A suite's name is its only one in the
# folder. ALONE for a test that defines what another links, takes suites from a header, or is listed
# elsewhere than its folder; NO_MAIN for one that brings its own entry point, and is alone too.
function(warptwin_add_test path)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE;NO_MAIN" "" "LINKS;LABELS;DEFINES")
  set(file ${PROJECT_SOURCE_DIR}/tests/${path}_test.cpp)
  if(arg_ALONE OR arg_NO_MAIN)
    string(REPLACE "/" "." target ${path}_test)
  else()
    get_filename_component(folder ${path} DIRECTORY)
    string(REPLACE "/" "." target ${folder}_tests)
  endif()
  if(NOT TARGET ${target})
    add_executable(${target})
    warptwin_configure_test(${target})
    if(NOT arg_NO_MAIN)
      target_link_libraries(${target} PRIVATE GTest::gmock_main)
    endif()
    if(path MATCHES "^sim/" AND NOT arg_ALONE)
      target_precompile_headers(${target} REUSE_FROM warptwin_test_headers)
    endif()
    set_target_properties(
      ${target}
      PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
                 UNITY_BUILD ${WARPTWIN_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  endif()
  target_sources(${target} PRIVATE ${file})
  target_link_libraries(${target} PRIVATE ${arg_LINKS})
  target_compile_definitions(${target} PRIVATE ${arg_DEFINES})
  set(filter "")
  if(NOT arg_ALONE AND NOT arg_NO_MAIN)
    warptwin_filter_of(filter ${target} ${file})
    set(filter TEST_FILTER ${filter})
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  # What the tests of a file write is in a folder of theirs: testing::TempDir().
  set(written ${CMAKE_CURRENT_BINARY_DIR}/written/${path})
  file(MAKE_DIRECTORY ${written})
  gtest_discover_tests(
    ${target} ${filter}
    TEST_PREFIX ${path}:
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300 ENVIRONMENT "TEST_TMPDIR=${written}")
endfunction()

# How every test is compiled.
function(warptwin_configure_test target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE warptwin::warnings GTest::gmock)
  target_compile_features(${target} PRIVATE cxx_std_20)
  # What takes time in a test is in the libraries; -O1 is a quarter cheaper to compile than -O2.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

# What --gtest_filter takes for the suites of one file of an executable. The file is read again
# whenever it changes.
function(warptwin_filter_of out target file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} lines REGEX "^TEST(_F|_P)?\\(")
  if(NOT lines)
    message(FATAL_ERROR "${file}: no line begins with TEST(, TEST_F( or TEST_P(; say ALONE if its "
                        "tests stand elsewhere")
  endif()
  list(TRANSFORM lines REPLACE "^TEST[_FP]*\\(([A-Za-z0-9_]+).*$" "\\1")
  list(REMOVE_DUPLICATES lines)
  get_target_property(known ${target} WARPTWIN_SUITES)
  set(filter "")
  foreach(suite IN LISTS lines)
    if(suite IN_LIST known)
      message(FATAL_ERROR "${file}: another test of its folder has a suite ${suite}; rename one")
    endif()
    string(APPEND filter ":${suite}.*:*/${suite}.*")
  endforeach()
  set_property(TARGET ${target} APPEND PROPERTY WARPTWIN_SUITES ${lines})
  string(SUBSTRING "${filter}" 1 -1 filter)
  set(${out} "${filter}" PARENT_SCOPE)
endfunction()
