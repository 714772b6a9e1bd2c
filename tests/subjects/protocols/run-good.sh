# Runs of files that go well.
printf 'a\nb\n' >a.txt
for i in 1 2 3; do
    ./files log; ./files config a.txt; ./files config nothing; ./files first a.txt
    ./files count a.txt a.txt; ./files table; ./files locks
done
