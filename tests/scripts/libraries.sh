# A program whose code is in the project's own shared libraries is looked at whole.
. "$TOP/tests/scripts/tap.bash"

sources() {
    cat >lib.h <<'END'
int parse(const char *s, unsigned n);
int twice(int x);
END
    cat >lib.c <<'END'
#include "lib.h"
#include <stdlib.h>
int helper(int x);
int parse(const char *s, unsigned n)
{
    if (n >= 2 && s[0] == 'S' && s[1] == '!')
        abort();
    return helper((int)n);
}
END
    # helper() is the library's own, and the program has another one.
    cat >help.c <<'END'
__attribute__((visibility("hidden"))) int helper(int x) { return x + 100; }
int twice(int x) { return 2 * x; }
END
    cat >main.c <<'END'
#include "lib.h"
#include <stdio.h>
int helper(int x) { return x + 1; }
int main(void)
{
    char b[64];
    unsigned n = (unsigned)fread(b, 1, sizeof b, stdin);
    printf("%d %d %d\n", parse(b, n), helper(1), twice(4));
    return 0;
}
END
}
captured() { status 0 "$SUNDEW" capture -- "$@"; }
# same PROGRAM WOVEN: both print the same.
same() { [ "$(echo abc | "$1")" = "104 2 8" ] && [ "$(echo abc | "$2")" = "104 2 8" ]; }
monitored() { "$SUNDEW" -q monitor "$1" -o woven.out && ! ldd woven.out | grep libx && nm woven.out | grep -q " [tT] parse"; }
whole() {      # whole PROGRAM: functions of the library are functions of the program
    "$SUNDEW" show functions "$1" --json | grep -q '"parse"'
}
covers() {
    printf 'S!' >seed-bad
    "$SUNDEW" explore "$1" --replay -i seed-bad -j1 -o explored.out --json >explored.json
    python3 -c '
import json
d = json.load(open("explored.json"))
assert any(f["file"].endswith("lib.c") for f in d["findings"]), d["findings"]'
}
all_of() {     # all_of WHAT PROGRAM
    ok "$1: the library's functions are there" whole "$2"
    ok "$1: a monitored program has them" monitored "$2"
    ok "$1: …and each helper() its own" same "$2" ./woven.out
    ok "$1: a failure in the library is found" covers "$2"
    rm -rf explored.out
}

fresh plain; sources
ok "plain: a build" captured sh -ec 'gcc -g -fPIC -c lib.c help.c; gcc -shared -o libx.so lib.o help.o -lm; gcc -g main.c -o prog -L. -lx -Wl,-rpath,\$ORIGIN'
all_of plain ./prog
ok "plain: the program alone is one unit" sh -ec '[ "$("$SUNDEW" show units prog | wc -l)" = 1 ]'

fresh libtool; sources
ok "libtool: a build" captured sh -ec '
    L="libtool --tag=CC --quiet"
    for f in lib help; do $L --mode=compile gcc -g -c $f.c; done
    $L --mode=link gcc -rpath /usr/lib lib.lo help.lo -o libx.la; gcc -g -c main.c; $L --mode=link gcc main.o libx.la -o prog'
all_of libtool ./prog

fresh cmake; sources
printf 'cmake_minimum_required(VERSION 3.13)\nproject(p C)\nadd_library(y STATIC help.c)\nset_target_properties(y PROPERTIES POSITION_INDEPENDENT_CODE ON)\nadd_library(x SHARED lib.c)\ntarget_link_libraries(x PRIVATE y)\nadd_library(z SHARED zed.c)\nadd_executable(prog main.c)\ntarget_link_libraries(prog z x)\n' >CMakeLists.txt
# libx takes helper() from an archive; libz has functions that are called by nobody else.
printf 'int parse(const char *, unsigned);\nint zed(void) { return parse("", 0); }\n' >zed.c
sed -i 's/int twice/__attribute__((visibility("default"))) int twice/; s/visibility("hidden")/visibility("hidden"), noinline/' help.c
sed -i 's/    return helper((int)n);/    return twice(0) + helper((int)n);/' lib.c
ok "CMake: a build" captured sh -ec 'cmake -S . -B out >/dev/null; cmake --build out'
all_of CMake out/prog

