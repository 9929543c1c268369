# SPDX-License-Identifier: Apache-2.0
# The sample model gives (x * 2 + bias) * 3 + bias with x = -1, -0.26, 0.48, ... and bias = -3, -2.75, -2.5, ...
execute_process(COMMAND ${WRITE} ${PACKAGE} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CLIENT} ${PACKAGE} 2 64 OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "^output 0: 2 64 : -18 -12.56 -7.12 ")
  message(FATAL_ERROR "printed ${output}")
endif()
execute_process(COMMAND ${CLIENT} ${PACKAGE} 1025 64 RESULT_VARIABLE result ERROR_VARIABLE error)
if(NOT result EQUAL 1 OR NOT error STREQUAL "run: input 'x': dim 0 (batch) is 1025, must be in 1..1024\n")
  message(FATAL_ERROR "exit ${result}: ${error}")
endif()
