# More random programs: what concolic.sh does with a few.
export SEED_FIRST=1000 SEED_LAST=${SEED_LAST:-1499}
. "$TOP/tests/scripts/concolic.sh"
