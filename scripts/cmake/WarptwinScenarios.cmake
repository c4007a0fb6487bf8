# From scenario headers to a command.

set(WARPTWIN_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})
option(WARPTWIN_UNITY "Compile many files as one: cheaper from nothing, dearer after one edit" ON)

# gemm_2sm -> Gemm2sm
function(warptwin_camel_case out name)
  string(REPLACE "_" ";" words ${name})
  set(camel "")
  foreach(word IN LISTS words)
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND camel ${first}${rest})
  endforeach()
  set(${out} ${camel} PARENT_SCOPE)
endfunction()

# warptwin_add_command(<target> SCENARIOS <header>... [INCLUDE <dir>] [HW_SCENARIOS <name>...])
#
# An executable with every subcommand, over the given scenarios in the given order. Header
# <dir>/path/my_kernel.hpp holds the scenario warptwin::scenarios::MyKernel. Each is compiled once
# for the simulator; where there is a CUDA compiler, each clean one once for CUDA too. There
# <target>-hw is a second executable, not of the default build, that runs them, broken ones too, on
# a GPU: all, or those that HW_SCENARIOS names. It is compiled for WARPTWIN_RUN_ARCHITECTURES.
function(warptwin_add_command target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "INCLUDE" "SCENARIOS;HW_SCENARIOS")
  if(NOT arg_INCLUDE)
    set(arg_INCLUDE ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${target}_scenarios)
  set(sources "")
  set(names "")
  foreach(WARPTWIN_SCENARIO_HEADER IN LISTS arg_SCENARIOS)
    get_filename_component(WARPTWIN_SCENARIO_NAME ${WARPTWIN_SCENARIO_HEADER} NAME_WE)
    warptwin_camel_case(camel ${WARPTWIN_SCENARIO_NAME})
    set(WARPTWIN_SCENARIO_TYPE warptwin::scenarios::${camel})
    set(source ${generated}/${WARPTWIN_SCENARIO_NAME}.cpp)
    configure_file(${WARPTWIN_CMAKE_DIR}/scenario.cpp.in ${source} @ONLY)
    list(APPEND sources ${source})
    list(APPEND names ${WARPTWIN_SCENARIO_NAME})
    configure_file(${WARPTWIN_CMAKE_DIR}/scenario_device.cu.in
                   ${generated}/${WARPTWIN_SCENARIO_NAME}_device.cu @ONLY)
    if(WARPTWIN_BUILD_HW
       AND (WARPTWIN_CUDA_BROKEN OR NOT WARPTWIN_SCENARIO_HEADER MATCHES "broken/"))
      warptwin_add_cuda_scenario(${WARPTWIN_SCENARIO_NAME} ${WARPTWIN_SCENARIO_HEADER}
                                 ${WARPTWIN_SCENARIO_TYPE} ${arg_INCLUDE} ${generated})
    endif()
  endforeach()
  warptwin_scenario_list(list.cpp entry ${generated} ${names})
  # The scenarios are a library of their own, so that a test can link them without the command.
  add_library(${target}_scenarios OBJECT ${sources} ${generated}/list.cpp)
  # Most of what a scenario costs to compile is what all of them include.
  set_target_properties(${target}_scenarios PROPERTIES UNITY_BUILD ${WARPTWIN_UNITY}
                                                       UNITY_BUILD_BATCH_SIZE 40)
  target_include_directories(${target}_scenarios PUBLIC ${arg_INCLUDE})
  target_link_libraries(${target}_scenarios PUBLIC warptwin::run)
  add_executable(${target})
  target_link_libraries(${target} PRIVATE ${target}_scenarios warptwin::cli_main)
  if(TARGET warptwin::hw_main)
    warptwin_add_hw_command(${target} ${arg_INCLUDE} ${generated} "${names}" "${arg_HW_SCENARIOS}")
  endif()
endfunction()

