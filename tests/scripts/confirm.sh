# Warnings that the tests confirm, reject, or leave open: the twins of the specification, the
# example project, other tools' reports, and bad input.
. "$TOP/tests/scripts/tap.bash"
subjects=$TOP/tests/subjects/confirm
needs_mounts "warnings that runs confirm"

# judges ARGUMENT EXPECTATION…: a run of twins, and what is expected of each family and function.
judge() {
    "$SUNDEW" confirm ./twins --own --json -- ./twins "$1" >out.json 2>out.err
    [ $? -le 1 ] || { cat out.err; return 1; }
}
judges() {
    judge "$1" || return 1
    shift
    python3 "$TOP/tests/scripts/confirm.py" out.json "$@"
}

fresh twins
cp "$subjects/twins.c" .
ok "the twins are captured" "$SUNDEW" capture -- gcc -g -O1 -pthread -o twins twins.c
ok "a read that is short elsewhere, on a pipe" \
    judges c1-pipe confirmed:predictive ignored-count load_hdr
ok "… a checked loop is no suspect" \
    python3 "$TOP/tests/scripts/confirm.py" out.json none ignored-count load_body
ok "… regular files are not short" judges c1-file rejected ignored-count load_hdr
ok "a pointer that was NULL, with & in place of &&" \
    judges c2-null confirmed:predictive non-short-circuit queue_state
ok "… masks are no suspects" \
    python3 "$TOP/tests/scripts/confirm.py" out.json none non-short-circuit masks
ok "… never NULL" judges c2-never rejected non-short-circuit queue_state
ok "… never executed" judges c2-mode0 undetermined non-short-circuit queue_state
ok "… reads were not executed either" \
    python3 "$TOP/tests/scripts/confirm.py" out.json undetermined ignored-count load_hdr
ok "a right side with effects" judges c2-effect confirmed:strong non-short-circuit both_effect
ok "… and a pure one" \
    python3 "$TOP/tests/scripts/confirm.py" out.json rejected non-short-circuit both_pure
ok "… and one whose left side never decides" \
    python3 "$TOP/tests/scripts/confirm.py" out.json undetermined non-short-circuit both_never
ok "a comparator that is a truth value" judges c3-truth confirmed:strong comparator by_truth
ok "a difference that can overflow" judges c3-far confirmed:predictive comparator by_difference
ok "… and one that can't" judges c3-near rejected comparator by_difference
ok "… a real order is no suspect" \
    python3 "$TOP/tests/scripts/confirm.py" out.json none comparator by_order
ok "… a comparator that was not called" \
    python3 "$TOP/tests/scripts/confirm.py" out.json undetermined comparator by_truth
ok "a hash that tells equal keys apart, used" judges c4-table confirmed:usage hash-equality key_hash
ok "… of functions with hash in their names twice" \
    python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:usage hash-equality hashed_key_hash
ok "… with two equal keys" judges c4-both confirmed:strong hash-equality key_hash
ok "… objects in an array only" judges c4-array rejected hash-equality key_hash
ok "a shallow copy" judges c5-shared confirmed:strong copy der_dup
ok "… a deep one is no suspect" \
    python3 "$TOP/tests/scripts/confirm.py" out.json none copy der_copy_deep
ok "… nothing is owned" judges c5-empty rejected copy der_dup
ok "a copy of the first part" judges c5-slice confirmed:strong copy base_dup
ok "… of the whole" judges c5-whole rejected copy base_dup
ok "an error that is dropped, and happens elsewhere" \
    judges c6-fails confirmed:predictive dropped-error reload
ok "… and never happens" judges c6-never rejected dropped-error reload
ok "a test for overflow that compilers delete" \
    judges c7 confirmed:strong overflow-test too_large
ok "… of unsigned numbers is fine" \
    python3 "$TOP/tests/scripts/confirm.py" out.json none overflow-test too_large_unsigned

# ---- processes

child() {
    "$SUNDEW" confirm ./twins --own --json -- ./twins child "$1" >out.json 2>out.err
    python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:strong overflow-test too_large
}
for how in _exit exec abort kill thread; do
    ok "evidence of a child that ends by $how" child $how
