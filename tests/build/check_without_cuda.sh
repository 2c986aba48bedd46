#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Without CUDA headers the command still builds and reads traces: configures a
# scratch build with VRAMSCOPE_CUDA=OFF, builds the command alone, and lets it read
# a file that is not a trace (exit 2, one line that names the file).
#
#   check_without_cuda.sh ROOT CMAKE GENERATOR CC
set -eu
root=$1 cmake=$2 generator=$3 cc=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$*"
    exit 1
}

"$cmake" -S "$root" -B "$work/build" -G "$generator" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="-O0 -g0" -DVRAMSCOPE_CUDA=OFF \
    -DVRAMSCOPE_TESTS=OFF >"$work/log" 2>&1 &&
    "$cmake" --build "$work/build" --target vramscope --parallel 2 >>"$work/log" 2>&1 ||
    { cat "$work/log" && fail "the command does not build without CUDA"; }

[ ! -e "$work/build/lib/libvramscope.so" ] || fail "a library was built that needs CUDA headers"
vramscope=$work/build/bin/vramscope
"$vramscope" --help | grep -q report || fail "--help does not name the verb report"
echo "no trace" >"$work/text.vst"
status=0
"$vramscope" report "$work/text.vst" >"$work/out" 2>"$work/err" || status=$?
[ "$status" -eq 2 ] || fail "report of a text file: exit status $status, expected 2"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "report of a text file: expected one line, got: $(cat "$work/err")"
grep -q text.vst "$work/err" || fail "the message does not name the file: $(cat "$work/err")"
echo "built without CUDA: $(cat "$work/err")"
