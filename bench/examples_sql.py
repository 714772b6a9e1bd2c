"""Example rows for SQL, judged by SQLite and PostgreSQL.

For each query: are all classes shown, how many rows, how long; do the databases
take the rows, and give Sundew's answer; how many mutants of the query give
another answer on these rows, and on random ones.

Suites are folders as they are found:
    schema.sql + queries.sql      one query a line (MySQL's spelling is rewritten)
    tables.json + dev.json        schemas and queries as lists
    queries/1.sql … + a schema    templates with :1, :2, … for values
    schema.sql + q*.sql           one query a file (bench/examples.sql); SQLite's dialect, or that
                                  which schema.sql names in its first line (-- dialect: postgres)
"""
import datetime, glob, json, os, random, re, resource, shutil, sqlite3, statistics, subprocess, tempfile, time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUNDEW = os.environ.get("SUNDEW", os.path.join(TOP, "build", "sundew"))
WORK = tempfile.mkdtemp(prefix="sundew-sql-")
PG_BIN = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1:]


class Query:
    """`lite`: the same query as SQLite spells it."""

    def __init__(self, name, text, schema, lite=None, dialect="postgres"):
        self.name, self.text, self.schema, self.dialect = name, text, schema, dialect
        self.lite = lite or text


# ---- Sundew

def sundew(q, limit=os.environ.get("LIMIT", "60s"), goals=None):
    """Gives (answer or None, error, seconds of CPU). LIMIT: by the clock, more on a busy machine."""
    text, schema = os.path.join(WORK, "query.sql"), os.path.join(WORK, "schema.sql")
    for path, what in ((text, q.text), (schema, q.schema)):
        with open(path, "w") as f:
            f.write(what)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        p = subprocess.run([SUNDEW, "examples", text, "--schema", schema, "--json", "-q", "-w", WORK + "/ws",
                            "--dialect", q.dialect, "--time", limit] + (["--goals", goals] if goals else []),
                           capture_output=True, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        return None, "took longer than fifteen minutes", 900
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if p.returncode in (0, 1):
        return json.loads(p.stdout), "", cpu
    return None, (p.stderr.strip().splitlines() or ["crashed (%d)" % p.returncode])[-1], cpu


def plain(v):
    """A value as all three print it."""
    if v is None or v == "\\N":
        return "NULL"
    v = v.rstrip(" ") if isinstance(v, str) else v             # char(n) is padded
    if v in (True, False, "t", "f"):
        return "1" if v in (True, "t") else "0"
    s = str(v)
    if re.fullmatch(r"-?\d+(\.\d*)?([eE][-+]?\d+)?", s):
        return "%.9g" % (float(s) + 0.0) if abs(float(s)) > 1e-9 else "0"
    m = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d(?:\.\d*[1-9])?)(?:\.?0*)?Z?)?", s)
    if m:
        return m.group(1) + (" " + m.group(2) if m.group(2) and m.group(2) != "00:00:00" else "")
    return s


def answer_of(a):
    last = [t for t in a["tables"] if t["operator"] == "STORE"] or a["tables"]
    return sorted(tuple(plain(v) for v in r["values"]) for r in last[-1]["rows"])


# ---- the databases

def lite_database(schema, inserts, dialect="sqlite"):
    db = sqlite3.connect(":memory:")
    db.execute("PRAGMA foreign_keys = ON")
    db.create_function("concat", -1, lambda *v: "".join(str(x) for x in v if x is not None))
    db.execute("PRAGMA case_sensitive_like = %d" % (dialect != "sqlite"))
    db.executescript(schema)
    db.executescript(inserts)
    return db


def lite_answer(db, text):
    db.set_progress_handler(lambda: 1, 20000000)
    return sorted(tuple(plain(v) for v in row) for row in db.execute(text))


def unescaped(v):
    """A field as COPY writes it."""
    names = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}
    return v if v == "\\N" else re.sub(r"\\(.)", lambda m: names.get(m.group(1), m.group(1)), v)


