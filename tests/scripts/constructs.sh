# Programs with all that C and its extensions have to trip over: each is captured, and everything
# that can be shown of it is shown. What its calls reach is known in each case.
. "$TOP/tests/scripts/tap.bash"
fresh project

# construct NAME CALLEES: a program of tests/subjects/constructs; its run() calls these functions.
construct() {
    local name=$1 callees=$2
    cp "$TOP/tests/subjects/constructs/$name.c" . || return
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

ok "inline assembly" construct asm "f"
ok "asm goto" construct asm-goto "f g"
ok "computed goto" construct computed-goto "f g"
ok "setjmp" construct setjmp "_setjmp f g thrower"
ok "variable arguments" construct varargs "f g"
ok "K&R definitions" construct kr "f old"
ok "tentative definitions" construct tentative "f"
ok "weak symbols" construct weak "absent f w"
ok "aliases" construct alias "real"
ok "ifuncs" construct ifunc "f g"
ok "thread-local variables" construct tls "f g"
ok "vectors" construct vector "f g"
ok "complex numbers" construct complex "cabs f half"
done_testing
