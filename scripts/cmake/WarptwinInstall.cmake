# Install rules and the CMake package: what another repository needs for find_package(warptwin).

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/warptwin)

get_property(installed_targets GLOBAL PROPERTY WARPTWIN_INSTALLED_TARGETS)
install(
  TARGETS ${installed_targets}
  EXPORT warptwinTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warptwin)
if(WARPTWIN_BUILD_HW)
  get_property(installed_targets GLOBAL PROPERTY WARPTWIN_INSTALLED_CUDA_TARGETS)
  install(
    TARGETS ${installed_targets}
    EXPORT warptwinCudaTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warptwin)
  install(
    EXPORT warptwinCudaTargets
    NAMESPACE warptwin::
    DESTINATION ${package_dir})
endif()
install(TARGETS warptwin RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The command itself says what a shell and man(1) are told of it.
install(
  CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  file(MAKE_DIRECTORY \"\${prefix}/${CMAKE_INSTALL_MANDIR}/man1\"
       \"\${prefix}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions\")
  execute_process(
    COMMAND \"\${prefix}/${CMAKE_INSTALL_BINDIR}/warptwin\" man
    OUTPUT_FILE \"\${prefix}/${CMAKE_INSTALL_MANDIR}/man1/warptwin.1\" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(
    COMMAND \"\${prefix}/${CMAKE_INSTALL_BINDIR}/warptwin\" completion
    OUTPUT_FILE \"\${prefix}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions/warptwin\"
    COMMAND_ERROR_IS_FATAL ANY)")
# Scenarios of another repository may build on ours.
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/scenarios
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warptwin
  FILES_MATCHING PATTERN "*.hpp")
install(
  EXPORT warptwinTargets
  NAMESPACE warptwin::
  DESTINATION ${package_dir})

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/warptwinConfig.cmake.in ${PROJECT_BINARY_DIR}/warptwinConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warptwinConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
file(GLOB templates ${CMAKE_CURRENT_LIST_DIR}/scenario*.in)
install(FILES ${PROJECT_BINARY_DIR}/warptwinConfig.cmake
              ${PROJECT_BINARY_DIR}/warptwinConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/WarptwinScenarios.cmake
              ${CMAKE_CURRENT_LIST_DIR}/WarptwinCuda.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindSystemC.cmake ${templates}
        DESTINATION ${package_dir})
install(FILES ${CMAKE_CURRENT_LIST_DIR}/ptx/CMakeLists.txt DESTINATION ${package_dir}/ptx)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
include(WarptwinPackage)
