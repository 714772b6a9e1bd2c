# reproduce: tests that fail whatever the compiler does, and turn green when the defect is mended.
. "$TOP/tests/scripts/tap.bash"

# subject NAME LEVEL: its source here, captured as ./NAME with this optimisation.
subject() {
    fresh "$1$2"
    cp "$TOP/tests/subjects/reproduce/$1.c" .
    "$SUNDEW" capture -- gcc -g "$2" -o "$1" "$1.c" >/dev/null 2>&1
}
# in_field NAME [ARGUMENT]: the optimised monitored program leaves field.crash.
in_field() {
    "$SUNDEW" monitor "./$1" -o "$1.monitored" >/dev/null 2>&1 || return
    { "./$1.monitored" "${2:-a}" >/dev/null 2>&1; } 2>/dev/null
    mv -f "$1".[0-9]*.crash field.crash
}
# kept NAME ARGUMENT…: reproduces; leaves NAME.json; prints the functions with a test, the best first.
kept() {
    local name=$1
    shift
    "$SUNDEW" reproduce --json -o "$name.tests" "$@" >"$name.json" 2>"$name.err"
    python3 -c 'import json, sys
print(" ".join(t["function"] + ("" if t["informative"] else "-") for t in json.load(open(sys.argv[1]))["tests"] if t["reproduces"]))' \
        "$name.json"
}
keeps() {
    local wanted=$1 got
    shift
    got=$(kept "$@")
    [ "$got" = "$wanted" ] || { echo "kept: $got"; cat "$1.err"; return 1; }
}
fails() { ! make -s -C "$1.tests" check >make.out 2>&1 && grep -q '^FAIL' make.out; }
all_pass() {
    make -s -C "$1.tests" check >make.out 2>&1
    [ "$(grep -c '^ok' make.out)" = "$2" ] || { cat make.out; return 1; }
}

# A function that is handed the damage comes last, with a minus here: it is not informative.
for level in -O0 -O2 -O3; do
    subject green $level
    ok "green $level: the optimised program leaves a crash file" in_field green
    ok "green $level: functions that were inlined have their tests" keeps "scan judge check main weight-" field field.crash
    ok "green $level: …which fail" fails field
    sed -i 's/^#define DEFECT 1/#define DEFECT 0/' green.c
    ok "green $level: mended, the informative tests pass" all_pass field 4
done

subject green -O2
ok "green: at the desk every function has a test" keeps "scan judge check main weight-" desk ./green -- a
ok "green: …which fails" fails desk
ok "green: …without a copy of the program" sh -c '[ -e desk.tests/files/green.c ] && [ ! -e desk.tests/files/green ]'
ok "green: …a list is told by its first item" grep -q 'first = &{ .name = "n", .value = 3, .next = ... }' desk.tests/test_judge.c
ok "green: it leaves a crash file" in_field green
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' green.c
ok "green: mended, they pass" all_pass desk 4

ok "a review folds what is zero" says "fields that are zero" "$SUNDEW" reproduce --review field.crash
ok "without files a note comes first" says "name their folder with --files" "$SUNDEW" reproduce field.crash -o again

fresh generated
mkdir parts
cp "$TOP/tests/subjects/reproduce/green.c" parts
whole() { { echo '#line 1 "parts/green.c"'; cat parts/green.c; } >whole.c; }
whole
"$SUNDEW" capture -- gcc -g -O2 -o whole whole.c >/dev/null 2>&1
ok "generated: functions whose #line directives name another file have tests" \
    keeps "scan judge check main weight-" desk --no-shrink ./whole -- a
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' parts/green.c
whole
ok "generated: made anew from the mended file, they pass" all_pass desk 4

subject unused -O2
ok "unused: a result that nobody uses" keeps "greet main first-" desk ./unused -- a
ok "unused: …the tests fail" fails desk
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' unused.c
ok "unused: mended, they pass" all_pass desk 2

subject gone -O2
ok "gone: a store to null is not dropped" in_field gone
ok "gone: …nor in the tests" keeps "half main" field field.crash
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' gone.c
ok "gone: mended, they pass" all_pass field 2

subject words -O2
only_use() {
    "$SUNDEW" monitor ./words --only use -o words.monitored >/dev/null 2>&1
    { ./words.monitored >/dev/null 2>&1; } 2>/dev/null
    mv -f words.[0-9]*.crash field.crash
}
ok "words: a crash file" only_use
ok "words: …a test" keeps "use" field --no-shrink --files . field.crash
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' words.c
ok "words: mended, it passes: it has the whole list of a function that is not monitored" all_pass field 1