# <generated>/<file>: a function that lists what the make_<name>_<kind> of <name>... return.
function(warptwin_scenario_list file kind generated)
  set(declarations "")
  set(calls "")
  set(type_entry ScenarioEntry)
  set(type_device DeviceScenario)
  foreach(name IN LISTS ARGN)
    string(APPEND declarations "${type_${kind}} make_${name}_${kind}();\n")
    string(APPEND calls "      make_${name}_${kind}(),\n")
  endforeach()
  set(template_entry scenario_list.cpp.in)
  set(template_device scenario_device_list.cpp.in)
  configure_file(${WARPTWIN_CMAKE_DIR}/${template_${kind}} ${generated}/${file} @ONLY)
endfunction()

# <target>-hw, of the scenarios <chosen> out of <names>, or of all where none is chosen.
function(warptwin_add_hw_command target include generated names chosen)
  set(unknown ${chosen})
  list(REMOVE_ITEM unknown ${names})
  if(unknown)
    list(JOIN unknown ", " unknown)
    list(JOIN names ", " names)
    message(FATAL_ERROR "${target}-hw: there is no scenario ${unknown}; there are: ${names}")
  endif()
  set(scenarios ${target}_scenarios)
  if(chosen)
    list(REMOVE_DUPLICATES chosen)
    set(names ${chosen})
    set(scenarios ${target}_hw_scenarios)
    list(TRANSFORM names PREPEND ${generated}/ OUTPUT_VARIABLE sources)
    list(TRANSFORM sources APPEND .cpp)
    warptwin_scenario_list(hw_list.cpp entry ${generated} ${names})
    add_library(${scenarios} OBJECT EXCLUDE_FROM_ALL ${sources} ${generated}/hw_list.cpp)
    target_include_directories(${scenarios} PUBLIC ${include})
    target_link_libraries(${scenarios} PUBLIC warptwin::run)
  endif()
  list(TRANSFORM names PREPEND ${generated}/ OUTPUT_VARIABLE device_sources)
  list(TRANSFORM device_sources APPEND _device.cu)
  warptwin_scenario_list(device_list.cpp device ${generated} ${names})
  add_executable(${target}-hw EXCLUDE_FROM_ALL ${device_sources} ${generated}/device_list.cpp)
  target_include_directories(${target}-hw PRIVATE ${include})
  target_link_libraries(${target}-hw PRIVATE ${scenarios} warptwin::hw_main warptwin::hw)
  set_target_properties(${target}-hw PROPERTIES CUDA_ARCHITECTURES "${WARPTWIN_RUN_ARCHITECTURES}")
endfunction()

# One scenario for CUDA: objects for every architecture, and their PTX for the instruction census.
function(warptwin_add_cuda_scenario WARPTWIN_SCENARIO_NAME WARPTWIN_SCENARIO_HEADER
         WARPTWIN_SCENARIO_TYPE include generated)
  set(source ${generated}/${WARPTWIN_SCENARIO_NAME}.cu)
  configure_file(${WARPTWIN_CMAKE_DIR}/scenario.cu.in ${source} @ONLY)
  add_library(cuda_${WARPTWIN_SCENARIO_NAME} OBJECT ${source})
  target_include_directories(cuda_${WARPTWIN_SCENARIO_NAME} PRIVATE ${include})
  target_link_libraries(cuda_${WARPTWIN_SCENARIO_NAME} PRIVATE warptwin::hw)
  set_target_properties(cuda_${WARPTWIN_SCENARIO_NAME} PROPERTIES
    CUDA_ARCHITECTURES "100a-real;90a-real")
  foreach(arch 100a 90a)
    add_library(ptx_${WARPTWIN_SCENARIO_NAME}_${arch} OBJECT ${source})
    target_include_directories(ptx_${WARPTWIN_SCENARIO_NAME}_${arch} PRIVATE ${include})
    target_link_libraries(ptx_${WARPTWIN_SCENARIO_NAME}_${arch} PRIVATE warptwin::hw)
    set_target_properties(ptx_${WARPTWIN_SCENARIO_NAME}_${arch} PROPERTIES
      CUDA_ARCHITECTURES ${arch}-virtual CUDA_PTX_COMPILATION ON)
    set_property(GLOBAL APPEND PROPERTY WARPTWIN_PTX_TARGETS ptx_${WARPTWIN_SCENARIO_NAME}_${arch})
  endforeach()
endfunction()
