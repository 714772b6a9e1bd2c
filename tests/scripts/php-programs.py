"""Random PHP programs, run by plain PHP and by PHP with Sundew's extension in
several modes: their output must be the same, byte for byte.

    php-programs.py PHP-CGI EXTENSION COUNT SEED

A program reads parameters, computes, decides, changes values in place, calls
library functions, and prints what it has at the end of each step. Prints the
programs that differ, and a last line with counts; ends with 1 if one differs.
"""
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

php, extension, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
PARAMS = {"a": "5", "b": "abc", "c": "", "d": "12.5", "e": " x1 ", "f": "0", "g[x]": "7", "g[y][]": "z",
          "h": "1337", "i": "-3"}
QUERY = "&".join("%s=%s" % (k.replace("[", "%5B").replace("]", "%5D"), v.replace(" ", "%20"))
                 for k, v in PARAMS.items())


class Program:
    def __init__(self, rng):
        self.r = rng
        self.vars = ["$v%d" % i for i in range(6)]
        self.depth = 0

    def atom(self):
        r = self.r
        return r.choice([
            lambda: r.choice(self.vars),
            lambda: "($_GET['%s'] ?? %s)" % (r.choice("abcdefhijk"), r.choice(["null", "0", "'q'", "''"])),
            lambda: "$_REQUEST['%s']" % r.choice("abcdefhi"),
            lambda: "@$_GET['%s']" % r.choice("abkz"),
            lambda: "$_GET['g']['x']",
            lambda: str(r.choice([0, 1, 2, -1, 10, 1337, 7])),
            lambda: r.choice(["'abc'", "'5'", "''", "'0'", "'x1'", "1.5", "null", "true", "false", "'12.5'"]),
        ])()

    def expr(self, d=0):
        r = self.r
        if d > 3 or r.random() < 0.25:
            return self.atom()
        e = lambda: self.expr(d + 1)
        return r.choice([
            lambda: "(num(%s) %s num(%s))" % (e(), r.choice(["+", "-", "*"]), e()),
            lambda: "(num(%s) %s (abs((int)num(%s)) + 1))" % (e(), r.choice(["/", "%"]), e()),
            lambda: "(str(%s) . str(%s))" % (e(), e()),
            lambda: '"<{$v0}-$v1|{$v%d}>"' % r.randrange(6),
            lambda: "(%s %s %s)" % (e(), r.choice(["==", "!=", "===", "!==", "<", "<=", ">", "<=>"]), e()),
            lambda: "(%s ? %s : %s)" % (e(), e(), e()),
            lambda: "(%s ?: %s)" % (e(), e()),
            lambda: "(!%s)" % e(),
            lambda: "(%s %s %s)" % (e(), r.choice(["&&", "||", "xor"]), e()),
            lambda: "((%s)%s)" % (r.choice(["int", "bool"]), e()),
            lambda: "(string)num(%s)" % e(),
            lambda: "%s(str(%s))" % (r.choice(["trim", "strtolower", "strtoupper", "strrev", "strlen", "ucfirst",
                                               "htmlspecialchars", "addslashes", "is_numeric", "ctype_digit",
                                               "md5", "crc32", "intval", "urlencode"]), e()),
            lambda: "substr(str(%s), %d, %d)" % (e(), r.randrange(-2, 3), r.randrange(1, 4)),
            lambda: "strpos(str(%s), 'a')" % e(),
            lambda: "in_array(%s, ['abc', '5', 7, ''])" % e(),
            lambda: "in_array(%s, [$v0, $v1, 'abc'])" % e(),
            lambda: "isset($_GET['%s'])" % r.choice("abckz"),
            lambda: "empty($_GET['%s'])" % r.choice("abcfkz"),
            lambda: "isset($arr[str(%s)])" % e(),
            lambda: "($arr[str(%s)] ?? 'none')" % e(),
            lambda: "weak(num(%s))" % e(),
            lambda: "typed(%s)" % r.choice(["$_GET['a']", "$_GET['i']", "$_GET['h']"]),
            lambda: "match(true) { num(%s) > 3 => 'm1', default => 'm2' }" % e(),
            lambda: "implode(',', explode('x', str(%s)))" % e(),
            lambda: "is_array(%s)" % r.choice(["$_GET['g']", "$_GET['a']", "$v2"]),
            lambda: "(~(int)num(%s))" % e(),
            lambda: "(int)num(%s) %s (int)num(%s)" % (e(), r.choice(["&", "|", "^"]), e()),
            lambda: "sprintf('%%s-%%d', str(%s), num(%s))" % (e(), e()),
            lambda: "preg_match('/^[a-z]+$/', str(%s))" % e(),
            lambda: "str_replace('a', 'bb', str(%s))" % e(),
            lambda: "json_encode(str(%s))" % e(),
        ])()

    def statement(self):
        r = self.r
        v = r.choice(self.vars)
        self.depth += 1
        body = lambda: " ".join(self.statement() for _ in range(r.randrange(1, 3))) if self.depth < 4 else "$v0 = 1;"
        s = r.choice([
            lambda: "%s = %s;" % (v, self.expr()),
            lambda: "%s .= str(%s);" % (v, self.expr()),
            lambda: "%s = num(%s); %s %s= num(%s);" % (v, v, v, r.choice("+-*"), self.expr()),
            lambda: "%s = (int)num(%s); %s%s;" % (v, v, v, r.choice(["++", "--"])),
            lambda: "$arr['k'] = (int)num(%s); $arr['k']++; %s = $arr['k']--;" % (self.expr(), v),
            lambda: "$o->p = (int)num(%s); $o->p++; $o->p .= 'x'; %s = $o->p;" % (self.expr(), v),
            lambda: "$s = str(%s) . 'qq'; $s[1] = 'Z'; %s = $s;" % (self.expr(), v),
            lambda: "$ref = &%s; $ref .= 'r'; unset($ref);" % v,
            lambda: "if (%s) { %s } else { %s }" % (self.expr(), body(), body()),
            lambda: "switch (%s) { case 5: %s break; case 'abc': %s break; case null: %s default: %s }" %
                    (self.expr(), body(), body(), body(), body()),
            lambda: "switch (str(%s)) { case 'abc': %s break; case '5': %s break; case '': %s break; case 'x': %s }" %
                    (self.expr(), body(), body(), body(), body()),
            lambda: "for ($n{0} = 0; $n{0} < 3 && {1}; $n{0}++) {{ {2} }}".format(self.depth, self.expr(), body()),
            lambda: "foreach ($_GET as $key => $each) { %s = str($key) . (is_array($each) ? 'A' : $each); if ($each == '5') break; }" % v,
            lambda: "try { if (%s) throw new Exception(str(%s)); } catch (Exception $x) { %s = $x->getMessage(); }" %
                    (self.expr(), self.expr(), v),
            lambda: "[$p, $q] = [%s, %s]; %s = $q;" % (self.expr(), self.expr(), v),
            lambda: "$f = fn($z) => str($z) . str(%s); %s = $f(%s);" % (v, v, self.expr()),
            lambda: "static $st = 0; $st++; %s = $st;" % v,
            lambda: "ob_start(); echo str(%s); %s = ob_get_clean();" % (self.expr(), v),
            lambda: "%s ??= %s;" % (v, self.expr()),
            lambda: "echo str(%s), \"\\n\";" % self.expr(),
        ])()
        self.depth -= 1
        return s

    def text(self):
        lines = ["<?php", "error_reporting(E_ALL); ini_set('display_errors', '1'); ini_set('html_errors', '0');",
                 "function num($x) { return is_numeric($x) ? $x + 0 : (int)(is_string($x) ? strlen($x) : (is_array($x) ? 3 : $x)); }",
                 "function str($x) { return is_array($x) ? 'arr' : (is_float($x) ? (string)round($x, 6) : (string)$x); }",
                 "function weak($x) { return $x < 4; }", "function typed(int $x) { return $x > 4 ? $x * 2 : 'small'; }",
                 "class O { public $p = 1; public ?string $t = null; }",
                 "function main() {", "$o = new O; $arr = ['abc' => 1, '5' => 2, 'k' => 3, '' => 4];",
                 "; ".join("%s = %s" % (v, x) for v, x in zip(self.vars, ["1", "'abc'", "null", "$_GET['a']", "2.5", "''"])) + ";"]
        for _ in range(self.r.randrange(4, 14)):
            lines.append(self.statement())
            lines.append("var_dump(%s);" % self.r.choice(self.vars))
        lines += ["var_dump($v0, $v1, $v2, $v3, $v4, $v5, $arr, $o); }", "main();"]
        return "\n".join(lines) + "\n"


