# Sizes, offsets, members, enumerators and signatures agree with what gcc and
# clang put into DWARF and GNU readelf reads from it, and with pahole.
. "$TOP/tests/scripts/tap.bash"

# agree COMPILER PROGRAM AT-LEAST-TYPES AT-LEAST-FUNCTIONS
agree() {
    "$SUNDEW" show types "$2" --json >types.json && "$SUNDEW" show functions "$2" --json >functions.json &&
        "$SUNDEW" show commands -o commands.json &&
        "$TOP/tests/tools/types-opinion" types.json functions.json "$1" commands.json >said || { cat said; return 1; }
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
cp "$TOP/tests/subjects/types-second-opinion/shapes.h" shapes.h
cp "$TOP/tests/subjects/types-second-opinion/a.c" a.c
cp "$TOP/tests/subjects/types-second-opinion/b.c" b.c
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
cp "$TOP/tests/subjects/types-second-opinion/system.c" system.c
ok "capture of installed headers" "$SUNDEW" capture -- gcc -g -I/usr/lib/llvm-19/include system.c -o system
ok "clang agrees on them" agree clang-19 system 50 2
ok "gcc agrees on them" agree gcc system 50 2
done_testing
