#!/usr/bin/env python3
"""Random dataflow programs, once as Pig Latin and once as SQL for SQLite.

    random-flows.py SUNDEW SEED COUNT

For each program, random tables are drawn and
- both answers must agree (nulls, joins of all kinds, groups, sets, CASE, text);
- the rows that Sundew makes must show every class that is not called impossible,
  or a class must have a reason;
- no class that is called impossible may be shown by the random tables.

Prints what is wrong, then one line of figures. Status 1: something is wrong.
"""
import json, os, random, re, sqlite3, subprocess, sys, tempfile

TABLES = {"a": [("x", "int"), ("y", "int"), ("s", "chararray")], "b": [("x", "int"), ("z", "int"), ("w", "chararray")]}
WORDS = ["ab", "b", "abc", "c", "ba"]


class Flow:
    """Statements of both languages; a relation is (name, columns)."""

    def __init__(self, rng):
        self.rng, self.pig, self.sql, self.n = rng, [], [], 0

    def add(self, pig, sql, columns, as_is=None):
        self.n += 1
        name = "R%d" % self.n
        self.pig.append(as_is % name if as_is else "%s = %s;" % (name, pig))
        self.sql.append('%s AS (%s)' % (name, sql))
        return name, columns

    def fresh(self, kinds):
        self.n += 1
        return [("c%d_%d" % (self.n, i), k) for i, k in enumerate(kinds)]


def value(rng, columns, kind, depth=0):
    """(Pig, SQL) of one value."""
    fitting = [c for c, k in columns if k == kind]
    if fitting and rng.random() < .7:
        c = rng.choice(fitting)
        if kind == "int" and depth < 2 and rng.random() < .3:
            (p, q), sign = value(rng, columns, kind, depth + 1), rng.choice("+-*/")
            return "(%s %s %s)" % (c, sign, p), "(%s %s %s)" % (c, sign, q)
        if kind == "chararray" and rng.random() < .2:
            return "CONCAT(%s, 'b')" % c, "(%s || 'b')" % c
        return c, c
    if kind == "int":
        n = str(rng.randint(-2, 6))
        return n, n
    return ("'%s'" % rng.choice(WORDS),) * 2


def condition(rng, columns, depth=0):
    pick = rng.random()
    if depth < 2 and pick < .3:
        (p, q), (r, t), word = condition(rng, columns, depth + 1), condition(rng, columns, depth + 1), rng.choice(("AND", "OR"))
        return "(%s %s %s)" % (p, word, r), "(%s %s %s)" % (q, word, t)
    if depth < 2 and pick < .4:
        p, q = condition(rng, columns, depth + 1)
        return "(NOT %s)" % p, "(NOT %s)" % q
    name, kind = rng.choice(columns)
    if pick < .5:
        no = rng.choice(("", "NOT "))
        return "(%s IS %sNULL)" % (name, no), "(%s IS %sNULL)" % (name, no)
    if kind == "chararray" and pick < .6:
        start = rng.choice("abc")
        return "(%s MATCHES '%s.*')" % (name, start), "(%s GLOB '%s*')" % (name, start)
    if pick < .65:
        items = ", ".join(value(rng, [], kind)[0] for _ in range(rng.randint(1, 3)))
        return "(%s IN (%s))" % (name, items), "(%s IN (%s))" % (name, items)
    (p, q), sign = value(rng, columns, kind), rng.choice(("==", "!=", "<", "<=", ">", ">="))
    return "(%s %s %s)" % (name, sign, p), "(%s %s %s)" % (name, "=" if sign == "==" else sign, q)


def step_filter(f, rel):
    p, q = condition(f.rng, rel[1])
    return f.add("FILTER %s BY %s" % (rel[0], p), "SELECT * FROM %s WHERE %s" % (rel[0], q), rel[1])


