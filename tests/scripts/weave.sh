# Programs rebuilt from their modules, plain and monitored, behave like the
# originals. The runtime is tests/subjects/weave/stub.c, which checks the probes' calls.
. "$TOP/tests/scripts/tap.bash"
. "$TOP/tests/scripts/weave.bash"
hard() { cp "$subjects"/hard* "$subjects"/tail.c .; }

fresh hard
hard
build='for f in hard hard_b hard_nested; do gcc -w -g -fcommon -fPIE -c $f.c; done
as hard_asm.s -o hard_asm.o; gcc hard*.o -o hard -pthread -lm'
ok "the subject is captured" "$SUNDEW" -q capture --min-share 50 -- sh -ec "$build"
ways=("${many[@]}")
ok "all constructs" same ./hard
ways=("${few[@]}")
ok "…ending in exit()" same ./hard -- x
ok "…by a signal" same ./hard -- abort
ok "…by _exit()" same ./hard -- _exit
probes() { "$weave" -m -r "$work/rt" -n stub ./hard woven && outcome ./woven >/dev/null && balanced; }
ok "…and the probes' calls are in order" probes

# link NAME COMMANDS: the program prog of a build of its own.
link() {
    local name=$1
    fresh build
    hard
    ok "$name: captured" "$SUNDEW" -q capture --min-share 50 -- sh -ec "as hard_asm.s -o hard_asm.o; $2"
    ok "$name" same ./prog
}
C='gcc -w -g -fcommon'
link "all in one command" "$C hard.c hard_b.c hard_nested.c hard_asm.o -o prog -pthread -lm"
link "an archive" "$C -c hard_b.c hard_nested.c; ar rcs libh.a hard_b.o hard_nested.o hard_asm.o; $C hard.c -L. -lh -o prog -pthread -lm"
link "a whole archive" "$C -c hard_b.c hard_nested.c; ar rcs libh.a hard_b.o hard_nested.o hard_asm.o; $C hard.c -Wl,--whole-archive libh.a -Wl,--no-whole-archive -o prog -pthread -lm"
link "not position-independent" "$C -no-pie -fno-pie hard.c hard_b.c hard_nested.c hard_asm.o -o prog -pthread -lm"
link "static" "$C -static hard.c hard_b.c hard_nested.c hard_asm.o -o prog -pthread -lm"
link "a response file that goes" "echo 'hard_b.c hard_nested.c hard_asm.o -o prog' >words; $C hard.c @words -pthread -lm; rm words"
link "link-time optimisation" "$C -O2 -flto hard.c hard_b.c -c; $C -c hard_nested.c; $C -O2 -flto hard.o hard_b.o hard_nested.o hard_asm.o -o prog -pthread -lm"
link "a map of the user's own" "$C hard.c hard_b.c hard_nested.c hard_asm.o -Wl,-Map=user.map -o prog -pthread -lm"
map_stays() { touch -d '2001-01-01' user.map; "$weave" ./prog woven && [ user.map -ot prog ]; }
ok "…which is not written again" map_stays

# Code for clang alone that calls into a member of an archive which gcc's build leaves out.
fresh clang
cp "$TOP/tests/subjects/weave/prog.c" prog.c
cp "$TOP/tests/subjects/weave/other.c" other.c
echo 'int third(int n) { return n + 1; }' >third.c
ok "a member that only clang's program needs: captured" "$SUNDEW" -q capture -- sh -ec \
    'gcc -g -c other.c third.c; ar rcs libx.a other.o third.o; gcc -g prog.c -L. -lx -o prog'
ok "…is linked from its bitcode" same ./prog
ok "…not position-independent: captured" "$SUNDEW" -q capture -- gcc -g -no-pie -fno-pie prog.c libx.a -o fixed
ok "…is linked from its bitcode" same ./fixed
mv libx.a libx.old
ar rcs libx.a third.o
ok "what nobody defines is an error" says 'undefined reference to' "$weave" ./prog woven
ok "…which leaves nothing" test ! -e woven

fresh tail
cp "$subjects/tail.c" .
ok "musttail: captured" "$SUNDEW" -q capture -- clang-19 -O2 tail.c -o tail
ok "musttail" same ./tail

fresh noinline
cp "$TOP/tests/subjects/weave/prog-2.c" prog.c
ok "noinline: captured" "$SUNDEW" -q capture -- gcc -g -O2 prog.c -o prog
ok "noinline" same ./prog
ok "…is kept where the source says it" eval 'nm woven | grep -q " t by_attribute" && nm woven | grep -q " t by_macro"'
ok "…and not elsewhere" eval '! nm woven | grep " inlined"'

fresh shared
cp "$TOP/tests/subjects/weave/lib.c" lib.c
cp "$TOP/tests/subjects/weave/main.c" main.c
ok "a shared library: captured" "$SUNDEW" -q capture -- sh -ec \
    'gcc -g -fPIC -shared lib.c -Wl,-soname,libx.so -o libx.so; gcc -g main.c -L. -lx -Wl,-rpath,$PWD -o prog'
both_woven() {
    local want
    want=$(./prog)
    "$weave" -m -r "$work/rt" -n stub ./libx.so libx.woven && "$weave" -m -r "$work/rt" -n stub ./prog prog.woven || return 1
    cp libx.so libx.plain && cp libx.woven libx.so
    [ "$(./prog)" = "$want" ] && [ "$(./prog.woven)" = "$want" ] || return 1
    nm -D --defined-only libx.so | grep -q ' T api' || return 1
    ! nm -D --defined-only libx.so | grep -i sundew
}
ok "a woven library under a plain and a woven program" both_woven

fresh errors
echo 'int f(int x) { return x; }' >a.c
echo 'int f(int); int main(void) { return f(0); }' >b.c
"$SUNDEW" -q capture -- sh -ec 'gcc -g -c a.c; ar rcs liba.a a.o; gcc -g b.c liba.a -o prog' >/dev/null
archive() { says "is an archive" "$weave" ./liba.a woven; }
ok "an archive can't be linked by itself" archive
old() {
    for f in .sundew/programs/*.json; do python3 - "$f" <<'X'
import json, sys
o = json.load(open(sys.argv[1])); o.pop("link", None); json.dump(o, open(sys.argv[1], "w"))
X
    done
    says "build it again" "$weave" ./prog woven
}
ok "a capture without the link command says what to do" old

if [ -z "$csmith" ]; then
    skip "random programs" "csmith is not installed"
else
    fresh random
    ok "random programs" several 1 24
    ok "…most of which count ($counted)" test "$counted" -ge 12
fi
done_testing
