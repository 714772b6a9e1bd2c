# sundew show functions, types, externals, handles.
. "$TOP/tests/scripts/tap.bash"

fresh project
cp "$TOP/tests/subjects/show-program/list.h" list.h
cp "$TOP/tests/subjects/show-program/list.c" list.c
cp "$TOP/tests/subjects/show-program/main.c" main.c
ok "capture" "$SUNDEW" capture -- gcc -O2 main.c list.c -o prog

# json COMMAND PYTHON: the list is `all`, `one(name)` finds by name.
json() {
    "$SUNDEW" show $1 prog --json >"$work/list.json" && python3 - "$work/list.json" <<P
import json, sys
all = json.load(open(sys.argv[1]))
def one(name, **more):
    found = [o for o in all if o["name"] == name and all_of(o, more)]
    assert len(found) == 1, (name, found)
    return found[0]
def all_of(o, more):
    return len([k for k in more if not str(o[k]).endswith(str(more[k]))]) == 0
$2
P
}
ok "functions have these keys" json functions '
for f in all:
    assert set(f) == {"name", "file", "line", "column", "linkage", "signature", "parameters", "returns",
                      "address_taken", "callers", "callees", "indirect_callers", "indirect_callees"}, f
assert sorted(f["name"] for f in all) == ["helper", "helper", "list_each", "list_free", "list_new", "list_sum", "main"]'
ok "…and these values" json functions '
f = one("list_sum")
assert f["file"].endswith("/project/list.c") and f["line"] == 12 and f["column"] == 5, f
assert f["signature"] == "int list_sum(const struct list *l)" and f["returns"] == "int"
assert f["parameters"] == [{"name": "l", "type": "const struct list *"}]
assert f["callers"] == ["main", "list_sum"] or f["callers"] == ["list_sum", "main"], f
assert f["callees"] == ["list.c:helper", "list_sum"] or f["callees"] == ["list_sum", "list.c:helper"], f
assert one("list_each")["indirect_callees"] == ["main.c:helper"] == one("list_each")["callees"]
assert one("helper", file="main.c")["indirect_callers"] == ["list_each"] and f["indirect_callers"] == []
assert one("helper", file="main.c")["address_taken"] and not one("helper", file="list.c")["address_taken"]
assert one("helper", file="main.c")["linkage"] == "internal" and f["linkage"] == "external"'
ok "as text" says "list.c:12:5: external: int list_sum(const struct list *l)" "$SUNDEW" show functions prog
only_main() { [ "$("$SUNDEW" show functions prog main | wc -l)" = 1 ]; }
ok "one by name" only_main

ok "types" json types '
t = one("list")
assert t["kind"] == "struct" and t["size"] == 16
assert t["fields"] == [{"name": "next", "type": "struct list *", "offset": 0, "width": 64},
                       {"name": "value", "type": "int", "offset": 64, "width": 32},
                       {"name": "flags", "type": "unsigned int", "offset": 96, "width": 3}], t
assert one("color")["values"] == {"RED": 0, "BLUE": 5}'
ok "as text" says "    unsigned int flags : 3;" "$SUNDEW" show types prog list

ok "externals: none without a summary" json externals '
assert all == [], all'
ok "externals, all of them" json "externals --all" '
assert [e["name"] for e in all] == ["calloc", "free"], all
assert all[0]["calls"] == 1 and all[0]["callers"] == ["list_new"]'

ok "calls" json calls '
one = [s for s in all if s["indirect"]]
assert len(one) == 1 and one[0]["caller"] == "list_each", one
assert one[0]["targets"] == ["main.c:helper"], one'
ok "calls as a picture" says '"list_each" -> "helper' "$SUNDEW" show calls prog list_each --dot
ok "points-to" says "heap in main (main.c:4)+8" "$SUNDEW" show points-to prog list_new
ok "a bad line in the project's summaries" says "sundew.summaries:2: unknown effect: 'what'" \
    sh -c 'printf "f a\ng b ; what\n" >sundew.summaries; "$SUNDEW" show calls prog; rm sundew.summaries'

roles() { "$SUNDEW" show handles prog --json | python3 -c '
import json, sys
for h in json.load(sys.stdin):
    for u in h["uses"]:
        print(h["type"], u["role"], u["function"], u["parameter"])'; }
expected="struct list creates list_new return
struct list destroys list_free l
struct list observes list_sum l
struct list observes list_each l"
ok "handles" diff <(printf '%s\n' "$expected" | sort) <(roles | sort)
echo 'list_sum changes l   # it counts' >sundew.handles
ok "…unless the user says otherwise" says "changes     list_sum l: the user says so" "$SUNDEW" show handles prog
echo 'list_sum eats l' >sundew.handles
ok "…and a mistake is named" says "sundew.handles:1: no role is called eats" status 2 "$SUNDEW" show handles prog
rm sundew.handles

# Thirty variables that each may get the value of any other, as in an interpreter's loop: very many
# ways lead to each.
python3 - >loop.c <<'P'
n = range(30)
print("typedef struct Cell { int v; } Cell;\nCell *run(const unsigned char *pc, Cell *v0)\n{")
print("Cell", ", ".join("*v%d = v0" % i for i in n[1:]) + ";\nfor (;;) switch (*pc++) {")
for i in n:
    print("case %d:" % i, " ".join("if (*pc == %d) v%d = v%d;" % (j, i, j) for j in n if j != i), "break;")
print("default: return v1;\n}\n}\nint main(void) { Cell c = { 1 }; return run((const unsigned char *)\"x\", &c)->v; }")
P
tangled() { "$SUNDEW" -q capture -- cc -g -o loop loop.c && says "observes    run v0" timeout 300 "$SUNDEW" show handles loop; }
ok "handles of a tangled loop" tangled

damaged() { for f in .sundew/linked/*; do printf x >"$f"; done; only_main; }
ok "a damaged model is made again" damaged
ok "a program that is not there" says "no program 'nothing'" status 2 "$SUNDEW" show types nothing
ok "no program named" says "which program?" status 2 "$SUNDEW" show functions
done_testing