# A module that the program loads is linked with the library: there is one library still.
fresh module; sources
cat >main.c <<'END'
#include "lib.h"
#include <dlfcn.h>
#include <stdio.h>
int counter(void);
int main(void)
{
    void *m = dlopen("./mod.so", RTLD_NOW);
    int (*go)(void) = m ? (int (*)(void))dlsym(m, "go") : 0;
    if (!go) {
        puts(dlerror());
        return 1;
    }
    counter();
    int first = go();
    printf("%d %d\n", first, counter());
    return 0;
}
END
printf 'int counter(void) { static int n; return ++n; }\n' >>help.c
printf 'int counter(void);\nint go(void) { return counter(); }\n' >mod.c
ok "module: a build" captured sh -ec 'gcc -g -fPIC -shared -o libx.so lib.c help.c; gcc -g -fPIC -shared -o mod.so mod.c -L. -lx -Wl,-rpath,\$ORIGIN; gcc -g main.c -o prog -L. -lx -Wl,-rpath,\$ORIGIN'
counts() { [ "$(./prog)" = "2 3" ] && "$SUNDEW" -q monitor prog -o woven && [ "$(./woven)" = "2 3" ]; }
ok "module: it counts with the program" counts

# What is missing in the library is missing in the program.
fresh partly; sources; gcc -g -fPIC -c help.c
ok "partly: a build" status 2 "$SUNDEW" -q capture -- sh -ec 'gcc -g -fPIC -c lib.c; gcc -shared -o libx.so lib.o help.o; gcc -g main.c -o prog -L. -lx -Wl,-rpath,\$ORIGIN'
ok "partly: a monitored program has the rest" monitored ./prog
ok "partly: the missing unit is said" says "1 of 3 units is missing" "$SUNDEW" monitor ./prog -o again

# A library that needs another one of the project, by its path or by -L and -l as words of their own.
stacked() {        # stacked WORDS…: how libtop.so names libbase.so
    fresh stacked
    mkdir sub
    printf 'int base_add(int a, int b) { return a + b; }\n' >base.c
    printf 'int top_sum(int a, int b);\n' >top.h
    printf '#include "top.h"\nint base_add(int a, int b);\nint top_sum(int a, int b) { return base_add(a, b); }\n' >top.c
    printf '#include "top.h"\nint main(void) { return top_sum(2, 3) != 5; }\n' >main.c
    "$SUNDEW" -q capture -- sh -ec '
        gcc -g -fPIC -shared -o sub/libbase.so base.c -Wl,-soname,libbase.so
        gcc -g -fPIC -shared -o libtop.so top.c "$@"
        gcc -g main.c -o main ./libtop.so sub/libbase.so -Wl,-rpath,\$ORIGIN:\$ORIGIN/sub' sh "$@" &&
    status 0 "$SUNDEW" regress libtop.so --headers top.h -o tests --count 20 -j1 -- ./main
}
ok "a library that needs another, by its path" stacked sub/libbase.so
ok "…by a folder and a name" stacked -L sub -l base

# A sanitizer's library can't be part of a static program: the woven one is dynamic.
fresh static
printf '#include <stdio.h>\nint main(void)\n{\n    return puts("here") < 0;\n}\n' >a.c
static() { "$SUNDEW" -q capture -- gcc -g "$1" a.c -o prog && "$SUNDEW" -q monitor prog --asan -o woven && [ "$(./woven)" = here ]; }
ok "a static program with a sanitizer" static -static
ok "…a position-independent one" static -static-pie
done_testing
