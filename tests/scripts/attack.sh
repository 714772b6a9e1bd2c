# Subjects that attack what runs them: tests/attack/*.c, see attack.h there. The
# command ends in time, by itself, with a status that the attack expects.
. "$TOP/tests/scripts/tap.bash"
fresh attacks

LIMIT=${ATTACK_LIMIT:-240}      # seconds; a guard: --time is 8 s
field() { sed -n "s/^ \* $2: *//p" "$1" | head -n 1; }

prepare_explore() { "$SUNDEW" capture -q -- gcc -g -w -I"$TOP/tests/attack" -o subject "$1"; }
prepare_regress() {
    "$SUNDEW" capture -q -- sh -ec 'gcc -g -w -I"$0" -c "$1" -o target.o; ar rcs libtarget.a target.o' "$TOP/tests/attack" "$1"
}
attack_explore() { "$SUNDEW" explore ./subject -o out -j1 --no-concolic --time 8s; }
# The build that follows inputs may be ready for the second only.
attack_concolic() {
    "$SUNDEW" explore ./subject -o first -j1 --time 8s
    case $? in 0 | 1 | 2) "$SUNDEW" explore ./subject -o out -j1 --time 8s ;; *) return 70 ;; esac
}
attack_regress() {
    "$SUNDEW" regress libtarget.a --headers "$TOP/tests/attack/target.h" -o tests --count 200 --mutants 10 --time 20s && ls tests
}

# attack FILE
attack() {
    local file=$1 name kind got
    name=$(basename "$file" .c)
    kind=$(field "$file" command)
    fresh "$name" || return 1
    case $kind in
        explore | explore-concolic) prepare_explore "$file" ;;
        regress) prepare_regress "$file" ;;
        run) gcc -g -w -I"$TOP/tests/attack" -o subject "$file" ;;
    esac || return 1
    export TOP SUNDEW
    export -f attack_explore attack_concolic attack_regress
    case $kind in
        explore) timeout -k 5 "$LIMIT" bash -c attack_explore ;;
        explore-concolic) timeout -k 5 "$LIMIT" bash -c attack_concolic ;;
        regress) timeout -k 5 "$LIMIT" bash -c attack_regress ;;
        run) timeout -k 5 "$LIMIT" "$SUNDEW_BUILD/tests/run-one" ./subject ;;
    esac >out.txt 2>&1
    got=$?
    cat out.txt
    ! grep -q "reached:\|Sanitizer.*src/\|ERROR: AddressSanitizer" out.txt || { echo "it got through"; return 1; }
    [ -z "$(field "$file" says)" ] || grep -q -- "$(field "$file" says)" out.txt || { echo "it does not say: $(field "$file" says)"; return 1; }
    case " $(field "$file" expect) " in
        *" $got "*) return 0 ;;
    esac
    echo "status $got, expected one of: $(field "$file" expect)"
    return 1
}

for file in "$TOP"/tests/attack/*.c; do
    [ -n "$(field "$file" long)" ] && [ -z "${ATTACK_LONG:-}" ] && continue
    case $(basename "$file") in ${ATTACK_ONLY:-*}) ;; *) continue ;; esac
    ok "$(basename "$file" .c): $(field "$file" name)" attack "$file"
done
[ -n "${ATTACK_LONG:-}" ] || done_testing
