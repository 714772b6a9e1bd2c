# sundew events: the acceptance examples of the specification (T-C1 to T-C7), failures with their
# shortest sequence, and programs that can't be searched.
. "$TOP/tests/scripts/tap.bash"
fresh project
cp "$TOP"/tests/subjects/events/*.c .

build() {
    local p
    for p in player mark rectangles recorder counters lock hang structs asks hides password jumps switches clock; do
        gcc -g -o $p $p.c || return 1
    done
    gcc -g -DFIXED -o lock-fixed lock.c && gcc -g -DBUG=1 -o seeded seeded.c &&
        gcc -g -o window window.c -L. -lwindow -Wl,-rpath,"$PWD" && gcc -g -DSTATISTICS -o stats player.c &&
        for l in POLL SELECT EPOLL; do gcc -g -D$l -o server-$l server.c; done &&
        for h in 1 2 3 4; do gcc -g -DHOW=$h -o lines-$h lines.c; done &&
        gcc -g -DHOW=3 -DFIXED -o lines-fixed lines.c &&
        for h in MOUSE SMALL TIME; do
            gcc -g -w -D$h -o screen-$h screen.c -lncurses && gcc -g -w -D$h -DFIXED -o fixed-$h screen.c -lncurses
        done &&
        gcc -g -o curses curses.c -lncurses && gcc -g -DQUITS -o quits curses.c -lncurses
}
export -f build
gcc -shared -fPIC -DSTUB -o libwindow.so window.c
ok "programs are captured" "$SUNDEW" capture -- bash -c build

# events STATUS ARGUMENT…: runs the command; its JSON is in out.json.
events() {
    local want=$1
    shift
    "$SUNDEW" events -j1 --seed 1 --json "$@" >out.json 2>out.err
    local got=$?
    [ $got = "$want" ] || { echo "status $got"; cat out.err; return 1; }
}
# counts "EXPLORED…" "EXTENDED…": of each level.
counts() {
    python3 - "$@" <<'PY'
import json, sys
def held(d):                      # one value stands for all: so it is where a byte is kept
    assert all(p["held"] for p in d["premises"] if p["name"] != "values"), d["premises"]
d = json.load(open("out.json"))
for key, want in zip(("explored", "extended"), sys.argv[1:]):
    got = " ".join(str(l[key]) for l in d["levels"])
    assert got == want, (key, got, "expected", want)
for l in d["levels"]:
    assert l["explored"] == l["pruned"] + l["extended"], l
    assert sum(l["pruned_by"].values()) == l["pruned"], l
    assert l["left"] == 0
held(d)
PY
}
# same_branches FILE: out.json covers what FILE covers.
same_branches() {
    python3 -c 'import json, sys
a, b = (json.load(open(f))["branches"]["edges"] for f in ("out.json", sys.argv[1]))
assert a == b, (a, b)' "$1"
}
RULES_OFF="--without state-hash --without independent"

# T-C1
rectangles() {
    events 0 ./rectangles --loop tap -k1 --classic && counts 46 46 &&
        events 0 ./rectangles --loop tap -k1 --classic --summarise contains && counts 12 12
}
ok "T-C1: a test of a rectangle is four branches, or one condition" rectangles

# T-C2, T-C6
player() {
    events 0 "$@" -k$(wc -w <<<"$CLASSIC") --classic && counts "$CLASSIC" "$CLASSIC" && cp out.json classic.json &&
        events 0 "$@" -k6 $RULES_OFF && counts "3 4 6 8 12 16" "2 2 4 4 8 8" &&
        same_branches classic.json &&
        events 0 "$@" -k6 && counts "3 4" "2 0" && same_branches classic.json
}
CLASSIC="3 7 17 41 99 239"
ok "T-C2: the player as a function" player ./player --loop step
CLASSIC="3 7 17"
ok "T-C6: the player with its state in main()'s locals" player ./mark
ok "T-C6: the player as a curses program" player ./curses

printf '# one client that sends bytes\ndata 1\nopen 1\nconnections 1\n' >one.events
server() {
    events 0 "$1" --events one.events -k3 --classic && counts "3 7 17" "3 7 17" &&
        cp out.json classic.json &&
        events 0 "$1" --events one.events -k4 && counts "3 4" "2 0" && same_branches classic.json
}
for loop in POLL SELECT EPOLL; do
    ok "T-C6: the player as a server ($loop)" server ./server-$loop
done
connections() {
    events 0 ./server-POLL -k3 && python3 - <<'PY'
import json
d = json.load(open("out.json"))
assert d["levels"][0]["explored"] == 4 and d["levels"][0]["extended"] == 1, d["levels"]
assert all(p["held"] for p in d["premises"] if p["name"] != "values"), d["premises"]
PY
}
ok "clients come, send and go by themselves" connections

# The place where a program waits is a part of its state.
places() {
    events 0 ./asks -k3 --classic && cp out.json classic.json && events 0 ./asks -k3 &&
        same_branches classic.json
}
ok "pruning knows at which of two calls a program waits" places

# Each pass is a new start of the program.
starts() {
    events 0 ./jumps -k3 && python3 - <<'PY'
import json
d = json.load(open("out.json"))
assert [l["extended"] for l in d["levels"]] == [1, 0], d["levels"]
assert next(p for p in d["premises"] if p["name"] == "deterministic")["held"]
PY
}
ok "addresses and secrets of a start are no state" starts

# What is not seen is told, and such events are not pruned.
hidden() {
    events 0 ./hides -k2 && python3 - <<'PY'
import json
d = json.load(open("out.json"))
p = {x["name"]: x for x in d["premises"]}
assert not p["writes"]["held"] and "config" in p["writes"]["why"], p
assert d["levels"][0]["extended"] == 3, d["levels"]
PY
}
ok "files and processes are told as a premise that did not hold" hidden

# T-C3
recorder() {
    events 0 ./recorder --loop press -k3 --without never-read --without dead || return 1
    grep -lx 'press(k = STOP)' recorder.events/tests/*.txt >/dev/null || return 1
    ! grep -A2 -hx 'press(k = STOP)' recorder.events/traces.txt | grep -A1 REWIND | grep -q PAUSE
}
ok "T-C3: nothing extends stop, rewind" recorder

# T-C4
counters() {
    events 0 ./counters --loop count -k2 --without state-hash --without independent &&
        counts "3 6" "2 4" &&
        events 0 ./counters --loop count -k2 --without state-hash && counts "3 6" "2 3"
}
ok "T-C4: independent events are kept in one order" counters

# T-C7
statistics() {
    events 0 ./stats --loop step -k4 $RULES_OFF --without never-read --without dead &&
        counts "3 7 17 41" "3 7 17 41" &&
        events 0 ./stats --loop step -k6 $RULES_OFF --without dead &&
        counts "3 4 6 8 12 16" "2 2 4 4 8 8" &&
        python3 -c 'import json; assert json.load(open("out.json"))["never_read"] == ["handled"]' &&
        events 0 ./stats --loop step -k6 $RULES_OFF --without never-read &&
        counts "3 4 6 8 12 16" "2 2 4 4 8 8" &&
        events 0 ./stats --loop step -k6 $RULES_OFF --without never-read --without dead \
            --ignore handled && counts "3 4 6 8 12 16" "2 2 4 4 8 8"
}
ok "T-C7: a counter that nobody reads" statistics

# ---- failures
failure() {
    python3 - "$@" <<'PY'
import json, sys
d = json.load(open("out.json"))
kind, line, *events = sys.argv[1:]
assert len(d["failures"]) == 1, d["failures"]
f = d["failures"][0]
assert f["kind"] == kind and f["line"] == int(line) and f["events"] == events, f
assert len(d["findings"]) == 1
PY
}
overflow() {
    events 1 ./lock --loop key -k6 &&
        failure sanitizer 15 "key(c = 111)" "key(c = 112)" "key(c = 101)" "key(c = 110)" &&
        events 0 ./lock-fixed --loop key -k6
}
ok "the shortest sequence to an overflow, and silence without it" overflow
ok "it shows again" status 1 "$SUNDEW" events --replay lock.events/1
never_ends() {
    events 1 ./hang --loop tick -k4 --timeout 1s &&
        failure cpu-limit 4 "tick(c = 97)" "tick(c = 97)" "tick(c = 97)"
}
ok "an event that never ends" never_ends
structs() {
    events 1 ./structs --loop control -k3 && python3 - <<'PY'
import json
f, = json.load(open("out.json"))["failures"]
assert len(f["events"]) == 2 and "gear = -1" in f["events"][1] and f["line"] == 14, f
PY
}
ok "structs field by field, and the caller's state" structs
ends() {
    events 0 ./quits -k4 && python3 - <<'PY'
import json
d = json.load(open("out.json"))
assert [l["pruned_by"].get("ended", 0) for l in d["levels"]] == [1, 2], d["levels"]
PY
}
ok "a program that ends is not extended" ends

password() {
    events 0 ./password --loop enter -k2 && python3 - <<'PY' || return 1
import json
p = {x["name"]: x["held"] for x in json.load(open("out.json"))["premises"]}
assert not p["values"] and p["solver"], p
PY
    events 1 ./password --loop enter -k2 --cross-event &&
        failure sanitizer 11 "enter(number = 4711)" "enter(number = 12)"
}
ok "a value that is stored now and tested later" password

# ---- lines of a terminal
printf 'line 3\n' >line.events
lines() {
    local h
    for h in 1 2 3 4; do
        events 1 ./lines-$h --events line.events -k2 && python3 - <<'PY' || return 1
import json
d = json.load(open("out.json"))
f, = d["failures"]
assert len(f["events"]) == 2 and "go" in f["events"][0] and "hi" in f["events"][1], f
assert d["levels"][0]["pruned_by"].get("ended"), d["levels"]     # Ctrl-D
PY
    done
    events 0 ./lines-fixed --events line.events -k2
}
ok "a line is an event, however it is read, and Ctrl-D is the end" lines

# ---- a terminal: its size, the mouse, time that passes
printf 'screen 60x20\nresize 60x4\nkeys "qx"\n' >small.events
printf 'keys "mqx"\ntimer\n' >time.events
terminal() {
    events 1 ./screen-$1 "${@:3}" && python3 - "$2" <<'PY' && events 0 ./fixed-$1 "${@:3}"
import json, sys
f, = json.load(open("out.json"))["failures"]
got = " ".join(f["events"])
assert sys.argv[1] in got, got
PY
}
ok "the mouse" terminal MOUSE "button 3" -k2
ok "a terminal that gets small" terminal SMALL resize -k2 --events small.events
ok "time that passes without a key" terminal TIME "'m' time passes time passes time passes" -k4 --events time.events

# ---- a window of SDL 2
window() {
    events 0 ./window -k4 && counts "13 24" "2 0" && grep -qx "key down 'p'" window.events/tests/*.txt
}
ok "keys and buttons of a window" window

# ---- where an event writes depends on it
switches() {
    events 0 ./switches --loop press -k4 && counts "5 20 30 20" "4 6 4 1" && cp out.json whole.json &&
        python3 -c 'import json; b = json.load(open("out.json"))["branches"]; assert b["covered"] == b["all"], b'
}
ok "each index is a way of its own" switches

# A search in parts has the same traces. Events before the last one are run once for many runs.
resumed() {
    events 0 ./switches --loop press -k2 -o parts && events 0 ./switches --loop press -k4 -o parts --resume --executions 22 &&
        events 0 ./switches --loop press -k4 -o parts --resume && python3 - <<'PY' || return 1
import json
a, b = json.load(open("whole.json")), json.load(open("out.json"))
assert a["levels"] == b["levels"] and a["branches"] == b["branches"], (a["levels"], b["levels"])
assert a["search"]["events"] < 1.7 * a["search"]["executions"], a["search"]
PY
    says "other options" "$SUNDEW" events ./switches --loop press --classic -o parts --resume &&
        sed -i 's/"end"/"ende"/' parts/search.json &&
        says "is damaged" "$SUNDEW" events ./switches --loop press -o parts --resume
}
ok "a search goes on where it ended" resumed
ok "nothing to go on with" says "no search to go on with" "$SUNDEW" events ./switches --loop press -o nothing --resume

# An event that only frees a block changes the state.
freed() {
    events 1 ./seeded --loop step -k4 && python3 - <<'PY'
import json
f = json.load(open("out.json"))["failures"]
assert len(f) == 2 and all(len(x["events"]) == 3 for x in f), f
PY
}
ok "a use after free (its twin is in soak-events.sh)" freed
real_clock() {
    events 0 ./clock -k3 && python3 -c 'import json
p = {x["name"]: x for x in json.load(open("out.json"))["premises"]}
assert not p["deterministic"]["held"], p'
}
ok "a program that reads the real clock is told as not deterministic" real_clock
early() {
    "$SUNDEW" events ./lines-2 --no-sanitizers --time 1s --json >out.json 2>out.err && grep -q INCOMPLETE out.err
}
ok "--time ends a build" early

# ---- random programs: a part of soak-events.sh
random_programs() {
    python3 "$TOP/tests/tools/random-loops.py" 3 20 >loops.c &&
        "$SUNDEW" capture -q -- gcc -g -w -o loops loops.c || return 1
    local i
    for i in 0 1 2; do
        events 0 --loop step -k3 --classic ./loops -- $i && cp out.json classic.json &&
            events 0 --loop step -k3 ./loops -- $i && same_branches classic.json || return 1
    done
}
ok "T-C5: random programs reach what CLASSIC reaches" random_programs

# ---- the same result again
again() {
    events 0 ./player --loop step -k4 --classic && cp out.json one.json &&
        events 0 ./player --loop step -k4 --classic && python3 - <<'PY'
import json
a, b = json.load(open("one.json")), json.load(open("out.json"))
assert a["levels"] == b["levels"] and a["branches"] == b["branches"]
PY
}
ok "the same search gives the same result" again
ok "two jobs give the same counts" bash -c '"$SUNDEW" events ./player --loop step -k4 --classic -j2 --json >out.json 2>out.err &&
    python3 -c "import json; d = json.load(open(\"out.json\")); assert [l[\"explored\"] for l in d[\"levels\"]] == [3, 7, 17, 41], d[\"levels\"]"'

# ---- larder
larder() {
    cp -r "$TOP/examples/larder" . && cd larder && "$SUNDEW" capture -q -- make || return 1
    events 1 build/larder -k3 -- data/tiny.ldg browse && python3 - <<'PY' || return 1
import json
d = json.load(open("out.json"))
f, = d["failures"]
assert f["file"].endswith("browse.c") and len(f["events"]) == 2 and f["events"][1] == "'t'", f
assert f["events"][0] in ("'n'", "'f'")
PY
    patch -sp1 <defects/fix-events.patch && "$SUNDEW" capture -q -- make &&
        events 0 build/larder -k3 -- data/tiny.ldg browse
}
ok "the planted defect of larder, and silence with the fix" larder
cd "$work/project"

# ---- what can't be searched
cat >none.c <<'E'
#include <stdio.h>
int twice(int x) { return 2 * x; }
int main(void) { printf("%d\n", twice(2)); return 3; }
E
cat >quick.c <<'E'
#include <unistd.h>
int main(int argc, char **argv) { char c; (void)argv; return argc > 1 ? (int)read(0, &c, 1) : 3; }
E
"$SUNDEW" capture -q -- bash -c 'gcc -g -o none none.c && gcc -g -o quick quick.c'
ok "a program that waits for nothing" says "calls nothing that waits" "$SUNDEW" events ./none
ok "a program that ends at once" says "ended (status 3)" "$SUNDEW" events ./quick
ok "… and not with its arguments" status 0 "$SUNDEW" events ./quick -k2 -- x
ok "no such function" says "no such function" "$SUNDEW" events ./none --loop thrice
ok "not main" says "handles one event" "$SUNDEW" events ./none --loop main
ok "no such rule" says "no such rule" "$SUNDEW" events ./none --loop twice --without luck
ok "a function with a loop is no condition" says "can't be one condition" \
    "$SUNDEW" events ./hang --loop tick --summarise tick
printf 'connect\ndata 4\ndate 5\n' >bad.events
ok "a grammar with a mistake in line 3" says "bad.events:3: no such word" \
    "$SUNDEW" events ./server-POLL --events bad.events
printf 'connect\nkeys "a"\n' >bad.events
ok "a grammar that contradicts itself" says "not both" \
    "$SUNDEW" events ./server-POLL --events bad.events
ok "no depth" says "no number above 0" "$SUNDEW" events ./none --loop twice -k0
ok "a replay of nothing" status 2 "$SUNDEW" events --replay nowhere
done_testing