subject merged -O2
ok "merged: a crash in code that has no line" in_field merged
ok "merged: …tests" keeps "fill main put-" field --no-shrink --files . field.crash
ok "merged: …know the line" sh -c 'grep -q "put() at merged.c:19" field.json'
ok "merged: …and the desk" keeps "fill main put-" desk --no-shrink ./merged -- a
ok "merged: one finding for both" sh -c '[ "$("$SUNDEW" report --json | grep -c "\"fingerprint\"")" = 1 ]'

subject cuts -O2
ok "cuts: a crash file" in_field cuts key=value
ok "cuts: …the tests have the argument whole" keeps "set main" field field.crash
ok "cuts: …the head of main() tells all arguments" grep -q '^ \*   argv = { "./cuts.monitored", "key=value" }$' field.tests/test_main.c
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' cuts.c
ok "cuts: mended, they pass: longjmp() out of the function ends a test" all_pass field 2

subject arena -O2
ok "arena: a crash file" in_field arena
ok "arena: …tests of all functions" keeps "total judge main" field field.crash
ok "arena: …which name what lies in the block" \
    sh -c 'grep -q "struct node \*first = (void \*)((char \*)l + " field.tests/test_judge.c && grep -q "\.next = next" field.tests/test_judge.c'
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' arena.c
ok "arena: mended, they pass" all_pass field 3

subject large -O2
ok "large: a crash file" in_field large
ok "large: …functions near main() have large variables as they were" keeps "work boot main length-" field field.crash
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' large.c
ok "large: mended, they pass" all_pass field 3

subject opens -O2
printf 'a,b\nc\nd,e\n' >rows
ok "opens: a crash file" in_field opens rows
mkdir empty && mv rows empty/other
ok "opens: …it has the file that was open, by its name" keeps "check each_line main width-" field field.crash
ok "opens: …the tests fail" fails field
ok "opens: …heads show it" grep -q 'files/rows begins with "a,b' field.tests/test_main.c
ok "opens: …that of a function tells what the program was given" grep -A1 '^ \* The program was given:' field.tests/test_check.c
ok "opens: …so does a review" says "descriptor 3, rows" "$SUNDEW" reproduce --review field.crash
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' opens.c
ok "opens: mended, they pass" all_pass field 3

subject split -O2
ok "split: a crash file" in_field split
ok "split: …tests; who aborts by what it is handed is not informative" keeps "walk main value-" field field.crash
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' split.c
ok "split: mended with other parameters, the others pass" all_pass field 2
ok "split: …and the one that can't be built is told" grep -q "^---- test_value can't be built any more" make.out
ok "split: …which is no failure" make -s -C field.tests check

subject inlined -O2
ok "inlined: a crash file" in_field inlined
ok "inlined: …a small function with a buffer has a test too" keeps "work main total-" field field.crash
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' inlined.c
ok "inlined: mended, they pass" all_pass field 3

# behind STRATEGY ARGUMENT: leaves ARGUMENT.crash.
behind() {
    "$SUNDEW" monitor ./behind --copy "$1" -o behind.monitored >/dev/null 2>&1 || return
    { ./behind.monitored "$2" >/dev/null 2>&1; } 2>/dev/null
    mv -f behind.[0-9]*.crash "$2.crash"
}
subject behind -O2
ok "behind: a crash file without all that comes behind the failure" behind used-fields far
ok "behind: …whose function needs that is not informative" keeps "length main far-" far far.crash
ok "behind: …and says why" grep -q 'behind the failure it needs memory that the crash file does not hold' far.json
ok "behind: one with objects of two times" behind shallow twice
ok "behind: …whose function gives one back twice is not either" keeps "length main twice-" twice twice.crash
ok "behind: …and says why" grep -q 'behind the failure it gives back memory that is not there' twice.json
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' behind.c
ok "behind: mended, the others pass" all_pass far 2
ok "behind: …and here too" all_pass twice 2

subject header -O2
ok "header: a crash file" in_field header
ok "header: …tests of functions that get their objects by a cast" keeps "divide run main" field field.crash
ok "header: …the end of an empty stack lies before it" grep -q 'errors.last = (void \*)((char \*).* - 48)' field.tests/test_run.c
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' header.c
ok "header: mended, they pass" all_pass field 3

