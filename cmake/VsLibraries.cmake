# SPDX-License-Identifier: Apache-2.0
# Third-party libraries, by pkg-config where they have it. The preload library loads zstd and
# libunwind at run time, privately (never into the program's symbol scope); only
# their headers are needed for it.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(UNWIND REQUIRED IMPORTED_TARGET libunwind)
pkg_check_modules(DW REQUIRED IMPORTED_TARGET libdw libelf)
pkg_check_modules(JSONC REQUIRED IMPORTED_TARGET json-c)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(MICROHTTPD IMPORTED_TARGET libmicrohttpd>=0.9.73)
if(NOT MICROHTTPD_FOUND)
  message(STATUS "libmicrohttpd was not found: `vramscope view --serve` will not be available; "
    "install libmicrohttpd-dev (Debian) or libmicrohttpd-devel (Fedora) for it")
endif()
if(VRAMSCOPE_SQLITE)
  pkg_check_modules(SQLITE3 IMPORTED_TARGET sqlite3)
else()
  set(SQLITE3_FOUND FALSE)
endif()
if(VRAMSCOPE_SQLITE AND NOT SQLITE3_FOUND)
  message(STATUS "SQLite was not found: `vramscope export -f sqlite` will not be available; "
    "install libsqlite3-dev (Debian) or sqlite-devel (Fedora) for it")
endif()
# toml++ has headers only for us, and needs C++17
pkg_check_modules(TOMLPLUSPLUS tomlplusplus)
include(CheckLanguage)
check_language(CXX)
set(VS_HAVE_TOML FALSE)
if(TOMLPLUSPLUS_FOUND AND CMAKE_CXX_COMPILER)
  enable_language(CXX)
  set(VS_HAVE_TOML TRUE)
else()
  message(STATUS "toml++ or a C++ compiler was not found: `vramscope check` will read no budget files; "
    "install libtomlplusplus-dev and g++ (Debian) or tomlplusplus-devel and gcc-c++ (Fedora) for them")
endif()
pkg_check_modules(NCURSESW IMPORTED_TARGET ncursesw) # optional
if(NOT NCURSESW_FOUND)
  message(STATUS "ncursesw was not found: vramscope top has --once only. For its live view install "
    "libncurses-dev (Debian) or ncurses-devel (Fedora)")
endif()
# libiberty's demanglers (LGPL with a permission to link), for the command alone
find_path(IBERTY_INCLUDE_DIR demangle.h PATH_SUFFIXES libiberty)
find_library(IBERTY_LIBRARY NAMES iberty_pic iberty)
if(NOT IBERTY_INCLUDE_DIR OR NOT IBERTY_LIBRARY)
  message(FATAL_ERROR "libiberty (demangle.h, libiberty.a) was not found: install libiberty-dev "
    "(Debian) or binutils-devel (Fedora), or set IBERTY_INCLUDE_DIR and IBERTY_LIBRARY")
endif()
add_library(vs_iberty INTERFACE)
target_include_directories(vs_iberty SYSTEM INTERFACE ${IBERTY_INCLUDE_DIR})
target_link_libraries(vs_iberty INTERFACE ${IBERTY_LIBRARY})
if(VRAMSCOPE_TESTS)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()
