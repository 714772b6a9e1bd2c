# sundew check killed at a hundred random moments, with techniques that end by themselves and one that
# does not: the next check says no wrong word, loses no finding, and does nothing again that was done.
# SUNDEW_KILLS: another number; SUNDEW_SEED: other moments.
. "$TOP/tests/scripts/tap.bash"
unset SUNDEW_SINCE SUNDEW_OUT SUNDEW_TIME
kills=${SUNDEW_KILLS:-100}
RANDOM=${SUNDEW_SEED:-1}
techniques=arguments,types,mutability,monitor,invariants,confirm,explore

# state WHAT: the names of steps that are done, or the fingerprints of findings, one a line.
state() {
    python3 - "$1" <<'END'
import json, subprocess, os, sys
if sys.argv[1] == "done":
    try:
        steps = json.load(open(".sundew/check/state.json"))["steps"]
    except FileNotFoundError:
        steps = []
    print("\n".join(sorted(s["name"] for s in steps if s["status"] == "done" and not s["incomplete"])))
else:
    r = subprocess.run([os.environ["SUNDEW"], "report", "--json"], capture_output=True, text=True)
    found = json.loads(r.stdout)["findings"] if r.stdout else []
    print("\n".join(sorted(f["fingerprint"] for f in found)))
END
}
begin() {
    rm -rf .sundew
    cp "$TOP"/tests/subjects/check/* .
    sed -i 's/buf_set(b, start, length);/buf_set(b, length, start);/' buf.c
    make -s clean >/dev/null 2>&1
}
again() {
    python3 - "$1" <<'END'
import json, sys
done = set(open(sys.argv[1]).read().split("\n"))
print("\n".join(r["step"] for r in json.load(open("out.json"))["ran"] if r["now"] and r["step"] in done))
END
}

fresh kills
begin
: >lost; : >again; : >words; ended=0; killed=0
while [ $killed -lt "$kills" ]; do
    state done >done.before; state found >found.before
    delay=$((RANDOM % 9000))
    (timeout -s KILL $(printf '%d.%03d' $((delay / 1000)) $((delay % 1000))) \
        "$SUNDEW" check --only $techniques --time 60s --json >out.json 2>err) 2>/dev/null
    status=$?
    state found >found.after 2>>words
    comm -23 found.before found.after >>lost
    if [ $status = 137 ]; then
        killed=$((killed + 1))
        continue
    fi
    [ $status -le 1 ] || { cat err >>words; echo "exit status $status" >>words; }
    again done.before >>again
    ended=$((ended + 1))
    begin
done
echo "# $killed kills, $ended checks that ended in between"
ok "nothing that was found is lost" sh -c '! grep . lost'
ok "nothing that was done is done again" sh -c '! grep . again'
ok "no check says a wrong word" sh -c '! grep . words'
ok "a check ended after kills" test $ended -gt 0
done_testing
