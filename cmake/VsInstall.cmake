# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, besides the command (tools/): the library with
# its headers and its CMake and pkg-config descriptions, and the simulated GPU. The
# layout is that of the build tree (the command finds its library as
# ../lib/libvramscope.so), so the folder is "lib" itself, whatever a distribution
# calls its library folder.
include(CMakePackageConfigHelpers)
set(VS_INSTALL_LIBDIR lib)
set(VS_INSTALL_CMAKEDIR ${VS_INSTALL_LIBDIR}/cmake/vramscope)

if(SKBUILD AND NOT TARGET vramscope_preload)
  message(FATAL_ERROR "the Python package needs CUDA headers, to record programs: install a CUDA "
    "toolkit, or NVIDIA's headers with pip install nvidia-cuda-runtime nvidia-cuda-cupti nvidia-nvtx "
    "nvidia-cuda-crt nvidia-cuda-profiler-api, and set CUDA_PATH. Or install the wheel, which needs "
    "no compiler: pip install --only-binary :all: vramscope")
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/schema DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.schema.json")

if(TARGET vramscope_preload)
  set_target_properties(vramscope_preload PROPERTIES EXPORT_NAME vramscope)
  install(TARGETS vramscope_preload EXPORT vramscopeTargets
    LIBRARY DESTINATION ${VS_INSTALL_LIBDIR})
  install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
    PATTERN "*.h" PATTERN "*.hpp")
  install(FILES docs/man/vramscope.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
  # stand-in libcuda, libcudart and libcupti; never where the linker looks by itself
  file(MAKE_DIRECTORY ${VS_SIMULATOR_DIR})
  install(DIRECTORY ${VS_SIMULATOR_DIR}/ DESTINATION ${VS_INSTALL_LIBDIR}/vramscope/simulator
    USE_SOURCE_PERMISSIONS)
  if(TARGET vramscope_audit)
    install(TARGETS vramscope_audit LIBRARY DESTINATION ${VS_INSTALL_LIBDIR}/vramscope)
  endif()

  install(EXPORT vramscopeTargets NAMESPACE vramscope:: DESTINATION ${VS_INSTALL_CMAKEDIR})
  configure_package_config_file(cmake/vramscopeConfig.cmake.in
    ${CMAKE_CURRENT_BINARY_DIR}/vramscopeConfig.cmake INSTALL_DESTINATION ${VS_INSTALL_CMAKEDIR})
  write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/vramscopeConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/vramscopeConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/vramscopeConfigVersion.cmake
    DESTINATION ${VS_INSTALL_CMAKEDIR})

  configure_file(cmake/vramscope.pc.in ${CMAKE_CURRENT_BINARY_DIR}/vramscope.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/vramscope.pc
    DESTINATION ${VS_INSTALL_LIBDIR}/pkgconfig)
endif()