class Postgres:
    """A private server in the work folder; None if there is no PostgreSQL."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="sundew-pg-", dir="/tmp")
        shutil.chown(self.dir, "postgres", "postgres")
        self.call("initdb", "-D", self.dir + "/data", "-A", "trust", "--locale=C.UTF-8")
        self.call("pg_ctl", "-D", self.dir + "/data", "-w", "-l", self.dir + "/log",
                  "-o", "-k %s -c listen_addresses= -c fsync=off" % self.dir, "start")

    def call(self, tool, *args):
        command = [os.path.join(PG_BIN[0], tool), *args]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    def answer(self, schema, inserts, text):
        """Gives (rows or None, error)."""
        text = re.sub(r"--[^\n]*", "", text).strip().rstrip(";")
        script = "BEGIN; CREATE SCHEMA s; SET search_path = s;\n%s;\n%s;\nCOPY (%s) TO STDOUT;\nROLLBACK;\n" % (
            schema, inserts, text)
        p = subprocess.run(["psql", "-h", self.dir, "-U", "postgres", "-d", "postgres", "-qAtX", "-v", "ON_ERROR_STOP=1"],
                           input=script, capture_output=True, text=True, timeout=60)
        if p.returncode:
            return None, p.stderr.strip().splitlines()[0]
        return sorted(tuple(plain(unescaped(v)) for v in line.split("\t")) for line in p.stdout.split("\n")[:-1]), ""

    def stop(self):
        self.call("pg_ctl", "-D", self.dir + "/data", "-m", "immediate", "stop")
        shutil.rmtree(self.dir, ignore_errors=True)


def postgres():
    try:
        return Postgres() if PG_BIN else None
    except (OSError, LookupError, subprocess.CalledProcessError):
        return None


# ---- mutants

CHANGES = [(" = ", " <> "), (" <> ", " = "), (" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "),
           (" < ", " > "), (" > ", " < "), (" LEFT JOIN ", " JOIN "), (" LEFT OUTER JOIN ", " JOIN "),
           (" JOIN ", " LEFT JOIN "), ("SUM(", "AVG("), ("AVG(", "SUM("), ("MIN(", "MAX("), ("MAX(", "MIN("),
           ("COUNT(DISTINCT ", "COUNT("), ("SUM(", "COUNT("), ("SELECT DISTINCT ", "SELECT "),
           (" UNION ALL ", " UNION "), (" UNION ", " UNION ALL "), (" AND ", " OR "), (" OR ", " AND "),
           ("NOT EXISTS", "EXISTS"), ("NOT IN", "IN"), ("NOT LIKE", "LIKE"), ("IS NOT NULL", "IS NULL"),
           (" + ", " - "), (" - ", " + "), (" EXCEPT ", " INTERSECT "), (" INTERSECT ", " UNION "),
           (" DESC LIMIT ", " LIMIT ")]
ENDS = re.compile(r"\b(AND|OR|GROUP|ORDER|HAVING|LIMIT|UNION|INTERSECT|EXCEPT|WHERE|JOIN|LEFT)\b", re.I)


def blank(text):
    """The text without what stands in quotes, at the same places."""
    return re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"", lambda m: "'" + "x" * (len(m.group()) - 2) + "'", text)


def condition_end(text, at):
    depth, between = 0, False
    for i in range(at, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth < 0 or text[i] == ";":
            return i
        word = ENDS.match(text, i) if not depth and i > at and text[i - 1].isspace() else None
        if word and word.group().upper() == "AND" and between:
            between = False
        elif word:
            return i
        between |= not depth and text[i:i + 8].upper() == "BETWEEN "
    return len(text)


def mutants_of(text):
    text = " ".join(re.sub(r"--[^\n]*", "", text).split())
    bare, out = blank(text), []
    for old, new in CHANGES:
        for m in re.finditer(re.escape(old), bare, re.I):
            head = bare[:m.start()].upper()
            if (old == " JOIN " and re.search(r"(LEFT|OUTER|RIGHT|FULL|CROSS)$", head)) or \
               (old == " UNION " and bare[m.end():].upper().startswith("ALL ")) or \
               (old == " AND " and re.search(r"BETWEEN\s+[^()]*$", head) and
                    not re.search(r"BETWEEN\s+[^()]* AND\b[^()]*$", head)):
                continue
            out.append(text[:m.start()] + new + text[m.end():])
            if old == " AND ":
                out.append(text[:m.start()] + " " + text[condition_end(bare, m.end()):])
    for m in re.finditer(r"\bWHERE ", bare, re.I):           # the first condition of several, or the only one
        end = condition_end(bare, m.end())
        more = re.match(r"AND ", bare[end:], re.I)
        out.append(text[:m.end()] + text[end + 4:] if more else text[:m.start()] + text[end:])
    return list(dict.fromkeys(out))


def killed(db, text, mutants):
    """The mutants that give another answer; None for those that are not SQL."""
    try:
        base, out = lite_answer(db, text), []
    except sqlite3.Error:
        return [False] * len(mutants)
    for m in mutants:
        try:
            out.append(lite_answer(db, m) != base)
        except sqlite3.Error:
            out.append(None)
    return out


def random_value(kind, words, rng):
    if "INT" in kind:
        return rng.randint(0, 50)
    if any(k in kind for k in ("REAL", "NUM", "DEC", "DOUB", "FLOA")):
        return rng.randint(0, rng.choice((100, 10000))) / 100
    if "DATE" in kind or "TIME" in kind:
        return "19%02d-%02d-%02d" % (rng.randint(92, 99), rng.randint(1, 12), rng.randint(1, 28))
    return rng.choice(words)


def random_database(schema, counts, seed):
    """Random rows that keep the schema; half of the words are those of its CHECKs."""
    rng, db = random.Random(seed), lite_database(schema, "")
    words = ["ann", "bob", "cleo", "dan", "eve", "finn", "gus", "hana"]
    words += re.findall(r"'(\w{1,12})'", " ".join(re.findall(r"CHECK *\(.*", schema, re.I)))
    tables = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for _ in range(12):                                       # parents may stand below their children
        for t in tables:
            quoted = '"%s"' % t.replace('"', '""')
            columns = db.execute("PRAGMA table_info(%s)" % quoted).fetchall()
            parents = {r[3]: (r[2], r[4]) for r in db.execute("PRAGMA foreign_key_list(%s)" % quoted)}
            have = db.execute("SELECT count(*) FROM " + quoted).fetchone()[0]
            for _ in range(max(0, counts.get(t.lower(), 0) - have)):
                row = []
                for _, name, kind, not_null, _, _ in columns:
                    value = random_value(kind.upper(), words, rng)
                    if name in parents:
                        one = db.execute('SELECT "%s" FROM "%s" ORDER BY random() LIMIT 1' % (
                            parents[name][1] or "id", parents[name][0])).fetchone()
                        value = one[0] if one else value
                    row.append(None if not not_null and rng.random() < .12 else value)
                try:
                    db.execute("INSERT INTO %s VALUES (%s)" % (quoted, ", ".join("?" * len(row))), row)
                except sqlite3.Error:
                    pass
    return db


def mutation(q, a, seed=1):
    """Gives (mutants, killed by our rows, by as many random rows, by 50 random rows a table)."""
    mutants = mutants_of(q.lite)
    try:
        ours = killed(lite_database(q.schema, a["inserts"], q.dialect), q.lite, mutants)
        counts = {t["path"].lower(): len(t["rows"]) for t in a["tables"] if t["input"]}
        few = killed(random_database(q.schema, counts, seed), q.lite, mutants)
        many = killed(random_database(q.schema, {t: 50 for t in counts}, seed), q.lite, mutants)
    except sqlite3.Error:
        return 0, 0, 0, 0
    return sum(k is not None for k in ours), sum(map(bool, ours)), sum(map(bool, few)), sum(map(bool, many))


# ---- reading suites

LITE_TYPES = [(r"tinyint|smallint|mediumint|\bint\b|integer", "integer"), ("bigint", "bigint"),
              (r"(var)?char", None), ("decimal|numeric", None), ("double|float", "double precision"),
              ("datetime|timestamp", "timestamp"), (r"\bdate\b", "date"), ("", "text")]


def column_of(line):
    """One column of MySQL's CREATE TABLE in both databases' spelling."""
    m = re.match(r"`([^`]+)`\s+(\w+)(\([^)]*\))?(.*)", line)
    if not m:
        return None
    name, kind, size, rest = m.group(1).lower(), m.group(2).lower(), m.group(3) or "", m.group(4)
    for pattern, to in LITE_TYPES:
        if re.search(pattern, kind):
            kind = to or kind + size
            break
    return '"%s" %s%s' % (name, kind, " NOT NULL" if "NOT NULL" in rest.upper() else "")


def mysql_tables(dump):
    """Table name -> CREATE TABLE, and the tables that it refers to."""
    tables = {}
    for m in re.finditer(r"CREATE TABLE (?:IF NOT EXISTS )?`([^`]+)` \(\n(.*?)\n\)", dump, re.S):
        lines = []
        for line in m.group(2).splitlines():
            line = line.strip().rstrip(",")
            key = re.match(r"(PRIMARY KEY|UNIQUE KEY)[^(]*\((.*)\)", line)
            if key:
                names = ", ".join('"%s"' % n.lower() for n in re.findall(r"`([^`]+)`", key.group(2)))
                lines.append("%s (%s)" % (key.group(1).replace("UNIQUE KEY", "UNIQUE"), names))
            elif column_of(line):
                lines.append(column_of(line))
        tables[m.group(1).lower()] = 'CREATE TABLE "%s" (\n  %s\n);\n' % (m.group(1).lower(), ",\n  ".join(lines))
    return tables


def from_mysql(text):
    """Backticks and strings in double quotes."""
    def one(m):
        s = m.group()
        if s[0] == "`":
            return '"%s"' % s[1:-1].lower()
        body = s[1:-1].replace("\\'", "'").replace('\\"', '"').replace("''" if s[0] == "'" else '""', s[0])
        return "'%s'" % body.replace("'", "''")
    text = re.sub(r"`[^`]*`|'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"", one, text.strip())
    text = re.sub(r"\bifnull\(", "coalesce(", text, flags=re.I)
    text = re.sub(r"\b(curdate\(\)|current_date)", "date '2017-02-09'", text, flags=re.I)      # the day of the recording
    text = re.sub(r"\bnow\(\)", "timestamp '2017-02-09 12:00:00'", text, flags=re.I)
    text = re.sub(r"\bdate_(add|sub)\(((?:date|timestamp) '[^']*'|[\w.]+), *interval (\d+) (\w+)\)", lambda m: "%s %s interval '%s %s'" % (
        m.group(2), "+" if m.group(1).lower() == "add" else "-", m.group(3), m.group(4)), text, flags=re.I)
    text = re.sub(r"\btimestamp\(([^(),]+), *([^(),]+)\)", r"concat(\1, ' ', \2)", text, flags=re.I)
    parts = re.split(r"('(?:[^']|'')*'|\"[^\"]*\")", text)         # user is a column, not a function
    text = "".join(p if k % 2 else re.sub(r"\buser\b", '"user"', p) for k, p in enumerate(parts))
    text = re.sub(r"\bas '(\w+)'", r'AS "\1"', text, flags=re.I)
    return re.sub(r"\blimit\s+(\d+)\s*,\s*(\d+)", r"LIMIT \2 OFFSET \1", text, flags=re.I)


def suite_lines(folder):
    tables = mysql_tables(open(os.path.join(folder, "schema.sql"), errors="replace").read())
    for i, line in enumerate(open(os.path.join(folder, "queries.sql"), errors="replace")):
        text = from_mysql(line)
        lite = re.sub(r"\bcoalesce\(", "ifnull(", re.sub(r"\bfor update\s*;?$", "", text, flags=re.I))
        if text and not text.startswith("--"):
            words = set(re.findall(r'"([^"]+)"|(\w+)', text.lower()))
            used = [t for t in tables if (t, "") in words or ("", t) in words]
            yield Query("%s:%d" % (os.path.basename(folder), i + 1), text, "".join(tables[t] for t in used), re.sub(r"\.primary\b", '."primary"', re.sub(r"\bchar_length\(", "length(", lite, flags=re.I)))


def listed_schema(db):
    kinds = {"text": "text", "number": "integer", "time": "text", "boolean": "text", "others": "text"}
    names, out = db["column_names_original"], []
    primary, foreign = set(db["primary_keys"]), {}
    for child, parent in db["foreign_keys"]:
        if parent in primary:
            foreign[child] = parent
    real = re.compile(r"price|rating|percent|rate|score|avg|average|weight|height|gdp|surface|lifeexp|amount|cost", re.I)
    mixed = {i for pair in db["foreign_keys"] for i in pair if len({db["column_types"][k] for k in pair}) > 1}
    for _ in names:                                           # and what they refer to
        mixed |= {i for pair in db["foreign_keys"] if mixed & set(pair) for i in pair}
    for t, table in enumerate(db["table_names_original"]):
        if table.startswith("sqlite_"):
            continue
        lines, keys = [], [i for i in primary if names[i][0] == t]
        for i, (owner, name) in enumerate(names):
            if owner == t:
                kind = "text" if i in mixed else kinds[db["column_types"][i]]
                kind = "double precision" if kind == "integer" and real.search(name) and i not in primary else kind
                lines.append('"%s" %s' % (name.lower(), kind))
        lines += ['PRIMARY KEY ("%s")' % names[i][1].lower() for i in keys[:1]]
        lines += ['FOREIGN KEY ("%s") REFERENCES "%s" ("%s")' % (
            names[c][1].lower(), db["table_names_original"][names[p][0]].lower(), names[p][1].lower())
            for c, p in foreign.items() if names[c][0] == t and names[p][0] != t]
        out.append('CREATE TABLE "%s" (%s);\n' % (table.lower(), ", ".join(lines)))
    return "".join(parents_first(out))


def parents_first(creates):
    """CREATE TABLEs in an order that PostgreSQL takes; circles lose a foreign key."""
    left, out, made = list(creates), [], set()
    while left:
        ready = [c for c in left if all(r in made for r in re.findall(r'REFERENCES "(\w+)"', c))]
        if not ready:
            ready = [re.sub(r', FOREIGN KEY \([^)]*\) REFERENCES "\w+" \([^)]*\)', "", left.pop(0))]
        out += ready
        made |= {re.match(r'CREATE TABLE "(\w+)"', c).group(1) for c in ready}
        left = [c for c in left if c not in ready]
    return out


def listed_query(text, names):
    """Double quotes around what is no name are strings."""
    def one(m):
        body = m.group()[1:-1]
        return m.group() if body.lower() in names else "'%s'" % body.replace("'", "''")
    text = re.sub(r'"[^"]*"|\'[^\']*\'', lambda m: one(m) if m.group()[0] == '"' else m.group(), text)
    return re.sub(r"! =", "!=", text).rstrip("; ")


def suite_listed(folder):
    dbs = {d["db_id"]: d for d in json.load(open(os.path.join(folder, "tables.json")))}
    seen = set()
    for i, q in enumerate(json.load(open(os.path.join(folder, "dev.json")))):
        db = dbs[q["db_id"]]
        names = {n.lower() for _, n in db["column_names_original"]} | {n.lower() for n in db["table_names_original"]}
        if (q["db_id"], q["query"]) not in seen:              # questions share queries
            seen.add((q["db_id"], q["query"]))
            yield Query("dev:%d" % (i + 1), listed_query(q["query"], names), listed_schema(db), dialect="sqlite")


# Values for the templates of the well-known 22 queries: those that their authors validate with.
VALUES = {1: [90], 2: [15, "BRASS", "EUROPE"], 3: ["BUILDING", "1995-03-15"], 4: ["1993-07-01"], 5: ["ASIA", "1994-01-01"],
          6: ["1994-01-01", ".06", 24], 7: ["FRANCE", "GERMANY"], 8: ["BRAZIL", "AMERICA", "ECONOMY ANODIZED STEEL"],
          9: ["green"], 10: ["1993-10-01"], 11: ["GERMANY", "0.0001"], 12: ["MAIL", "SHIP", "1994-01-01"],
          13: ["special", "requests"], 14: ["1995-09-01"], 15: ["1996-01-01"],
          16: ["Brand#45", "MEDIUM POLISHED", 49, 14, 23, 45, 36, 19, 3, 9], 17: ["Brand#23", "MED BOX"], 18: [300],
          19: ["Brand#12", "Brand#23", "Brand#34", 1, 10, 20], 20: ["forest", "1994-01-01", "CANADA"],
          21: ["SAUDI ARABIA"], 22: [13, 31, 23, 29, 30, 18, 17]}


def shifted(m):
    """date '1994-01-01' + interval '1' year as a date."""
    day, sign, n, unit = datetime.date.fromisoformat(m.group(1)), m.group(2), int(m.group(3)), m.group(4).lower()
    n = -n if sign == "-" else n
    if unit == "day":
        day += datetime.timedelta(n)
    else:
        months = day.year * 12 + day.month - 1 + n * (12 if unit == "year" else 1)
        day = day.replace(year=months // 12, month=months % 12 + 1)
    return "'%s'" % day


def for_sqlite(text):
    text = re.sub(r"date '([-\d]+)' *([-+]) *interval '(\d+)' *(\w+)", shifted, text, flags=re.I)
    text = re.sub(r"\bdate '", "'", text, flags=re.I)
    text = re.sub(r"extract\s*\(\s*year\s+from\s+(\w+)\s*\)", r"CAST(strftime('%Y', \1) AS integer)", text, flags=re.I)
    # SQLite names no columns behind a subquery.
    text = re.sub(r"count\(o_orderkey\)(.*?)as c_orders \(c_custkey, c_count\)", r"count(o_orderkey) as c_count\1as c_orders", text, flags=re.S)
    text = re.sub(r"substring\s*\(\s*(\w+)\s+from\s+(\d+)\s+for\s+(\d+)\s*\)", r"substr(\1, \2, \3)", text, flags=re.I)
    return text


def from_template(number, text):
    limit = re.search(r"^:n (-?\d+)", text, re.M)
    text = re.sub(r"^:[xon].*$", "", text, flags=re.M).replace(":s", "0")
    for i in range(len(VALUES[number]), 0, -1):
        text = text.replace(":%d" % i, str(VALUES[number][i - 1]))
    text = re.sub(r"--[^\n]*", "", text).strip().rstrip(";")
    if number == 15:
        view = re.search(r"create view (\w+) (\(.*?\)) as(.*?);(.*?);", text, re.S)
        text = "with %s %s as (%s) %s" % view.groups()
    return text + ("\nlimit " + limit.group(1) if limit and int(limit.group(1)) > 0 else "")


def suite_templates(folder, schemas):
    schema = "".join(open(s).read() for s in schemas)
    tables = dict(re.findall(r"CREATE TABLE (\w+)\s*\((.*?)\);", schema, re.S | re.I))
    keys = re.findall(r"ALTER TABLE (\w+)\s+ADD CONSTRAINT \w+\s+((?:PRIMARY|FOREIGN) KEY[^;]*);", schema, re.I)
    for table, key in sorted(keys, key=lambda k: k[1].upper().startswith("F")):
        tables[table.lower()] += ", " + " ".join(key.split())
    order = ["region", "nation", "part", "supplier", "partsupp", "customer", "orders", "lineitem"]
    schema = "".join("CREATE TABLE %s (%s);\n" % (t, tables[t]) for t in sorted(tables, key=lambda t: order.index(t) if t in order else 99))
    for number in sorted(VALUES):
        text = from_template(number, open(os.path.join(folder, "%d.sql" % number)).read())
        yield Query("q%02d" % number, text, schema, for_sqlite(text))


def suite_files(folder):
    schema = open(os.path.join(folder, "schema.sql")).read()
    named = re.match(r"-- dialect: (\w+)\n", schema)
    for path in sorted(glob.glob(os.path.join(folder, "q*.sql"))):
        yield Query(os.path.basename(path)[:-4], open(path).read(), schema, dialect=named.group(1) if named else "sqlite")


def suites(folder):
    """(name, queries) of each suite below a folder."""
    for path, _, files in sorted(os.walk(folder)):
        if "schema.sql" in files and "queries.sql" in files:
            yield path, suite_lines(path)
        elif "tables.json" in files and "dev.json" in files:
            yield path, suite_listed(path)
        elif os.path.basename(path) == "queries" and "22.sql" in files:
            schemas = [glob.glob(os.path.join(folder, "**", n), recursive=True)
                       for n in ("tpch-schema.sql", "tpch-pkeys.sql", "tpch-fkeys.sql")]
            yield path, suite_templates(path, [s[0] for s in schemas if s])
        elif "schema.sql" in files and any(re.fullmatch(r"q\w*\.sql", f) for f in files):
            yield path, suite_files(path)


# ---- the whole

def judge(q, a, server):
    """(SQLite's verdict, PostgreSQL's verdict)."""
    ours, limited = answer_of(a), re.search(r"\blimit\b", q.text, re.I)
    verdicts = []
    try:
        theirs, why = lite_answer(lite_database(q.schema, a["inserts"], q.dialect), q.lite), ""
    except sqlite3.Error as e:
        theirs, why = None, str(e)
    verdicts.append((theirs, why))
    verdicts.append(server.answer(q.schema, a["inserts"], q.text) if server else (None, "not installed"))
    out = []
    for theirs, why in verdicts:
        out.append("refused: " + why if theirs is None else "same" if theirs == ours else
                   "same but for ties" if limited and len(theirs) == len(ours) else "DIFFERS")
    if q.dialect == "sqlite" and out[1] == "DIFFERS" and re.search(r"\blike\b", q.text, re.I):
        out[1] = "LIKE has another case"
    return out


def run(name, queries, server, every=1, first=0, mutants=True, verbose=True):
    """Prints a line for each query that is not complete or not confirmed, then the figures."""
    print("\n%s" % name, flush=True)
    taken, complete, impossible, rows, times, concise = 0, 0, 0, [], [], []
    verdicts, score, errors, total = [{}, {}], [0, 0, 0, 0], {}, 0
    for i, q in enumerate(queries):
        if (i - first) % every:
            continue
        total += 1
        a, why, cpu = sundew(q)
        if not a:
            kind = re.sub(r"^\S*\d+:\d+: ", "", why)
            errors[kind] = errors.get(kind, 0) + 1
            if verbose:
                print("%-16s not read: %s" % (q.name, why), flush=True)
            continue
        taken += 1
        complete += a["completeness"] == 1
        impossible += a["classes"]["impossible"]
        rows.append(sum(len(t["rows"]) for t in a["tables"] if t["input"]))
        times.append(cpu)
        concise.append(a["conciseness"])
        both = judge(q, a, server)
        for k in (0, 1):
            word = both[k].split(":")[0]
            verdicts[k][word] = verdicts[k].get(word, 0) + 1
        if verbose and (a["completeness"] < 1 or "DIFFERS" in both or "refused" in both[0] + both[1]):
            missing = "; ".join("line %d %s: %s" % (u["line"], u["class"], u["reason"]) for u in a["uncovered"]
                                if not u["impossible"] and not u["extra"])
            print("%-16s %.2f, %d rows, %.0f ms; SQLite %s; PostgreSQL %s; %s" % (
                q.name, a["completeness"], rows[-1], cpu * 1000, both[0], both[1], missing[:200]), flush=True)
        if mutants and "same" in both[0]:
            score = [x + y for x, y in zip(score, mutation(q, a))]
    if not taken:
        return
    print("%d of %d queries read; %d complete (%.1f %% of those read), %d classes proved impossible; rows a query: "
          "median %d, most %d; CPU: median %.0f ms, most %.1f s; conciseness %.2f" % (
              taken, total, complete, 100 * complete / taken, impossible, statistics.median(rows), max(rows),
              statistics.median(times) * 1000, max(times), statistics.mean(concise)))
    for k, engine in enumerate(("SQLite", "PostgreSQL")):
        print("%s: %s" % (engine, ", ".join("%s %d" % kv for kv in sorted(verdicts[k].items()))))
    if score[0]:
        print("mutants: %d; told apart by our rows %d (%.0f %%), by as many random rows %d (%.0f %%), by 50 random rows "
              "a table %d (%.0f %%)" % (score[0], score[1], 100 * score[1] / score[0], score[2],
                                        100 * score[2] / score[0], score[3], 100 * score[3] / score[0]))
    for kind, n in sorted(errors.items(), key=lambda kv: -kv[1])[:12]:
        print("  %d not read: %s" % (n, kind))
