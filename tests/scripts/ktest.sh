# Inputs in KLEE's format, read and written.
. "$TOP/tests/scripts/tap.bash"
fresh ktest
cat >prog.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char b[8] = "";
    if (fread(b, 1, 4, stdin) == 4 && b[0] == 'S' && b[1] == 'U' && b[2] == 'N' && b[3] == '!')
        abort();
    return 0;
}
END
"$SUNDEW" -q capture -- gcc -g prog.c -o prog
# One input of two objects, as KLEE writes it.
python3 - <<'P'
import struct
n = lambda x: struct.pack(">I", x)
t = lambda s: n(len(s)) + s
open("two.ktest", "wb").write(b"KTEST" + n(3) + n(1) + t(b"prog.bc") + n(0) + n(0) + n(2) + t(b"a") + t(b"SU") + t(b"b") + t(b"N!"))
open("cut.ktest", "wb").write(open("two.ktest", "rb").read()[:-1])
open("huge.ktest", "wb").write(b"KTEST" + n(3) + n(0) + n(0) + n(0) + n(1) + t(b"a") + n(0xffffffff))
P
replay() { "$SUNDEW" -q explore ./prog --replay -i "$1" -j1 -o "$1.out" "${@:2}" >"$1.txt"; }
ok "the objects of a .ktest file are the input" status 1 replay two.ktest
ok "…which shows the failure" grep -q 'prog.c:7' two.ktest.txt
ok "a file that is cut short is an input like any other" status 0 replay cut.ktest
ok "…so is one that says too much" status 0 replay huge.ktest
ok "inputs are written" status 1 replay two.ktest --ktest klee -o again
holds() {
    python3 - <<'P'
import glob, struct
files = glob.glob("klee/*.ktest")
found = set()
for f in files:
    d = open(f, "rb").read()
    assert d[:5] == b"KTEST" and struct.unpack(">II", d[5:13]) == (3, 1), d[:20]
    at = 13
    length = struct.unpack(">I", d[at:at + 4])[0]; at += 4 + length + 8
    assert struct.unpack(">I", d[at:at + 4])[0] == 1; at += 4
    length = struct.unpack(">I", d[at:at + 4])[0]; at += 4 + length
    length = struct.unpack(">I", d[at:at + 4])[0]; at += 4
    assert at + length == len(d)
    found.add(d[at:])
assert b"SUN!" in found, (files, found)
P
}
ok "…with the bytes" holds
done_testing
