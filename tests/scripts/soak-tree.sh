# The user's tree after kill -9 at more than a hundred moments.
SUNDEW_MOMENTS=7 exec bash "$TOP/tests/scripts/tree.sh"
