# The compiler wrapper survives what real builds do, and an empty or partial
# capture never looks like success.
. "$TOP/tests/scripts/tap.bash"

# jq-like: units PROGRAM prints "status basename", sorted.
units() {
    "$SUNDEW" show units "$1" --json |
        python3 -c 'import json,os,sys
for u in sorted((u["status"]+" "+os.path.basename(u["source"])) for u in json.load(sys.stdin)): print(u)'
}
has_units() {      # has_units PROGRAM "status name" …
    local program=$1
    shift
    diff <(printf '%s\n' "$@" | sort) <(units "$program")
}
sources() {
    printf '#include <stdio.h>\nint f(int);\nint main(void) { printf("%%d\\n", f(20)); return 0; }\n' >a.c
    printf 'int g(void);\nint f(int x) { return 2 * x + g(); }\n' >b.c
    printf 'int g(void) { return 2; }\n' >c.c
    printf 'int unused(void) { return 7; }\n' >d.c
}
runs() { [ "$("$1")" = "${2:-42}" ]; }
captured_by_name() { status 0 "$SUNDEW" capture --by-name -- "$@"; }
captured() { status 0 "$SUNDEW" capture -- "$@"; }
all3="captured a.c:captured b.c:captured c.c"
has_all() { local IFS=:; has_units "$1" $all3; }

fresh separate; sources
ok "objects with -c, with and without -o" captured sh -ec '
    gcc -c a.c; cc -O2 -c b.c -o b.o; gcc -c -oc.o c.c; gcc a.o b.o c.o -o prog'
ok "…all units are there" has_all prog
ok "…and the program runs" runs ./prog
ok "…by its name too" has_all prog

fresh several; sources
ok "several sources in one command" captured sh -ec 'gcc -c a.c b.c c.c; gcc *.o -o prog'
ok "…all units" has_all prog

fresh nested
printf 'int main(void) { return %s0%s; }\n' "$(printf '(%.0s' {1..300})" "$(printf ')%.0s' {1..300})" >a.c
ok "parentheses nested as deep as hash macros have them" captured gcc -o prog a.c

fresh onestep; sources
ok "compile and link in one step" captured gcc -O2 a.c b.c c.c -o prog
ok "…all units" has_all prog
ok "…it runs" runs ./prog
ok "…and without -o" captured gcc a.c b.c c.c
ok "…a.out has all units" has_all a.out

fresh mixed; sources
ok "a source and an object in one link" captured sh -ec 'gcc -c b.c c.c; gcc a.c b.o c.o -o prog'
ok "…all units" has_all prog

fresh archive; sources
ok "an archive" captured sh -ec 'gcc -c a.c b.c c.c d.c; ar rcs libx.a b.o c.o d.o; gcc a.o libx.a -o prog; gcc a.o -L. -lx -o prog2'
ok "…only the members the linker took" has_all prog
ok "…with -l too" has_all prog2
ok "…the archive has its three" has_units libx.a "captured b.c" "captured c.c" "captured d.c"
ok "…it is listed as an archive" says '"kind": "archive"' "$SUNDEW" show programs --json
fresh thin; sources
ok "a thin archive" captured sh -ec 'gcc -c a.c b.c c.c; ar rcT libx.a b.o c.o; gcc a.o libx.a -o prog'
ok "…all units" has_all prog
ok "…of the archive" has_units libx.a "captured b.c" "captured c.c"
fresh whole; sources
ok "--whole-archive" captured sh -ec 'gcc -c a.c b.c c.c; ar rcs libx.a b.o c.o; gcc a.o -Wl,--whole-archive libx.a -Wl,--no-whole-archive -o prog'
ok "…all units" has_all prog

fresh shared; sources
ok "a shared library" captured sh -ec 'gcc -fPIC -shared b.c c.c -o libx.so; gcc a.c ./libx.so -o prog'
ok "…its units" has_units libx.so "captured b.c" "captured c.c"
ok "…the program's own unit" has_units prog "captured a.c"
ok "…it is listed as shared" says '"kind": "shared"' "$SUNDEW" show programs --json

fresh kinds; sources
for flags in -static -no-pie -pie "-static-pie" "-Wl,--gc-sections -ffunction-sections" -s -r; do
    ok "link with $flags" captured sh -ec "gcc -c $flags a.c b.c c.c 2>/dev/null || gcc -c a.c b.c c.c; gcc $flags a.o b.o c.o -o prog"
    ok "…all units with $flags" has_all prog
done
ok "…ld -r gives an object" says '"kind": "object"' "$SUNDEW" show programs --json

fresh lto; sources
for cc in gcc clang-19; do
    ok "-flto with $cc" captured sh -ec "$cc -O2 -flto -c a.c b.c c.c; $cc -O2 -flto $([ $cc = gcc ] || echo -fuse-ld=lld) a.o b.o c.o -o prog"
    ok "…all units" has_all prog
    ok "…it runs" runs ./prog
