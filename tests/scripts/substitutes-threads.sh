# sundew substitutes --concurrent: one call each from two threads, on both sides.
. "$TOP/tests/scripts/tap.bash"

subject() { fresh "$1${2-}"; cp "$TOP/tests/subjects/substitutes/$1.c" . && "$SUNDEW" capture -q -- gcc -g ${2-} "$1.c" -o "$1" -pthread; }
substitutes() { "$SUNDEW" substitutes --json --seed 1 --tests 160 --concurrent --schedules 40 "$@" >out.json 2>err.txt; [ $? -le 1 ]; }
says() {
    python3 -c "
import json
d = json.load(open('out.json'))
p = d['pairs'][0]
all = p['differences']
assert $1, json.dumps(d['pairs'], indent=1)
"
}

ok "B2: a slot without its lock" subject b2
ok "B2: it runs" substitutes ./b2 --reference locked
ok "B2: a use of freed memory that only the candidate shows" says "any(x['kind'] == 'crash' and x['cause'] == 'lost synchronisation' and x['bounded'] and 'T1 ' in x['test'] for x in all)"
ok "B2: one after the other it is alike" says "not [x for x in all if not x.get('bounded')] and p['concurrent']['tests'] > 5"
ok "B9: locks in another order" subject b9
ok "B9: it runs" substitutes ./b9 --reference base_ops
ok "B9: they block each other" says "[(x['kind'], x['cause']) for x in all] == [('deadlock', 'lost synchronisation')]"

ok "an addition that is lost: a program" subject b2-count
ok "it runs" substitutes ./b2-count --reference locked
ok "an output that no serial order gives, and the reference in no order" says "[(x['kind'], x['function'], x['cause']) for x in all] == [('output', 'add', 'lost synchronisation')] and 'as in no serial order: then value returns' in all[0]['candidate_did']"
ok "only crashes: silent" eval 'substitutes ./b2-count --reference locked --crash-only && says "all == []"'
ok "with its lock: a program" subject b2-count -DFIXED
ok "with its lock: silent" eval 'substitutes ./b2-count --reference locked && says "all == [] and p[\"concurrent\"][\"tests\"] > 3"'
done_testing
