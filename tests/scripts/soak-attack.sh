# The long attacks: those of tests/attack/ that take their time. Use it with make soak SAN=1.
ATTACK_LONG=yes
. "$TOP/tests/scripts/attack.sh"
done_testing
