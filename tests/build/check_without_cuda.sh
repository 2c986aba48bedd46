#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Without CUDA headers the command still builds and reads traces: configures a
# scratch build with VRAMSCOPE_CUDA=OFF, builds the command alone, and lets it read
# a file that is not a trace (exit 2, one line that names the file).
#
# Objects that BUILD has compiled by the same words are copied from there.
#
#   check_without_cuda.sh ROOT CMAKE GENERATOR CC BUILD
set -eu
root=$1 cmake=$2 generator=$3 cc=$4 build=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$*"
    exit 1
}

python3 - "$build" >"$work/objects" <<'PYTHON'
import json, os, re, shlex, sys
for entry in json.load(open(os.path.join(sys.argv[1], "compile_commands.json"))):
    words = " ".join(shlex.split(re.sub(r"^(\S*/)?ccache | -o \S+", "", entry["command"])))
    output = entry.get("output") or re.search(r" -o (\S+)", entry["command"])[1]
    print(words.replace(sys.argv[1], "BUILD"), os.path.join(sys.argv[1], output), sep="\t")
PYTHON
cat >"$work/compile" <<'SHELL'
#!/bin/bash
key='' words=("$@")
while [ $# -gt 0 ]; do
    case $1 in
    -MD) ;;
    -MT | -MF | -o) output=$2 && shift ;;
    *) key+=" $1" ;;
    esac
    shift
done
key=${key//${0%/*}\/build/BUILD}
object=$(grep -F -m 1 -- "${key:1}	" "${0%/*}/objects") && object=${object##*	}
if [ -n "$object" ] && [ "$object" -nt "${words[-1]}" ]; then exec cp "$object" "$output"; fi
exec "${words[@]}"
SHELL
chmod +x "$work/compile"
"$cmake" -S "$root" -B "$work/build" -G "$generator" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_C_COMPILER_LAUNCHER="$work/compile" -DVRAMSCOPE_WERROR=ON \
    -DCMAKE_BUILD_TYPE=Debug -DVRAMSCOPE_CUDA=OFF -DVRAMSCOPE_TESTS=OFF >"$work/log" 2>&1 &&
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
