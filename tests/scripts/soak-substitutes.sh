# sundew substitutes, what takes long: correct twins from two threads; other seeds.
. "$TOP/tests/scripts/tap.bash"

subject() { fresh "$1$2"; cp "$TOP/tests/subjects/substitutes/$1.c" . && "$SUNDEW" capture -q -- gcc -g $2 "$1.c" -o "$1" -pthread; }
count() { "$SUNDEW" substitutes --json "$@" >out.json 2>err.txt; python3 -c "import json; print(sum(len(p['differences']) for p in json.load(open('out.json'))['pairs']))"; }

for one in "b2 locked" "b9 base_ops"; do
    set -- $one
    ok "$1 with its locks" subject "$1" -DFIXED
    ok "$1 with its locks: silent" eval '[ "$(count "./$1" --reference "$2" --concurrent --seed 1)" = 0 ]'
done
for one in "b1 tree_ops" "b3 array_ops" "b5 plain" "b6 hash_new"; do
    set -- $one
    ok "$1 repaired" subject "$1" -DFIXED
    for seed in 2 3 4; do
        ok "$1 repaired, seed $seed: silent" eval '[ "$(count "./$1" --reference "$2" --seed $seed --tests 2000)" = 0 ]'
    done
    ok "$1" subject "$1"
    for seed in 2 3 4; do
        ok "$1, seed $seed: it differs" eval '[ "$(count "./$1" --reference "$2" --seed $seed)" -gt 0 ]'
    done
done

done_testing
