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

cat >table.c <<'C'
#include <unistd.h>
#include <stdio.h>
static const short squares[12] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121 };
int main(void)
{
    unsigned char b[4];
    if (read(0, b, 4) != 4)
        return 1;
    int inside = b[0] % 12, i = b[1] & 15;
    if (squares[inside] == 49)
        puts("seven");
    if (i < 12 && squares[i] == 64)
        puts("eight");
    if (squares[b[2] & 15] == 81)
        puts("nine");
    return 10 / (b[3] + 1);
}
C
printf '\1\1\1\1' >table.in
ok "tables: woven" program table
ok "a table is read for all its elements" followed 3 table
ok "an index that can leave its table is a question" path "out of bounds" table
ok "a divisor that can't be 0 is no question" never "division by zero" table

# Lengths, and local variables that they may leave.
cat >copied.c <<'C'
#include <unistd.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    unsigned char b[32];
    char name[12];
    if (read(0, b, sizeof b) != 32 || b[0] > 31)
        return 1;
    memcpy(name + 2, b + 1, SIZE);
    return name[2] == 'x';
}
C
sed 's/SIZE/sizeof name - 2/' copied.c >copied-ok.c
sed -i 's/SIZE/b[0]/' copied.c
printf '\1%031d' 7 | tee copied.in >copied-ok.in
ok "copies: woven" program copied
ok "a length that can leave a local variable is a question" \
    path "after 1: input[0] > 10" copied
ok "copies: a fixed length, woven" program copied-ok
ok "a fixed length is no question" never "out of bounds" copied-ok

cat >calls.c <<'C'
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <unistd.h>
static jmp_buf back;
static int add(int n, ...)
{
    va_list ap;
    int s = 0;
    va_start(ap, n);
    while (n-- > 0)
        s = 2 * s + va_arg(ap, int);
    va_end(ap);
    return s;
}
struct pair { int a; char b; double c; };
static struct pair twist(struct pair p) { p.a ^= 0x5a; p.c *= 2; return p; }
static int by_name(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
int main(void)
{
    char line[32], text[32];
    if (!fgets(line, sizeof line, stdin) || strlen(line) < 12)
        return 1;
    if (add(7, line[0], line[1], line[2], line[3], line[4], line[5], line[6]) == 12000)
        puts("sum");
    struct pair p = twist((struct pair){ line[7], line[8], line[9] / 4.0 });
    if (p.a == 0x12 && p.c > 60.5)
        puts("pair");
    snprintf(text, sizeof text, "<%03d>", line[10]);
    if (strcmp(text, "<077>") == 0)
        puts("text");
    qsort(line, 4, 1, by_name);
    if (memcmp(line, "aceg", 4) == 0)
        puts("sorted");
    if (setjmp(back) == 0 && line[11] == 'j')
        longjmp(back, 1);
    char *copy = realloc(strdup(line), 4000);
    int k = copy[11] == 'r';
    free(copy);
    return k;
}
C
echo "gceaxxxxxxxxxx" >calls.in
ok "calls: woven" program calls
ok "variable arguments, structs, sorting, setjmp, realloc" followed 12 calls

cat >together.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *arg) { unsigned *v = arg; *v = *v * 3 + 1; return NULL; }
int main(void)
{
    unsigned v, w = 0;
    int fd[2];
    pthread_t t;
    if (read(0, &v, 4) != 4 || pipe(fd) != 0)
        return 1;
    pthread_create(&t, NULL, work, &v);
    pthread_join(t, NULL);
    if (v == 0x12345679)
        puts("thread");
    if (fork() == 0) {
        v ^= 0xff00ff;
        write(fd[1], &v, 4);
        _exit(0);
    }
    wait(NULL);
    read(fd[0], &w, 4);
    if (w == 0xcafe)
        puts("child");
    return 0;
}
C
printf 'abcd' >together.in
ok "threads and children: woven" program together
ok "values through a thread, a child and a pipe" followed 2 together

cat >foreign.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    char b[8];
    if (read(0, b, 8) != 8)
        return 1;
    memfrob(b, PART);
    if (b[6] == 'x')
        puts("x");
    if (b[1] == 'y')
        puts("y");
    return 0;
}
C
sed 's/PART/4/' foreign.c >foreign4.c
sed 's/PART/0/' foreign.c >foreign0.c
printf 'abcdefgh' | tee foreign4.in >foreign0.in
ok "foreign code: woven" program foreign4
ok "its write is noticed, and it is named" path "not woven by memfrob" foreign4
ok "the same that writes nothing: woven" program foreign0
ok "nothing is said of it" never "by memfrob" foreign0

cat >large.c <<'C'
#include <stdio.h>
int main(void)
{
    static int a[1000];
    int n = (int)fread(a, sizeof *a, 1000, stdin), k = 0;
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && a[j - 1] > a[j]; j--, k++) {
            int t = a[j];
            a[j] = a[j - 1];
            a[j - 1] = t;
        }
    return k < 0;
}
C
head -c 4000 "$TOP/src/solve/solve.c" >large.in
ok "a long sort: woven" program large
ok "a site that has had its budget says so" path "sites 1" large
done_testing
