# sundew substitutes --concurrent: one call each from two threads, on both sides.
. "$TOP/tests/scripts/tap.bash"

subject() { fresh "$1$2"; cp "$TOP/tests/subjects/substitutes/$1.c" . && "$SUNDEW" capture -q -- gcc -g $2 "$1.c" -o "$1" -pthread; }
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

done_testing
