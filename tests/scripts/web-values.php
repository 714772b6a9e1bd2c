<?php
// The same lines as tests/tools/web_values.c prints, computed by PHP.
$texts = ["", "0", "1", "-1", "1337", "1337 ", " 1337", "1337x", "1.337e3", "01", "1.0", ".5", "5.", "abc",
    "ABC", "a", "1e1000", "9223372036854775807", "9223372036854775808", "0x1A", "null", "true", " ", "\n",
    "-0", "+5", "1 2", "e5", "äx"];
$values = array_merge([null, false, true, 0, 1, -7, 1337, 1.5, 0.0, 1e20], $texts);

function show($v) {
    if ($v === null) return 'null';
    if (is_bool($v)) return $v ? 'true' : 'false';
    if (is_int($v)) return "i$v";
    if (is_float($v)) return is_nan($v) ? 'nan' : 'f' . bin2hex(pack('E', $v));
    return 's' . bin2hex($v);
}
foreach ($values as $i => $x)
    foreach ($values as $k => $y) {
        printf('%d %d %d %d %d', $i, $k, $x == $y, $x === $y, $x <=> $y);
        if ((!is_string($x) || is_numeric($x)) && (!is_string($y) || is_numeric($y)))
            echo ' ', show($x + $y), ' ', show($x - $y), ' ', show($x * $y);
        printf(" %s %d\n", show((int)$x), (bool)$x);
    }
foreach ($texts as $t) {
    foreach (['trim', 'strtolower', 'strtoupper', 'ucfirst', 'intval', 'floatval', 'is_numeric', 'ctype_digit',
              'ctype_alpha', 'htmlspecialchars', 'addslashes', 'stripslashes', 'urldecode', 'strrev', 'strlen',
              'ord'] as $f)
        echo "$f ", show($f($t)), "\n";
    for ($from = -3; $from <= 3; $from++)
        for ($n = -2; $n <= 2; $n++)
            echo "substr $from $n ", show(substr($t, $from, $n)), "\n";
}
