# web: the acceptance examples of the specification, kinds of conditions,
# security, pages that misbehave, files that come out.
. "$TOP/tests/scripts/tap.bash"
apps=$TOP/tests/subjects/web
so=$SUNDEW_BUILD/php/sundew.so

missing=$("$SUNDEW" -w "$work/probe" web "$apps/desk" --requests 1 2>&1 >/dev/null | sed -n 's/^sundew: //p' | grep install-deps)
if [ -n "$missing" ]; then
    ok "without PHP it says what to install" status 2 "$SUNDEW" web "$apps/desk"
    skip "PHP applications" "$missing"
    done_testing
    exit 0
fi

# web APP OPTION…: runs it; what came out is in out.json.
web() {
    local app=$1
    shift
    "$SUNDEW" -w ws web "$apps/$app" --json "$@" >out.json 2>err
    [ $? -le 1 ] || { cat err; return 1; }
}
# true EXPRESSION: of out.json as d, its faults as F.
holds() {
    python3 -c '
import json, sys
d = json.load(open("out.json")); F = d["faults"]
def fault(kind, line): return [f for f in F if f["kind"] == kind and f["line"] == line]
sys.exit(not ('"$1"'))' || { python3 -m json.tool out.json | head -150; return 1; }
}

# ---- A1: three faults on one page
fresh desk
ok "the school desk is explored" web desk --time 60s --no-security
ok "…nothing is left to explore" holds 'd["complete"] and d["stale_labels"] == 0'
ok "F1: the missing file, page2 = 1337" holds 'len(fault("crash", 29)) == 1 and fault("crash", 29)[0]["condition"] == ["GET[page2] == 1337"]'
ok "F2: the footer that is skipped" holds '(lambda f: set(f["condition"]) >= {"GET[page] != 0", "GET[page] != 1", "GET[page] != 2"} and [p["name"] for p in f["chain"][0]["parameters"]] == ["GET[page]"])(fault("html-error", 3)[0])'
ok "F3: the tag that is none, login = 1" holds 'fault("html-error", 11)[0]["condition"] == ["GET[login] == 1"] and [p["name"] for p in fault("html-error", 11)[0]["chain"][0]["parameters"]] == ["GET[login]"]'
ok "…and nothing else" holds 'len(F) == 3 and all(f["replayed"] and f["minimised"] for f in F)'
ok "john the teacher was found by flips alone" holds 'd["coverage"]["lines"] >= 28'
ok "a fault can be run again" says "the fault is there again" "$SUNDEW" -w ws web --replay 1
ok "…and one that is not there can't" says "the last run has no such fault" "$SUNDEW" -w ws web --replay 99
cp out.json first.json
same() { web desk --time 60s --no-security --seed 1 && python3 - <<'P'
import json
a, b = (json.load(open(n)) for n in ("first.json", "out.json"))
key = lambda d: [(f["kind"], f["file"], f["line"], f["condition"], f["chain"]) for f in d["faults"]]
assert key(a) == key(b), (key(a), key(b))
P
}
ok "the same seed gives the same faults" same
unchanged() { (cd "$apps/desk" && find . | sort && cat index.php) | cksum; }
before=$(unchanged)
ok "the application's folder is only read" test "$before" = "$(unchanged)"

# The correct twin: no fault.
mkdir -p "$work/twin"
sed -e 's/<j2>/<h2>/' -e "s/require('printReportCards.php');/echo 'cards';/" -e 's/^    exit;/    footer_part(); exit;/' \
    -e 's/default: die(\(.*\));/default: echo \1;/' "$apps/desk/index.php" >"$work/twin/index.php"
ok "the repaired desk has no fault" status 0 "$SUNDEW" -w ws2 web "$work/twin" --time 60s

# ---- A2: behind a login
fresh login
ok "the login is explored" web login --time 60s --no-security
ok "one fault: the heading of the administrator" holds 'len(F) == 1 and F[0]["file"] == "view.php" and F[0]["line"] == 10 and "</h2>" in F[0]["message"]'
ok "…after logging in as admin" holds '[(c["script"], [(p["name"], p["value"]) for p in c["parameters"]]) for c in F[0]["chain"]] == [("login.php", [("POST[user]", "admin"), ("POST[pw]", "admin")]), ("view.php", [])]'
ok "…in states of their own" holds 'd["states"] >= 3'
ok "…with files that show it" test -s ws/web/1/replay.sh -a -s ws/web/1/Fault1Test.php
ok "…the test is PHP" sh -c 'php8.2 -n -l ws/web/1/Fault1Test.php'
ok "without states it can't be reached" web login --time 60s --no-security --stateless
ok "…and is not" holds 'F == []'

# ---- kinds of conditions
fresh clicks
ok "conditions of many kinds are solved" web clicks --time 90s --no-security --no-html
reached() { holds "'reached $1' in {f['message'] for f in F}"; }
for what in arithmetic 'trim and case' length position in_array switch 'typed parameter' array key pattern method \
            interpolation explode post entities match cookie copy 'mapped copy'; do
    ok "…$what" reached "$what"
done
ok "…what can't be is not" holds '"reached never" not in {f["message"] for f in F}'

fresh body
ok "bodies that are no form are parameters" web body --time 60s --no-security --no-html
for what in raw text number truth list nested key property 'typed property' 'nested property' 'empty property' \
            stream method; do
    ok "…$what" reached "$what"
