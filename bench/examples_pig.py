"""Example data for Pig Latin: how complete, how concise, how fast.

PigMix's programs in our own words (bench/examples.pig), with generated data,
beside random samples of the same size and of all 10,000 rows; queries like
those of the sky survey; every script of a folder, without data. A parameter
that a script wants gets the value 1.
"""
import glob, json, os, random, re, statistics, subprocess, sys, tempfile, time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUNDEW = os.environ.get("SUNDEW", os.path.join(TOP, "build", "sundew"))
WORK = tempfile.mkdtemp(prefix="sundew-dataflow-")


def run(script, *more):
    """Gives (answer or None, error, seconds). Missing parameters are filled in."""
    params = []
    for _ in range(30):
        begin = time.time()
        try:
            p = subprocess.run([SUNDEW, "examples", script, "--json", "-q", "-w", WORK + "/ws",
                                "--time", "20s", *params, *more], capture_output=True, text=True,
                               timeout=120)
        except subprocess.TimeoutExpired:
            return None, "took longer than two minutes", 120
        took = time.time() - begin
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


def folder(path, every=1):
    scripts = sorted(glob.glob(os.path.join(path, "**", "*.pig"), recursive=True))[::every]
    print("\n%s: %d scripts" % (path, len(scripts)))
    times, scores, errors = [], [], {}
    for s in scripts:
        a, err, took = run(s)
        name = os.path.relpath(s, path)
        if not a:
            print("%-60s %s" % (name[-60:], err))
            continue
        times.append(took)
        scores.append((a["completeness"], a["conciseness"]))
        if a["completeness"] < 1 or took > 2:
            print("%-60s %.2f %6.0f ms; %s" % (name[-60:], a["completeness"], took * 1000, "; ".join(
                "line %d %s" % (u["line"], u["reason"]) for u in a["uncovered"] if not u["impossible"])[:150]))
    summary(scores, times, len(scripts))