done
errno_stays() {
    "$SUNDEW" confirm ./twins --own --json -- ./twins errno >out.json 2>out.err
    ! grep -q 'ended with status' out.err &&
        python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:strong ignored-count load_hdr
}
ok "errno stays as it was" errno_stays

# ---- reports of other tools

python3 "$TOP/tests/scripts/confirm-reports.py" twins.c
cat >both.sh <<'END'
./twins c1-pipe && ./twins c6-fails
END
imports() {
    "$SUNDEW" confirm ./twins --warnings "reports/$1" --json -- sh both.sh >out.json 2>out.err
    [ $? -eq 1 ] || { cat out.err; return 1; }
    python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:predictive ignored-count load_hdr &&
        python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:predictive dropped-error reload
}
only_two() { python3 -c 'import json; d = json.load(open("out.json")); assert len(d["warnings"]) == 2, d'; }
for report in a.sarif gcc.json cppcheck.xml clang.plist tidy.yaml gcc.txt unknown.sarif; do
    ok "warnings are read from $report" imports $report
    ok "… and nothing else is judged" only_two
done
# A checker that never ends has its own share of the time only.
mkdir stuck
cat >stuck/gcc <<'END'
#!/bin/sh
case "$*" in *-fanalyzer*) exec sleep 1000 ;; esac
exec /usr/bin/gcc "$@"
END
chmod +x stuck/gcc
slow_checker() {
    PATH="$PWD/stuck:$PATH" "$SUNDEW" confirm ./twins --time 20s -- ./twins c1-pipe >out 2>&1
    [ $? -le 1 ] && grep -q "INCOMPLETE (.*gcc had no time for 1 unit" out
}
ok "a checker that hangs leaves time to the next ones" slow_checker

several() {
    "$SUNDEW" confirm ./twins --warnings reports/a.sarif --warnings reports/gcc.json --own --json \
        --sarif out.sarif -- sh both.sh >out.json 2>out.err
    [ $? -eq 1 ] || { cat out.err; return 1; }
    python3 - <<'END'
import json
d = json.load(open("out.json"))
hdr = [w for w in d["warnings"] if w.get("function") == "load_hdr"]
assert len(hdr) == 1 and hdr[0]["tool"] == "somecheck" and hdr[0]["also"] == ["gcc -Wunused-result"], hdr
assert any(w["tool"] == "sundew" for w in d["warnings"])
kept = [r["properties"]["data"] for r in json.load(open("out.sarif"))["runs"][0]["results"]]
assert {"-Wunused-result"} == {r["rule"] for r in kept}, kept
END
}
ok "the same from two tools is one warning, and SARIF keeps the tool's rule" several
odd() {
    "$SUNDEW" confirm ./twins --warnings reports/odd.sarif --json -- ./twins c7 >out.json 2>out.err
    [ $? -eq 0 ] || { cat out.err; return 1; }
    python3 - <<'END'
import json
d = json.load(open("out.json"))
assert len(d["warnings"]) == d["verdicts"]["unanchored"] >= 5, d["verdicts"]
assert all(w["reason"] for w in d["warnings"])
END
}
ok "places that are not there are unanchored, never rejected" odd
# A line in a macro's body, in a header, and a column behind the line's end.
lines() {
    "$SUNDEW" -q capture -- gcc -g -o places places.c || return 1
    "$SUNDEW" confirm ./places --warnings places.sarif --json -- ./places >out.json 2>out.err
    [ $? -le 1 ] || { cat out.err; return 1; }
    python3 - <<'END'
import json
d = {(w["file"].rsplit("/", 1)[-1], w["line"]): w["verdict"] for w in json.load(open("out.json"))["warnings"]}
assert d[("places.c", 7)] == d[("places.h", 2)] == "confirmed", d
assert d[("places.c", 3)] in ("unanchored", "confirmed"), d
assert "rejected" not in d.values(), d
END
}
cat >places.h <<'END'
static inline int too_large(int k) {
    return k + 100 < k;
}
END
cat >places.c <<'END'
#include "places.h"
#include <stdlib.h>
#define LARGE(k) ((k) + 50 < (k))
int main(int n, char **v)
{
    int a = v[0][0] + n;
    return LARGE(a) +
        too_large(a);
}
END
python3 - <<'END'
import json
json.dump({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "odd"}}, "results": [
    {"ruleId": "invalidTestForOverflow", "message": {"text": "x"}, "locations": [{"physicalLocation": {
        "artifactLocation": {"uri": f}, "region": {"startLine": l, "startColumn": c}}}]}
    for f, l, c in (("places.c", 7, 4000), ("places.h", 2, 90), ("places.c", 3, 20), ("places.c", 8, 7777))]}]},
    open("places.sarif", "w"))