def run(path, mode):
    env = dict(os.environ, GATEWAY_INTERFACE="CGI/1.1", REQUEST_METHOD="GET", REDIRECT_STATUS="1",
               SCRIPT_FILENAME=path, QUERY_STRING=QUERY)
    argv = [php, "-n"]
    if mode:
        env["SUNDEW_WEB_MODE"] = mode
        argv += ["-d", "extension=" + extension]
    p = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return p.returncode, p.stdout


def check(n):
    text = Program(random.Random("%d/%d" % (seed, n))).text()
    path = os.path.join(folder, "p%d.php" % n)
    with open(path, "w") as f:
        f.write(text)
    plain = run(path, None)
    wrong = [m for m in ("on", "force", "random") if run(path, m) != plain]
    return n, wrong, b"var_dump" not in plain[1] and len(plain[1]) > 60 and b"Parse error" not in plain[1]


folder = tempfile.mkdtemp(prefix="sundew-programs-")
different, useful = 0, 0
with ThreadPoolExecutor(2) as pool:
    for n, wrong, good in pool.map(check, range(count)):
        useful += good
        if wrong:
            different += 1
            print("program %d of seed %d differs: %s (%s/p%d.php)" % (n, seed, " ".join(wrong), folder, n))
print("%d programs, %d with output, %d different" % (count, useful, different))
if not different:
    import shutil
    shutil.rmtree(folder)
sys.exit(different > 0 or useful < count * 0.9)
