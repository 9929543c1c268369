# SPDX-License-Identifier: Apache-2.0
# cmake --install: the programs, the two libraries, their headers, and what find_package(Pellucid) and pkg-config read.
# The tree can be moved as a whole: programs and libraries find each other from where they lie.
include(CMakePackageConfigHelpers)

install(TARGETS pellucid pellucid-worker RUNTIME DESTINATION bin)
install(TARGETS pellucid_runtime_shared pellucid_api EXPORT PellucidTargets LIBRARY DESTINATION lib
  INCLUDES DESTINATION include)
install(DIRECTORY include/pellucid DESTINATION include)

install(EXPORT PellucidTargets NAMESPACE Pellucid:: DESTINATION lib/cmake/Pellucid)
file(WRITE ${PROJECT_BINARY_DIR}/PellucidConfig.cmake
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/PellucidTargets.cmake\")\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/PellucidConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/PellucidConfig.cmake ${PROJECT_BINARY_DIR}/PellucidConfigVersion.cmake
  DESTINATION lib/cmake/Pellucid)

# pellucid_pkg_config(name description libraries [requires])
function(pellucid_pkg_config name description libraries)
  file(WRITE ${PROJECT_BINARY_DIR}/${name}.pc
    "prefix=\${pcfiledir}/../..\n\nName: ${name}\nDescription: ${description}\nVersion: ${PROJECT_VERSION}\n"
    "Cflags: -I\${prefix}/include\nLibs: -L\${prefix}/lib ${libraries}\n")
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION lib/pkgconfig)
endfunction()
pellucid_pkg_config(pellucid-runtime "Loads and runs Pellucid packages, from C" "-lpellucid_runtime")
pellucid_pkg_config(pellucid "Traces, compiles and runs programs with Triton kernels, from C++" "-lpellucid -lpellucid_runtime")
