# web --cgi: a C program under CGI, its comparisons turned around; programs that misbehave.
. "$TOP/tests/scripts/tap.bash"
missing=$("$SUNDEW" -w "$work/probe" web --cgi "$TOP/tests/subjects/web" --entry cgi/none 2>&1 | sed -n 's/^sundew: //p' | grep install-deps)
if [ -n "$missing" ]; then
    skip "programs under CGI" "$missing"
    done_testing
    exit 0
fi
book=$TOP/tests/subjects/web/cgi/index.c
build() { mkdir -p "$1" && ${CC:-cc} -g -O1 -fno-builtin -fsanitize=address -o "$1/index.cgi" "$2"; }
web() {
    "$SUNDEW" -w ws web --cgi --json "$@" >out.json 2>err
    [ $? -le 1 ] || { cat err; return 1; }
}
holds() { python3 -c '
import json, sys
d = json.load(open("out.json")); F = d["faults"]
def chain(f): return [(c["script"], [(p["name"], p["value"]) for p in c["parameters"]]) for c in f["chain"]]
def fault(kind, word): return [f for f in F if f["kind"] == kind and word in f["message"]]
sys.exit(not ('"$1"'))' || { cat err; head -150 out.json; return 1; }; }

fresh book
cp "$book" index.c
ok "a guest book in C" build app index.c
ok "is explored" web app --depth 4 --time 60s
ok "…nothing is left" holds 'd["complete"]'
ok "conditions on two parameters lead to an overflow, with its line" holds '(lambda f: f["file"].endswith("index.c") and f["line"] == 80 and f["replayed"] and len(f["condition"]) == 3 and chain(f) == [("index.cgi", [("GET[key]", "key-long"), ("GET[mode]", "admin")])])(fault("crash", "overflow")[0])'
ok "an answer without a header is told" holds 'chain(fault("crash", "no header")[0]) == [("index.cgi", [("GET[mode]", "raw")])]'
ok "…and a status" holds 'fault("warning", "status 3")[0]["condition"] == ["GET[mode] === \"quit\""]'
ok "HTML behind two posts" holds '(lambda f: len(f["chain"]) == 3 and f["minimised"])(fault("html-error", "</div>")[0])'
ok "what reaches the page as it is" holds 'len(fault("reflected", "guest")) == 1'
ok "what a shell would run, and did not" holds 'len(fault("shell", "host")) == 1'
ok "…and nothing else" holds 'len(F) == 6'
number=$(python3 -c 'import json; print([f["line"] for f in json.load(open("out.json"))["faults"]].index(80) + 1)')
ok "the overflow can be run again" says "the fault is there again" "$SUNDEW" -w ws web --replay "$number"
ok "…by curl, and is no PHP" sh -c "sh -n ws/web/$number/replay.sh && grep -q 'runs CGI' ws/web/$number/replay.sh && ! ls ws/web/$number/*.php"
ok "the folder is only read" test ! -e app/guests.txt

# The correct twin.
sed -e 's/char small\[8\]/char small[32]/' -e 's/return 3;/return 0;/' -e 's/<div>two guests/two guests/' \
    -e 's/if (strcmp(get("mode"), "raw") == 0) .*/if (0)/' -e 's/"ping -c 1 %s", get("host")/"ping -c 1 localhost"/' \
    -e 's,printf("<p>Welcome.*,printf("<p>Welcome </p>\\n");,' index.c >twin.c
ok "the repaired book" build twin twin.c
ok "has no fault" web twin --depth 3 --time 60s
ok "…none" holds 'F == [] and d["complete"]'

# ---- programs that misbehave
fresh hostile
mkdir app
cat >hostile.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
    const char *q = getenv("QUERY_STRING"), *fd = getenv("SUNDEW_WEB");
    printf("Content-Type: text/html\r\n\r\n<!DOCTYPE html><html><head><title>x</title></head><body>\n");
    fflush(stdout);
    if (strstr(q, "noise=")) {                 /* the log is not to be trusted */
        char *p = mmap(NULL, 1 << 22, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0);
        for (int i = 12; p != MAP_FAILED && i < 1 << 22; i++)
            p[i] = (char)(i * 2654435761u >> 13);
    }
    if (strstr(q, "kill="))
        kill(getppid(), SIGKILL), kill(-1, SIGKILL);
    if (strstr(q, "fork="))
        for (int i = 0; i < 50; i++)
            if (fork() == 0)
                for (;;) pause();
    if (strstr(q, "loop="))
        for (;;);
    if (strstr(q, "large="))
        for (int i = 0; i < 400000; i++)
            printf("<p>%0100d</p>\n", i);
    if (strstr(q, "delete="))
        remove("index.cgi"), remove("../app/index.cgi");
    puts("</body></html>");
    return 0;
}
C
ok "a program that means harm" "${CC:-cc}" -fno-builtin -o app/index.cgi hostile.c
ok "is survived" web app --time 60s --timeout 1s --no-security --depth 2
ok "…a loop is told" holds 'len(fault("hang", "")) == 1 and chain(fault("hang", "")[0]) == [("index.cgi", [("GET[loop]", fault("hang", "")[0]["chain"][0]["parameters"][0]["value"])])]'
ok "…and all names were found" holds 'd["requests"] >= 8'
ok "…and the source is whole" test -x app/index.cgi
ok "--cgi goes without --serve" status 2 "$SUNDEW" web --cgi app --serve
ok "…and needs a program" says "there is no such script" "$SUNDEW" web --cgi app --entry none.cgi
ok "…which is known again" status 2 "$SUNDEW" -w ws web --replay 99
done_testing
