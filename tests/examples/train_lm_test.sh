#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Tests of examples/train_lm on the simulated GPU, one function per fact.
#   train_lm_test.sh FACT BIN_DIR SIMULATOR_DIR STEPS
# STEPS: how many steps the longest run takes (fewer under ThreadSanitizer).
# Prints what differs and exits 1 on failure, 77 where the programs are not built.
fact=$1 bin=$2 simulator=$3 steps=$4
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
LD_LIBRARY_PATH=$simulator${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
unset VRAMSCOPE_SIMULATE

# A model small enough for dozens of runs.
small="--steps 6 --batch 4 --context 24 --width 32 --heads 2"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# train PROGRAM OUTPUT ARGS…: runs it, expects success
train() {
    program=$1 output=$2
    shift 2
    "$bin/$program" "$@" >"$dir/$output" 2>"$dir/$output.err" ||
        fail "$program $* exited with $?: $(cat "$dir/$output.err")"
}

# refuse STATUS PATTERN ARGS…: expects the exit status and one line on stderr
refuse() {
    status=$1 pattern=$2
    shift 2
    "$bin/train_lm" "$@" >"$dir/out" 2>"$dir/err"
    got=$?
    [ "$got" -eq "$status" ] || fail "train_lm $*: exit status $got, not $status: $(cat "$dir/err")"
    [ "$(wc -l <"$dir/err")" -eq 1 ] || fail "train_lm $*: not one line: $(cat "$dir/err")"
    grep -q -e "$pattern" "$dir/err" || fail "train_lm $*: '$(cat "$dir/err")' lacks '$pattern'"
}

# field OUTPUT WHAT: a number out of a run's output
field() {
    case $2 in
    final) awk '/^final loss/ { print $3 }' "$dir/$1" ;;
    fell) awk '/^final loss/ { print $(NF - 1) }' "$dir/$1" ;;
    peak) sed -n 's/^selfcheck: peak requested device bytes \([0-9]*\),.*/\1/p' "$dir/$1" ;;
    allocations) sed -n 's/.*, allocations \([0-9]*\),.*/\1/p' "$dir/$1" ;;
    frees) sed -n 's/.*, frees \([0-9]*\),.*/\1/p' "$dir/$1" ;;
    live) sed -n 's/.*, live at end \([0-9]*\)$/\1/p' "$dir/$1" ;;
    esac
}

# holds EXPRESSION: arithmetic with fractions
holds() {
    awk "BEGIN { exit !($1) }" || fail "not so: $1"
}

same() {
    cmp -s "$dir/$1" "$dir/$2" || fail "$1 and $2 differ: $(diff "$dir/$1" "$dir/$2" | head -6)"
}

# same_losses A B: whether two runs printed the same losses
same_losses() {
    [ "$(grep '^step' "$dir/$1")" = "$(grep '^step' "$dir/$2")" ]
}

loss_falls_by_a_third() {
    train train_lm a --steps "$steps"
    fell=$(field a fell)
    echo "fell by $fell %"
    if [ "$steps" -ge 100 ]; then holds "$fell >= 35"; else holds "$fell >= 20"; fi
}

gradients_agree_with_finite_differences() {
    train train_lm a --gradcheck --layers 2 --width 16 --heads 2 --context 8 --batch 3
    tail -1 "$dir/a"
    [ "$(grep -c ' ok$' "$dir/a")" -eq 29 ] || fail "not all 29 tensors: $(cat "$dir/a")"
}

gradients_agree_when_sizes_fit_no_tile() {
    train train_lm a --gradcheck --layers 1 --width 21 --heads 3 --context 17 --batch 5
    train train_lm b --gradcheck --layers 1 --width 72 --heads 1 --context 70 --batch 1
}

runs_repeat_bit_by_bit() {
    train train_lm a $small --selfcheck
    train train_lm b $small --selfcheck
    same a b
    taskset 1 true 2>/dev/null || return 0
    taskset 1 "$bin/train_lm" $small --selfcheck >"$dir/c" 2>/dev/null || fail "one processor: $?"
    same a c
}