done
ok "-flto with archives" captured sh -ec 'gcc -O2 -flto -c a.c b.c c.c d.c; gcc-ar rcs libx.a b.o c.o d.o; gcc -flto a.o libx.a -o prog'
ok "…all units" has_all prog

fresh linkers; sources
for ld in bfd gold lld; do
    command -v ld.$ld >/dev/null || command -v ld.$ld-19 >/dev/null || { skip "link with $ld" "it is not installed"; continue; }
    ok "link with $ld" captured sh -ec "clang-19 -c a.c b.c c.c d.c; rm -f libx.a; ar rcs libx.a b.o c.o d.o; clang-19 -fuse-ld=$ld a.o libx.a -o prog"
    ok "…all units" has_all prog
done
ok "a user's own map is still written" captured sh -ec 'gcc -Wl,-Map,my.map a.o libx.a -o prog && test -s my.map'
ok "…all units" has_all prog
ok "ld called by name" captured sh -ec 'ld -r a.o b.o c.o -o all.o'
ok "…all units" has_all all.o

fresh passthrough; sources
ok "-E -S -M -MM pass through" captured sh -ec '
    gcc -E a.c >a.i; gcc -S a.c; gcc -M a.c >m1; gcc -MM a.c >m2; gcc -fsyntax-only a.c
    gcc --version >v; gcc -print-search-dirs >p; gcc -dumpversion >d; echo | gcc -E -dM - >dm
    gcc -MD -MF dep.d -c a.c; gcc -MMD -c b.c; gcc -pipe -c c.c; gcc a.o b.o c.o -o prog
    test -s a.i && test -s a.s && grep -q a.c m1 && grep -q a.c m2 && test -s dep.d && test -s b.d && grep -q __GNUC__ dm'
ok "…all units" has_all prog
ok "what -E says is what gcc says" sh -ec 'gcc -E a.c | cmp - a.i'

fresh language; sources
ok "-x c, standard input, odd endings" captured sh -ec '
    cp b.c b.weird; cp c.c c.txt
    gcc -c a.c; gcc -x c -c b.weird -o b.o; gcc -xc -c -o c.o - <c.txt; gcc a.o b.o c.o -o prog'
ok "…the program runs" runs ./prog
three() { [ "$(units prog | grep -c '^captured')" = 3 ]; }
ok "…three units are captured" three
ok "preprocessed input" captured sh -ec 'gcc -E b.c -o b.i; gcc -c a.c b.i c.c; gcc a.o b.o c.o -o prog'
ok "…three units" three

fresh response; sources
ok "response files" captured sh -ec '
    printf "%s\n" "-c" "\"a.c\"" >r1; printf "%s" "-DX=\\\"q\\ w\\\" @r1 b.c c.c" >r2; gcc @r2; printf "a.o b.o c.o\n-o prog" >r3; gcc @r3'
ok "…all units" has_all prog

fresh foreign; sources
printf '.globl g\ng: mov $2, %%eax\nret\n.section .note.GNU-stack,"",@progbits\n' >g.s
printf '#define N 2\n.globl g\ng: mov $N, %%eax\nret\n.section .note.GNU-stack,"",@progbits\n' >h.S
printf 'extern "C" int g() { return 2; }\n' >k.cc
ok "assembler is passed through" captured gcc a.c b.c g.s -o prog
ok "…and noted" has_units prog "captured a.c" "captured b.c" "foreign g.s"
ok "…with the preprocessor too" captured gcc a.c b.c h.S -o prog
ok "…and noted" has_units prog "captured a.c" "captured b.c" "foreign h.S"
ok "C++ is passed through" captured sh -ec 'gcc -c a.c b.c; g++ -c k.cc; g++ a.o b.o k.o -o prog'
ok "…and noted" has_units prog "captured a.c" "captured b.c" "foreign k.cc"
ok "…it runs" runs ./prog

fresh flags; sources
ok "flags that only gcc knows, and -Werror" captured sh -ec '
    gcc -Werror -Wall -fno-tree-vectorize -fira-loop-pressure -mno-push-args -fdelete-dead-exceptions --param ssp-buffer-size=4 -c a.c
    gcc -Werror -Wno-maybe-uninitialized -Wlogical-op -c b.c
    gcc -march=native -fplan9-extensions -Wp,-D_FORTIFY_SOURCE=2 -O2 -c c.c; gcc a.o b.o c.o -o prog'
ok "…all units" has_all prog
printf '#include <stdio.h>\nint f(int);\nint main(void) { int unused_here[0]; (void)unused_here; if (f(1) == 4) ; printf("%%d\\n", f(20)); return 0; }\n' >a.c
ok "-Werror does not fail for clang's own warnings" captured sh -ec 'gcc -Werror -c a.c; gcc a.o b.o c.o -o prog'
ok "…all units" has_all prog
ok "a flag that clang refuses is noted" says "compiled for bitcode without" "$SUNDEW" -v capture -- gcc -fplan9-extensions -c a.c

