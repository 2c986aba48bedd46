#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Build a program with the headers of an older CUDA and run it on the stand-in of that
# major. Some packages leave out crt/, which newer headers have alike.
#   check_old_headers.sh CC RUNTIME_LIBRARY SOURCE OLD_INCLUDE NEW_INCLUDE...
set -eu
cc=$1 library=$2 source=$3 old=$4
shift 4
if [ ! -e "$old/cuda_runtime_api.h" ]; then
  echo "skipped: no CUDA headers of that major (VS_CUDA_11_INCLUDE, VS_CUDA_12_INCLUDE)"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for new in "$@"; do
  set -- "$@" -idirafter "$new"
  shift
done
"$cc" -std=gnu11 -w -I "$old" "$@" "$source" -o "$folder/old" "$library"
LD_LIBRARY_PATH=$(dirname "$library") "$folder/old"
