# SPDX-License-Identifier: Apache-2.0
# Compiler flags, LLVM/MLIR 22 and the third-party libraries every layer may use.

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 deprecates what its own stable_sort uses.
  add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-deprecated-declarations -fno-semantic-interposition)
  add_link_options(-fuse-ld=lld)
  # Lets ccache share precompiled headers between builds and folders.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
if(PELLUCID_SANITIZE)
  # LLVM's own types have no type information that the checks of virtual calls could read.
  add_compile_options(-fsanitize=${PELLUCID_SANITIZE} -fno-sanitize=vptr,function -fno-sanitize-recover=all
    -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${PELLUCID_SANITIZE})
endif()
if(PELLUCID_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-ffunction-sections -fdata-sections)
  # LLVM names libraries such as libz3 that none of the code we take from it calls.
  add_link_options(-Wl,--gc-sections -Wl,--as-needed)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

if(PELLUCID_PORTABLE)
  add_link_options(-static-libstdc++ -static-libgcc)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()
find_package(Threads REQUIRED)

# MLIR's version file refuses a version request, so none is asked for and the answer is checked.
list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Pellucid needs LLVM/MLIR 22.1, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}; set LLVM_DIR and MLIR_DIR")
endif()
if(NOT PELLUCID_STATIC_LLVM)
  # What is installed must find the shared LLVM.
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
else()
  # Debian's MLIR archives name the shared LLVM as what they need; beside static archives that would be a second LLVM.
  get_property(mlir_archives GLOBAL PROPERTY MLIR_ALL_LIBS)
  foreach(archive ${mlir_archives})
    get_target_property(needed ${archive} INTERFACE_LINK_LIBRARIES)
    if(needed)
      list(TRANSFORM needed REPLACE "^LLVM$" "LLVMSupport")
      list(TRANSFORM needed REPLACE "^\\$<LINK_ONLY:LLVM>$" "LLVMSupport")
      set_target_properties(${archive} PROPERTIES INTERFACE_LINK_LIBRARIES "${needed}")
    endif()
  endforeach()
  # lld's LTO names Polly, whose archive is in a package of its own; codegen/cpu/LldStandIns.cpp stands in for it.
  set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES LLVMSupport)
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
