# The long attacks: those of tests/attack/ that take their time, and readers with 100,000
# damaged inputs each. Use it with make soak SAN=1.
ATTACK_LONG=yes
. "$TOP/tests/scripts/attack.sh"
export SUNDEW_MUTATIONS=100000
for test in test_readers test_crash test_trace test_concolic_log test_sequence; do
    ok "$test, 100,000 damaged inputs" "$SUNDEW_BUILD/tests/$test"
done
done_testing
