#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Build a program with the headers of an older CUDA and run it on the stand-in of that
# major. Some packages leave out crt/, which newer headers have alike.
#   check_old_headers.sh CC RUNTIME_LIBRARY SOURCE NEW_INCLUDE [OLD_INCLUDE]
set -eu
if [ -z "${5-}" ] || [ ! -e "$5/cuda_runtime_api.h" ]; then
  echo "skipped: no CUDA headers of that major (VS_CUDA_11_INCLUDE, VS_CUDA_12_INCLUDE)"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -std=gnu11 -w -I "$5" -idirafter "$4" "$3" -o "$folder/old" "$2"
LD_LIBRARY_PATH=$(dirname "$2") "$folder/old"
