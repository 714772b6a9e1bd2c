# Warnings that the tests confirm, reject, or leave open: the twins of the specification, the
# example project, other tools' reports, and bad input.
. "$TOP/tests/scripts/tap.bash"
subjects=$TOP/tests/subjects/confirm

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
ok "the twins are captured" "$SUNDEW" capture -- gcc -g -O1 -o twins twins.c
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
ok "a comparator that is a truth value" judges c3-truth confirmed:strong comparator by_truth
ok "a difference that can overflow" judges c3-far confirmed:predictive comparator by_difference
ok "… and one that can't" judges c3-near rejected comparator by_difference
ok "… a real order is no suspect" \
    python3 "$TOP/tests/scripts/confirm.py" out.json none comparator by_order
ok "… a comparator that was not called" \
    python3 "$TOP/tests/scripts/confirm.py" out.json undetermined comparator by_truth
ok "a hash that tells equal keys apart, used" judges c4-table confirmed:usage hash-equality key_hash
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
    "$SUNDEW" -q capture -- gcc -g -O1 -o twins twins.c || return 1
    "$SUNDEW" confirm ./twins --own --json --merge -- ./twins c3-truth >out.json 2>out.err
    python3 "$TOP/tests/scripts/confirm.py" out.json undetermined overflow-test too_large
}
ok "evidence about a function that changed is dropped" changed

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
