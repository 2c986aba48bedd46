# SPDX-License-Identifier: Apache-2.0
# Third-party libraries, by pkg-config. The preload library loads zstd and
# libunwind at run time, privately (never into the program's symbol scope); only
# their headers are needed for it.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(UNWIND REQUIRED IMPORTED_TARGET libunwind)
pkg_check_modules(DW REQUIRED IMPORTED_TARGET libdw libelf)
pkg_check_modules(JSONC REQUIRED IMPORTED_TARGET json-c)
if(VRAMSCOPE_TESTS)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()
