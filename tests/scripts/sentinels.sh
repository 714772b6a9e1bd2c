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

"$TOP/tests/tools/sentinels" --every every.c "$TOP"/share/summaries/*.txt
ok "a program that calls every function compiles" cc -w every.c -o every -lm -pthread -ldl -lutil -lresolv -lcrypt
everything() { ./every > every.txt < /dev/null; }
ok "and runs" everything
ok "no function writes more than its summary says" "$TOP/tests/tools/sentinels" --check-every every.txt "$TOP"/share/summaries/*.txt
ok "there are more than 500" test "$(cut -d ' ' -f 1 every.txt | sort -u | wc -l)" -gt 500
sed 's/^time t:w/time t:r/' "$TOP/share/summaries/c.txt" > poorer.txt
unsaid() { says "time: parameter 0 is written at level 0" "$TOP/tests/tools/sentinels" --check-every every.txt poorer.txt "$TOP"/share/summaries/p*.txt "$TOP"/share/summaries/m*.txt; }
ok "a summary that leaves one out is noticed here too" unsaid
done_testing
