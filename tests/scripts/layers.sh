# A room uses rooms to its left, never to its right; a technique never uses
# another; LLVM, Z3, SQLite and libffi have one room each. The table is that of
# docs/architecture.md.
. "$TOP/tests/scripts/tap.bash"
cd "$TOP" || exit 1

check() {
    python3 - <<'P'
import os, re, sys
allowed = {
    "runtime": "", "base": "", "capture": "base", "program": "base capture", "solve": "base",
    "run": "base runtime", "weave": "base capture program runtime", "finding": "base",
    "engine": "base capture program weave run solve runtime",
    "session": "base capture finding",
    "technique": "base capture program weave run solve engine finding session runtime",
    "command": "base capture program run solve finding session engine",
    "cli": "base capture program run solve finding session engine technique command",
}
libraries = {
    r"llvm-c/|clang-c/": {"program", "weave"}, r"z3": {"solve"},
    r"sqlite3": {"finding"}, r"ffi": {"engine"}, r"seccomp": {"run"},
}
wrong = []
for folder, _, files in os.walk("src"):
    for f in files:
        path = os.path.join(folder, f)
        if not f.endswith((".c", ".h")):
            continue
        parts = path.split(os.sep)
        room, part = parts[1], parts[2]
        for n, line in enumerate(open(path), 1):
            m = re.match(r'\s*#\s*include\s+(["<])([^">]+)', line)
            if not m:
                continue
            name, own = m.group(2), m.group(1) == '"'
            if own:
                other = name.split("/")
                if other[0] not in allowed:
                    wrong.append(f"{path}:{n}: {name}: no such room")
                elif other[0] == room == "technique" and other[1] != part:
                    wrong.append(f"{path}:{n}: a technique uses another: {name}")
                elif other[0] == "technique" and room not in ("technique", "cli"):
                    wrong.append(f"{path}:{n}: {name} is to the right")
                elif other[0] != room and other[0] not in allowed[room].split():
                    wrong.append(f"{path}:{n}: {room} may not use {name}")
            for pattern, rooms in libraries.items():
                if not own and re.match(pattern, name) and room not in rooms:
                    wrong.append(f"{path}:{n}: {name} belongs to {sorted(rooms)}")
print("\n".join(wrong))
sys.exit(bool(wrong))
P
}
ok "includes go to the left only" check

# Program-controlled text leaves only through base/escape.h and base/json.h:
# SQL is never pasted, and no other file builds HTML.
no_pasted_sql() { ! grep -rnE '(sqlite3_exec|prepare)[^;]*(printf|str_c|str_addf)' src; }
ok "SQL is bound, never pasted" no_pasted_sql
no_shell() { ! grep -rnE '\b(system|popen) ?\(' src; }
ok "no command goes through a shell" no_shell
done_testing
