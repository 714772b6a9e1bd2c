"""Example data for Pig Latin: how complete, how concise, how fast.

PigMix's programs in our own words (bench/examples.pig), with generated data,
beside random samples of the same size and of all 10,000 rows; queries like
those of the sky survey; every script of a folder, without data. A parameter
that a script wants gets the value 1.
"""
import glob, json, os, random, re, resource, statistics, subprocess, tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUNDEW = os.environ.get("SUNDEW", os.path.join(TOP, "build", "sundew"))
WORK = tempfile.mkdtemp(prefix="sundew-dataflow-")


def run(script, *more):
    """Gives (answer or None, error, seconds of CPU). Missing parameters are filled in."""
    params = []
    for _ in range(30):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            p = subprocess.run([SUNDEW, "examples", script, "--json", "-q", "-w", WORK + "/ws",
                                "--time", "60s", *params, *more], capture_output=True, text=True,
                               timeout=120)
        except subprocess.TimeoutExpired:
            return None, "took longer than two minutes", 120
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if p.returncode in (0, 1):
            return json.loads(p.stdout), "", took
        wanted = re.search(r"no value for the parameter \$(\w+)|give it as --param (\w+)", p.stderr)
        if not wanted:
            return None, p.stderr.strip().splitlines()[-1] if p.stderr.strip() else "crashed (%d)" % p.returncode, took
        params += ["-p", (wanted.group(1) or wanted.group(2)) + "=1"]
    return None, "too many parameters", 0


