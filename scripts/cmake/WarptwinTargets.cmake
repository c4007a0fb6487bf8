# How a target of this project is made.

# Warnings, for our own targets only; not installed.
add_library(warptwin_warnings INTERFACE)
add_library(warptwin::warnings ALIAS warptwin_warnings)
target_compile_options(
  warptwin_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${WARPTWIN_WERROR}>>:-Werror>)

# warptwin_add_library(<name> [VERIFY_HEADERS] [NOT_INSTALLED | USES_CUDA]
#                      [SOURCES <file>...] [HEADERS <file>...]
#                      [LINKS <target>...] [PRIVATE_LINKS <target>...])
#
# A static library warptwin::<name>, or an interface one when it has headers alone. Its headers are
# found from the top of the tree, here and where it is installed. VERIFY_HEADERS compiles every
# header alone, in the default build. What USES_CUDA needs CUDA's runtime, and is exported apart.
function(warptwin_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "VERIFY_HEADERS;NOT_INSTALLED;USES_CUDA" ""
                        "SOURCES;HEADERS;LINKS;PRIVATE_LINKS")
  set(target warptwin_${name})
  if(arg_SOURCES)
    set(usage PUBLIC)
    add_library(${target} STATIC ${arg_SOURCES})
    target_link_libraries(
      ${target} PRIVATE ${arg_PRIVATE_LINKS} $<BUILD_INTERFACE:warptwin::warnings>)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
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

# warptwin_add_test(<path> [NO_MAIN] [LINKS <target>...] [LABELS <label>...])
#
# tests/<path>_test.cpp, one executable; its cases are found when it has been built. NO_MAIN for a
# test that brings its own entry point.
function(warptwin_add_test path)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_MAIN" "" "LINKS;LABELS")
  string(REPLACE "/" "." name ${path})
  add_executable(${name}_test ${PROJECT_SOURCE_DIR}/tests/${path}_test.cpp)
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(
    ${name}_test PRIVATE ${arg_LINKS} warptwin::warnings
                         $<IF:$<BOOL:${arg_NO_MAIN}>,GTest::gmock,GTest::gmock_main>)
  target_compile_features(${name}_test PRIVATE cxx_std_20)
  set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
                                                CXX_EXTENSIONS OFF)
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  gtest_discover_tests(
    ${name}_test
    TEST_PREFIX ${path}:
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300)
endfunction()
