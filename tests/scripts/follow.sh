# Concolic runs of small programs: what they say holds, and what is predicted happens.
. "$TOP/tests/scripts/tap.bash"
build=$(dirname "$SUNDEW")
follow=$build/tests/concolic-follow
clang=$(command -v clang-19 || echo /usr/lib/llvm-19/bin/clang)

# program NAME: NAME.c, woven, as NAME.con.
program() {
    "$clang" -O0 -Xclang -disable-O0-optnone -g -w -emit-llvm -c "$1.c" -o "$1.bc" &&
        "$follow" build -a "$TOP/share" -l -lm -l -lpthread "$build" "$1.con" "$1.bc"
}

# path TEXT NAME: a conjunct, bug or note of the run on NAME.in.
path() { says "$1" "$follow" run -q -d "$2.in" "./$2.con"; }
never() { ! path "$@"; }
# all predictions right: at least N of them.
followed() {
    local out n
    out=$("$follow" run "$2.in" "./$2.con") || { echo "$out"; return 1; }
    n=$(echo "$out" | sed -n 's/.* followed \([0-9]*\) .*/\1/p')
    [ "${n:-0}" -ge "$1" ] || { echo "$out"; return 1; }
}

cp "$TOP/tests/subjects/follow/table.c" table.c
printf '\1\1\1\1' >table.in
ok "tables: woven" program table
ok "a table is read for all its elements" followed 3 table
ok "an index that can leave its table is a question" path "out of bounds" table
ok "a divisor that can't be 0 is no question" never "division by zero" table

# Lengths, and local variables that they may leave.
cp "$TOP/tests/subjects/follow/copied.c" copied.c
sed 's/SIZE/sizeof name - 2/' copied.c >copied-ok.c
sed -i 's/SIZE/b[0]/' copied.c
printf '\1%031d' 7 | tee copied.in >copied-ok.in
ok "copies: woven" program copied
ok "a length that can leave a local variable is a question" \
    path "after 1: input[0] > 10" copied
ok "copies: a fixed length, woven" program copied-ok
ok "a fixed length is no question" never "out of bounds" copied-ok

cp "$TOP/tests/subjects/follow/calls.c" calls.c
echo "gceaxxxxxxxxxx" >calls.in
ok "calls: woven" program calls
ok "variable arguments, structs, sorting, setjmp, realloc" followed 12 calls

cp "$TOP/tests/subjects/follow/together.c" together.c
printf 'abcd' >together.in
ok "threads and children: woven" program together
ok "values through a thread, a child and a pipe" followed 2 together

cp "$TOP/tests/subjects/follow/foreign.c" foreign.c
sed 's/PART/4/' foreign.c >foreign4.c
sed 's/PART/0/' foreign.c >foreign0.c
printf 'abcdefgh' | tee foreign4.in >foreign0.in
ok "foreign code: woven" program foreign4
ok "its write is noticed, and it is named" path "not woven by memfrob" foreign4
ok "the same that writes nothing: woven" program foreign0
ok "nothing is said of it" never "by memfrob" foreign0

cp "$TOP/tests/subjects/follow/large.c" large.c
head -c 4000 "$TOP/src/solve/solve.c" >large.in
ok "a long sort: woven" program large
ok "a site that has had its budget says so" path "sites 1" large
done_testing
