# The example project: builds without warnings, passes its own tests plain and
# captured, and the demo shows its report.
. "$TOP/tests/scripts/tap.bash"
cp -r "$TOP/examples/larder" . && cd larder || exit 1
lines=$(cat include/*.h src/*.[ch] tool/*.[ch] tests/*.c | wc -l)
ok "of a believable size ($lines lines)" test "$lines" -ge 800 -a "$lines" -le 1500
ok "gcc has nothing to say" make -s CC=gcc CFLAGS='-O2 -Wall -Wextra -Werror' all
ok "its own tests pass" make -s check
make -s clean
ok "clang has nothing to say" make -s CC=clang-19 CFLAGS='-O2 -Wall -Wextra -Werror -Wno-unused-parameter' all
make -s clean
ok "captured whole" says "captured 17 of 17 C units linked (100%) in 3 programs" "$SUNDEW" capture -- make -s
ok "its tests pass on the captured build" make -s check
ok "calls through its table of commands are known" says "main calls, through a pointer, cmd_stock, cmd_usage, cmd_top, cmd_urgent, cmd_kit, cmd_browse" "$SUNDEW" show calls build/larder main
ok "…and which store may be opened" says "through a pointer, list_open, packed_open" "$SUNDEW" show calls build/larder main
ok "the planted wrong type is found, and nothing else" sh -c '[ "$("$SUNDEW" -q types | grep -c "types: ")" = 1 ] && "$SUNDEW" -q types | grep -A4 "kit.c:48.*larder_fail: argument 2 is EINVAL" | grep -q "43 of 44 callers pass enum larder_status"'
ok "the planted exchange is found, and nothing else" sh -c '[ "$("$SUNDEW" -q arguments | grep -c "arguments: ")" = 1 ] && "$SUNDEW" -q arguments | grep -q "commands.c.*larder_usage: arguments 3 and 4 look swapped"'
# the tests keep used <= capacity; a run that voids an issue breaks it, in larder_void and nowhere else
contract() {
    "$SUNDEW" -q invariants build/larder -- make -s check >contracts.txt 2>&1 && grep -q 'l->shelves->used <= l->shelves->capacity' contracts.txt &&
    "$SUNDEW" -q invariants build/larder --check -- build/larder data/returns.ldg stock >broken.txt 2>&1; [ $? = 1 ] &&
        [ "$(grep -c 'invariants: ' broken.txt)" = 1 ] &&
        grep -q 'ledger.c.*larder_void no longer ensures l->shelves->used <= l->shelves->capacity' broken.txt || { cat broken.txt; return 1; }
}
ok_mounted "the planted broken contract is found, and nothing else" contract
mended() {
    cp -r . ../mended && cd ../mended && patch -s -p1 <defects/fix-invariants.patch && "$SUNDEW" -q capture -- make -s >/dev/null &&
        "$SUNDEW" -q invariants build/larder --check -- build/larder data/returns.ldg stock >broken.txt 2>&1 || { cat broken.txt; return 1; }
}
ok_mounted "…and not with the fix" mended
cd "$work" || exit 1
ok "the demo runs through" sh -ec 'cp -r "$TOP/examples" .; ln -s "$SUNDEW_BUILD" build; examples/demo build/sundew 40s 15s'
ok "…and leaves a page" test -s "$SUNDEW_BUILD/demo/examples/.sundew/check/report.html"
done_testing