END
ok "columns behind the line, headers and macros" lines
many() {
    "$SUNDEW" confirm ./twins --warnings reports/many.sarif --json -- ./twins c7 >out.json 2>out.err
    [ $? -le 1 ] || { cat out.err; return 1; }
    python3 -c 'import json; d = json.load(open("out.json")); assert d["verdicts"]["rejected"] == 0, d'
}
ok "many warnings are no trouble" many
for report in cut.sarif deep.sarif bad.xml deep.plist; do
    ok "$report is refused" status 2 "$SUNDEW" confirm ./twins --warnings reports/$report -- ./twins c7
done
for report in binary.sarif empty; do
    ok "$report holds no warning" status 0 "$SUNDEW" confirm ./twins --warnings reports/$report \
        -- ./twins c7
done
ok "a report that is not there is told" \
    says "there is no such file" "$SUNDEW" confirm ./twins --warnings nowhere -- ./twins c7

# ---- commands that go wrong: the evidence so far counts

fails() {
    "$SUNDEW" confirm ./twins --own --json -- sh -c './twins c7; exit 3' >out.json 2>out.err
    [ $? -eq 1 ] || { cat out.err; return 1; }
    grep -q 'status 3' out.err &&
        python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:strong overflow-test too_large
}
ok "a command that fails" fails
dies() {
    "$SUNDEW" confirm ./twins --own --json -- sh -c './twins c7; kill -9 $$' >out.json 2>out.err
    python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:strong overflow-test too_large
}
ok "a command that is killed" dies
# Stopped when the program has run, not after some time.
hangs() {
    rm -f "$work/ran"
    "$SUNDEW" confirm ./twins --own --json -- sh -c "./twins c7; touch '$work/ran'; exec sleep 1000" \
        >out.json 2>out.err &
    local pid=$!
    while [ ! -e "$work/ran" ] && kill -0 $pid 2>/dev/null; do sleep 0.1; done
    kill -INT $pid
    wait $pid
    python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:strong overflow-test too_large &&
        grep -q INCOMPLETE out.err
}
ok "a command that hangs and is stopped" hangs
# A command that forks without end is stopped with all its processes; it tells when it has some.
forks() {
    cat >forks.sh <<'END'
./twins c7
again() { n=0; while :; do sleep 1000 & n=$((n + 1)); [ $n != 20 ] || touch "$1"; sleep 0.05; done; }
again "$1" & again "$1"
END
    rm -f "$work/ran"
    "$SUNDEW" confirm ./twins --own --json -- sh forks.sh "$work/ran" >out.json 2>out.err &
    local pid=$!
    while [ ! -e "$work/ran" ] && kill -0 $pid 2>/dev/null; do sleep 0.1; done
    kill -INT $pid
    wait $pid
    ! pgrep -f "forks.sh $work/ran" >/dev/null && grep -q INCOMPLETE out.err &&
        python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:strong overflow-test too_large
}
ok "a command that forks without end" forks
# The linker hangs: time is over while the program is built.
late() {
    mkdir -p slow
    printf '#!/bin/sh\nexec sleep 1000\n' >slow/slow
    chmod +x slow/slow
    for name in ld ld.lld ld.bfd gcc cc clang clang-19; do cp slow/slow slow/$name; done
    PATH=$PWD/slow:$PATH COMPILER_PATH=$PWD/slow \
        timeout 900 "$SUNDEW" confirm ./twins --own --json --time 10s "$@" -- ./twins c7 >out.json 2>out.err
    [ $? -eq 0 ] || { cat out.err; return 1; }
    grep -q 'over while the program was built' out.err && python3 -c '
import json
d = json.load(open("out.json"))
assert d["verdicts"]["undetermined"] == len(d["warnings"]) > 5, d["verdicts"]'
}
ok "--time ends a build" late
elsewhere() {
    "$SUNDEW" confirm ./twins --own --json -- true >out.json 2>out.err
    grep -q 'the command did not run twins' out.err || { cat out.err; return 1; }
    judge c7 && ! grep -q 'did not run' out.err
}
ok "a command that does not run the program is told" elsewhere
rm -rf .sundew/confirm
ok "without evidence it says what to do" says "such as -- make check" \
    "$SUNDEW" confirm ./twins --own
