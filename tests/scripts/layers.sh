# A room uses rooms to its left, never to its right; a technique never uses
# another; LLVM, Z3, SQLite and libffi have one room each. The table is that of
# docs/architecture.md.
. "$TOP/tests/scripts/tap.bash"
cd "$TOP" || exit 1

check() { python3 tests/scripts/layers.py; }
ok "includes go to the left only" check

# Program-controlled text leaves only through base/escape.h and base/json.h:
# SQL is never pasted, and no other file builds HTML.
no_pasted_sql() { ! grep -rnE '(sqlite3_exec|prepare)[^;]*(printf|str_c|str_addf)' src; }
ok "SQL is bound, never pasted" no_pasted_sql
no_shell() { ! grep -rnE '\b(system|popen) ?\(' src; }
ok "no command goes through a shell" no_shell
done_testing