fresh old
printf '%s\n' 'main() { foo(1); char *p = 5; return p == 0; }' 'static int g(char *s) { return *s; }' \
    'int h(void) { int (*q)(int *) = g; return q(0); }' 'void v(void) { return 1; }' 'int w(void) { return; }' 'foo(x) int x; { return x; }' >a.c
ok "old C that gcc takes and clang would not" captured gcc -w -fpermissive a.c -o prog
ok "…its unit" has_units prog "captured a.c"

fresh nested
printf '#include <stdio.h>\nint main(void) { int k = 40; int in(int x) { return x + k; } printf("%%d\\n", in(2)); return 0; }\n' >a.c
ok "a unit that clang can't compile is missing, not a failed build" says "not captured: $PWD/a.c" "$SUNDEW" capture -- gcc a.c -o prog
ok "…the program runs" runs ./prog
ok "…and is partial: exit status 2" status 2 "$SUNDEW" capture -- gcc a.c -o prog
ok "…unless that is enough" status 0 "$SUNDEW" capture --min-share 0 -- sh -c 'gcc a.c -o prog; echo "int x;" >b.c; gcc -c b.c; gcc -shared b.o -o libb.so'
ok "…the unit is named with its reason" says "function definition is not allowed" "$SUNDEW" show units prog

fresh pch; sources
printf '#include <stdio.h>\n#define TWENTY 20\n' >pre.h
printf 'int f(int);\nint main(void) { printf("%%d\\n", f(TWENTY)); return 0; }\n' >a.c
ok "precompiled headers of gcc" captured sh -ec 'gcc pre.h -o pre.h.gch; gcc -include pre.h -c a.c; gcc -c b.c c.c; gcc a.o b.o c.o -o prog'
ok "…all units" has_all prog
ok "…of clang" captured sh -ec 'rm -f *.gch *.o; clang-19 -x c-header pre.h -o pre.pch; clang-19 -Xclang -include-pch -Xclang pre.pch -Xclang -include -Xclang pre.h -c a.c || clang-19 -include-pch pre.pch -include pre.h -c a.c; clang-19 -c b.c c.c; clang-19 a.o b.o c.o -o prog'
ok "…all units" has_all prog

