# 100,000 damaged inputs for each reader. Use it with make soak SAN=1.
READER_INPUTS=100000
. "$TOP/tests/scripts/readers.sh"
