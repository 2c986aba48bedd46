# SPDX-License-Identifier: Apache-2.0
# cpack -G DEB: a package for this Debian, with the libraries that it needs as dependencies. scripts/deb builds it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vramscope)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The vramscope authors <vramscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "GPU memory profiler for CUDA programs")
set(CPACK_PACKAGE_DESCRIPTION "Records every allocation of GPU memory of unmodified CUDA programs, with\n\
call stacks of C, C++ and Python and PyTorch's tensors, and says who holds\n\
the memory, what grows, and why an allocation failed. A simulated GPU runs\n\
programs without hardware.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib ${VS_SIMULATOR_DIR})
# libvramscope.so loads these, so that they do not enter a program's scope
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libunwind8, libzstd1")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS python3)
include(CPack)
