# sundew substitutes, what takes long: correct twins from two threads; other seeds.
. "$TOP/tests/scripts/tap.bash"

subject() { fresh "$1${2-}"; cp "$TOP/tests/subjects/substitutes/$1.c" . && "$SUNDEW" capture -q -- gcc -g ${2-} "$1.c" -o "$1" -pthread; }
count() { "$SUNDEW" substitutes --json "$@" >out.json 2>err.txt; python3 -c "import json; print(sum(len(p['differences']) for p in json.load(open('out.json'))['pairs']))"; }
silent() { [ "$(count "$@")" = 0 ]; }
differs() { [ "$(count "$@")" -gt 0 ]; }

twin_from_threads() {
    ok "$1 with its locks" subject "$1" -DFIXED
    ok "$1 with its locks: silent" silent "./$1" --reference "$2" --concurrent --seed 1
}
other_seeds() {
    ok "$1 repaired" subject "$1" -DFIXED
    for seed in 2 3 4; do
        ok "$1 repaired, seed $seed: silent" silent "./$1" --reference "$2" --seed "$seed" --tests 2000
    done
    ok "$1" subject "$1"
    for seed in 2 3 4; do
        ok "$1, seed $seed: it differs" differs "./$1" --reference "$2" --seed "$seed"
    done
}

twin_from_threads b2 locked
twin_from_threads b9 base_ops
other_seeds b1 tree_ops
other_seeds b3 array_ops
other_seeds b5 plain
other_seeds b6 hash_new

done_testing