ok "without a program it says what to do" says "which program" "$SUNDEW" confirm

# ---- evidence of several runs

merges() {
    rm -rf .sundew/confirm
    judge c6-fails && "$SUNDEW" confirm ./twins --own --merge --json -- ./twins c7 >out.json 2>out.err
    [ $? -eq 1 ] || { cat out.err; return 1; }
    python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:predictive dropped-error reload &&
        python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:strong overflow-test too_large
}
ok "evidence merges over runs" merges
without_command() {
    "$SUNDEW" confirm ./twins --own --json >out.json 2>out.err
    python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:strong overflow-test too_large
}
ok "… and is there without a command" without_command
watched() {
    "$SUNDEW" confirm ./twins --own -o twins.watched || return 1
    ./twins.watched c7 && ./twins.watched c3-truth || return 1
    "$SUNDEW" confirm ./twins --own --json --evidence twins.watched.evidence >out.json
    python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:strong overflow-test too_large &&
        python3 "$TOP/tests/scripts/confirm.py" out.json confirmed:strong comparator by_truth
}
ok "a program that watches is made, run by hand, and judged" watched
changed() {
    judge c7 || return 1
    sed -i 's/k + 100 < k/k + 101 < k/' twins.c
    "$SUNDEW" -q capture -- gcc -g -O1 -pthread -o twins twins.c || return 1
    "$SUNDEW" confirm ./twins --own --json --merge -- ./twins c3-truth >out.json 2>out.err
    python3 "$TOP/tests/scripts/confirm.py" out.json undetermined overflow-test too_large
}
ok "evidence about a function that changed is dropped" changed

# ---- the other rules

fresh more
cp "$subjects/more.c" .
ok "further twins are captured" "$SUNDEW" capture -- gcc -g -O1 -w -o more more.c -lsqlite3
cat >all.sh <<'END'
./more bad_print good_print bad_number good_number good_empty bad_malloc good_malloc bad_product good_product \
    bad_sizeof good_sizeof bad_format good_format bad_strncpy good_strncpy bad_stale good_stale \
    fitted_print cuts wait_for_end use_nothing field_strncpy \
    bad_leak good_leak ways bad_toctou good_toctou handlers nulls falls casts bytes threes counts full seek stores
./more outside some-word
./more sql "don't-do"
./more double
END
"$SUNDEW" confirm ./more --own --json -- sh all.sh >out.json 2>out.err
is() { python3 "$TOP/tests/scripts/confirm.py" out.json "$@"; }
while read -r verdict family function; do
    ok "$family in $function: $verdict" is "$verdict" "$family" "$function"
