# For the tests of schedules: source it after tap.bash.
programs=$TOP/tests/subjects/threads

# made NAME VARIANT: the program NAME.bug or NAME.twin, captured.
made() {
    local flag=-DBUG
    [ "$2" = bug ] || flag=-DFIXED
    [ -x "$1.$2" ] || "$SUNDEW" -q capture -- gcc -g -w $flag -I"$programs" "$programs/$1.c" -o "$1.$2" -pthread
}

# options NAME: what its command needs besides.
options() {
    [ "$1" = output ] || return 0
    echo ab >output.bug.expected
    echo xx >output.twin.expected
    echo "--expect output.$2.expected"
}

# search NAME VARIANT: the JSON of a search in NAME.VARIANT.json; its status. schedules: at most
# so many.
search() {
    # shellcheck disable=SC2046
    "$SUNDEW" threads "$1.$2" --json --schedules "${schedules:-1000}" -o "$1.$2.kept" $(options "$1" "$2") >"$1.$2.json" 2>"$1.$2.err"
}

# finds NAME: within 1,000 schedules something goes wrong, each time it is replayed.
finds() {
    made "$1" bug || return 1
    search "$1" bug
    [ $? = 1 ] || { cat "$1.bug.err"; echo "no finding in $1"; return 1; }
    grep -q '"rule": "threads/\(failure\|deadlock\|output\)"' "$1.bug.json" || { echo "a race alone"; return 1; }
    ! grep -o '"replays": [0-4],' "$1.bug.json"
}

# silent NAME: the fixed twin has no finding, not even a race.
silent() {
    made "$1" twin || return 1
    search "$1" twin || { cat "$1.twin.err"; grep '"message"' "$1.twin.json"; return 1; }
    grep -q '"violations": \[\]' "$1.twin.json" && grep -q '"races": \[\]' "$1.twin.json"
}

# again NAME TIMES: the kept schedule gives the same end every time.
again() {
    local i want got
    for i in $(seq "$2"); do
        got=$("$SUNDEW" threads --replay "$1.bug.kept/1" --json $(options "$1" bug) | grep -v '"when"')
        [ "$i" = 1 ] && want=$got
        [ "$got" = "$want" ] || { diff <(echo "$want") <(echo "$got"); return 1; }
    done
    grep -q '"rule": "threads/\(failure\|deadlock\|output\)"' <<<"$want"
}

# unscheduled NAME VARIANT [ARGS…]: woven for scheduling and run by itself, it does
# what the plain program does. The build is the one that a search has kept.
unscheduled() {
    local program=$1 woven want got
    shift
    [ -x "$program" ] || return 1
    rm -rf one.kept
    "$SUNDEW" -q threads "$program" --no-sanitizers --schedules 1 -o one.kept >/dev/null 2>&1
    woven=$(ls -t .sundew/*/linked/*.schedule .sundew/linked/*.schedule 2>/dev/null | head -1)
    [ -x "$woven" ] || { echo "no woven program"; return 1; }
    want=$(timeout 20 "./$program" "$@" 2>&1; echo "status $?")
    got=$(timeout 20 "$woven" "$@" 2>&1; echo "status $?")
    [ "$want" = "$got" ] || { echo "want $want"; echo "got $got"; return 1; }
}
