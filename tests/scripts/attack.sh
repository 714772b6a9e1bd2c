# Subjects that attack what runs them: tests/attack/*.c, see attack.h there. The
# command ends in time, by itself, with a status that the attack expects.
. "$TOP/tests/scripts/tap.bash"
fresh attacks

LIMIT=${ATTACK_LIMIT:-240}      # seconds; a guard: --time is 8 s
field() { sed -n "s/^ \* $2: *//p" "$1" | head -n 1; }

prepare_explore() { "$SUNDEW" capture -q -- gcc -g -w -I"$TOP/tests/attack" -o subject "$1" -lpthread; }
prepare_regress() {
    "$SUNDEW" capture -q -- sh -ec 'gcc -g -w -I"$0" -c "$1" -o target.o; ar rcs libtarget.a target.o' "$TOP/tests/attack" "$1"
}
prepare_pair() {
    "$SUNDEW" capture -q -- sh -ec 'for d in old new; do mkdir -p $d
        gcc -g -w -fPIC -shared -DIN_$d -I"$0" "$1" -o $d/libtarget.so -lpthread; done' "$TOP/tests/attack" "$1"
}
attack_threads() { "$SUNDEW" threads ./subject --schedules 60 --time 8s; }
attack_events() { "$SUNDEW" events ./subject -k2 -j1 --time 40s -o out; }
attack_substitutes() {
    "$SUNDEW" substitutes --seed 1 --tests 60 --headers "$TOP/tests/attack/target.h" \
        --reference old/libtarget.so --candidate new/libtarget.so --time 20s
}
attack_record() { "$SUNDEW" record ./subject --time 20s </dev/null; }
attack_invariants() { "$SUNDEW" invariants ./subject -- ./subject; }
attack_protocols() { "$SUNDEW" protocols ./subject --count 0 --api stdio -- ./subject; }
attack_modules() { "$SUNDEW" protocols libtarget.a --api stdio --headers "$TOP/tests/attack/target.h" --count 160 --time 30s; }
attack_confirm() { "$SUNDEW" confirm ./subject --own -- ./subject; }
attack_check() { "$SUNDEW" check --no-build --no-tests --time 60s </dev/null; }
attack_mutability() { "$SUNDEW" mutability ./subject -- ./subject; }
attack_reproduce() {
    "$SUNDEW" monitor ./subject -o monitored >/dev/null && { ./monitored; "$SUNDEW" reproduce -o tests *.crash; }
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

attack_run() { "$SUNDEW_BUILD/tests/run-one" ${TWICE:+--twice} ${WITHOUT:+--without "$WITHOUT"} ./subject; }

# attack FILE COMMAND
attack() {
    local file=$1 kind=$2 got
    fresh "$(basename "$file" .c)-$kind" || return 1
    case $kind in
        regress | modules) prepare_regress "$file" ;;
        substitutes) prepare_pair "$file" ;;
        run) gcc -g -w -I"$TOP/tests/attack" -o subject "$file" ;;
        *) prepare_explore "$file" ;;
    esac || return 1
    mkdir -p tmp
    export TOP SUNDEW SUNDEW_BUILD TWICE="$(field "$file" twice)" WITHOUT="$(field "$file" without)" TMPDIR="$PWD/tmp"
    export -f "attack_${kind#explore-}"
    timeout -k 5 "$LIMIT" bash -c "attack_${kind#explore-}" >out.txt 2>&1
    got=$?
    unset TMPDIR
    cat out.txt
    [ -z "$(ls -A tmp)" ] || { echo "it left $(ls -A tmp)"; return 1; }
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
    for kind in $(field "$file" command); do
        case $kind in ${ATTACK_COMMAND:-*}) ;; *) continue ;; esac
        name="$(basename "$file" .c), $kind: $(field "$file" name)"
        apart=$(field "$file" apart)
        if [ "$apart" ] && ! unshare --"$apart" true 2>/dev/null && ! unshare -U --"$apart" true 2>/dev/null; then
            skip "$name" "the kernel gives no $apart namespace, which each run says"
            continue
        fi
        ok "$name" attack "$file" "$kind"
    done
done
if [ -z "${ATTACK_ONLY:-}" ]; then
    . "$TOP/tests/attack/web.bash"
    ok "scripts, examples: they are deep, long, or grow without end" attack_scripts
    ok "imports, confirm: names that are obeyed, places that take long" attack_imports
    ok "functions, examples: they don't answer, answer without end, die" attack_functions
    if [ -e "$SUNDEW_BUILD/php/sundew.so" ]; then
        ok "php, web: an application attacks what runs it" attack_php
    else
        skip "php, web: an application attacks what runs it" "there is no PHP 8.2"
    fi
    if [ -n "${ATTACK_LONG:-}" ] && [ -e "$SUNDEW_BUILD/php/sundew.so" ] && [ -x /usr/sbin/mariadbd ]; then
        ok "database, web: an application attacks by way of its database" attack_database
    fi
fi
[ -n "${ATTACK_LONG:-}" ] || done_testing