another_seed_gives_other_losses() {
    train train_lm a $small
    train train_lm b $small --seed 2
    ! same_losses a b || fail "seeds 1 and 2 print the same"
}

all_variants_print_the_same() {
    train train_lm a $small --selfcheck
    for variant in train_lm_c train_lm_static_sim; do
        [ -x "$bin/$variant" ] || continue
        train $variant $variant $small --selfcheck
        same a $variant
    done
}

static_build_trains_without_a_shared_runtime() {
    [ -x "$bin/train_lm_static_sim" ] || exit 77
    ! ldd "$bin/train_lm_static_sim" | grep -q cudart || fail "it wants a shared runtime"
    train train_lm_static_sim a $small
}

checkpointing_gives_the_same_losses_in_less_memory() {
    train train_lm a $small --layers 4 --selfcheck
    train train_lm b $small --layers 4 --selfcheck --checkpoint
    same_losses a b || fail "the losses differ"
    holds "$(field b peak) < 0.8 * $(field a peak)"
}

accumulation_gives_close_losses_in_less_memory() {
    train train_lm a $small --selfcheck
    train train_lm b $small --selfcheck --accumulate 4
    holds "($(field a final) - $(field b final)) ^ 2 < 0.0005 ^ 2"
    holds "$(field b peak) < 0.7 * $(field a peak)"
}

bf16_trains_in_less_memory() {
    bf16="--steps 25 --batch 4 --selfcheck"
    train train_lm a $bf16
    train train_lm b $bf16 --precision bf16
    holds "$(field b fell) > 10 && ($(field a final) - $(field b final)) ^ 2 < 0.05 ^ 2"
    ! same_losses a b || fail "bf16 computes what fp32 does"
    holds "$(field b peak) < 0.85 * $(field a peak)"
    train train_lm c $bf16 --precision bf16 --checkpoint --accumulate 2
    holds "($(field b final) - $(field c final)) ^ 2 < 0.05 ^ 2 && $(field c peak) < $(field b peak)"
}

sgd_trains_without_optimizer_state() {
    train train_lm a --steps 25 --batch 4 --selfcheck
    train train_lm b --steps 25 --batch 4 --selfcheck --optimizer sgd
    holds "$(field b fell) > 5"
    parameters=$(sed -n 's/^model: \([0-9]*\) parameters.*/\1/p' "$dir/a")
    holds "$(field a peak) - $(field b peak) == 8 * $parameters"
}

everything_is_freed_at_the_end() {
    train train_lm a $small --selfcheck --sample 5 --spike --accumulate 2 --checkpoint
    holds "$(field a live) == 0 && $(field a allocations) == $(field a frees)"
    holds "$(field a allocations) > 500"
}

leak_loses_one_buffer_per_step() {
    train train_lm a $small --selfcheck
    train train_lm b $small --selfcheck --leak 64KiB --accumulate 2
    train train_lm c $small --selfcheck --leak 64KiB
    holds "$(field b live) == 6 * 65536 && $(field b allocations) - $(field b frees) == 6"
    holds "$(field c peak) == $(field a peak) + 6 * 65536"
    same_losses a c || fail "the leak alters the losses"
}

spike_is_the_peak_and_is_freed() {
    train train_lm a $small --selfcheck
    train train_lm b $small --selfcheck --spike=200MiB
    holds "$(field b peak) > 200 * 1048576 && $(field b peak) < 200 * 1048576 + $(field a peak)"
    holds "$(field b live) == 0"
    grep -q '^step *3  evaluation loss .*200.0 MiB' "$dir/b" || fail "no evaluation in step 3"
    train train_lm c $small --selfcheck --spike
    holds "$(field c peak) > 40 * 1048576" # 196868 characters * 60 logits * 4 bytes
}

sample_writes_characters_of_the_text() {
    train train_lm a $small --sample 40
    sample=$(sed '1,/^final/d' "$dir/a")
    [ "$(sed '1,/^final/d' "$dir/a" | wc -c)" -eq 41 ] || fail "not 40 characters: '$sample'"
}

