# For launder.sh and soak-launder.sh: programs that hide where a pointer goes
# (tests/tools/launder), verdicts of `sundew mutability`, and a run as the judge.

# capture_program N: N.c is a program, or a library if there is N.client, which is not captured.
# "of" is then the captured file, and prog the program.
capture_program() {
    local end="-lm -pthread -ldl -rdynamic"
    cp "../$1.c" . || return 1
    of=./prog
    if [ ! -e "../$1.client" ]; then
        "$SUNDEW" -q capture -- clang-19 -w -g "$1.c" -o prog $end
    else
        of=./libprog.so
        "$SUNDEW" -q capture -- clang-19 -w -g -fPIC -shared "$1.c" -o libprog.so $end &&
            clang-19 -w -g -x c "../$1.client" -o prog -L. -lprog -Wl,-rpath,"$PWD" $end
    fi
}

# judge N: captures N.c, asks for verdicts, runs it; leaves N.judged.
judge() {
    mkdir "w$1" && cd "w$1" || return 1
    capture_program "$1" &&
        { "$SUNDEW" -q mutability "$of" --json > verdicts.json || [ $? = 1 ]; } &&
        timeout 300 ./prog > truth.txt < /dev/null &&
        "$TOP/tests/tools/launder" --judge verdicts.json truth.txt > "../$1.judged"
    local failed=$?
    cd ..
    rm -rf "w$1"
    return $failed
}

# judged: all verdicts of this folder's programs; the program of each wrong one is kept.
judged() {
    local n bad=0
    for n in $(ls ./*.c | tr -dc '0-9\n' | sort -n); do
        judge "$n" || return 1
        grep -v '^=' "$n.judged" | while IFS=: read -r f rest; do
            echo "$n.c $f ($(sed -n "s/^$n $f //p" index)):$rest"
        done
    done
    awk '/^=/ { n += $2; sound += $3; wrong += $4; died += $5; mutable += $6; own += $7 }
         END { printf "%d functions, %d sound immutable (own level %d), %d sound mutable, %d wrong, %d ended badly\n",
                      n, sound, own, mutable, wrong, died
               exit wrong || !n || died * 5 > n }' ./*.judged || bad=1
    return $bad
}

# enforced N: an enforcing build of N.c, of what is proven, sees no claim violated. A program that
# switches stacks can't be watched, and counts as such.
enforced() {
    mkdir "e$1" "e$1/tags" && cd "e$1" || return 1
    cp "../$1.c" . && "$SUNDEW" -q capture -- clang-19 -w -g "$1.c" -o prog -lm -pthread -ldl -rdynamic || return 1
    if ! "$SUNDEW" -q mutability ./prog --enforce --sound -o watched 2> refused.txt > /dev/null; then
        grep -q "switches stacks" refused.txt && echo "refused" > ../"$1.enforced"
    elif SUNDEW_ENFORCE=log SUNDEW_TAGS=$PWD/tags timeout 300 ./watched > /dev/null 2>&1 < /dev/null; then
        if [ -s tags/violations ]; then cat tags/violations; else echo "kept" > ../"$1.enforced"; fi
    else
        echo "ended" > ../"$1.enforced"
    fi
    cd ..
    rm -rf "e$1"
    [ -e "$1.enforced" ]
}

# all_enforced MOST: the first programs of this folder.
all_enforced() {
    local n
    for n in $(seq 1 "$1"); do
        enforced "$n" || { echo "$n.c"; return 1; }
    done
    cat ./*.enforced | sort | uniq -c
    [ "$(cat ./*.enforced | grep -c kept)" -gt $(($1 / 2)) ]
}
