# Programs with all that C and its extensions have to trip over: each is captured, and everything
# that can be shown of it is shown. What its calls reach is known in each case.
. "$TOP/tests/scripts/tap.bash"
fresh project

# construct NAME CALLEES: standard input is a program; run() calls these functions.
construct() {
    local name=$1 callees=$2
    { echo 'static int f(int x) { return x + 1; } static int g(int x) { return x - 1; }'; cat; } > "$name.c"
    "$SUNDEW" capture -- gcc -w -O2 "$name.c" -o "$name" -lm || return
    "./$name" || return
    for what in functions types calls externals handles points-to; do
        "$SUNDEW" show $what "$name" > "$name.$what" || return
        [ $what = points-to ] || "$SUNDEW" show $what "$name" --json > "$name.$what.json" || return
    done
    python3 - "$name.functions.json" "$callees" <<'P'
import json, sys
run = [f for f in json.load(open(sys.argv[1])) if f["name"] == "run"]
found = " ".join(sorted(run[0]["callees"]))
assert found == sys.argv[2], found
P
}

ok "inline assembly" construct asm "f" <<'C'
__asm__(".globl in_asm\nin_asm: ret\n");
int run(int (*p)(int)) { int (*q)(int); __asm__("mov %1, %0" : "=r"(q) : "r"(p) : "memory"); return q(1); }
int main(void) { return run(f) - 2; }
C
ok "asm goto" construct asm-goto "f g" <<'C'
int run(int x) { __asm__ goto("" : : "r"(x) : : out); return f(x); out: return g(x); }
int main(void) { return run(0) - 1; }
C
ok "computed goto" construct computed-goto "f g" <<'C'
int run(int n) { static void *t[] = { &&a, &&b }; goto *t[n & 1]; a: return f(n); b: return g(n); }
int main(void) { return run(0) - 1; }
C
ok "setjmp" construct setjmp "_setjmp f g thrower" <<'C'
#include <setjmp.h>
static jmp_buf env; static int (*p)(int);
static int thrower(int x) { p = g; longjmp(env, 1); }
int run(void) { p = f; if (setjmp(env)) return p(1); p = thrower; return p == f ? p(0) : 0; }
int main(void) { return run(); }
C
ok "variable arguments" construct varargs "f g" <<'C'
#include <stdarg.h>
int run(int n, ...) { va_list a, b; va_start(a, n); va_copy(b, a); int s = va_arg(a, int (*)(int))(n);
    va_arg(b, double); s += va_arg(b, int (*)(int))(0); va_end(a); va_end(b); return s; }
int main(int argc, char **argv) { return argc > 5 ? run(1, g, 2.0, f) : 0; }
C
ok "K&R definitions" construct kr "f old" <<'C'
int old(a, p) char a; int (*p)(); { return a + (*p)(1); }
int run(p) int (*p)(); { return p(1) + old('a', g); }
int main() { return run(f) - 99; }
C
ok "tentative definitions" construct tentative "f" <<'C'
static int (*p)(int); int tentative; int tentative; extern int tentative;
static int (*p)(int) = f;
int run(void) { return p(tentative); }
int main(void) { return run() - 1; }
C
ok "weak symbols" construct weak "absent f w" <<'C'
__attribute__((weak)) int w(int x) { return x; } __attribute__((weak)) int absent(int);
int run(void) { return w(0) + f(0) + (absent ? absent(1) : 0); }
int main(void) { return run() - 1; }
C
ok "aliases" construct alias "real" <<'C'
int real(int x) { return f(x); } int also(int) __attribute__((alias("real")));
extern int weakly(int) __attribute__((weak, alias("real")));
int run(void) { int (*p)(int) = also; return p(1) + weakly(2) + also(3); }
int main(void) { return run() - 9; }
C
ok "ifuncs" construct ifunc "f g" <<'C'
static int choose = 1;
static int (*pick(void))(int) { return choose ? f : g; }
int chosen(int) __attribute__((ifunc("pick")));
int run(void) { int (*p)(int) = chosen; return p(1) + chosen(2); }
int main(void) { return run() - 5; }
C
ok "thread-local variables" construct tls "f g" <<'C'
_Thread_local int (*p)(int) = f; static __thread int (*q)(int);
int run(void) { q = g; return p(1) + q(1); }
int main(void) { return run() - 2; }
C
ok "vectors" construct vector "f g" <<'C'
typedef long V __attribute__((vector_size(16)));
int run(V v) { v += (V){ 0, 0 }; return ((int (*)(int))v[0])(1) + ((int (*)(int))v[1])(1); }
int main(void) { V v = { (long)f, (long)g }; return run(v) - 2; }
C
ok "complex numbers" construct complex "cabs f half" <<'C'
#include <complex.h>
double complex z; float complex half(float complex x) { return x / 2; }
int run(double complex x) { z = conj(x) + 1; return f((int)cabs(z)) + (int)creal(half(1)); }
int main(void) { return run(2 + 4 * I) - 6; }
C
done_testing
