# Neutrality of the watching weave: source it after tap.bash. All sites of all rules are watched.
weave=$SUNDEW_BUILD/tests/weave
outcome() { "$@" 2>&1; echo "status $?"; }

# unchanged PROGRAM [ARGUMENT…]: watched it does the same, at all levels.
unchanged() {
    local want got level
    want=$(ulimit -t 10; outcome "$@")
    for level in ${levels:-0 2}; do
        "$weave" -W -O "$level" -r "$SUNDEW_BUILD" "$1" watched >/dev/null || return 1
        got=$(ulimit -t 30; outcome ./watched "${@:2}")
        [ "$got" = "$want" ] || { echo "-O$level: want"; echo "$want"; echo "got"; echo "$got"; return 1; }
    done
}

# A random program (csmith); those that do not end say nothing. Counts the others in `counted`.
csmith=$(ls -d /usr/include/csmith* 2>/dev/null | head -1)
counted=0
random() {
    csmith --seed "$1" --max-funcs 6 >"s$1.c" && gcc -w -g -O0 -I"$csmith" "s$1.c" -o plain || return 1
    (ulimit -t 2; ./plain >/dev/null 2>&1) || return 0
    counted=$((counted + 1))
    "$SUNDEW" -q capture -- gcc -w -g -O0 -I"$csmith" "s$1.c" -o prog >/dev/null || return 1
    unchanged ./prog
}
