# Random dataflow programs: Pig Latin beside the same program in SQLite, rows that
# show every class, and classes that are called impossible against random tables;
# then random SQL on random rows. (Takes about twenty minutes.)
. "$TOP/tests/scripts/tap.bash"
for seed in 1 2 3 4 5 6 7 8; do
    ok "forty random programs of seed $seed" "$TOP/tests/tools/random-flows.py" "$SUNDEW" "$seed" 40
done
for seed in 101 102 103 104; do
    ok "a thousand random queries of seed $seed" "$SUNDEW_BUILD/tests/sqlcheck" --random "$seed" 1000
done
done_testing