def page_views(n, rng):
    users = ["user%d" % i for i in range(n // 8 + 2)]
    for _ in range(n):
        yield [rng.choice(users) if rng.random() > .02 else "", str(rng.randint(1, 2)),
               str(rng.randint(1, 30)), "term%d" % rng.randint(1, 500) if rng.random() > .05 else "",
               "10.0.%d.%d" % (rng.randint(0, 255), rng.randint(0, 255)), str(rng.randint(0, 86399)),
               "%.2f" % (rng.random() * 100), "[a#x,b#y]", "{([b#z])}"]


def users(n, rng):
    for i in range(n):
        yield ["user%d" % (i * 3), "555", "Main St", "Town", "CA", "90%03d" % (i % 1000)]


def write(folder, name, rows, delimiter):
    with open(os.path.join(folder, name), "w") as f:
        for r in rows:
            f.write(delimiter.join(r) + "\n")


def pigmix_data(folder, n, seed):
    rng = random.Random(seed)
    os.makedirs(folder, exist_ok=True)
    pv = list(page_views(n, rng))
    us = list(users(max(2, n // 20), rng))
    write(folder, "page_views", pv, "\t")
    write(folder, "page_views_sorted", sorted(pv), "\x01")
    for name in ("users", "users_sorted", "power_users", "power_users_samples", "widerow"):
        write(folder, name, us, "\x01")
    write(folder, "widegroupbydata", [r * 3 for r in pv], "\t")
    write(folder, "s1", [["n%d" % rng.randint(0, n // 4)] + [str(rng.randint(0, 60)) for _ in range(32)]
                         for _ in range(n)], "\t")


def rows_of(answer):
    return max([len(t["rows"]) for t in answer["tables"] if t["input"]] or [1])


def measured(script, n, seed):
    folder = os.path.join(WORK, "random-%d-%d" % (n, seed))
    if not os.path.isdir(folder):
        pigmix_data(folder, n, seed)
    a, _, _ = run(script, "--measure", folder)
    return a["completeness"] if a else float("nan")


def pigmix():
    data = os.path.join(WORK, "data")
    pigmix_data(data, 10000, 1)
    print("PigMix               complete  concise  realism   time   | random rows, same number | all 10,000")
    times, scores = [], []
    scripts = sorted(glob.glob(os.path.join(TOP, "bench", "examples.pig", "[LS][0-9]*.pig")),
                     key=lambda p: (os.path.basename(p)[0], int(re.search(r"\d+", os.path.basename(p)).group())))
    for s in scripts:
        a, err, took = run(s, "--data", data, "--sample", "300")
        if not a:
            print("%-20s %s" % (os.path.basename(s), err))
            continue
        small = statistics.mean(measured(s, max(2, rows_of(a)), seed) for seed in range(3))
        print("%-20s %8.2f %8.2f %8.2f %6.0f ms | %10.2f              | %.2f" % (
            os.path.basename(s), a["completeness"], a["conciseness"], a["realism"], took * 1000, small,
            measured(s, 10000, 1)))
        times.append(took)
        scores.append((a["completeness"], a["conciseness"]))
    summary(scores, times, len(scripts))


def sky():
    print("\nlike the sky survey  complete  concise   time")
    times, scores = [], []
    scripts = sorted(glob.glob(os.path.join(TOP, "bench", "examples.pig", "sky*.pig")))
    for s in scripts:
        a, err, took = run(s)
        if not a:
            print("%-20s %s" % (os.path.basename(s), err))
            continue
        print("%-20s %8.2f %8.2f %6.0f ms" % (os.path.basename(s), a["completeness"], a["conciseness"],
                                              took * 1000))
        times.append(took)
        scores.append((a["completeness"], a["conciseness"]))
    summary(scores, times, len(scripts))


def summary(scores, times, all_scripts):
    if scores:
        print("%d of %d scripts; complete %d; mean completeness %.3f, conciseness %.2f; median %.0f ms, "
              "slowest %.1f s" % (len(scores), all_scripts, sum(c == 1 for c, _ in scores),
                                  statistics.mean(c for c, _ in scores),
                                  statistics.mean(c for _, c in scores),
                                  statistics.median(times) * 1000, max(times)))


# ---- scripts as they are found

def sample_for(script, answer, n, seed):
    """Random rows for each input: types and the delimiter, nothing else."""
    rng, folder = random.Random(seed), tempfile.mkdtemp(dir=WORK)
    delimiter = re.search(r"PigStorage\('([^'\\])'\)", open(script, errors="replace").read())
    delimiter = delimiter.group(1) if delimiter else "\t"
    words = ["ann", "bob", "cleo", "dan", "eve", "finn", "gus", "hana"]
    for t in answer["tables"]:
        if not t["input"]:
            continue
        path = os.path.join(folder, os.path.basename(t["path"].rstrip("/")) or "input")
        with open(path, "w") as f:
            for _ in range(n):
                row = []
                for c in t["columns"] or [{"type": "bytearray"}] * 4:
                    kind = c["type"]
                    row.append("" if rng.random() < .05 else str(rng.randint(0, 100)) if kind in ("int", "long")
                               else "%.2f" % (rng.random() * 100) if kind in ("float", "double")
                               else rng.choice(words) if kind == "chararray"
                               else rng.choice(words + [str(rng.randint(0, 100))] * 8))
                f.write(delimiter.join(row) + "\n")
    return folder


def random_completeness(script, answer, n, seed):
    a, _, _ = run(script, "--measure", sample_for(script, answer, n, seed))
    return a["completeness"] if a else float("nan")


def is_empty(script):
    text = re.sub(r"--[^\n]*|/\*.*?\*/", "", open(script, errors="replace").read(), flags=re.S)
    return not re.search(r"\bload\b", text, re.I)


def folder(path, every=1):
    scripts = sorted(glob.glob(os.path.join(path, "**", "*.pig"), recursive=True))
    scripts = [s for s in scripts if not is_empty(s)][::every]
    if not scripts:
        return
    print("\n%s: %d scripts with a LOAD" % (path, len(scripts)))
    times, scores, few, many = [], [], [], []
    for i, s in enumerate(scripts):
        a, err, took = run(s)
        name = os.path.relpath(s, path)
        if not a:
            print("%-60s %s" % (name[-60:], err), flush=True)
            continue
        times.append(took)
        scores.append((a["completeness"], a["conciseness"]))
        if i % 4 == 0:
            few.append((random_completeness(s, a, max(2, rows_of(a)), 1), a["completeness"]))
            many.append(random_completeness(s, a, 10000, 1))
        if a["completeness"] < 1 or took > 2:
            print("%-60s %.2f %6.0f ms; %s" % (name[-60:], a["completeness"], took * 1000, "; ".join(
                "line %d %s" % (u["line"], u["reason"]) for u in a["uncovered"] if not u["impossible"])[:150]), flush=True)
    summary(scores, times, len(scripts))
    few = [(x, y) for x, y in few if x == x]
    many = [x for x in many if x == x]
    if few:
        print("each fourth script: completeness %.3f; of as many random rows %.3f; of 10,000 random rows %.3f" % (
            statistics.mean(y for _, y in few), statistics.mean(x for x, _ in few), statistics.mean(many)))


# ---- outputs that are known

def outputs(script, data, only=None):
    """The outputs of a run, sorted; or (None, why)."""
    params = []
    for _ in range(20):
        p = subprocess.run([SUNDEW, "examples", script, "--run", "--data", data, "-w", WORK + "/ws", *params],
                           capture_output=True, text=True, timeout=120)
        wanted = re.search(r"no value for the parameter \$(\w+)", p.stderr)
        if not wanted:
            break
        params += ["-p", wanted.group(1) + "=1"]
    if p.returncode not in (0, 1):
        return None, (p.stderr.strip().splitlines() or ["crashed"])[-1]
    missing = re.search(r"the function (\S+) is not there", p.stderr)
    if missing:
        return None, "a function of the suite is missing"
    text = re.sub(r"\n(no findings|\d+ findings?\b).*", "", p.stdout, flags=re.S)
    parts = re.split(r"^== (.*)\n", text, flags=re.M)[1:]
    if p.returncode == 1:
        return None, "the job fails"
    tables = [(name, sorted(t.splitlines())) for name, t in zip(parts[::2], parts[1::2])]
    return [t for name, t in tables if name == only or not only], ""


STUDENTS = ["%s %s" % (a, b) for a in ("alice", "bob", "calvin", "david", "ethan") for b in ("allen", "brown", "carson", "davidson")]


def students(folder, n=10000, seed=7):
    """Tables of the end-to-end suite, small: names, ages, grades; voters; with nulls."""
    rng = random.Random(seed)
    hole = lambda x: "" if rng.random() < .1 else x
    student = lambda: [rng.choice(STUDENTS), str(rng.randint(18, 77)), "%.2f" % (rng.random() * 4)]
    voter = lambda: [rng.choice(STUDENTS), str(rng.randint(18, 77)), rng.choice(["green", "democrat", "republican"]),
                     "%.2f" % (rng.random() * 1000)]
    tables = {"studenttab10k": [student() for _ in range(n)], "studenttab20m": [student() for _ in range(n)],
              "studentnulltab10k": [[hole(x) for x in student()] for _ in range(n)],
              "votertab10k": [voter() for _ in range(n)], "voternulltab10k": [[hole(x) for x in voter()] for _ in range(n)],
              "allscalar10k": [student() + [hole(rng.choice(["true", "false"]))] for _ in range(n)],
              "reg1459894": [[str(rng.randint(0, 9)), str(rng.randint(0, 9))] for _ in range(50)],
              "textdoc": [[" ".join(rng.choice(STUDENTS) for _ in range(5))] for _ in range(50)],
              "studentcomplextab10k": [["[name#%s,age#%s,gpa#%s]" % tuple(s), "(%s,%s,%s)" % tuple(s), "{(%s,%s,%s)}" % tuple(s)]
                                       for s in (student() for _ in range(n))]}
    os.makedirs(folder, exist_ok=True)
    for name, rows in tables.items():
        write(folder, name, rows, "\t")
        write(folder, name.replace("studenttab", "studentcolon"), rows, ":")
        write(folder, name.replace("studenttab", "studentctrla"), rows, "\x01")
    for name, rows in tables.items():
        write(folder, name, rows, "\t")


def pairs(conf):
    """Two scripts of each case that must give the same."""
    data = os.path.join(WORK, "students")
    students(data)
    text = open(conf, errors="replace").read()
    quoted = r"q(?:\\(.*?)\\|#(.*?)#|\{(.*?)\})"
    same = differ = 0
    left_out = {}
    for m in re.finditer(r"'num' *=> *(\d+)(.*?)(?='num' *=>|\Z)", text, re.S):
        one = re.search(r"'pig' *=> *" + quoted + r" *,", m.group(2), re.S)
        two = re.search(r"'verify_pig_script' *=> *" + quoted + r" *,", m.group(2), re.S)
        if not one or not two or "'ignore'" in m.group(2):
            continue
        if ":OUTPATH:." in one.group() + two.group():
            left_out["it loads what it stored"] = left_out.get("it loads what it stored", 0) + 1
            continue
        got = []
        for k, script in enumerate((one, two)):
            body = next(g for g in script.groups() if g is not None)
            body = re.sub(r":INPATH:/(?:singlefile|dir|glob)/", "", body).replace(":OUTPATH:", "out")
            body = re.sub(r"(?im)^\s*(register|define)[^;]*(:FUNCPATH:|:PIGHARNESS|:SCRIPTHOMEPATH)[^;]*;", "", body)
            path = os.path.join(WORK, "pair%d.pig" % k)
            with open(path, "w") as f:
                f.write(body)
            got.append(outputs(path, data, "out"))
        why = got[0][1] or got[1][1]
        line = text.count("\n", 0, m.start()) + 1
        if why:
            why = re.sub(r"^sundew: |\S*pair\d.pig:\d+:\d+: ", "", why)
            left_out[why] = left_out.get(why, 0) + 1
        elif rounded(got[0][0]) == rounded(got[1][0]):
            same += 1
        else:
            differ += 1
            print("%s:%d DIFFERS: %s | %s" % (os.path.basename(conf), line, str(got[0][0])[:120], str(got[1][0])[:120]), flush=True)
    print("%s: %d pairs agree, %d differ, %d could not be run" % (os.path.basename(conf), same, differ, sum(left_out.values())))
    for why, n in sorted(left_out.items(), key=lambda kv: -kv[1])[:15]:
        print("  %d: %s" % (n, why[:140]))


def rounded(tables):
    """Floats and doubles alike, as the suite compares them; a table without rows is none."""
    number = lambda m: "%.3f" % float(m.group())
    lines = [sorted(re.sub(r"-?\d+(\.\d+)?(E-?\d+)?", number, line) for line in t) for t in tables]
    return [t for t in lines if t]


def exercises(path):
    """Folders with a script, its data and, in test.py, the expected lines."""
    good = bad = 0
    for test in sorted(glob.glob(os.path.join(path, "**", "test.py"), recursive=True)):
        here = os.path.dirname(test)
        script = glob.glob(os.path.join(here, "*.pig"))
        want = re.search(r"expected\w* = \[(.*?)\n\]", open(test).read(), re.S)
        want = want.group(1) if want else ""
        lines = [next(filter(None, g), "").encode().decode("unicode_escape") for g in
                 re.findall(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'", want)]
        if not script or not lines:
            continue
        got, why = outputs(script[0], here)
        ok = got is not None and any(sorted(l.strip() for l in lines) == sorted(l.strip() for l in t) for t in got)
        good, bad = good + ok, bad + (not ok)
        if not ok:
            print("%s DIFFERS: %s" % (os.path.relpath(here, path), why or str(got)[:200]))
    if good + bad:
        print("\n%s: %d exercises give the expected output, %d do not" % (path, good, bad))