def step_project(f, rel):
    kinds = [f.rng.choice(("int", "int", "chararray")) for _ in range(f.rng.randint(1, 3))]
    out, pig, sql = f.fresh(kinds), [], []
    for name, kind in out:
        p, q = value(f.rng, rel[1], kind)
        if f.rng.random() < .2:                    # a null condition is null in Pig
            (c, d), (r, t) = condition(f.rng, rel[1]), value(f.rng, rel[1], kind)
            p, q = "(%s ? %s : %s)" % (c, p, r), "CASE WHEN %s THEN %s WHEN NOT %s THEN %s END" % (d, q, d, t)
        pig.append("%s AS %s" % (p, name))
        sql.append("%s AS %s" % (q, name))
    return f.add("FOREACH %s GENERATE %s" % (rel[0], ", ".join(pig)), "SELECT %s FROM %s" % (", ".join(sql), rel[0]), out)


def step_group(f, rel):
    keys = f.rng.sample([c for c, _ in rel[1]], min(len(rel[1]), f.rng.randint(1, 2)))
    kinds = dict(rel[1])
    numbers = [c for c, k in rel[1] if k == "int"] or None
    out = f.fresh([kinds[k] for k in keys] + ["long"] * (3 if numbers else 1))
    g = f.add("GROUP %s BY (%s)" % (rel[0], ", ".join(keys)), "SELECT 1", [])[0]
    names = [c for c, _ in out]
    pig = ["FLATTEN(group) AS (%s)" % ", ".join(names[:len(keys)]), "COUNT_STAR(%s) AS %s" % (rel[0], names[len(keys)])]
    sql = ["%s AS %s" % (k, n) for k, n in zip(keys, names)] + ["count(*) AS " + names[len(keys)]]
    if numbers:
        for word, name in zip(f.rng.sample(("SUM", "MIN", "MAX", "COUNT"), 2), names[len(keys) + 1:]):
            c = f.rng.choice(numbers)
            pig.append("%s(%s.%s) AS %s" % (word, rel[0], c, name))
            sql.append("%s(%s) AS %s" % (word, c, name))
    out = [(c, "int" if k == "long" else k) for c, k in out]
    return f.add("FOREACH %s GENERATE %s" % (g, ", ".join(pig)), "SELECT %s FROM %s GROUP BY %s" % (", ".join(sql), rel[0], ", ".join(keys)), out)


def step_distinct(f, rel):
    return f.add("DISTINCT " + rel[0], "SELECT DISTINCT * FROM " + rel[0], rel[1])


def step_two(f, rel, other):
    """A join of two relations, or a union of what they have alike."""
    pairs = [(c, d) for c, k in rel[1] for d, m in other[1] if k == m]
    if not pairs:
        return rel
    if f.rng.random() < .3:
        pairs = pairs[:1]
        one, two = (f.add("FOREACH %s GENERATE %s AS u%d" % (r[0], c, f.n), "SELECT %s AS u%d FROM %s" % (c, f.n, r[0]), [("u%d" % f.n, dict(r[1])[c])])
                    for r, c in zip((rel, other), pairs[0]))
        return f.add("UNION %s, %s" % (one[0], two[0]), "SELECT * FROM %s UNION ALL SELECT * FROM %s" % (one[0], two[0]), one[1])
    c, d = f.rng.choice(pairs)
    kind = f.rng.choice(("", "", "LEFT", "RIGHT", "FULL"))
    out = f.fresh([k for _, k in rel[1] + other[1]])
    j = f.add("JOIN %s BY %s %s, %s BY %s" % (rel[0], c, kind, other[0], d), "SELECT 1", [])[0]
    both = ["%s::%s" % (rel[0], c) for c, _ in rel[1]] + ["%s::%s" % (other[0], c) for c, _ in other[1]]
    dots = ["p.%s" % c for c, _ in rel[1]] + ["q.%s" % c for c, _ in other[1]]
    return f.add("FOREACH %s GENERATE %s" % (j, ", ".join("%s AS %s" % (b, n) for b, (n, _) in zip(both, out))),
                 "SELECT %s FROM %s AS p %s JOIN %s AS q ON p.%s = q.%s" % (
                     ", ".join("%s AS %s" % (b, n) for b, (n, _) in zip(dots, out)), rel[0], kind, other[0], c, d), out)