subject asserts -O0
ok "asserts: who is handed what it asserts not to be is not informative" keeps "run main push-" push --no-shrink ./asserts -- a
ok "asserts: …and says so" grep -q 'is handed what it asserts not to be' push.json
ok "asserts: …also by a call that only looks" keeps "run main checked-" checked --no-shrink ./asserts -- a 100
ok "asserts: who asserts what a call did is" keeps "take run main" take --no-shrink ./asserts --
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' asserts.c
ok "asserts: mended, the others pass" all_pass push 2
ok "asserts: …and all of these" all_pass take 3

# The first null pointer that a test comes to is not the one that breaks it.
subject handed -O0
ok "handed: one null pointer of many is the damage" keeps "main length- total- several-" wide --no-shrink ./handed -- wide
ok "handed: …and named" grep -q 'is handed the damage: w->last is null already' wide.json
ok "handed: a variable that the program asks for may be null" keeps "current main length-" current --no-shrink ./handed -- current
ok "handed: …wide text is text" grep -q 'unit = L"cm"$' current.tests/test_current.c
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' handed.c
ok "handed: mended, the others pass" all_pass wide 1
ok "handed: …and here" all_pass current 2

subject far -O0
ok "far: null that nobody asks for is the damage wherever it is" keeps "read_line main all_settings- all_commands-" line --no-shrink ./far -- a b
ok "far: …who may have to ask is informative" keeps "width both read_book main" book --no-shrink ./far -- a
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' far.c
ok "far: mended, the others pass" all_pass line 2
ok "far: …and here" all_pass book 4

subject blocks -O2
ok "blocks: a crash file" in_field blocks x
ok "blocks: …blocks of mmap() are state, who never returns has no test" keeps "declare all main size_of-" field --no-shrink field.crash
ok "blocks: …it fails where the reporter was called" grep -q "abort in size_of() at blocks.c:36" field.json
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' blocks.c
ok "blocks: mended, those pass that are not handed it" all_pass field 3

subject known -O0
ok "known: contracts of a run" says "word != NULL" "$SUNDEW" invariants known -- ./known a b c a b c a b c a b c
ok "known: …tests of a crash" keeps "main width-" desk --no-shrink ./known -- a none
ok "known: …tell which argument is new" grep -q '^ \*   word was never NULL in 12 recorded calls$' desk.tests/test_width.c
ok "known: …and how the program was called" grep -q '^ \* program known a none$' desk.tests/test_width.c
ok "known: …and no other" sh -c '! grep -q "room was" desk.tests/test_width.c && ! grep -q "That is new" desk.tests/test_main.c'

subject jumps -O2
ok "jumps: a crash file" in_field jumps
ok "jumps: …tests" keeps "parse main" field field.crash
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' jumps.c
ok "jumps: mended, they pass: a jump through a buffer without a type" all_pass field 2

subject late -O2
ok "late: a crash file" in_field late
# Alone, finish() ends in free() as before, or crashes there: by chance one time in twenty, and then it has no test.
not_informative() { keeps "run main finish-" field field.crash || keeps "run main" field field.crash; }
ok "late: …who is handed a broken heap is not informative" not_informative
ok "late: …who breaks it says where" grep -q '"the damage is done in fill() at late.c:.*heap-buffer-overflow' field.json
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' late.c
ok "late: mended, they pass" all_pass field 2

# Whether worker() had its job when it was entered is chance; work() had it.
subject threaded -O2
ok "threaded: a thread's crash" in_field threaded
ok "threaded: …begins with what broke it" says "begin with work(j, 3)" "$SUNDEW" reproduce --files . -o field.tests field.crash
ok "threaded: …and a test fails" fails field
ok "threaded: …main() runs the program with both threads" grep -q '^FAIL test_main' make.out
sed -i 's/^#define DEFECT 1/#define DEFECT 0/' threaded.c
ok "threaded: mended, work() and main() pass" sh -c 'make -s -C field.tests check >make.out 2>&1; grep -q "^ok *test_work" make.out && grep -q "^ok *test_main" make.out'

subject outside -O1
export OUTSIDE=1
ok "outside: a crash file" in_field outside
unset OUTSIDE
there=$(mktemp -d)
ok "outside: the sanitizer is tried in a folder that is elsewhere" says "ran to its end" "$SUNDEW" reproduce --files . -o "$there/tests" field.crash
ok "outside: …which stays" sh -c '[ -s "$1/tests/README.md" ]' - "$there"
rm -rf "$there"
done_testing
