<?php
// Each condition guards a warning of its own name: which are reached?
function reach(string $name): void { trigger_error("reached $name", E_USER_WARNING); }
function typed(int $n): bool { return $n > 41 && $n < 43; }

if ((int)($_GET['a'] ?? 0) * 3 + 2 === 44) reach('arithmetic');
if (strtolower(trim($_GET['b'] ?? '')) === 'open') reach('trim and case');
if (strlen($_GET['c'] ?? '') > 12) reach('length');
if (strpos($_GET['d'] ?? '', 'needle') === 4) reach('position');
if (in_array($_GET['e'] ?? '', ['red', 'green', 'blue'], true)) reach('in_array');
switch ($_GET['f'] ?? '') { case 'one': break; case 'two': reach('switch'); }
if (isset($_GET['g']) && typed($_GET['g'])) reach('typed parameter');
if (is_array($_GET['h'] ?? null)) reach('array');
$map = ['left' => 1, 'right' => 2];
if (isset($map[$_GET['i'] ?? ''])) reach('key');
if (preg_match('/^[A-Z]{2}-\d{3}$/', $_GET['j'] ?? '')) reach('pattern');
if (($_SERVER['REQUEST_METHOD'] ?? '') === 'POST') reach('method');
if ("<{$_GET['k']}>" == '<ok>') reach('interpolation');
[$x, $y] = explode(',', ($_GET['l'] ?? '') . ',');
if ($x === 'p' && $y === 'q') reach('explode');
if (!empty($_POST['m']) && $_POST['m'] <=> 'n') reach('post');
if (htmlentities($_GET['n'] ?? '') == '&lt;b&gt;') reach('entities');
if ((match ($_GET['o'] ?? null) { 'yes' => 1, 'no' => 0, default => -1 }) === 0) reach('match');
$n = 0;
foreach (str_split($_GET['p'] ?? '') as $c) $n += $c === 'z' ? 1 : 0;
if (($_COOKIE['q'] ?? '') === 'crumb') reach('cookie');
if (md5($_GET['r'] ?? '') === 'nothing') reach('never');
foreach ($_GET as $k => $v) if (is_string($v)) $_GET[$k] = addslashes($v);
if (isset($_GET['s']) && @$_GET['t'] == 7) reach('copy');
$all = array_map('trim', array_filter($_GET, 'is_string'));
if (isset($all['u']) && @$all['v'] === 'w') reach('mapped copy');
