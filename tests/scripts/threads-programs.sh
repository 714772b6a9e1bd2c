# Whole programs under schedules of our choice: bugs of every kind are found, fixed
# twins are silent, kept schedules replay. soak-threads.sh has the other programs.
. "$TOP/tests/scripts/tap.bash"
. "$TOP/tests/scripts/threads.bash"

fresh programs
for name in atomicity deadlock-3 lost-wakeup if-not-while use-after-free five-preemptions peterson \
            ticket-lock; do
    schedules=200                         # soak-threads.sh runs 1,000 of each
    [ $name != five-preemptions ] || schedules=800
    ok "$name: found" finds "$name"
    ok "$name: the fixed twin is silent" silent "$name"
done
ok "a kept schedule gives the same end every time" again deadlock-3 5
ok "…of a failure, too" again use-after-free 5
ok "wrong output is found" finds output

picture() { "$SUNDEW" threads --replay deadlock-3.bug.kept/1 | grep -q 'T[0-9] is stopped before lock deadlock-3.c:'; }
ok "a replay draws the interleaving" picture
held() { "$SUNDEW" threads --replay use-after-free.bug.kept/1 | grep -q 'gets here first, holding no lock'; }
ok "…and tells who was stopped, who ran, and the locks" held
ok "the schedule of another build is refused" eval \
    'cp -r deadlock-3.bug.kept other && sed -i "s/^build .*/build 0/" other/1/schedule.txt &&
     says "belongs to another build" "$SUNDEW" threads --replay other/1'
ok "a damaged schedule is refused" eval \
    'cp -r deadlock-3.bug.kept bad && echo "at x run T1" >>bad/1/schedule.txt &&
     says "is not understood" "$SUNDEW" threads --replay bad/1'
ok "no schedule there" says "No such file" "$SUNDEW" threads --replay nowhere/1

# ---- a race: both stacks, and the locks
ok "a race: captured" "$SUNDEW" -q capture -- gcc -g -w "$programs/race-stacks.c" -o race-stacks -pthread
stacks() {
    "$SUNDEW" threads race-stacks --schedules 40 --json "$@" >race.json; [ $? = 1 ] || return 1
    python3 -c "
import json
rows = json.load(open('race.json'))['races']
assert rows
for r in rows:
    sides = {s['stack'][-1]['function']: s for s in (r['first'], r['second'])}
    assert [x['function'] for x in sides['careful']['stack']] == ['add', 'guarded', 'careful'], r
    assert [x['function'] for x in sides['hasty']['stack']] == ['add', 'hasty'], r
    assert [(x['function'], x['line']) for x in sides['careful']['held']] == [('guarded', 11)], r
    assert not sides['hasty']['held'] and sides['careful']['stack'][1]['line'] == 12, r
"
}
ok "…who called, on both sides, and what was locked" stacks
ok "…without the sanitizer, too" stacks --no-sanitizers
freed() {
    "$SUNDEW" -q capture -- gcc -g -w "$programs/race-pointer.c" -o race-pointer -pthread || return 1
    "$SUNDEW" threads race-pointer --schedules 40 --json >race.json; [ $? = 1 ] || return 1
    python3 -c "
import json
rows = json.load(open('race.json'))['races']
assert any({r['first']['line'], r['second']['line']} == {10, 16} for r in rows), rows
"
}
ok "…memory that is freed through a pointer: where" freed

# ---- with scheduling off a woven program is the plain one
spends() { schedules=450 search order twin && grep -q '"runs": 450' order.twin.json; }
ok "a budget of schedules is used, though all with few preemptions were run" eval 'made order twin && spends'
for name in semaphores bank c11-threads tls-destructor error-checking; do
    ok "$name: made" made "$name" twin
    ok "$name: woven, not scheduled, it does the same" unscheduled "$name.twin"
done
ok "errno, times and answers: captured" "$SUNDEW" -q capture -- gcc -g -w "$programs/unscheduled.c" -o unscheduled -pthread
ok "…woven, not scheduled, are the same" unscheduled unscheduled

# ---- programs that can't be scheduled, or not wholly: a clear word each
fresh odd
ok "odd programs: captured" "$SUNDEW" -q capture -- gcc -g -w "$programs/odd.c" -o odd -pthread
odd() { says "$2" timeout 300 "$SUNDEW" threads odd --schedules "${3:-40}" -o odd.kept -- "$1"; }
ok "without threads" odd none "made no thread"
ok "100 threads at a time" odd crowd "more than 64 threads"
ok "100 threads, one after the other" odd queue "All schedules with at most"
detached() {
    timeout 300 "$SUNDEW" threads odd --json --schedules 40 -- detached >detached.json || return 1
    grep -q '"runs": 40' detached.json && grep -q '"inconclusive": 0' detached.json
}
ok "500 detached threads, one after the other" detached
ok "one that never ends" odd endless "may not end" 3
ok "one that forks" odd fork "All schedules with at most" 1000
ok "one that blocks in read()" odd read "blocks in a system call" 10
ok "threads of a library" odd library "that a library made"
ok "threads that are cancelled" odd cancel "All schedules with at most" 1000
crowd_counts() { "$SUNDEW" threads odd --json --schedules 5 -- crowd | grep -q '"inconclusive": 5'; }
ok "such runs are counted" crowd_counts
few() { ! "$SUNDEW" threads odd --schedules 3 -- cancel | grep 'All schedules'; }
ok "a search that ends early claims nothing" few
ok "too many preemptions are refused" says "at most 7 preemptions" "$SUNDEW" threads odd --bound 8 -- none
ok "--time holds" says "schedules of 64 threads" \
    timeout -k 9 300 "$SUNDEW" threads odd --time 3s --schedules 1000000 -- queue
# It is interrupted once schedules are run, and ends in order however long that takes.
# timeout(1) sends the signal twice, to the process and to its group.
stops() {
    local i pid again=${2-}
    "$SUNDEW" threads odd --schedules 1000000 -- "$1" >stopped 2>&1 &
    pid=$!
    for i in $(seq 600); do
        pgrep -P $pid -x sundew-run >/dev/null && break
        sleep 0.1
    done
    kill -INT $pid
    [ -z "$again" ] || kill -INT $pid
    wait $pid
    [ $? = 130 ] && grep -qi 'interrupt' stopped || { cat stopped; return 1; }
}
ok "Ctrl-C ends it" stops queue
ok "…if the signal comes twice at once" stops queue twice
ok "…in the middle of a run that does not end" stops read
done_testing
