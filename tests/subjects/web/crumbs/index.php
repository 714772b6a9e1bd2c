<?php
// A cookie that the page itself has set before: its value can still be another one.
session_start();
$_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1;
$theme = $_COOKIE['theme'] ?? 'none';
setcookie('theme', 'plain');
echo "<!DOCTYPE html>\n<html><head><title>Crumbs</title></head><body>\n";
if ($_SESSION['n'] === 2 && $theme === 'broken')
    trigger_error('reached theme');
if ($_SESSION['n'] === 2 && $theme === 'plain' && $theme === 'none')
    trigger_error('reached never');
echo "<p><a href=\"index.php\">again</a></p></body></html>\n";
