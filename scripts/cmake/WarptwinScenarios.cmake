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

# warptwin_add_command(<target> SCENARIOS <header>... [INCLUDE <dir>] [HW_SCENARIOS <name>...]
#                      [NO_PTX])
#
# An executable with every subcommand, over the given scenarios in the given order. Header
# <dir>/path/my_kernel.hpp holds the scenario warptwin::scenarios::MyKernel. Each is compiled once
# for the simulator; where there is a CUDA compiler, each clean one to PTX too, with NO_PTX none.
# There <target>-hw is a second executable, not of the default build, that runs them, broken ones
# too, on a GPU: all, or those that HW_SCENARIOS names. It is compiled for
# WARPTWIN_RUN_ARCHITECTURES.
function(warptwin_add_command target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_PTX" "INCLUDE" "SCENARIOS;HW_SCENARIOS")
  if(NOT arg_INCLUDE)
    set(arg_INCLUDE ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${target}_scenarios)
  set(sources "")
  set(names "")
  set(WARPTWIN_PTX_OF "")
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
       AND NOT arg_NO_PTX
       AND (WARPTWIN_CUDA_BROKEN OR NOT WARPTWIN_SCENARIO_HEADER MATCHES "broken/")
       AND (WARPTWIN_CUDA_TYPES
            OR WARPTWIN_SCENARIO_HEADER MATCHES "^scenarios/gemm(_wgmma)?_(e4m3|s8)[.]hpp$"
            OR NOT WARPTWIN_SCENARIO_HEADER
                   MATCHES "^scenarios/[^/]*_(b?f16|t?f32|e4m3|e5m2|s8)[.]hpp$"))
      configure_file(${WARPTWIN_CMAKE_DIR}/scenario.cu.in
                     ${generated}/${WARPTWIN_SCENARIO_NAME}.cu @ONLY)
      warptwin_ptx_architectures(archs ${WARPTWIN_SCENARIO_NAME} ${WARPTWIN_SCENARIO_HEADER})
      list(TRANSFORM archs PREPEND ${WARPTWIN_SCENARIO_NAME}_)
      list(APPEND WARPTWIN_PTX_OF ${archs})
    endif()
  endforeach()
  if(WARPTWIN_PTX_OF)
    add_subdirectory(${WARPTWIN_CMAKE_DIR}/ptx ${generated}/ptx)
  endif()
  warptwin_scenario_list(list.cpp entry ${generated} ${names})
  # The scenarios are a library of their own, so that a test can link them without the command.
  add_library(${target}_scenarios OBJECT ${sources} ${generated}/list.cpp)
  warptwin_configure_scenarios(${target}_scenarios)
  target_include_directories(${target}_scenarios PUBLIC ${arg_INCLUDE})
  target_link_libraries(${target}_scenarios PUBLIC warptwin::run)
  add_executable(${target})
  target_link_libraries(${target} PRIVATE ${target}_scenarios warptwin::cli_main)
  set_target_properties(${target} PROPERTIES WARPTWIN_SCENARIO_NAMES "${names}")
  if(TARGET warptwin::hw_main)
    warptwin_add_hw_command(${target} ${arg_INCLUDE} ${generated} "${names}" "${arg_HW_SCENARIOS}")
  endif()
endfunction()

# How scenarios are compiled for the simulator. A kernel's text calls the machine, which takes the
# time: with -O2 a run takes one percent fewer instructions, and a compilation a third longer.
function(warptwin_configure_scenarios target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  # Much of what a scenario costs to compile is what all of them include.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WARPTWIN_UNITY}
                                             UNITY_BUILD_BATCH_SIZE 100)
endfunction()

