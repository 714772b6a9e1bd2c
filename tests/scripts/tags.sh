# What a run shows of mutability, and builds that stop at a write.
. "$TOP/tests/scripts/tap.bash"
subjects=$TOP/tests/subjects/tags
weave=$SUNDEW_BUILD/tests/weave
unset SUNDEW_TAGS SUNDEW_ENFORCE

# ---- the examples that define mutability
fresh examples
cp "$subjects"/* .
ok "the examples are captured" "$SUNDEW" -q capture -- gcc -g -O1 examples.c -o prog
examples() {
    "$SUNDEW" -q mutability ./prog --pipeline D --json -- ./prog >out.json || [ $? = 1 ] || return 1
    python3 compare.py out.json examples.want
}
ok_mounted "a run alone shows what it must, and nothing else" examples
witness() {
    "$SUNDEW" -q mutability ./prog --pipeline D --why rsth:t -- ./prog >why.txt
    grep -q 'stage D' why.txt && grep -q "examples.c:$(grep -n '^void reset' examples.c | cut -d: -f1)" why.txt ||
        { cat why.txt; return 1; }
}
ok_mounted "…with the store that shows it" witness
settled() {
    "$SUNDEW" -q mutability ./prog --json >static.json; "$SUNDEW" -q mutability ./prog --json -- ./prog >both.json
    python3 - <<'X'
import json
a = {(p["function"], p["index"]): p for p in json.load(open("static.json"))["parameters"]}
b = {(p["function"], p["index"]): p for p in json.load(open("both.json"))["parameters"]}
new = [k for k in a if a[k]["verdict"] == "unknown" and b[k]["verdict"] != "unknown"]
assert all(b[k]["verdict"] == "mutable" and b[k]["stage"] == "D" for k in new), new
assert all(b[k]["verdict"] == a[k]["verdict"] for k in a if a[k]["verdict"] != "unknown")
X
}
ok_mounted "a run only settles what was unknown" settled
absence() {
    "$SUNDEW" -q mutability ./prog --pipeline D --absence --absence-calls 1 --absence-coverage 100 --json -- ./prog >out.json
    python3 - <<'X'
import json
p = {(p["function"], p["parameter"]): p for p in json.load(open("out.json"))["parameters"]}
x = p["no1", "p6"]
assert (x["verdict"], x["sound"], x["stage"]) == ("immutable", False, "D"), x
assert p["scan", "d"]["verdict"] == "immutable" and p["allW", "p5"]["verdict"] == "mutable"
X
}
ok_mounted "what was covered and never written is likely immutable, if asked" absence

# ---- in place of the program: tests/scripts/place.sh
not_run() { says "INCOMPLETE (the command did not run" "$SUNDEW" mutability ./prog -- true; }
ok_mounted "a command that doesn't run it is told" not_run
printf '#include <stdio.h>\nstatic void show(char *s) { puts(s); }\nint main(int n, char **v) { show(v[n - 1]); return 0; }\n' >decided.c
ok "a program with nothing left to watch" "$SUNDEW" -q capture -- gcc -g -o decided decided.c
nothing_to_watch() { "$SUNDEW" mutability ./decided -- ./decided x >out 2>err && ! grep "did not run" err; }
ok_mounted "… is not told to be missing" nothing_to_watch

# ---- enforcing
fresh enforce
cp "$TOP/tests/subjects/tags/e.c" e.c
ok "a program with a broken promise is captured" "$SUNDEW" -q capture -- gcc -g -O1 e.c -o e
ok "an enforcing program is made" "$SUNDEW" -q mutability ./e --enforce -o e.enforced
kept() { [ "$(./e.enforced)" = "0 abyc" ]; }
ok "it runs where promises are kept" kept
stops() { says "away: parameter 1, s, declared const, is written through at $PWD/e.c:4" ./e.enforced 1 && status 134 sh -c './e.enforced 1 2>/dev/null'; }
ok "it stops at the write" stops
logs() { [ "$(SUNDEW_ENFORCE=log ./e.enforced 1 2>said)" = "1 abyc" ] && grep -q 'away: parameter 1' said; }
ok "…or only says so" logs
met() {
    rm -rf tags && mkdir tags && SUNDEW_TAGS=$PWD/tags ./e.enforced >/dev/null &&
        grep -qx 'reads 0' tags/checked && grep -q '^= [0-9]* 0$' tags/checked && ! grep -q '^value' tags/checked
}
ok "what was looked at is counted; where nothing can be written there is nothing to look at" met

# ---- many processes, threads, crashes
fresh many
cp "$TOP/tests/subjects/tags/m.c" m.c
sed -i 's/i < 1000/i < 20/' m.c
ok "processes and threads: captured" "$SUNDEW" -q capture -- gcc -g -O1 m.c -o m -pthread
many() {
    "$SUNDEW" -q mutability ./m --pipeline D --json -- ./m >out.json
    python3 - <<'X'
import json
p = {(p["function"], p["parameter"]): p["verdict"] for p in json.load(open("out.json"))["parameters"]}
want = {("by_child", "s"): "mutable", ("by_thread", "s"): "mutable", ("before_kill", "s"): "mutable",
        ("of_other", "mine"): "unknown", ("untouched", "s"): "unknown"}
assert all(p[k] == v for k, v in want.items()), p
X
}
ok_mounted "all of them are seen, the killed one too" many

# ---- an archive: its tests link with it
fresh archive
cp "$TOP/tests/subjects/tags/l.c" l.c
cp "$TOP/tests/subjects/tags/t.c" t.c
printf 'libl.a: l.o\n\tar rcs $@ l.o\nl.o: l.c\n\tcc -g -c l.c\ncheck: t\n\t./t\nt: t.c libl.a\n\tcc -g t.c libl.a -o t\n' >Makefile
ok "an archive: captured" "$SUNDEW" -q capture -- make
archive() {
    "$SUNDEW" -q mutability libl.a --pipeline D --verdicts -- make check >verdicts.txt
    grep -q 'put(s): mutable (D)' verdicts.txt && grep -q 'get(s): unknown' verdicts.txt && [ "$(ar t libl.a)" = l.o ]
}
ok_mounted "its tests show what is written" archive

# ---- the woven program behaves like the plain one
fresh hard
cp "$TOP"/tests/subjects/weave/hard* .
build='for f in hard hard_b hard_nested; do gcc -w -g -fcommon -fPIE -c $f.c; done
as hard_asm.s -o hard_asm.o; gcc hard*.o -o hard -pthread -lm'
ok "hard constructs: captured" "$SUNDEW" -q capture --min-share 50 -- sh -ec "$build"
outcome() { "$@" 2>&1; echo "status $?"; }
same() {
    local want
    want=$(outcome ./hard)
    for flags in -t "-t -O 0" "-t -O 3"; do
        # shellcheck disable=SC2086
        "$weave" $flags -r "$SUNDEW_BUILD" -n tags -a "$TOP/share" ./hard woven >/dev/null || return 1
        [ "$(outcome ./woven)" = "$want" ] || { echo "flags $flags"; outcome ./woven; return 1; }
    done
}
ok "hard constructs run as before" same

csmith=$(ls -d /usr/include/csmith* 2>/dev/null | head -1)
if [ -z "$csmith" ]; then
    skip "random programs" "csmith is not installed"
else
    fresh random
    # Woven with tags and enforcing: the same output, and no claim violated.
    random() {
        local seed=$1 want
        csmith --seed "$seed" --max-funcs 8 --pointers --max-pointer-depth 3 >"s$seed.c" &&
            gcc -w -g -I"$csmith" "s$seed.c" -o plain || return 1
        want=$(ulimit -t 3; ./plain 2>&1; echo "status $?")
        case $want in *"status 0") ;; *) return 0 ;; esac
        counted=$((counted + 1))
        "$SUNDEW" -q capture -- gcc -w -g -I"$csmith" "s$seed.c" -o prog >/dev/null || return 1
        "$weave" -t -r "$SUNDEW_BUILD" -n tags -a "$TOP/share" ./prog woven >/dev/null || return 1
        [ "$(./woven 2>&1; echo "status $?")" = "$want" ] || { echo "seed $seed: tags differ"; return 1; }
        "$SUNDEW" -q mutability ./prog --enforce -o enforced >/dev/null || return 1
        [ "$(./enforced 2>&1; echo "status $?")" = "$want" ] || { echo "seed $seed: a claim is violated"; ./enforced 2>&1 | tail -3; return 1; }
    }
    counted=0
    several() { for seed in $(seq "$1" "$2"); do random "$seed" || return 1; done; }
    first=${SEED_FIRST:-1} last=${SEED_LAST:-24}
    ok "random programs $first to $last: the same output, no claim violated" several "$first" "$last"
    ok "…most of which count ($counted)" test "$counted" -ge $(((last - first + 1) / 2))
fi
done_testing