fresh ccache; sources
export CCACHE_DIR=$PWD/cache
build='gcc -c b.c c.c; ccache gcc -c a.c; gcc a.o b.o c.o -o prog'
ok "ccache in front" captured sh -ec "$build"
ok "…all units" has_all prog
rm -f ./*.o prog
ok "…again, from its cache" captured sh -ec "$build"
ok "…all units" has_all prog
rm -f ./*.o prog; rm -rf .sundew
ok "…in another workspace" captured sh -ec "$build"
ok "…all units" has_all prog
rm -f ./*.o prog; rm -rf .sundew
ok "ccache's own links on the PATH" captured sh -ec 'PATH=${PATH%%:*}:/usr/lib/ccache:${PATH#*:}; gcc -c a.c b.c c.c; gcc a.o b.o c.o -o prog'
ok "…all units" has_all prog
unset CCACHE_DIR

fresh versioned; sources
v=$(gcc -dumpversion) target=$(gcc -dumpmachine)
ok "versioned and prefixed names" captured sh -ec "gcc-${v%%.*} -c a.c; clang-19 -c b.c; $target-gcc -c c.c; $target-gcc-${v%%.*} a.o b.o c.o -o prog"
ok "…all units" has_all prog
fresh c99; sources
ok "c99 and cc" captured sh -ec 'c99 -c a.c; cc -c b.c c.c; cc a.o b.o c.o -o prog'
ok "…all units" has_all prog

fresh 'blank päth with "quotes"'; sources
mkdir 'sub dir'; mv b.c 'sub dir/b b.c'
ok "paths with blanks, quotes and UTF-8" captured sh -ec 'gcc -c a.c; gcc -c "sub dir/b b.c" -o "b b.o"; gcc -c c.c; ar rcs "lib x.a" "b b.o" c.o; gcc a.o "lib x.a" -o "my prog"'
ok "…all units" has_units "my prog" "captured a.c" "captured b b.c" "captured c.c"

fresh makefile; sources
printf 'prog: a.o b.o c.o\n\tgcc -o $@ $^\nclean:\n\trm -f *.o prog\n' >Makefile
ok "parallel make" captured make -j4
ok "…all units" has_all prog
ok "a second build with nothing to do is not a success" status 2 "$SUNDEW" capture -- make
ok "…and says so" says "nothing to do" "$SUNDEW" capture -- make
printf 'int g(void) { return 3 - 1; }\n' >c.c; sleep 0.1; touch -d '+2 seconds' c.c
ok "an incremental build" says "captured 3 of 3 C units linked (100%)" "$SUNDEW" capture -- make
ok "…all units" has_all prog
ok "…the new c.c" sh -ec '"$SUNDEW" show units prog | grep -c captured | grep -qx 3'
touch ./*.c; make clean >/dev/null; make >/dev/null
touch -d '+4 seconds' a.c
ok "objects from before the capture are missing" says "captured 1 of 3 C units linked (33%)" "$SUNDEW" capture -- make
touch -d '+6 seconds' a.c
ok "…and the exit status is 2" status 2 "$SUNDEW" capture -- make
ok "…named in the list" says '"missing": [
      {' "$SUNDEW" show programs --json

fresh refused
printf 'int main(void) { return nothing; }\n' >a.c
ok "a failed compile is told" says "compiler or linker failed 1 time; the first: a.c" "$SUNDEW" capture -- sh -c 'gcc -c a.c; true'
ok "…a failed link too" says "compiler or linker failed 1 time; the first: $PWD/prog" "$SUNDEW" capture -- sh -c 'echo "int g(void);int main(void){return g();}" >b.c; gcc b.c -o prog; true'

fresh half; sources
printf 'int broken(void) { return nothing; }\n' >x.c
ok "objects of a command that failed at another source" captured sh -ec 'gcc -c b.c x.c c.c || true; gcc -c a.c; gcc a.o b.o c.o -o prog'
ok "…all units" has_all prog

fresh failing
printf 'int main(void) { return nothing; }\n' >a.c
printf 'prog: a.o\n\tgcc -o $@ $^\n' >Makefile
plain=$(make 2>&1); plain_status=$?
ok "a failing build fails with its own status" status $plain_status "$SUNDEW" -q capture -- make
same_messages() { [ "$("$SUNDEW" -q capture -- make 2>&1)" = "$plain" ] || { "$SUNDEW" -q capture -- make; echo "$plain"; return 1; }; }
ok "…and its own messages" same_messages
ok "…a link error too" status 1 "$SUNDEW" -q capture -- sh -c 'echo "int f(void); int main(void){return f();}" >b.c; gcc b.c -o b'
ok "…and one by a signal" status 137 "$SUNDEW" -q capture -- sh -c 'kill -9 $$'

can_mount() { unshare -m true 2>/dev/null || { [ "$(id -u)" != 0 ] && unshare -Um true 2>/dev/null; }; }
fresh other; sources
printf 'cmake_minimum_required(VERSION 3.13)\nproject(p C)\nadd_library(x STATIC b.c c.c)\nadd_executable(prog a.c)\ntarget_link_libraries(prog x)\n' >CMakeLists.txt
cmake -S . -B before >/dev/null
if can_mount; then
    ok "a compiler by its path" captured sh -ec '/usr/bin/gcc -c a.c; /usr/bin/cc -c b.c c.c; /usr/bin/ar rcs libx.a b.o c.o; /usr/bin/gcc a.o libx.a -o prog'
    ok "…all units" has_all prog
    ok "…the archive too" has_units libx.a "captured b.c" "captured c.c"
    ok "…that is kept as the build knows it" sh -ec 'grep -h -A1 "\"link\"" .sundew/programs/*.json | grep -q "/usr/bin/gcc"; ! grep -rl tools .sundew/programs .sundew/units'
    ok "…a clang, with its own headers" captured sh -ec 'printf "#include <stddef.h>\n" >>b.c; $(readlink -f "$(command -v clang-19)") -MD -c a.c b.c; clang-19 -c c.c; clang-19 a.o b.o c.o -o prog'
    ok "…all units" has_all prog
    ok "…whose dependencies name files that stay" sh -ec 'for f in $(sed "s/.*://;s/\\\\//" b.d); do test -e "$f" || exit 1; done; ! grep sundew b.d'
    ok "…in an empty environment" captured env -i /usr/bin/cc -B/usr/bin/ a.c b.c c.c -o prog
    ok "…all units" has_all prog
    ok "…behind ccache, which knows another compiler by its file" sh -ec '"$SUNDEW" -q capture -- env CCACHE_DIR=$PWD/cc CCACHE_LOGFILE=$PWD/cc.log /usr/bin/ccache /usr/bin/gcc -c a.c; grep -q "CCACHE_COMPILERCHECK) compiler_check = string:\|Config: (environment) compiler_check = string:" cc.log'
    ok "a tree that CMake configured before" captured cmake --build before
    ok "…all units" has_all before/prog
    rm -rf before/prog before/CMakeFiles/prog.dir/*.o before/CMakeFiles/x.dir/*.o
    ok "…with make inside it" captured make -C before
    ok "…all units" has_all before/prog
    if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Um true 2>/dev/null; then
        own=$(mktemp -d /tmp/sundew-capture.XXXXXX); cp ./*.c "$own"; chown -R 65534:65534 "$own"
        ok "…as an ordinary user" says "captured 3 of 3" setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$own" sh -c "cd '$own' && '$SUNDEW' capture -- /usr/bin/gcc a.c b.c c.c -o prog"
        rm -rf "$own"
    else
        skip "…as an ordinary user" "this needs root and user namespaces"
    fi
else
    skip "a compiler by its path" "nothing can be mounted here"
fi
rm -f ./*.o prog
ok "a compiler by its path, where nothing is mounted: nothing captured" status 2 "$SUNDEW" capture --by-name -- /usr/bin/gcc -c a.c
ok "…with the likely reason" says "a compiler that Sundew does not stand in for" "$SUNDEW" capture --by-name -- /usr/bin/gcc -c a.c
cmake --build before --target clean
ok "…and the command that configures again" says "cmake --fresh -S $PWD -B before && cmake --build before" "$SUNDEW" capture --by-name -- cmake --build before
ok "…which then depends on the workspace, and that is said" says "later/CMakeCache.txt names compilers of the workspace" "$SUNDEW" capture --by-name -- sh -ec 'cmake -S . -B later >/dev/null; cmake --build later'
ok "…by name all works as well" captured_by_name sh -ec 'gcc -c a.c b.c c.c; ar rcs libx.a b.o c.o; gcc a.o libx.a -o prog'
ok "…all units" has_all prog
mkdir bin; printf '#!/bin/sh\n' >bin/docker; chmod +x bin/docker
ok "…a container" says "container" env PATH="$PWD/bin:$PATH" "$SUNDEW" capture -- docker build .
ok "no build command" says "capture what?" "$SUNDEW" capture
ok "a build command that is not there" status 2 "$SUNDEW" capture -- ./no-such-build
rm -f ./*.o
ok "sundew cc and sundew-cc by hand" sh -ec 'make -s -f /dev/null CC="$SUNDEW cc" a.o; "$SUNDEW_BUILD/sundew-cc" -c b.c; "$SUNDEW_BUILD/sundew-cc" --cc=clang-19 -c c.c; "$SUNDEW" cc a.o b.o c.o -o prog'
ok "…all units" has_all prog

fresh mixing; sources
mkdir one two; cp ./*.c one; cp ./*.c two; printf 'int g(void) { return 1; }\n' >two/c.c
ok "two builds in one workspace" sh -ec '"$SUNDEW" -w .sundew capture -- sh -ec "cd one; gcc a.c b.c c.c -o prog"; "$SUNDEW" -w .sundew capture -- sh -ec "cd two; gcc a.c b.c c.c -o prog"'
own() { "$SUNDEW" show units "$1/prog" --json | grep '"source"' | grep -vc "/$1/"; [ "$("$SUNDEW" show units "$1/prog" --json | grep '"source"' | grep -c "/$1/")" = 3 ]; }
ok "…do not mix" own one
ok "…either way" own two
ok "…a name of two programs is refused" says "names 2 programs" "$SUNDEW" show units prog
ok "…a copy of a program still tells its units" sh -ec 'cp one/prog copy; strip copy; "$SUNDEW" show units ./copy | grep -c captured | grep -qx 3'

fresh outoftree; mkdir src build; cd src; sources; cd ../build
ok "an out-of-tree build finds the workspace above" sh -ec 'mkdir -p ../.sundew; "$SUNDEW" capture -- gcc ../src/a.c ../src/b.c ../src/c.c -o prog; test ! -e .sundew; test -e ../.sundew/version'
ok "…all units" has_all prog

fresh configure; sources
cp "$TOP/tests/subjects/capture/configure" configure
ok "configure alone captures nothing, and says so" says "only the checks of a configuration" "$SUNDEW" capture -- sh ./configure
ok "…unless that is enough" status 0 "$SUNDEW" capture --min-share 0 -- sh ./configure
ok "configure scripts: their tests are no units" captured sh -ec 'sh ./configure && make'
ok "…an archive of theirs is no program" sh -ec '"$SUNDEW" -q capture --min-share 0 -- sh -ec "echo \"int f(void){return 0;}\" >conftest.c; gcc -c conftest.c -o conftest2.o; ar cru libconftest.a conftest2.o; gcc -shared conftest2.o -o libconftest.so; mkdir -p CMakeFiles/_CMakeLTOTest-C; cd CMakeFiles/_CMakeLTOTest-C; echo \"int main(void){return 0;}\" >boo.c; gcc boo.c -o boo"; ! "$SUNDEW" show programs | grep -E "conftest|boo"'
ok "…no program but ours" sh -ec '[ "$("$SUNDEW" show programs | wc -l)" = 1 ]'
printf 'cmake_minimum_required(VERSION 3.13)\nproject(p C)\nadd_library(x STATIC b.c c.c)\nadd_executable(prog a.c)\ntarget_link_libraries(prog x)\n' >CMakeLists.txt
fresh cmake; cp ../configure/*.c ../configure/CMakeLists.txt .
ok "CMake, its compiler checks included" captured sh -ec 'cmake -S . -B out >/dev/null && cmake --build out'
ok "…all units" has_all out/prog
ok "…only the two programs" sh -ec '[ "$("$SUNDEW" show programs | wc -l)" = 2 ]'
if can_mount; then
    ok "…the tree names nothing of the workspace" sh -ec '! grep -rI "[.]sundew/" out'
    ok "…and is built without it" sh -ec 'rm -rf .sundew; touch -d "+3 seconds" b.c; cmake --build out; ./out/prog'
else
    skip "…the tree names nothing of the workspace" "nothing can be mounted here"
fi
fresh meson; cp ../configure/*.c .
printf "project('p', 'c')\nx = static_library('x', 'b.c', 'c.c')\nexecutable('prog', 'a.c', link_with: x)\n" >meson.build
ok "Meson" captured sh -ec 'meson setup out >/dev/null && ninja -C out >/dev/null'
ok "…all units" has_all out/prog

fresh libtool; sources
ok "libtool" captured sh -ec '
    L="libtool --tag=CC --quiet"
    for f in b c; do $L --mode=compile gcc -c $f.c; done
    $L --mode=link gcc -rpath /usr/lib b.lo c.lo -o libx.la; gcc -c a.c; $L --mode=link gcc -static a.o libx.la -o prog'
ok "…all units" has_all prog
ok "…the shared library too" has_units .libs/libx.so.0.0.0 "captured b.c" "captured c.c"
ok "…by the name that the linker knows" has_units libx.so "captured b.c" "captured c.c"
ok "…by its path without a version, when the link is gone" sh -ec 'rm .libs/libx.so; "$SUNDEW" show units .libs/libx.so.0.0 | grep -c captured | grep -qx 2; "$SUNDEW" show units .libs/libx.so | grep -c captured | grep -qx 2; ln -s libx.so.0.0.0 .libs/libx.so'
ok "…by the end of its path, from elsewhere" sh -ec 'mkdir elsewhere; cd elsewhere; "$SUNDEW" -w ../.sundew show units .libs/libx.so.0.0.0 | grep -c captured | grep -qx 2; ! "$SUNDEW" -w ../.sundew show units ibs/libx.so.0.0.0 2>/dev/null'
ok "…a part of its name does not" says "no program 'libx.s'" "$SUNDEW" show units libx.s
ok "…its .la file stands for it" has_units libx.la "captured b.c" "captured c.c"
ok "a program whose library is not installed yet" captured sh -ec 'libtool --tag=CC --quiet --mode=link gcc a.o libx.la -o wrapped; file=$(head -c 2 wrapped); test "$file" = "#!"'
ok "…libtool's script stands for it" has_units wrapped "captured a.c"
echo "#!/bin/sh" >script; ok "…a script of another kind does not" says "neither executable" "$SUNDEW" show units script

fresh killed; sources
slow='i=0; while [ $i -lt 200 ]; do gcc -c b.c -o b$i.o; i=$((i+1)); done'
killed() {
    "$SUNDEW" -q capture -- sh -c "$slow" >/dev/null 2>&1 &
    local pid=$!
    sleep "$1"
    kill -9 $pid; wait $pid 2>/dev/null       # the build dies with it
    "$SUNDEW" capture -- gcc a.c b.c c.c -o prog && has_all prog
}
ok "a build killed in the middle leaves a usable workspace" killed 0.3
ok "…at another moment too" killed 0.7
sleep 1
ok "…and no temporary files" sh -ec '"$SUNDEW" capture -- gcc a.c b.c c.c -o prog; [ -z "$(ls .sundew/tmp)" ]'

fresh details; sources
mkdir opt; ln -s "$(command -v clang-19)" opt/gcc
ok "ccache runs the compiler that was named by path" sh -ec '"$SUNDEW" -q capture -- env CCACHE_DIR=$PWD/cc ccache $PWD/opt/gcc -c a.c; readelf -p .comment a.o | grep -q clang'
ok "/dev/stdin as a source" sh -ec 'cat b.c c.c | "$SUNDEW" -q capture -- gcc -xc -shared -fPIC /dev/stdin -o x.so; "$SUNDEW" show units ./x.so | grep -q captured; llvm-nm-19 "$("$SUNDEW" show units ./x.so --json | sed -n "s/.*\"bitcode\": \"\(.*\)\",/\1/p")" 2>/dev/null | grep -q " T f" || /usr/lib/llvm-19/bin/llvm-nm "$("$SUNDEW" show units ./x.so --json | sed -n "s/.*\"bitcode\": \"\(.*\)\",/\1/p")" | grep -q " T f"'
whole_pipe() { local i; for i in 1 2 3; do "$SUNDEW" -q capture --min-share 0 -- bash -c 'gcc -xc -c <(cat a.c; sleep .2; cat b.c) -o x.o' || return 1; nm x.o | grep -q " T f" && nm x.o | grep -q " T main" || return 1; done; }
ok "a source that is a pipe is the real compiler's alone" whole_pipe
ok "--json keeps what standard error had" sh -ec 'echo before >log; "$SUNDEW" capture --json -- sh -c "echo out; gcc a.c b.c c.c -o prog" >json 2>>log; grep -q before log; grep -q out log; python3 -m json.tool json >/dev/null'
printed() { [ "$(gcc -Wl,-M a.c b.c c.c -o p | grep -c LOAD)" = "$("$SUNDEW" -q capture -- gcc -Wl,-M a.c b.c c.c -o p | grep -c LOAD)" ]; }
ok "a map printed by the linker is still printed" printed
ok "…and units are there" has_all p
ok "the wrapper never finds itself" sh -ec 'mkdir -p self; ln -sf "$SUNDEW_BUILD/sundew-cc" self/gcc; PATH=$PWD/self:$PATH; timeout 20 gcc --version | grep -q Free; timeout 20 gcc -c a.c'
ok "without a PATH" sh -ec '"$SUNDEW" -q capture --by-name -- gcc a.c b.c c.c -o p; env -u PATH .sundew/shims/gcc -c a.c'
ok "a link to the object stays a link" sh -ec 'mkdir -p real; ln -sf real/a.o a.o; rm -f real/a.o; touch real/a.o; "$SUNDEW" -q capture -- gcc -c a.c; test -L a.o; test -s real/a.o'
ok "mode and time of the output are the compiler's" sh -ec 'umask 027; "$SUNDEW" -q capture -- gcc a.c b.c c.c -o p; [ "$(stat -c %a p)" = 750 ]'
slow_clang() {          # clang-19 that never ends must not hang what it helps
    mkdir -p fake/bin && printf '#!/bin/sh\nsleep 1000\n' >fake/bin/clang && chmod +x fake/bin/clang
    SUNDEW_LLVM_PREFIX=$PWD/fake timeout 20 "$SUNDEW_BUILD/sundew-cc" -c a.c & local pid=$!
    sleep 2; kill -TERM $pid; wait $pid; sleep .3; ! pgrep -f "$PWD/fake/bin/clang"
}
ok "killed in the middle, it leaves no process behind" slow_clang

fresh moved; sources
ok "a program that is moved at the end is counted" says "captured 3 of 3 C units linked (100%)" "$SUNDEW" capture -- sh -ec 'gcc a.c b.c c.c -o p.tmp; mv p.tmp p'
ok "…and listed" says " p" "$SUNDEW" show programs
ok "…and found by its name" has_all p
gcc -c b.c
ok "…what is missing in it too" says "captured 2 of 3" "$SUNDEW" capture -- sh -ec 'gcc a.c b.o c.c -o q.tmp; mv q.tmp q'
ok "a copy of a partial program is partial" says '"missing": [
      {' sh -c 'cp q q2; "$SUNDEW" show programs --json; "$SUNDEW" -v show programs | grep -q b.o'
for f in .sundew/programs/*.json; do echo '{' >"$f"; break; done
ok "a damaged record is told" says "is damaged: remove it" "$SUNDEW" show programs

mkdir -p "$work/my.software"; cd "$work/my.software" && rm -rf ./* .sundew; sources; gcc -c b.c
ok "a folder whose name looks like a library" status 2 "$SUNDEW" -q capture -- sh -ec 'gcc -c a.c c.c; ld -r -oall.o a.o b.o c.o'
ok "…ld -oFILE is a program" says "all.o" "$SUNDEW" show programs
ok "a map in a folder, and with %" sh -ec 'mkdir -p maps; gcc -c b.c; ! "$SUNDEW" -q capture -- gcc a.c b.o c.c -Wl,-Map=maps -o p; ! "$SUNDEW" -q capture -- gcc a.c b.o c.c -Wl,-Map=% -o p'
fresh others; sources
printf '.globl g\ng: mov $2, %%eax\nret\n.section .note.GNU-stack,"",@progbits\n' >g.s; echo data >blob.bin
ok "as by name, and data made into an object, are no C" captured sh -ec 'as g.s -o g.o; ld -r -b binary blob.bin -o blob.o; gcc -c a.c b.c; gcc a.o b.o g.o blob.o -o prog 2>/dev/null'
ok "…the C is there" has_units prog "captured a.c" "captured b.c"
ok "-save-temps" captured gcc -save-temps a.c b.c c.c -o prog
ok "…all units" has_all prog
mkdir lib; cp "$(gcc -print-file-name=crti.o)" "$(gcc -print-file-name=crtn.o)" lib
ok "start files from elsewhere" captured gcc -B"$PWD/lib/" a.c b.c c.c -o prog
ok "when clang can compile nothing, that is said" sh -c 'echo "int main(void) { int in(void) { return 0; } return in(); }" >n.c; "$SUNDEW" capture -- gcc n.c -o n 2>&1 | grep -q "could compile none of 1"'

fresh words; sources
printf '#define V 42\n' >v.h; mkdir inc; printf '#define W 1\n' >inc/w.h
printf 'int main(void) { return V - 42; }\n' >v.c
for words in "-Wp,-include,v.h" "-Xpreprocessor -include -Xpreprocessor v.h" "-Xpreprocessor -D -Xpreprocessor V=42" "--define-macro V=42" "--include-directory inc -include v.h" "--include=v.h" "-dumpbase x -DV=42"; do
    ok "gcc $words" captured sh -ec "gcc $words v.c --output prog"
    ok "…its unit" has_units prog "captured v.c"
done
printf 'int typeof; int main(void) { return typeof; }\n' >k.c
ok "c89 is C89 for clang too" captured c89 k.c -o prog
ok "…its unit" has_units prog "captured k.c"
ln -s "$(command -v gcc)" my-fast-gcc
ok "a compiler with a name of its own" sh -ec 'PATH=$PWD:$PATH; "$SUNDEW" capture -- my-fast-gcc a.c b.c c.c -o prog'
ok "…all units" has_all prog
printf '%s\n' '-DV=42' '-o prog' >r.rsp
ok "what a response file said is kept after it is gone" sh -ec '"$SUNDEW" -q capture -- gcc v.c @r.rsp; rm r.rsp; "$SUNDEW" show commands | grep -q -- -DV=42'
ok "flags that change the program and that clang lacks are noted" says "without -funsigned-bitfields" "$SUNDEW" -v capture -- gcc -funsigned-bitfields -c a.c
ok "a folder that looks like a compiler is none" sh -ec 'mkdir -p bin/gcc-99; PATH=$PWD/bin:$PATH "$SUNDEW" -q capture -- gcc -c a.c; test ! -e .sundew/shims/gcc-99'
ok "the build's own options are its own" sh -ec 'printf "x:\n\tgcc -c a.c\n\t@echo flags:\$(MAKEFLAGS)\n" >Makefile; "$SUNDEW" capture make -B -j2 | grep -q "flags:.*B"'
ok "-w of a folder that is something else" says "not empty and no workspace" "$SUNDEW" -w . capture -- gcc -c a.c
ok "an empty -w" status 2 "$SUNDEW" -w "" capture -- gcc -c a.c
ok "words that a command does not take" status 2 "$SUNDEW" show programs nonsense
gone() { mkdir gone; cd gone; rmdir ../gone; says "current folder is gone" "$SUNDEW" capture -- gcc -c a.c; }
ok "a current folder that is gone" gone

fresh damaged; sources
ok "a damaged unit is a missing unit" sh -ec '"$SUNDEW" capture -- gcc a.c b.c c.c -o prog; for f in .sundew/units/*.json; do echo "{" >$f; break; done; "$SUNDEW" show programs -v | grep -q "1 missing"'
ok "a lost bitcode file is a missing unit" sh -ec '"$SUNDEW" capture -- gcc a.c b.c c.c -o prog; rm -f $(ls .sundew/units/*.bc | head -1); "$SUNDEW" show units prog | grep -q "bitcode is gone"'
echo 99 >.sundew/version
ok "a workspace of another version is refused" says "another version" "$SUNDEW" show programs
fresh nothing
ok "no workspace: says how to make one" says "sundew capture -- make" "$SUNDEW" show programs
ok "…exit status 2" status 2 "$SUNDEW" show programs
touch plain; mkdir .sundew; printf '1\n' >.sundew/version; mkdir -p .sundew/programs .sundew/units
ok "a file that is no program" says "neither executable" "$SUNDEW" show units ./plain
python3 -c 'import random; open("noise", "wb").write(random.Random(1).randbytes(3000))'; (printf '\177ELF\2\1\1'; cat noise) >bad.o; (printf '!<arch>\n'; cat noise) >bad.a
ok "a damaged ELF file" status 2 "$SUNDEW" show units ./bad.o
ok "a damaged archive" status 2 "$SUNDEW" show units ./bad.a

fresh full; sources
"$SUNDEW" -q capture -- gcc a.c b.c c.c -o prog
export SUNDEW_WORKSPACE=$PWD/.sundew
no_fault_fails() {      # no_fault_fails VARIABLE MOST OUTPUT ARG…
    local variable=$1 most=$2 output=$3 n
    shift 3
    for n in $(seq 1 "$most"); do
        rm -f "$output"
        env $variable=$n "$SUNDEW_BUILD/sundew-cc" "$@" || { echo "$variable=$n: $?"; return 1; }
        test -s "$output" || { echo "$variable=$n: no $output"; return 1; }
    done
}
ok "no failed write of ours fails a compilation" no_fault_fails SUNDEW_FAULT 40 a.o -c a.c
ok "…or a link" no_fault_fails SUNDEW_FAULT 60 p a.c b.c c.c -o p
ok "…nor does a lack of memory" no_fault_fails SUNDEW_FAULT_ALLOC 400 a.o -c a.c
unset SUNDEW_WORKSPACE

# A configuration that fails leaves units of sources that it has deleted.
fresh gone
printf 'int f(int n) { return n; }\n' >a.c
"$SUNDEW" -q capture --min-share 0 -- sh -c 'cp a.c /tmp/sundew-gone-$$.c; gcc -c /tmp/sundew-gone-$$.c -o gone.o; rm /tmp/sundew-gone-$$.c; gcc -c a.c'
ok "a source that is gone is not missing" eval 'says "in 1 unit" "$SUNDEW" types && says "sundew: complete" "$SUNDEW" types'
done_testing
