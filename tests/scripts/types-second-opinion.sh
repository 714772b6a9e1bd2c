# Sizes, offsets, members, enumerators and signatures agree with what gcc and
# clang put into DWARF and GNU readelf reads from it, and with pahole.
. "$TOP/tests/scripts/tap.bash"

# agree COMPILER PROGRAM AT-LEAST-TYPES AT-LEAST-FUNCTIONS
agree() {
    "$SUNDEW" show types "$2" --json >types.json && "$SUNDEW" show functions "$2" --json >functions.json &&
        "$SUNDEW" show commands -o commands.json &&
        "$TOP/tests/types-opinion" types.json functions.json "$1" commands.json >said || { cat said; return 1; }
    cat said
    sed -n '$s/.*, \([0-9]*\) types and \([0-9]*\) functions.*/\1 \2/p' said |
        { read -r types functions; [ "$types" -ge "$3" ] && [ "$functions" -ge "$4" ]; }
}

# pahole prints "NAME<tab>SIZE<tab>HOLES" for each struct with a tag.
agrees_with_pahole() {
    pahole --sizes "$1" 2>/dev/null | cut -f1,2 | sort -u >pahole.sizes
    python3 - <<'P'
import json
ours = {}
for t in json.load(open("types.json")):
    if t["kind"] in ("struct", "union"):
        ours.setdefault(t["name"], set()).add(t["size"])
seen = 0
for line in open("pahole.sizes"):
    name, size = line.split("\t")
    if name in ours:
        assert int(size) in ours[name], (name, size, ours[name])
        seen += 1
assert seen >= 8, seen
P
}

fresh own
cat >shapes.h <<'C'
#include <stddef.h>
#include <stdint.h>
struct node;
typedef struct node *Link;
typedef int (*Compare)(const void *, const void *);
enum level { LOW = -2, MIDDLE, HIGH = 70000, TOP };
typedef enum { ZERO, BIG = 0x7fffffff } Code;
typedef struct { int16_t x, y; } Pair;
union value { char c; long l; double d[2]; Pair p; struct { int inner; } s; };
struct bits { unsigned a : 1, b : 5, : 3, c : 9; signed long d : 33; _Bool e : 1; char f; uint8_t g : 4, h : 4; };
struct __attribute__((packed)) packed { char a; int b; struct bits c; short d; };
struct aligned { char a; _Alignas(64) char b; } ;
struct tail { size_t n; struct node *items[]; };
struct zero { int a; char none[0]; };
struct node {
    Link next, *prev;
    union value v;
    struct { int depth; union { int i; float f; }; } anonymous;
    struct { short a; char b; };
    const char *const name;
    volatile int state;
    int matrix[3][4][5];
    int (*row)[5];
    Compare compare[2];
    int (*(*factory)(const char *, ...))(struct node *, Code);
    void (*old)();
    enum level level;
    Code code;
    struct tail *tail;
    char buffer[sizeof(struct bits) * 3];
    _Complex double z;
    long double wide;
    __int128 huge;
    uint32_t flags : 3;
};
int node_visit(struct node *n, int (*f)(struct node *, void *), void *arg);
C
cat >a.c <<'C'
#include "shapes.h"
struct a_only { struct node n; struct packed p; struct aligned al; struct zero z; } a_global;
static int same(Link a, struct bits b) { return a->state + b.c; }
int a_pair(Pair p, union value v, struct packed by_value, const Pair *q) { return p.x + (int)v.l + by_value.b + q->y; }
struct node a_make(int matrix[3][4], char name[static 2], const int n) { struct node x = { .state = matrix[n][0] + name[0] }; return x; }
Compare a_compare(enum level l, Code c) { return l == LOW && c == BIG ? (Compare)a_make : 0; }
int (*a_pick(int n))(Pair) { return 0; }
float a_old(x, y, f) char *x; short y; float f; { return *x + y + f; }
int a_vla(int n, int m[n][n], ...) { char local[n]; local[0] = 1; return m[0][0] + local[0]; }
_Bool a_use(Link l) { struct bits b = {0}; static struct { int hidden; } s; return same(l, b) + s.hidden; }
_Complex float a_complex(_Complex float a, long double b, __int128 c) { return a + b + c; }
C
cat >b.c <<'C'
#include "shapes.h"
struct a_only { int different; };
static int same(struct a_only *o) { return o->different; }
int node_visit(struct node *n, int (*f)(struct node *, void *), void *arg) { struct a_only o = { f(n, arg) }; return same(&o); }
int main(int argc, char **argv) { return argc + !argv; }
C
ok "capture" "$SUNDEW" capture -- gcc -g a.c b.c -o own
ok "clang agrees" agree clang-19 own 12 12
ok "gcc agrees" agree gcc own 12 12
if command -v pahole >/dev/null; then
    ok "pahole agrees" agrees_with_pahole own
else
    skip "pahole agrees" "pahole (package dwarves) is not installed"
fi

# Structs of installed headers, as large as systems have them.
fresh installed
cat >system.c <<'C'
#include <arpa/inet.h>
#include <dirent.h>
#include <ffi.h>
#include <ifaddrs.h>
#include <jansson.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <termios.h>
#include <ucontext.h>
#include <clang-c/Index.h>
#include <elf.h>
#include <time.h>
struct everything {
    struct sockaddr_in6 in6; struct dirent dirent; ffi_cif cif; struct ifaddrs ifaddrs; json_t json; json_error_t error;
    struct addrinfo info; struct pollfd poll; pthread_mutex_t mutex; pthread_attr_t attr; struct passwd pw;
    siginfo_t si; struct sigaction sa; sqlite3_vfs vfs; sqlite3_io_methods io; sqlite3_module module; FILE file;
    struct rusage usage; struct stat st; struct statvfs vfs2; struct utsname uts; struct termios tty; ucontext_t uc;
    CXCursor cursor; struct CXUnsavedFile unsaved; Elf64_Sym sym; Elf64_Dyn dyn; struct tm tm; struct timespec ts;
};
unsigned long size(struct everything *e, CXCursor c, ffi_status s) { return sizeof *e + c.xdata + s; }
int main(void) { return 0; }
C
ok "capture of installed headers" "$SUNDEW" capture -- gcc -g -I/usr/lib/llvm-19/include system.c -o system
ok "clang agrees on them" agree clang-19 system 50 2
ok "gcc agrees on them" agree gcc system 50 2
done_testing
