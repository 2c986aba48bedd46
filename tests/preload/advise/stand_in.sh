#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands for a training in PyTorch and the Python part of vramscope in it: stand_in.sh VICTIM MIB
# [NAME=EFFECT...]. The victim allocates MIB less what the changes in VRAMSCOPE_CHANGES save: EFFECT is
# MiB, "fails", "waits" or "none". Notes and survey are written as by python/vramscope/changes.
victim=$1 need=$2
shift 2
note() { printf '%s\t%d\t%s\t%s\t%d\t%s\n' "$1" $$ "$2" "$3" "$4" "$5" >>"$VRAMSCOPE_SIMULATE_NOTES"; }
old=$IFS IFS=';'
set -- $VRAMSCOPE_CHANGES -- "$@"
IFS=$old
while [ "$1" != -- ]; do
    spec=$1 name=${1%%:*} effect=0
    shift
    for word; do
        case $word in "$name="* | "$spec="*) effect=${word##*=} ;; esac
    done
    case $effect in
    fails)
        echo "ValueError: no $name here" >&2
        exit 3 ;;
    waits) exec "$victim" wait ;;
    none) note unchanged "$name" "" 0 "there is nothing to change" ;;
    *)
        note changed "$name" "train.py:${#name}" 2 "code = $name(…)"
        need=$((need - effect)) ;;
    esac
done
if [ ! -e survey.json ]; then # the same in each run
    LD_PRELOAD='' LD_AUDIT='' python3 -ISc 'import json, sys; sys.path.insert(0, sys.argv[1]); import advised
survey = json.load(sys.stdin); print(json.dumps({**survey, "changes": advised.rows(survey)}))' \
        "${0%/*}/../../../python/vramscope/changes" >survey.$$ <<E
{"schema": "vramscope.survey/1", "torch": "2.15.0", "module_lists": [
  {"path": "head", "class": "Norm", "count": 2, "place": "train.py:9", "activation_bytes": 1024},
  {"path": "blocks", "class": "Block", "count": 24, "place": "train.py:40", "activation_bytes": 200000000,
   "parameter_bytes": 240000000},
  {"path": "blocks.0.parts", "class": "Part", "count": 4, "activation_bytes": 180000000}],
 "optimizers": [{"class": "AdamW", "place": "train.py:57", "state_bytes": 99999999, "dtypes": ["float32"],
   "set_to_none": true}], "autocast": "bfloat16", "attention": [],
 "losses": [{"function": "cross_entropy", "rows": 8, "classes": 9, "bytes": 40000000}]}
E
    mv survey.$$ survey.json
fi
cp survey.json "${VRAMSCOPE_SURVEY%%%p*}$$${VRAMSCOPE_SURVEY##*%p}"
exec "$victim" steps $need
