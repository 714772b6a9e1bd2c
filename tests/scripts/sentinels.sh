# The library summaries, against what the C library does with objects that are watched.
. "$TOP/tests/scripts/tap.bash"

"$TOP/tests/tools/sentinels" calls.c
ok "the calls compile" cc -w calls.c -o calls -lm -pthread -ldl
called() { ./calls > told.txt < /dev/null; }
ok "and run" called
ok "each write is in its summary, at its level" "$TOP/tests/tools/sentinels" --check told.txt "$TOP"/share/summaries/*.txt
sed 's/ write \*s//' "$TOP/share/summaries/c.txt" > poorer.txt
missed() { says "strsep: parameter 0 is written at level 1" "$TOP/tests/tools/sentinels" --check told.txt poorer.txt "$TOP"/share/summaries/p*.txt "$TOP"/share/summaries/m*.txt; }
ok "a summary that leaves one out is noticed" missed
done_testing
