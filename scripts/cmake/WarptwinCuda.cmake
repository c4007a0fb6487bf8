# CUDA programs as tests, on a machine without a GPU.

# warptwin_add_cuda_test(<target> [CHIP <chip>] [ARGUMENTS <argument>...] [OPTIONS <option>...]
#                        [REPORTS <dir>] [LABELS <label>...] [TIMEOUT <seconds>])
#
# A case of CTest, warptwin.<target>: `warptwin cuda` runs the program and judges each launch of a
# kernel. It passes where the program ends with 0 and every verdict is right. The program is linked
# with the shared runtime from now on: the static one cannot be served. It needs PTX for the chip,
# as of CUDA_ARCHITECTURES 90a. The chip is an h200 where nothing is said.
function(warptwin_add_cuda_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CHIP;REPORTS;TIMEOUT" "ARGUMENTS;OPTIONS;LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warptwin_add_cuda_test(${target}): unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "warptwin_add_cuda_test(${target}): there is no target ${target}")
  endif()
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
  if(NOT arg_CHIP)
    set(arg_CHIP h200)
  endif()
  if(TARGET warptwin)
    set(command $<TARGET_FILE:warptwin>)
  else()
    find_program(WARPTWIN_EXECUTABLE warptwin REQUIRED)
    set(command ${WARPTWIN_EXECUTABLE})
  endif()
  set(reports "")
  if(arg_REPORTS)
    file(MAKE_DIRECTORY ${arg_REPORTS})
    set(reports --json ${arg_REPORTS}/${target}.json)
  endif()
  add_test(NAME warptwin.${target}
           COMMAND ${command} cuda --chip ${arg_CHIP} ${reports} ${arg_OPTIONS} --
                   $<TARGET_FILE:${target}> ${arg_ARGUMENTS})
  set_tests_properties(warptwin.${target} PROPERTIES LABELS "warptwin;${arg_LABELS}")
  if(arg_TIMEOUT)
    set_tests_properties(warptwin.${target} PROPERTIES TIMEOUT ${arg_TIMEOUT})
  endif()
endfunction()
