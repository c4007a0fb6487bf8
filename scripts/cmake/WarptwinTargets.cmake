# How a target of this project is made.

# Warnings, for our own targets only; not installed.
add_library(warptwin_warnings INTERFACE)
add_library(warptwin::warnings ALIAS warptwin_warnings)
target_compile_options(
  warptwin_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${WARPTWIN_WERROR}>>:-Werror>)

# warptwin_add_library(<name> SOURCES <file>... [LINKS <target>...] [PRIVATE_LINKS <target>...])
#
# A static library warptwin::<name>, its headers found from the top of the tree.
function(warptwin_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS;PRIVATE_LINKS")
  add_library(warptwin_${name} STATIC ${arg_SOURCES})
  add_library(warptwin::${name} ALIAS warptwin_${name})
  target_compile_features(warptwin_${name} PUBLIC cxx_std_20)
  target_include_directories(
    warptwin_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/warptwin>)
  target_link_libraries(
    warptwin_${name}
    PUBLIC ${arg_LINKS}
    PRIVATE ${arg_PRIVATE_LINKS} $<BUILD_INTERFACE:warptwin::warnings>)
  set_target_properties(warptwin_${name} PROPERTIES EXPORT_NAME ${name} CXX_EXTENSIONS OFF)
  set_property(GLOBAL APPEND PROPERTY WARPTWIN_INSTALLED_TARGETS warptwin_${name})
endfunction()

# warptwin_add_test(<path> [LINKS <target>...] [LABELS <label>...])
#
# tests/<path>_test.cpp, one executable; its cases are found when it has been built.
function(warptwin_add_test path)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINKS;LABELS")
  string(REPLACE "/" "." name ${path})
  add_executable(${name}_test ${PROJECT_SOURCE_DIR}/tests/${path}_test.cpp)
  target_link_libraries(${name}_test PRIVATE ${arg_LINKS} warptwin::warnings GTest::gmock_main)
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
