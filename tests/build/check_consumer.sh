#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs into a scratch prefix, moves the installed tree, and builds the project
# in consumer/ against it through find_package and through pkg-config. Both
# programs must print the version that was installed. A third uses the header that needs no
# library.
#
#   check_consumer.sh BUILD-DIR CMAKE GENERATOR CC VERSION [EXTRA-CFLAG...]
set -eu
build=$1 cmake=$2 generator=$3 cc=$4 version=$5
shift 5
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

expect() { # expect WHAT OUTPUT
    if [ "$2" != "$version" ]; then
        echo "$1 printed '$2', expected the installed version '$version'"
        exit 1
    fi
    echo "$1: $2"
}

"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log" && exit 1; }
# nothing installed may depend on the prefix it was installed to
mv "$work/first" "$work/prefix"
prefix=$work/prefix
for file in bin/vramscope lib/libvramscope.so include/vramscope.h include/vramscope_client.h \
    lib/cmake/vramscope/vramscopeConfig.cmake lib/pkgconfig/vramscope.pc share/man/man3/vramscope.3; do
    [ -e "$prefix/$file" ] || { echo "not installed: $file" && exit 1; }
done
if [ -e "$prefix/lib/vramscope/simulator/libcuda.so.1" ] &&
    [ ! -e "$prefix/lib/vramscope/libvramscope_audit.so" ]; then
    echo "not installed: lib/vramscope/libvramscope_audit.so" && exit 1
fi

"$cmake" -S "$here/consumer" -B "$work/build" -G "$generator" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$*" -DWANTED_VERSION="$version" >"$work/log" 2>&1 &&
    "$cmake" --build "$work/build" >>"$work/log" 2>&1 || { cat "$work/log" && exit 1; }
expect "find_package" "$("$work/build/consumer")"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
[ "$(pkg-config --modversion vramscope)" = "$version" ] || { echo "pkg-config: wrong version" && exit 1; }
declare -a flags
eval "flags=($(pkg-config --cflags --libs vramscope))" # pkg-config escapes spaces for a shell
"$cc" "$@" "$here/consumer/main.c" -o "$work/by-pkg-config" "${flags[@]}"
expect "pkg-config" "$(LD_LIBRARY_PATH=$prefix/lib "$work/by-pkg-config")"

# the header that needs no library: in C and C++, from their oldest supported standards on
for dialect in c:c99 c:c11 c:c17 c++:c++11 c++:c++17 c++:c++20; do
    compiler=$cc
    if [ "${dialect%%:*}" = c++ ]; then compiler=${CXX:-c++}; fi
    command -v "$compiler" >/dev/null || continue
    "$compiler" "$@" -x "${dialect%%:*}" -std="${dialect#*:}" -Wall -Wextra -Werror -pedantic-errors \
        -I"$prefix/include" "$here/consumer/without.c" -o "$work/without" -ldl
    [ "$("$work/without")" = absent ] || { echo "vramscope_client.h as ${dialect#*:}: wrong" && exit 1; }
done
echo "vramscope_client.h: C and C++ without the library"

# the installed command finds its files relative to its own path
"$prefix/bin/vramscope" --help >"$work/help"
grep -q report "$work/help" || { echo "the installed command's --help names no verbs" && exit 1; }
echo "installed command: $(head -n 1 "$work/help")"