done <<'END'
confirmed:predictive ignored-count bad_print
rejected ignored-count good_print
rejected ignored-count fitted_print
none ignored-count part_print
none ignored-count first_print
none ignored-count copy_print
confirmed:strong ignored-count bad_copy_print
confirmed:strong ignored-count bad_fitted_print
confirmed:strong ignored-count bad_room_print
none ignored-count asked_print
none ignored-count equal_print
confirmed:strong ignored-count bad_asked_print
none ignored-count told_print
confirmed:strong ignored-count bad_told_print
none ignored-count wait_for_end
confirmed:strong ignored-count use_nothing
confirmed:strong ignored-count bad_number
rejected ignored-count good_number
undetermined ignored-count good_empty
confirmed:usage unchecked-malloc bad_malloc
rejected unchecked-malloc good_malloc
confirmed:predictive malloc-product bad_product
rejected malloc-product good_product
confirmed:strong sizeof-pointer bad_sizeof
rejected sizeof-pointer good_sizeof
confirmed:predictive format-string bad_format
rejected format-string good_format
confirmed:strong strncpy bad_strncpy
rejected strncpy good_strncpy
none strncpy field_strncpy
confirmed:predictive stale-pointer bad_stale
none stale-pointer good_stale
confirmed:strong leak bad_leak
none leak good_leak
confirmed:predictive leak bad_way
undetermined leak open_way
none leak end_way
confirmed:strong leak bad_held
none leak good_held
confirmed:predictive toctou bad_toctou
rejected toctou good_toctou
confirmed:usage signal-handler once
confirmed:predictive unchecked-null bad_null
rejected unchecked-null good_null
none unchecked-null used_before
confirmed:strong unchecked-null used_behind
none unchecked-null good_kind
confirmed:strong unchecked-null bad_kind
rejected unchecked-null sure_null
rejected unchecked-null fixed_null
rejected unchecked-null open_null
confirmed:strong fallthrough bad_fall
none fallthrough good_fall
none fallthrough asked_fall
confirmed:predictive injection bad_shell
rejected injection good_shell
undetermined injection quoted_shell
confirmed:strong injection bad_sql
rejected injection good_sql
confirmed:strong bad-cast bad_cast
rejected bad-cast good_cast
confirmed:strong bad-cast bad_member
rejected bad-cast good_member
confirmed:strong wrong-equality bad_equal
rejected wrong-equality good_equal
confirmed:strong wrong-equality bad_key
confirmed:strong comparator bad_three
rejected comparator good_three
confirmed:strong ignored-count bad_scan
rejected ignored-count good_scan
none ignored-count default_scan
none ignored-count empty_scan
confirmed:strong ignored-count bad_vprint
rejected ignored-count good_vprint
confirmed:strong ignored-count bad_vector
rejected ignored-count good_vector
confirmed:strong ignored-count bad_full
none ignored-count put_full
confirmed:strong dropped-error bad_seek
undetermined dropped-error open_seek
rejected dropped-error good_seek
undetermined dropped-error open_folder
rejected dropped-error good_folder
confirmed:strong overflow-test bad_sum
none overflow-test changed_sum
none overflow-test larger_sum
undetermined dropped-error open_put
rejected dropped-error good_set
confirmed:predictive dropped-error bad_place
none dropped-error told_place
undetermined unchecked-null open_new
rejected unchecked-null good_new
confirmed:manifest double-free bad_double
undetermined double-free good_double
END
ok "… and the missing test is named" grep -q '"a test in which it is a pipe' out.json
"$SUNDEW" confirm ./more --own --json -- ./more >out.json 2>out.err
nothing() {
    python3 -c 'import json; d = json.load(open("out.json")); v = d["verdicts"]
assert v["undetermined"] == len(d["warnings"]) > 15, v'
}
ok "nothing that was not executed is judged" nothing
injects() {
    "$SUNDEW" confirm ./more --own --inject --json -- sh -c './more good_malloc' >out.json 2>out.err
    is confirmed:simulated unchecked-malloc good_malloc
}
ok "an injected failure is used as a pointer" injects
no_space() {
    "$SUNDEW" confirm ./more --own --inject --json -- ./more space >out.json 2>out.err
    is confirmed:simulated ignored-count bad_space
}
ok "a write that an injected failure loses" no_space
space() {
    "$SUNDEW" confirm ./more --own --json -- ./more space >out.json 2>out.err
    is undetermined ignored-count bad_space && is rejected ignored-count good_space
}
ok "… and that no test can show" space