done
ok "…what can't be is not" holds '"reached never" not in {f["message"] for f in F} and d["stale_labels"] == 0'
ok "…the smallest body is told, with its types" holds '[[(p["name"], p["value"], p.get("type")) for p in c["parameters"]] for f in F if f["message"] == "reached number" for c in f["chain"]] == [[("JSON[age]", "18", 4)]]'
number=$(python3 -c 'import json; print([f["message"] for f in json.load(open("out.json"))["faults"]].index("reached number") + 1)')
ok "…and can be sent again" says "the fault is there again" "$SUNDEW" -w ws web --replay "$number"
ok "…by curl, too" grep -qF '{"age":18}' "ws/web/$number/replay.sh"

fresh stored
ok "what earlier requests stored is turned around" web stored --requests 300 --depth 3 --no-security --no-html
for what in name role age pasted color; do
    ok "…$what" reached "$what"
done
ok "…what can't be is not" holds '"reached never" not in {f["message"] for f in F} and d["stale_labels"] == 0'
ok "…the request before it is the one that counts" holds '[[[(p["name"], p["value"]) for p in c["parameters"]] for c in f["chain"]] for f in F if f["message"] == "reached pasted"] == [[[("GET[pasted]", "secret")], [("GET[list]", "1")]]]'

fresh crumbs
ok "a cookie that is there gets another value" web crumbs --time 60s --no-security --no-html
ok "…which is what the page falls over" reached theme
ok "…and nothing else" holds 'len(F) == 1'

# ---- security
fresh holes
ok "hostile values are tried" web holes --time 60s
ok "SQL: the pasted value" holds 'any(f["kind"] == "sql" and "raw" in f["message"] for f in F)'
ok "…not the bound one" holds 'not any(f["kind"] == "sql" and "bound" in f["message"] for f in F)'
ok "reflected: the raw name" holds 'any(f["kind"] == "reflected" and f["message"].startswith("name ") and f["line"] == 13 for f in F)'
ok "…not the escaped one" holds 'not any(f["kind"] == "reflected" and f["message"].startswith("safe ") for f in F)'
ok "include: the part" holds 'any(f["kind"] == "include" and f["message"].startswith("part ") for f in F)'
ok "redirect: where to go" holds 'any(f["kind"] == "redirect" and f["message"].startswith("go ") for f in F)'
ok "…not the one inside" holds 'not any(f["kind"] == "redirect" and f["message"].startswith("home ") for f in F)'
for what in 'file file' 'shell ping' 'eval code' 'mail from' 'network host'; do
    ok "${what% *}: ${what#* }" holds "any(f['kind'] == '${what% *}' and f['message'].startswith('${what#* } ') and f['line'] for f in F)"
done
ok "…not what is done right" holds 'not any(f["kind"] in ("file", "shell", "eval", "mail", "network") and f["message"].split()[0] in ("base", "pong", "data", "subject") for f in F)'
ok "…and no HTML of hostile values is judged" holds 'not any("q7" in f["message"] for f in F)'

# ---- roles
fresh roles
ok "pages of a role are asked for by others" web roles --login root:secret --time 60s --no-html
ok "access: the page that does not ask who it is" holds '[f["file"] for f in F if f["kind"] == "access"] == ["admin/export.php"]'
cp -r "$apps/roles" twin
sed -i "2a if (!isset(\$_SESSION['user'])) { header('Location: ../index.php'); exit; }" twin/admin/export.php
here=$apps apps=$PWD
ok "…and the one that does" web twin --login root:secret --time 60s --no-html
ok "…is no fault" holds 'not any(f["kind"] == "access" for f in F)'
apps=$here

# ---- pages that misbehave
fresh hostile
ok "pages that misbehave are survived" web hostile --time 60s --timeout 1s --no-security
ok "…a page that never ends is told" holds 'any(f["kind"] == "hang" for f in F)'
ok "…memory without end is told" holds 'any("memory size" in f["message"] for f in F)'
ok "…nothing is written outside" test ! -e /etc/sundew-was-here
ok "…and the source is whole" test -s "$apps/hostile/other.php"

# ---- the example, and its fix
fresh example
cp -r "$TOP/examples/pantry" pantry
ok "the example's defect is found" says "shelf.php:14: web: Uncaught DivisionByZeroError" "$SUNDEW" -w ws web pantry --time 60s
(cd pantry && patch -s -p1 <fix.patch)
ok "…and gone with the fix" status 0 "$SUNDEW" -w ws web pantry --time 60s
ok "…which the chain shows too" says "the fault is gone" sh -c 'cp -r "$TOP/examples/pantry/." pantry; "$SUNDEW" -w ws web pantry --time 60s >/dev/null 2>&1; (cd pantry && patch -s -p1 <fix.patch); "$SUNDEW" -w ws web --replay 1'

# ---- usage
ok "a folder is needed" status 2 "$SUNDEW" web
ok "…that is there" status 2 "$SUNDEW" web nowhere
ok "an entry that is not there" says "there is no such script" "$SUNDEW" web "$apps/desk" --entry none.php
ok "a strategy that is none" status 2 "$SUNDEW" web "$apps/desk" --strategy best
ok "the baseline runs" web desk --strategy random --requests 60 --time 30s
ok "…the crawler too" web login --strategy crawl --time 30s
ok "…and mutation" web desk --strategy mutate --requests 60 --time 30s

# ---- the extension leaves PHP as it is
values() { "$SUNDEW_BUILD/tests/web_values" >ours && php8.2 -d opcache.enable=0 "$TOP/tests/scripts/web-values.php" >theirs && cmp ours theirs; }
ok "values mean what they mean to PHP" values
ok "random programs print the same" python3 "$TOP/tests/scripts/php-programs.py" php-cgi8.2 "$so" 40 7
done_testing
