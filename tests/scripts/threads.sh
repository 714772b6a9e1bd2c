# Commands with several threads. Under `make check-tsan` the thread sanitizer watches: every report
# goes to a file, and there must be none.
. "$TOP/tests/scripts/tap.bash"
fresh project
export TSAN_OPTIONS="die_after_fork=0 exitcode=0 log_path=$PWD/report"

cp "$TOP/tests/subjects/explore/letters.c" letters.c
ok "a program is captured" "$SUNDEW" capture -- gcc -g -DBUG -o letters letters.c

two_jobs() {
    "$SUNDEW" explore ./letters -o out -j2 --json --stop-at first-failure --time 120s "$@" \
        >out.json 2>out.err
    [ $? -eq 1 ] || { cat out.err; return 1; }
    python3 -c 'import json; d = json.load(open("out.json")); assert len(d["failures"]) == 1, d'
}
ok "two jobs find the failure by mutation" two_jobs --no-concolic
rm -rf out
ok "two jobs find the failure by solving" two_jobs --no-mutation

no_reports() {
    local r
    for r in report.*; do
        [ -e "$r" ] && { head -40 "$r"; return 1; }
    done
    return 0
}
ok "threads don't race" no_reports
done_testing