# Structs of equal layout in two units become one when they are linked.
cast_twins() {
    for n in one two; do
        cat >$n.c <<END
#include <stdlib.h>
struct base_$n { int kind; };
struct whole_$n { struct base_$n base; long more[4]; };
long bad_$n(struct base_$n *b) { return ((struct whole_$n *)b)->more[0]; }
long good_$n(struct base_$n *b) { return ((struct whole_$n *)b)->more[0]; }
long $n(void)
{
    struct base_$n *part = calloc(1, sizeof *part);
    struct whole_$n *whole = calloc(1, sizeof *whole);
    long sum = bad_$n(part) + good_$n(&whole->base);
    free(part);
    free(whole);
    return sum;
}
END
    done
    printf 'long one(void), two(void);\nint main(void) { for (int i = 0; i < 11; i++) one(), two(); return 0; }\n' >both.c
    "$SUNDEW" -q capture -- gcc -g -w -o both both.c one.c two.c || return 1
    "$SUNDEW" confirm ./both --own --json -- ./both >out.json 2>out.err
    is confirmed:strong bad-cast bad_one bad_two && is rejected bad-cast good_one good_two
}
ok "casts of structs that look alike" cast_twins

# ---- rules that look only where another tool warns

fresh asked
cp "$subjects/asked.c" .
"$SUNDEW" -q capture -- gcc -g -O1 -w -o asked asked.c
warnings_of() {
    python3 - "$1" <<'END'
import re, sys
rules = {"leak": "-Wanalyzer-malloc-leak", "uninitialised": "-Wanalyzer-use-of-uninitialized-value",
         "out-of-bounds": "-Wanalyzer-out-of-bounds", "division": "-Wanalyzer-shift-count-overflow",
         "null-pointer": "-Wanalyzer-null-dereference", "stale-pointer": "-Wanalyzer-use-after-free",
         "sign-compare": "-Wsign-compare", "unchecked": "-Wanalyzer-possible-null-dereference", "": "-Wunused-variable"}
for n, line in enumerate(open(sys.argv[1]), 1):
    m = re.search(r"/\*(\w+) ([\w-]*)\*/", line)
    if m:
        print("%s:%d:1: warning: x [%s]" % (sys.argv[1], n, rules[m[2]]))
END
}
warnings_of asked.c >asked.txt
"$SUNDEW" confirm ./asked --warnings asked.txt --json -- ./asked >out.json 2>out.err
asked() {
    python3 - "$@" <<'END'
import json, re, sys
verdict = {w["line"]: w["verdict"] for w in json.load(open("out.json"))["warnings"]}
source, *family = sys.argv[1:]
want = {"bad": "confirmed", "good": "rejected", "open": "undetermined", "never": "unanchored"}
found = 0
for n, line in enumerate(open(source), 1):
    m = re.search(r"/\*(([a-z]+)_\w+) ([\w-]*)\*/", line)
    if m and m[3] == (family[0] if family else ""):
        assert verdict[n] == want[m[2]], (m[1], verdict[n])
        found += 1
assert found
END
}
for family in leak uninitialised out-of-bounds division null-pointer stale-pointer sign-compare unchecked; do
    ok "$family, where another tool warns" asked asked.c $family
done
generated() {
    printf '#include <stdlib.h>\n#line 7 "other.y"\nint f(int n) { return 8 / (n + 1); }\n#line 5 "made.c"\n%s\n' \
        'int main(void) { int s = 0; for (int i = 0; i < 20; i++) s += f(i); return s == 1; }' >made.c
    "$SUNDEW" -q capture -- gcc -g -w -o made made.c || return 1
    echo 'made.c:3:1: warning: x [zerodiv]' >made.txt
    "$SUNDEW" confirm ./made --warnings made.txt --json -- ./made >out.json 2>out.err
    python3 "$TOP/tests/scripts/confirm.py" out.json rejected division f && python3 - <<'END'
import json
w, = json.load(open("out.json"))["warnings"]
assert (w["file"], w["line"]) == ("other.y", 7), w
END
}
closes() {
    cat >closes.c <<'END'
#include <stdio.h>
static void written(const char *path) { FILE *f = fopen(path, "w"); if (f) { fputs("abc", f); fclose(f); } }
static void only_read(const char *path) { FILE *f = fopen(path, "r"); if (f) { getc(f); fclose(f); } }
int main(void) { for (int i = 0; i < 12; i++) written("closed.txt"), only_read("closed.txt"); return 0; }
END
    "$SUNDEW" -q capture -- gcc -g -w -o closes closes.c || return 1
    printf 'closes.c:%d:1: warning: x [cert-err33-c]\n' 2 3 >closes.txt
    "$SUNDEW" confirm ./closes --warnings closes.txt --json -- ./closes >out.json 2>out.err
    is undetermined dropped-error written && is rejected dropped-error only_read
}
ok "a rule that no run speaks about stays unanchored" asked asked.c
ok "a tool that does not follow #line" generated
ok "a stream that was only read loses nothing when it is closed" closes

