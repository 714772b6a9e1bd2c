# For the tests of the weave: source it after tap.bash. The runtime of monitored
# programs is tests/subjects/weave/stub.c, which checks the probes' calls.
weave=$SUNDEW_BUILD/tests/weave
subjects=$TOP/tests/subjects/weave
export SUNDEW_STUB=$work/stub.said

mkdir -p "$work/rt/runtime"
ok "the test's runtime compiles" clang-19 -O2 -fPIC -Wall -Wextra -Werror -fvisibility=hidden \
    -I"$TOP" -emit-llvm -c "$subjects/stub.c" -o "$work/rt/runtime/stub.bc"

# outcome COMMAND…: what it prints and how it ends.
outcome() { rm -f "$SUNDEW_STUB"; "$@" 2>&1; echo "status $?"; }

# balanced [OPEN]: the probes' calls were in order.
balanced() {
    local e l o w
    read -r _ e _ l _ o _ w <"$SUNDEW_STUB" || { echo "the runtime said nothing"; return 1; }
    [ "$w" = 0 ] && [ "$e" -gt 0 ] && [ "$l" -le "$e" ] || { cat "$SUNDEW_STUB"; return 1; }
}

# same PROGRAM [-- ARGS…]: rebuilt plain and monitored it does the same.
few=("" "-m")
many=("" "-O 0" "-O 3" "-m" "-m -2" "-m -O 0" "-m -O 3" "-m -a $TOP/share" "-m -s shallow")
ways=("${few[@]}")
same() {
    local program=$1 want flags
    shift
    [ "${1:-}" = -- ] && shift
    want=$(outcome "$program" "$@")
    for flags in "${ways[@]}"; do
        rm -f woven
        # shellcheck disable=SC2086
        "$weave" $flags -r "$work/rt" -n stub "$program" woven >/dev/null || return 1
        local got
        got=$(outcome ./woven "$@")
        [ "$got" = "$want" ] || { echo "flags '$flags': want"; echo "$want"; echo "got"; echo "$got"; return 1; }
    done
}

# random SEED: a random program (csmith) does the same plain and monitored, all on
# and all off, and its probes' calls are in order. Counts those that end in `counted`.
csmith=$(ls -d /usr/include/csmith* 2>/dev/null | head -1)
counted=0
random() {
    local seed=$1 want flags
    csmith --seed "$seed" --max-funcs 6 >"s$seed.c" && gcc -w -g -I"$csmith" "s$seed.c" -o plain || return 1
    want=$(ulimit -t 3; ./plain 2>&1; echo "status $?")
    case $want in *"status 0") ;; *) return 0 ;; esac       # does not end
    counted=$((counted + 1))
    "$SUNDEW" -q capture -- gcc -w -g -I"$csmith" "s$seed.c" -o prog >/dev/null || return 1
    for flags in "" "-m" "-m -2"; do
        # shellcheck disable=SC2086
        "$weave" $flags -r "$work/rt" -n stub ./prog woven >/dev/null || return 1
        rm -f "$SUNDEW_STUB"
        [ "$(./woven 2>&1; echo "status $?")" = "$want" ] || { echo "seed $seed, flags '$flags' differs"; return 1; }
        [ "$flags" != -m ] || balanced || return 1
    done
}
several() { local seed; for seed in $(seq "$1" "$2"); do random "$seed" || return 1; done; }
