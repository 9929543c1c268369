# SPDX-License-Identifier: Apache-2.0
# pellucid_library, pellucid_mlir_library, pellucid_executable, pellucid_test: one call per target, in its own folder.

# Most of a source's time goes into inline functions of headers, once more for each source that uses them. Several sources of a layer
# compiled as one share them: about half of the time for a build from nothing, more for a build after one edit
# (docs/design/0095-several-sources-at-once.md).
option(PELLUCID_UNITY "Compile the sources of a layer several at a time: for builds from nothing" OFF)
set(PELLUCID_UNITY_SOURCES 10 CACHE STRING "How many, at most")
# pellucid_compile_together(target [SOURCE …]): these sources stay alone, as they have short names (`using graph::Value`) for something
# else than the layer's other sources. Names in unnamed namespaces and `static` ones are there once in a layer.
function(pellucid_compile_together name)
  if(PELLUCID_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${PELLUCID_UNITY_SOURCES})
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# The compiler's own passes run once for a kernel, and most of the time is LLVM's: optimising their text further costs a third of
# the build and gives nothing that can be measured. What runs at every step of a script or a package is optimised in full.
set(pellucid_compiler_options $<$<CONFIG:Release>:-O1>)

# Headers that every MLIR-including source parses; shared by all layers above src/tt.
add_library(pellucid_mlir_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/MlirPch.cpp)
target_include_directories(pellucid_mlir_pch SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(pellucid_mlir_pch PUBLIC ${LLVM_DEFINITIONS_LIST})
target_include_directories(pellucid_mlir_pch PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_options(pellucid_mlir_pch PRIVATE ${pellucid_compiler_options})
target_precompile_headers(pellucid_mlir_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/MlirPch.h)

# The standard library's headers, for all other layers.
add_library(pellucid_std_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/StdPch.cpp)
target_precompile_headers(pellucid_std_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/StdPch.h)

# pellucid_library(name SOURCES … [ALONE …] [DEPS …] [PCH HEADER … | PCH_FROM LAYER]): a static layer library without MLIR. PCH: headers of its own that most of
# its sources include, precompiled for it: half of a source's time is else spent on them. PCH_FROM LAYER: that layer's are taken.
# ALONE: more sources, never compiled together with others.
function(pellucid_library name)
  cmake_parse_arguments(ARG "" "PCH_FROM" "SOURCES;ALONE;DEPS;PCH" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES} ${ARG_ALONE})
  pellucid_compile_together(${name} ${ARG_ALONE})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
  if(ARG_PCH)
    target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/StdPch.h ${ARG_PCH})
  elseif(ARG_PCH_FROM)
    target_precompile_headers(${name} REUSE_FROM ${ARG_PCH_FROM})
  else()
    target_precompile_headers(${name} REUSE_FROM pellucid_std_pch)
  endif()
endfunction()

# pellucid_mlir_library(name SOURCES … [ALONE …] [DEPS …] [PCH HEADER … | PCH_FROM LAYER] [MLIR_LIBS …] [LLVM_COMPONENTS …]): a layer library that
# includes MLIR. PCH as above; PCH_FROM: those of a layer below it, as each set takes ten seconds of its own and 90 MB.
# RUNS_PROGRAMS: scripts and packages run in it.
# MLIR_LIBS and LLVM_COMPONENTS name static archives (MLIRIR, core …); the shared libraries replace them in `dev`.
function(pellucid_mlir_library name)
  cmake_parse_arguments(ARG "NO_PCH;RUNS_PROGRAMS" "PCH_FROM" "SOURCES;ALONE;DEPS;PCH;MLIR_LIBS;LLVM_COMPONENTS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES} ${ARG_ALONE})
  pellucid_compile_together(${name} ${ARG_ALONE})
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
  if(NOT ARG_RUNS_PROGRAMS)
    target_compile_options(${name} PRIVATE ${pellucid_compiler_options})
  endif()
  if(ARG_PCH)
    target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/MlirPch.h ${ARG_PCH})
  elseif(ARG_PCH_FROM)
    target_precompile_headers(${name} REUSE_FROM ${ARG_PCH_FROM})
  elseif(NOT ARG_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM pellucid_mlir_pch)
  endif()
  if(PELLUCID_STATIC_LLVM)
    llvm_map_components_to_libnames(llvm_libs ${ARG_LLVM_COMPONENTS})
    target_link_libraries(${name} PUBLIC ${ARG_MLIR_LIBS} ${llvm_libs})
  else()
    target_link_libraries(${name} PUBLIC MLIR LLVM)
  endif()
endfunction()

# pellucid_executable(name SOURCES … [DEPS …] [PCH HEADER …]): a program in bin/.
function(pellucid_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PCH" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  pellucid_compile_together(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  if(ARG_PCH)
    target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/StdPch.h ${ARG_PCH})
  endif()
  if(NOT PELLUCID_SANITIZE) # whose run time is an archive that the shared libraries need too
    target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
  endif()
endfunction()

if(PELLUCID_BUILD_TESTS)
  find_package(GTest REQUIRED)
  # The text of tests runs once: optimising it costs more than it gives. What they test is optimised as it ships.
  set(pellucid_test_options $<$<CONFIG:Release>:-O0>)
  add_library(pellucid_test_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/TestPch.cpp)
  target_compile_options(pellucid_test_pch PRIVATE ${pellucid_test_options})
  target_link_libraries(pellucid_test_pch PRIVATE GTest::gtest)
  target_precompile_headers(pellucid_test_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/TestPch.h)
endif()

# pellucid_test(name SOURCES … [DEPS …]): a GoogleTest program, registered with ctest under its own name.
function(pellucid_test name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/test)
  target_compile_definitions(${name} PRIVATE PELLUCID_SOURCE_DIR="${PROJECT_SOURCE_DIR}" PELLUCID_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(ARG_MLIR)
    target_include_directories(${name} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
    target_precompile_headers(${name} REUSE_FROM pellucid_mlir_pch)
    target_compile_options(${name} PRIVATE ${pellucid_compiler_options})
  elseif(NOT ARG_SOURCES MATCHES "[.]c(;|$)") # the header is C++'s
    target_precompile_headers(${name} REUSE_FROM pellucid_test_pch)
    target_compile_options(${name} PRIVATE ${pellucid_test_options})
  endif()
  # The headers were compiled with -fPIC; CMake's -fPIE for programs does not go with it.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  add_test(NAME ${name} COMMAND ${name})
  # A program with a skipped test counts as skipped, unless another one failed: then the last line says so.
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\] [^\n]*\n*$")
endfunction()

# pellucid_embed(target FILE …): texts of a layer's folder as string literals, `#include "<layer>/FILE.inc"`.
function(pellucid_embed target)
  foreach(file ${ARGN})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    set(literal ${PROJECT_BINARY_DIR}/embedded/${path}.inc)
    add_custom_command(OUTPUT ${literal}
      COMMAND ${CMAKE_COMMAND} -DTEXT=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DLITERAL=${literal}
              -P ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake VERBATIM)
    target_sources(${target} PRIVATE ${literal})
  endforeach()
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/embedded)
endfunction()