# What a library's callers pass is not known.
fresh library
cp "$subjects/library.c" .
cat >tests.c <<'END'
#include <stddef.h>
struct value { int kind; struct value *next; } v = { 7, 0 };
int library_show(), library_kind(), library_own(), library_inner(), library_share(), library_part(), library_fits(),
    library_begins(), library_weight(), library_weight_of(), library_weight_from(), library_bit(), library_bit_of(), library_has(),
    library_has_any(), library_find(), library_drop(), library_put(), library_label(), library_relabel(), library_unlabel(),
    library_handle(), library_read(), library_ask(), library_length(), library_length_if();
const char *library_next();
void library_release();
int main(void)
{
    int all = 0;
    for (int i = 0; i < 24; i++)
        all += library_show(&v, i % 2) + library_kind(&v) + library_own(i) + library_inner(i) + library_share(9, i + 1) +
               library_part(9, i + 1) + library_fits(i, "abc") + library_begins(i, "abc") + library_weight(i % 5) +
               library_weight_of(i % 5) + library_weight_from(i % 5) + library_bit(i) + library_bit_of(i) +
               library_has(&v, "abc") + library_has_any(&v, "abc") + library_find("abc") + library_find(NULL) +
               (library_next("abc") != NULL) + library_drop("abc") + library_put("abc") + library_label("abc") +
               library_label(NULL) + library_relabel("abc") + library_unlabel("abc") + library_handle("abc") + library_read("abc") + library_ask("abc") + library_length("abc") +
               library_length_if(NULL, 0),
            library_release(NULL);
    return all == 3;
}
END
"$SUNDEW" -q capture -- sh -c 'gcc -g -O1 -w -fPIC -shared -o libown.so library.c && gcc -g -w -o tests tests.c -L. -lown -Wl,-rpath,$PWD'
warnings_of library.c >said.txt
"$SUNDEW" confirm ./libown.so --warnings said.txt --json -- ./tests >out.json 2>out.err
for family in null-pointer division sign-compare out-of-bounds; do
    ok "$family, where a library's caller decides" asked library.c $family
done

# It fails in clang's hands only; the twin fails in all.
fresh disturbed
printf '#include <stdlib.h>\nint main(void)\n{\n#ifdef __clang__\n    abort();\n#endif\n    return 0;\n}\n' >odd.c
printf '#include <stdlib.h>\nint main(void)\n{\n    abort();\n}\n' >even.c
"$SUNDEW" -q capture -- sh -c 'gcc -g -o odd odd.c && gcc -g -o even even.c'
ok "a command that fails with the watched program only is INCOMPLETE" says "INCOMPLETE (the command is ended by signal 6 with the watched program, and not with yours" "$SUNDEW" confirm ./odd --own -- ./odd
fails_alike() { "$SUNDEW" confirm ./even --own -- ./even >out 2>&1; grep -q "ended by signal 6; the evidence" out && ! grep -q "not with yours" out; }
ok "…and one that always fails is not" fails_alike

# 400 phis that name each other: an exponential walk does not end.
fresh machine
python3 - >machine.c <<'END'
print("#include <stdio.h>\nint main(int argc, char **argv)\n{\n    int x = 0, s = argc;\n    for (;;) {\n        switch (s) {")
for k in range(400):
    set_x = "x = argc; " if k < 2 else ""
    print(f"        case {k}: {set_x}s = argv[0][{k % 5}] == 'q' ? {k} : {k + 1}; break;")
print('        default: printf("%d\\n", x); return 0;\n        }\n    }\n}')
END
"$SUNDEW" -q capture -- gcc -g -w -o machine machine.c
echo "machine.c:$(grep -n printf machine.c | cut -d: -f1):32: warning: 'x' may be used uninitialized [-Wmaybe-uninitialized]" >machine.txt
ok "a large state machine is looked through" says "no findings; examined 2 functions" timeout 600 "$SUNDEW" confirm ./machine --warnings machine.txt -- ./machine