def flow(rng):
    f = Flow(rng)
    rels = []
    for t, columns in TABLES.items():
        schema = ", ".join("%s:%s" % c for c in columns)
        rels.append(f.add("LOAD '%s' USING PigStorage(',') AS (%s)" % (t, schema), "SELECT * FROM " + t, columns))
    rel = rels[0]
    for _ in range(rng.randint(1, 5)):
        step = rng.choice((step_filter, step_filter, step_project, step_group, step_distinct, step_two))
        rel = step_two(f, rel, rng.choice(rels)) if step is step_two and rel not in rels else \
            step_two(f, rel, rels[1 - rels.index(rel)]) if step is step_two else step(f, rel)
    f.pig.append("STORE %s INTO 'out';" % rel[0])
    return "\n".join(f.pig) + "\n", "WITH %s SELECT * FROM %s" % (",\n".join(f.sql), rel[0])


def draw(rng):
    rows = {}
    for t, columns in TABLES.items():
        rows[t] = [[None if rng.random() < .15 else rng.randint(-2, 6) if k == "int" else rng.choice(WORDS) for _, k in columns]
                   for _ in range(rng.choice((0, 3, 8, 20)))]
    return rows


def write(rows, folder):
    for t, lines in rows.items():
        with open(os.path.join(folder, t + ".csv"), "w") as out:
            for line in lines:
                out.write(",".join("" if v is None else str(v) for v in line) + "\n")


def sqlite_answer(rows, query):
    db = sqlite3.connect(":memory:")
    for t, columns in TABLES.items():
        db.execute("CREATE TABLE %s (%s)" % (t, ", ".join("%s %s" % (c, "integer" if k == "int" else "text") for c, k in columns)))
        db.executemany("INSERT INTO %s VALUES (%s)" % (t, ",".join("?" * len(columns))), rows[t])
    return sorted("\t".join("" if v is None else str(v) for v in r) for r in db.execute(query))


def sundew(tool, *args):
    return subprocess.run([tool, "examples", *args, "-q", "-w", "ws"], capture_output=True, text=True, timeout=300)


def our_answer(tool):
    p = sundew(tool, "f.pig", "--data", "data", "--run")
    if p.returncode not in (0, 1):
        return p.stderr.strip()
    rows = p.stdout[p.stdout.index("== out\n") + 7:]
    return sorted(re.split(r"^(?:== |no findings|\d+ finding|f\.pig:\d+)", rows, flags=re.M)[0].split("\n")[:-1])


def name_of(u):
    return u["line"], u["alias"], u["class"]


def check(tool, rng, figures):
    """Gives what is wrong, or None."""
    pig, sql = flow(rng)
    with open("f.pig", "w") as out:
        out.write(pig)
    p = sundew(tool, "f.pig", "--json")
    if p.returncode not in (0, 1):
        return pig + p.stderr
    made = json.loads(p.stdout)
    impossible = {name_of(u) for u in made["uncovered"] if u["impossible"]}
    figures["programs"] += 1
    figures["complete"] += made["completeness"] == 1
    figures["impossible"] += len(impossible)
    for _ in range(4):
        rows = draw(rng)
        write(rows, "data")
        theirs, ours = sqlite_answer(rows, sql), our_answer(tool)
        if ours != theirs:
            return "%s%s\n%s\nours   %s\nSQLite %s" % (pig, sql, rows, ours, theirs)
        figures["answers"] += 1
        seen = json.loads(sundew(tool, "f.pig", "--measure", "data", "--json").stdout)
        wrong = impossible - {name_of(u) for u in seen["uncovered"]}
        if wrong:
            return "%s%s\nshown, but called impossible: %s" % (pig, rows, wrong)
    return None


def main():
    tool, seed, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    figures, bad = {"programs": 0, "complete": 0, "impossible": 0, "answers": 0}, 0
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.mkdir("data")
        for i in range(count):
            why = check(tool, random.Random(seed * 100003 + i), figures)
            if why:
                bad += 1
                print("program %d of seed %d:\n%s\n" % (i, seed, why))
        os.chdir("/")
    print("%(programs)d programs, %(complete)d complete, %(impossible)d classes called impossible, %(answers)d answers agree" % figures + ", %d wrong" % bad)
    sys.exit(bad > 0)


main()