out_of_memory_names_the_request_and_exits_1() {
    VRAMSCOPE_SIMULATE=capacity=128MiB,context=8MiB
    export VRAMSCOPE_SIMULATE
    refuse 1 '^train_lm: out of device memory: tried to allocate [0-9.]* [KMG]iB for [a-z ]* at step 1 (forward)$' \
        --batch 192 --context 128 --layers 4 --steps 2
    refuse 1 'out of device memory: tried to allocate 48.0 MiB for a kept copy of the logits at step [23] (forward)$' \
        --batch 4 --leak 48MiB --steps 5
    refuse 1 'tried to allocate 1.0 GiB for the logits of the whole text at step 2 (evaluation)$' \
        --batch 4 --spike=1GiB --steps 3
    refuse 1 'out of device memory: .* outside training (setup)$' --width 2048 --batch 1
}

unusable_options_are_named() {
    refuse 2 "^train_lm: --steps: 0 is outside 1 … 1000000" --steps 0
    refuse 2 "^train_lm: --batch: 'x' is not a whole number" --batch x
    refuse 2 "^train_lm: --context: '' is not a whole number" --context=
    refuse 2 "^train_lm: --layers: 99999999999999999999 is outside" --layers 99999999999999999999
    refuse 2 "^train_lm: --width 65 is not a multiple of --heads 4" --width 65
    refuse 2 "^train_lm: --batch 12 cannot be divided into 5 equal parts" --accumulate 5
    refuse 2 "^train_lm: --precision: 'fp8' is neither fp32 nor bf16" --precision fp8
    refuse 2 "^train_lm: --optimizer: 'lion' is neither adam nor sgd" --optimizer lion
    refuse 2 "^train_lm: --leak: '4Q' is not a size" --leak 4Q
    refuse 2 "^train_lm: --leak: 0 is outside" --leak 0
    refuse 2 "^train_lm: --spike: '-1' is not a size" --spike=-1
    refuse 2 "^train_lm: --seed: '-3' is not" --seed -3
    refuse 2 "^train_lm: --learning-rate: '0' is not" --learning-rate 0
    refuse 2 "^train_lm: --steps needs a value" --steps
    refuse 2 "^train_lm: unknown or invalid option '--frobnicate'" --frobnicate
    refuse 2 "^train_lm: 'more' is not an option" more
}

unusable_texts_are_named() {
    printf 'too short' >"$dir/short"
    refuse 2 "short: 9 bytes; --context needs a text of at least 65" --data "$dir/short"
    refuse 2 "nowhere: No such file" --data "$dir/nowhere"
    refuse 2 "not a regular file" --data "$dir"
    : >"$dir/empty"
    refuse 2 "empty: 0 bytes" --data "$dir/empty"
}

another_text_is_learnt() {
    awk 'BEGIN { for (i = 0; i < 400; i++) printf "abcdefgh" }' >"$dir/text"
    train train_lm a --data "$dir/text" --steps 40 --batch 4 --context 16 --width 32 --sample 16
    grep -q 'vocabulary 8$' "$dir/a" || fail "not eight characters: $(cat "$dir/a")"
    holds "$(field a fell) > 90"
    sed '1,/^final/d' "$dir/a" | grep -q 'abcdefgh' || fail "not learnt: $(tail -1 "$dir/a")"
}

a_rate_that_blows_up_is_said() {
    refuse 1 'the loss at step [0-9]* is not a number; try a smaller --learning-rate' \
        --optimizer sgd --learning-rate 100 --steps 200 --batch 2
}

help_names_every_option() {
    train train_lm a --help
    for option in steps batch context layers width heads precision checkpoint accumulate leak spike \
        optimizer learning-rate seed selfcheck data sample; do
        grep -q -e "--$option" "$dir/a" || fail "--help does not mention --$option"
    done
}

[ -x "$bin/train_lm" ] || exit 77
"$fact"
