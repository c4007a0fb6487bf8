# Finds SystemC and defines SystemC::systemc.
#
# SystemC 2.3.4 as Debian packages it has no CMake package, and its library was built as C++17 and
# says so in a symbol: a file of a later standard links only when it says C++17 too.

find_package(SystemCLanguage CONFIG QUIET)
if(TARGET SystemC::systemc)
  set(SystemC_FOUND TRUE)
  return()
endif()

find_path(SystemC_INCLUDE_DIR systemc)
find_library(SystemC_LIBRARY systemc)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SystemC REQUIRED_VARS SystemC_LIBRARY SystemC_INCLUDE_DIR)
mark_as_advanced(SystemC_LIBRARY SystemC_INCLUDE_DIR)

if(SystemC_FOUND)
  find_package(Threads REQUIRED)
  add_library(SystemC::systemc UNKNOWN IMPORTED)
  set_target_properties(
    SystemC::systemc
    PROPERTIES IMPORTED_LOCATION ${SystemC_LIBRARY}
               INTERFACE_INCLUDE_DIRECTORIES ${SystemC_INCLUDE_DIR}
               INTERFACE_COMPILE_DEFINITIONS SC_CPLUSPLUS=201703L
               INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
