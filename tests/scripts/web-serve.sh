# web --serve: what a person clicks is recorded and judged; the server listens on loopback
# and is not moved by hostile requests; what was recorded can be run again.
. "$TOP/tests/scripts/tap.bash"
apps=$TOP/tests/subjects/web
missing=$("$SUNDEW" -w "$work/probe" web "$apps/desk" --requests 1 2>&1 >/dev/null | sed -n 's/^sundew: //p' | grep install-deps)
if [ -n "$missing" ]; then
    skip "PHP applications in a browser" "$missing"
    done_testing
    exit 0
fi

# serve APP OPTION…: in the background; $port is where. Output in out.json, what it says in err.
serve() {
    local app=$1
    shift
    "$SUNDEW" -w ws web --serve "$app" --json "$@" >out.json 2>err &
    server=$!
    for _ in $(seq 600); do
        port=$(sed -n 's,.*at http://127\.0\.0\.1:\([0-9]*\)/.*,\1,p' err)
        [ -n "$port" ] && return
        kill -0 $server 2>/dev/null || break
        sleep 0.1
    done
    cat err
    return 1
}
# stop: Ctrl-C, and wait; its status.
stop() {
    kill -INT $server
    wait $server
    ended=$?
}
# ask CODE…: Python, with get(path, data, headers) of one browser with a cookie jar, and raw(bytes).
ask() {
    python3 - "$port" "$1" <<'P'
import http.cookiejar, socket, sys, urllib.error, urllib.request
port = int(sys.argv[1]); base = "http://127.0.0.1:%d" % port
def browser():
    return urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
def get(path, data=None, headers={}, by=[browser()], method=None):
    try:
        r = by[0].open(urllib.request.Request(base + path, data, headers, method=method), timeout=60)
    except urllib.error.HTTPError as e:
        r = e
    return r.status, r.read().decode("latin-1"), dict(r.headers)
def raw(data, end=True):
    s = socket.create_connection(("127.0.0.1", port), timeout=60)
    s.sendall(data)
    if not end:
        return s
    out = b""
    try:
        while chunk := s.recv(65536):
            out += chunk
    except ConnectionError:
        pass
    return out
H = ("Host: 127.0.0.1:%d\r\n" % port).encode()
def status(data):
    out = raw(data)
    return int(out.split()[1]) if out else 0
exec(sys.argv[2])
P
}
holds() { python3 -c '
import json, sys
d = json.load(open("out.json")); F = d["faults"]
sys.exit(not ('"$1"'))' || { cat err out.json | head -80; return 1; }; }

# ---- a person logs in and looks
fresh login
ok "the application is served" serve "$apps/login"
ok "pages come, and the login holds" ask '
assert "<form" in get("/")[1]
assert "view.php" in get("/login.php", b"user=admin&pw=admin")[1]
assert "Admin view of x" in get("/view.php?topic=x")[1]'
listens() { awk -v p="$(printf '%04X' "$port")" '$4 == "0A" && split($2, a, ":") && a[2] == p { n++; if (a[1] != "0100007F") bad = 1 } END { exit !(n == 1 && !bad) }' /proc/net/tcp; }
if [ -r /proc/net/tcp ]; then ok "only this machine can reach it" listens; else skip "only this machine can reach it" "no /proc/net/tcp"; fi
stop
ok "Ctrl-C ends it, and that is complete" sh -c "test $ended = 1 && grep -q complete err && ! grep -q INCOMPLETE err"
ok "every request is told, and the fault at once" python3 -c '
said = [l.split("sundew: ")[1].strip() for l in open("err") if l.startswith("sundew: ")]
want = ["GET index.php", "POST login.php user=admin pw=admin", "GET view.php topic=x", "view.php:10: html-error: missing </h2> before </body>"]
assert said[1:5] == want, said'
ok "one fault, behind the login, without what does not matter" holds '[(f["file"], f["line"], f["replayed"], f["minimised"]) for f in F] == [("view.php", 10, True, True)] and [(c["script"], [(p["name"], p["value"]) for p in c["parameters"]]) for c in F[0]["chain"]] == [("login.php", [("POST[user]", "admin"), ("POST[pw]", "admin")]), ("view.php", [])]'
ok "the fault can be run again" says "the fault is there again" "$SUNDEW" -w ws web --replay 1
ok "…and the whole recording" says "view.php:10: html-error: missing </h2> before </body>
3 requests, 1 faults" "$SUNDEW" -w ws web --replay 0
ok "…with curl, too" sh -c 'sh -n ws/web/0/replay.sh && grep -c "^curl " ws/web/0/replay.sh | grep -qx 3'

# The correct twin: the same clicks, no fault.
fresh twin
cp -r "$apps/login" app
sed -i 's,Admin view of $topic,&</h2>,' app/view.php
ok "the repaired login is served" serve app
ok "…and clicked through" ask 'get("/"); get("/login.php", b"user=admin&pw=admin"); assert "Admin view" in get("/view.php?topic=x")[1]'
stop
ok "…without a fault" sh -c "test $ended = 0"
ok "…which the recording says, too" status 0 "$SUNDEW" -w ws web --replay 0

# ---- state, cookies, uploads, other methods, files that are no script
fresh notes
cp -r "$apps/notes" app
mkdir app/sub app/.hidden
echo secret >app/.hidden/x
echo '<p>sub' >app/sub/index.html
ok "an application with more to it" serve app --no-html
ok "the session goes on" ask '
assert "seen 1 " in get("/")[1]; assert "seen 2 at 127.0.0.1:%d" % port in get("/")[1]
assert "Expires" not in get("/")[2]["Set-Cookie"] and "expires" not in get("/")[2]["Set-Cookie"]'
ok "a browser that has no cookies begins anew" ask 'assert "seen 1 " in get("/")[1]'
ok "one script answers for other addresses" ask 'assert "/pretty/address" in get("/pretty/address")[1]; assert "/index.php" not in get("/index.php/info")[1]; assert get("/none.css")[0] == 404'
ok "files are served, with their type" ask '
s, t, h = get("/style.css"); assert "color" in t and h["Content-Type"] == "text/css"
assert "sub" in get("/sub")[1] and "sub" in get("/sub/")[1]'
ok "what is hidden, or a link, is not" ask '
get("/?link=1")
for p in ("/.hidden/x", "/out.txt", "/up/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/sub/%2e%2e/.hidden/x", "/sub/..%2f..%2f..%2fetc/passwd"):
    s, t, h = get(p); assert "secret" not in t and "root:" not in t, (p, s)'
ok "an upload keeps its name" ask '
body = b"--B\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"my cat.png\"\r\nContent-Type: image/png\r\n\r\n\x89PNG\0\r\n--B--\r\n"
assert "photo my cat.png 5" in get("/", body, {"Content-Type": "multipart/form-data; boundary=B"})[1]'
ok "a body that is no form, by another method" ask 'assert "put 3" in get("/", b"\0\1\2", {"Content-Type": "application/octet-stream"}, method="PUT")[1]'
ok "a cookie of the person's own making" ask 'get("/", headers={"Cookie": "theme=7"})'
ok "JSON is recorded by its elements" ask 'get("/", b"{\"a\": [1, true]}", {"Content-Type": "application/json"})'
ok "a fault that needs the request before it" ask 'get("/"); get("/", b"name=long")'
stop
ok "both faults are told, with their chains" holds 'sorted((f["kind"], f["line"], len(f["chain"]), f["replayed"]) for f in F) == [("crash", 11, 1, True), ("crash", 17, 2, True)]'
ok "…bodies are recorded byte for byte" says "photo=" "$SUNDEW" -w ws web --replay 0
same() { python3 -c '
import json
c = json.load(open("ws/web/0/chain.json"))["chain"]
p = {q["name"]: q for r in c for q in r["parameters"]}
assert p["FILES[photo]"]["encoded"] == "%89PNG%00" and p["BODY[raw]"]["encoded"] == "%00%01%02" and p["FILENAME[photo]"]["value"] == "my cat.png" and p["JSON[a][1]"]["type"] == 3, p'; }
ok "…in the file, too" same
ok "…the copy was private" sh -c 'ls app | sort | tr "\n" " " | grep -qx "index.php style.css sub "'

# ---- hostile requests
fresh hostile
ok "a server for nobody in particular" serve "$apps/login" --time 100s
ok "another site's name, or its page, is refused" ask '
assert status(b"GET / HTTP/1.1\r\nHost: evil.example:%d\r\n\r\n" % port) == 403
assert status(b"GET / HTTP/1.1\r\n\r\n") == 403
assert status(b"POST /login.php HTTP/1.1\r\n" + H + b"Origin: http://evil.example\r\nContent-Length: 3\r\n\r\na=b") == 403
assert status(b"POST /login.php HTTP/1.1\r\n" + H + b"Origin: http://127.0.0.1:%d\r\nContent-Length: 3\r\n\r\na=b" % port) == 200'
ok "what can be read in two ways is refused" ask '
for head in (b"Content-Length: 3\r\nContent-Length: 4\r\n", b"Content-Length: +3\r\n", b"Content-Length: 99999999999999999999\r\n", b"A\0: b\r\n", b" folded\r\n", b"Host: other\r\n", b"no colon\r\n", b": none\r\n", b"A: b\rX: c\r\n"):
    assert status(b"GET / HTTP/1.1\r\n" + H + head + b"\r\n") == 400, head
assert status(b"POST / HTTP/1.1\r\n" + H + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == 501'
ok "odd first lines are refused" ask '
for line, want in ((b"GET / HTTP/2.0", 505), (b"GET /", 400), (b"GET x HTTP/1.1", 400), (b"GET http://h/ HTTP/1.1", 400), (b"G\x7fT / HTTP/1.1", 400), (b"GET /%00 HTTP/1.1", 400), (b"GET /../x HTTP/1.1", 400), (b"A" * 40 + b" / HTTP/1.1", 400)):
    assert status(line + b"\r\n" + H + b"\r\n") == want, (line, status(line + b"\r\n" + H + b"\r\n"))'
ok "what is too large is refused" ask '
assert status(b"GET / HTTP/1.1\r\n" + b"A: " + b"x" * 40000) == 431
assert status(b"POST / HTTP/1.1\r\n" + H + b"Content-Length: 99999999\r\n\r\n") == 413
assert status(b"GET / HTTP/1.1\r\n" + H + b"A: b\r\n" * 200 + b"\r\n") == 400'
ok "connections that say nothing hold up nobody" ask '
idle = [raw(b"GET / HT", end=False) for _ in range(30)]
assert "<form" in get("/")[1]
for s in idle: s.close()
half = raw(b"POST /login.php HTTP/1.1\r\n" + H + b"Content-Length: 500\r\n\r\nuser=", end=False)
assert "<form" in get("/")[1]; half.close()'
ok "one who does not wait for the answer harms nobody" ask '
for i in range(5):
    s = raw(b"GET / HTTP/1.1\r\n" + H + b"\r\n", end=False); s.close()
assert "<form" in get("/")[1]'
ok "Expect: 100-continue is answered" ask '
s = raw(b"POST /login.php HTTP/1.1\r\n" + H + b"Expect: 100-continue\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 8\r\n\r\n", end=False)
assert s.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"; s.sendall(b"user=reg"); assert b"No such user" in s.recv(65536)'
ok "noise is survived" ask '
import random
r = random.Random(3)
good = b"POST /view.php?a=1&b[]=2 HTTP/1.1\r\n" + H + b"Cookie: a=b; c\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: 60\r\n\r\n" + b"--B\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--B--\r\n  "
for i in range(120):
    b = bytearray(good)
    for k in range(r.randrange(1, 6)): b[r.randrange(len(b))] = r.randrange(256)
    s = raw(bytes(b), end=False); s.shutdown(socket.SHUT_WR); s.settimeout(60)
    try:
        while s.recv(65536): pass
    except OSError: pass
    s.close()
assert "<form" in get("/")[1]'
ok "what a request holds is escaped on the terminal" ask 'raw(b"GET /view.php?topic=%1b%5d0;x%07 HTTP/1.1\r\n" + H + b"\r\n")'
ok "…as it is told" sh -c 'grep -qF "topic=\x1b]0;x\x07" err && ! grep -q "$(printf "\033")" err'
stop
ok "…and in what is written" sh -c '! grep -q "$(printf "\033")" out.json ws/web/0/replay.sh ws/web/0/chain.json'

# ---- the end by time and by count
fresh ends
ok "after N requests it ends by itself" serve "$apps/login" --requests 2
ok "…" ask 'get("/"); get("/")'
wait $server
ok "…without a fault" holds 'len(F) == 0 and d["requests"] >= 2'
ok "--time ends it, too" status 0 "$SUNDEW" -w ws web --serve "$apps/login" --time 2s
ok "nothing clicked, nothing to run again" says "no request was recorded" "$SUNDEW" -w ws web --replay 0
ok "a port that is taken is an error" sh -c 'python3 - "$SUNDEW" "$1" <<P
import socket, subprocess, sys
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
r = subprocess.run([sys.argv[1], "-w", "ws", "web", "--serve", sys.argv[2], "--port", str(s.getsockname()[1])], capture_output=True, text=True)
assert r.returncode == 2 and "in use" in r.stderr, r
P' x "$apps/login"
ok "a port without --serve is refused" status 2 "$SUNDEW" web "$apps/login" --port 80
done_testing