# ---- races

fresh races
cp "$subjects/races.c" .
ok "threads are captured" "$SUNDEW" capture -- gcc -g -O1 -pthread -o races races.c
races() {
    "$SUNDEW" confirm ./races --races --schedules 60 --seed 1 --json -- ./races "$1" >out.json 2>out.err
    [ $? -le 1 ] || { cat out.err; return 1; }
    is "$2" race "$3"
}
ok "a field that two threads change" races print confirmed:strong print
replays() {
    "$SUNDEW" threads --replay races.races/1 >out 2>&1
    grep -q 'T1 runs' out && grep -q '^race: .* in print (.*), in no order' out
}
ok "… its schedule replays, and shows the race" replays
ok "an array that workers divide" races partition rejected partition
ok "a value that is used after the join" races joined rejected set_joined
ok "a value that is set before threads start" races partition rejected main
ok "a queue that hands over" races pool rejected hand_over
ok "a lock" races count none count
ok "a thread that was not started" races count undetermined print
ok "… and one that would be started by a function of the program" is undetermined race begin_here
ok "… which locks" is none race begin_locked
ok "… and one that a field keeps" is undetermined race keep_here
ok "… which locks" is none race keep_locked
ok "a thread that a function of the program starts" races begin confirmed:strong begin_here
# A copy of Sundew that lacks the scheduler does not say that there are no races.
lacking() {
    mkdir -p lacks/bin lacks/lib/sundew/runtime && cp "$SUNDEW" lacks/bin/ && ln -s "$TOP/share" lacks/lib/sundew/ &&
    find "$SUNDEW_BUILD" -mindepth 1 -maxdepth 1 ! -name runtime -exec ln -s {} lacks/lib/sundew/ \; &&
    find "$SUNDEW_BUILD/runtime" -mindepth 1 -maxdepth 1 ! -name schedule.o -exec ln -s {} lacks/lib/sundew/runtime/ \; &&
    cp races.c alone.c && lacks/bin/sundew -w "$PWD/lacks/.sundew" capture -q -- gcc -g -O1 -pthread -o alone alone.c || return 1
    says "INCOMPLETE (no schedules were tried: the build that is scheduled" lacks/bin/sundew -w "$PWD/lacks/.sundew" confirm ./alone --races --own --schedules 9 -- ./alone print
}
ok "a Sundew that lacks its scheduler says so" lacking

# ---- neutrality: all sites are watched, and nothing changes

. "$TOP/tests/scripts/confirm.bash"
fresh neutral
cp "$TOP"/tests/subjects/weave/hard* .
ok "odd constructs are captured" "$SUNDEW" -q capture --min-share 50 -- sh -ec \
    'for f in hard hard_b hard_nested; do gcc -w -g -fcommon -fPIE -c $f.c; done
as hard_asm.s -o hard_asm.o; gcc hard*.o -o hard -pthread -lm'
ok "… and stay as they are" unchanged ./hard
ok "… ending in _exit()" unchanged ./hard _exit
ok "… ending in abort()" unchanged ./hard abort
if [ -z "$csmith" ]; then
    skip "random programs" "csmith is not installed"
else
    for seed in 1 2 3 5; do ok "random program $seed stays as it is" random $seed; done
fi

# ---- the example project

fresh larder
cp -r "$TOP"/examples/larder/. .
rm -rf build .sundew
ok "the example is captured" "$SUNDEW" -q capture -- make check
larder() {
    "$SUNDEW" confirm build/larder --own --json -- make check >out.json 2>out.err
    status=$?
    python3 - "$@" <<'END'
import json, sys
d = json.load(open("out.json"))
confirmed = [(w["family"], w["function"]) for w in d["warnings"] if w["verdict"] == "confirmed"]
assert confirmed == [tuple(x.split("/")) for x in sys.argv[1:]], confirmed
END
}
ok "its planted defect is confirmed, its twins are not" \
    larder unchecked-null/larder_set_price
patch -s -p1 <defects/fix-confirm.patch
ok "with the fix" "$SUNDEW" -q capture -- make check
ok "… it is silent" larder
done_testing