# warptwin_add_check(<target> [SCENARIOS <name>...] [EXPECT <id>] [SET <name=value>...]
#                    [OPTIONS <option>...] [REPORTS <dir>] [LABELS <label>...] [TIMEOUT <seconds>])
#
# A case of CTest, <target>.<name>, for each of the scenarios, or of all that the command <target>
# has: it passes where `<target> check <name>` exits with 0. With EXPECT it passes where the report
# names that diagnostic: for broken scenarios. Settings and the id become part of the case's name.
# REPORTS puts a file of JUnit and one of SARIF for each case into a folder; their paths are from
# ${CMAKE_SOURCE_DIR}.
function(warptwin_add_check target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXPECT;REPORTS;TIMEOUT"
                        "SCENARIOS;SET;OPTIONS;LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warptwin_add_check(${target}): unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "warptwin_add_check(${target}): no warptwin_add_command makes ${target}")
  endif()
  get_target_property(known ${target} WARPTWIN_SCENARIO_NAMES)
  if(NOT arg_SCENARIOS)
    set(arg_SCENARIOS ${known})
  endif()
  set(settings ${arg_SET})
  list(TRANSFORM settings PREPEND "--set;")
  list(JOIN arg_SET "," suffix)
  set(suffix ${suffix} ${arg_EXPECT})
  list(TRANSFORM suffix PREPEND ".")
  string(REPLACE ";" "" suffix "${suffix}")
  foreach(name IN LISTS arg_SCENARIOS)
    if(NOT name IN_LIST known)
      list(JOIN known ", " known)
      message(FATAL_ERROR "warptwin_add_check(${target}): there is no scenario ${name}; there are: "
                          "${known}")
    endif()
    set(case ${target}.${name}${suffix})
    set(reports "")
    if(arg_REPORTS)
      file(MAKE_DIRECTORY ${arg_REPORTS})
      set(reports --junit ${arg_REPORTS}/${case}.xml --sarif ${arg_REPORTS}/${case}.sarif
                  --source-root ${CMAKE_SOURCE_DIR})
    endif()
    add_test(NAME ${case} COMMAND ${target} check ${name} ${settings} ${reports} ${arg_OPTIONS})
    set_tests_properties(${case} PROPERTIES LABELS "warptwin;${arg_LABELS}")
    if(arg_EXPECT)
      set_tests_properties(${case} PROPERTIES PASS_REGULAR_EXPRESSION
                                              "(defect|warning): ${arg_EXPECT}:")
    endif()
    if(arg_TIMEOUT)
      set_tests_properties(${case} PROPERTIES TIMEOUT ${arg_TIMEOUT})
    endif()
  endforeach()
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

# The CUDA sources of scenarios: one each, or, with WARPTWIN_UNITY, one for every six of them. CMake
# has no unity build of CUDA before 3.31.
function(warptwin_device_sources out generated)
  set(names ${ARGN})
  set(sources "")
  while(names)
    list(SUBLIST names 0 6 batch)
    if(NOT WARPTWIN_UNITY)
      list(GET names 0 batch)
    endif()
    list(REMOVE_ITEM names ${batch})
    list(GET batch 0 first)
    if(WARPTWIN_UNITY)
      list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1_device.cu\"\n" OUTPUT_VARIABLE text)
      list(JOIN text "" text)
      file(CONFIGURE OUTPUT ${generated}/${first}_device_batch.cu CONTENT "${text}" @ONLY)
      set(first ${first}_device_batch)
    else()
      set(first ${first}_device)
    endif()
    list(APPEND sources ${generated}/${first}.cu)
  endwhile()
  set(${out} ${sources} PARENT_SCOPE)
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
    warptwin_configure_scenarios(${scenarios})
    target_include_directories(${scenarios} PUBLIC ${include})
    target_link_libraries(${scenarios} PUBLIC warptwin::run)
  endif()
  warptwin_device_sources(device_sources ${generated} ${names})
  warptwin_scenario_list(device_list.cpp device ${generated} ${names})
  add_executable(${target}-hw EXCLUDE_FROM_ALL ${device_sources} ${generated}/device_list.cpp)
  target_include_directories(${target}-hw PRIVATE ${include})
  target_link_libraries(${target}-hw PRIVATE ${scenarios} warptwin::hw_main warptwin::hw)
  set_target_properties(${target}-hw PROPERTIES CUDA_ARCHITECTURES "${WARPTWIN_RUN_ARCHITECTURES}")
endfunction()

# The architectures of which the tests assemble a scenario's PTX. For sm_90a emulation makes it long
# to compile; of this project's own tcgen05 kernels six stand for all.
function(warptwin_ptx_architectures out name header)
  set(archs 100a)
  if(WARPTWIN_CUDA_EMULATED
     OR NOT header MATCHES "^scenarios/"
     OR name MATCHES "wgmma|_ring$|^producer_consumer$|^attention$"
     OR name MATCHES "^gemm(_2sm|_block_scaled|_epilogue_load|_persistent)?$")
    list(APPEND archs 90a)
  endif()
  set(${out} ${archs} PARENT_SCOPE)
endfunction()
