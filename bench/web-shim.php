<?php
// Functions that PHP dropped and old applications call; for bench/web.
mysqli_report(MYSQLI_REPORT_OFF);
if (!function_exists('mysql_connect')) {
    define('MYSQL_ASSOC', MYSQLI_ASSOC);
    define('MYSQL_NUM', MYSQLI_NUM);
    define('MYSQL_BOTH', MYSQLI_BOTH);
    function mysql_connect($host = '', $user = '', $password = '') { return $GLOBALS['mysql_link'] = mysqli_connect($host, $user, $password); }
    function mysql_pconnect($host = '', $user = '', $password = '') { return mysql_connect($host, $user, $password); }
    function mysql_select_db($name, $link = null) { return mysqli_select_db($GLOBALS['mysql_link'], $name); }
    function mysql_query($sql, $link = null) { return mysqli_query($GLOBALS['mysql_link'], $sql); }
    function mysql_fetch_row($r) { return mysqli_fetch_row($r) ?? false; }
    function mysql_fetch_assoc($r) { return mysqli_fetch_assoc($r) ?? false; }
    function mysql_fetch_array($r, $how = MYSQLI_BOTH) { return mysqli_fetch_array($r, $how) ?? false; }
    function mysql_fetch_object($r) { return mysqli_fetch_object($r) ?? false; }
    function mysql_num_rows($r) { return mysqli_num_rows($r); }
    function mysql_num_fields($r) { return mysqli_num_fields($r); }
    function mysql_result($r, $row, $field = 0) {
        if (!mysqli_data_seek($r, $row)) { trigger_error("Unable to jump to row $row", E_USER_WARNING); return false; }
        $a = mysqli_fetch_array($r);
        return $a[$field] ?? false;
    }
    function mysql_data_seek($r, $row) { return mysqli_data_seek($r, $row); }
    function mysql_free_result($r) { mysqli_free_result($r); return true; }
    function mysql_error($link = null) { return mysqli_error($GLOBALS['mysql_link']); }
    function mysql_errno($link = null) { return mysqli_errno($GLOBALS['mysql_link']); }
    function mysql_insert_id($link = null) { return mysqli_insert_id($GLOBALS['mysql_link']); }
    function mysql_affected_rows($link = null) { return mysqli_affected_rows($GLOBALS['mysql_link']); }
    function mysql_real_escape_string($s, $link = null) { return mysqli_real_escape_string($GLOBALS['mysql_link'], $s); }
    function mysql_escape_string($s) { return addslashes($s); }
    function mysql_close($link = null) { return mysqli_close($GLOBALS['mysql_link']); }
}
if (!function_exists('ereg')) {
    function ereg($p, $s, &$m = null) { return preg_match('~' . str_replace('~', '\~', $p) . '~', $s, $m); }
    function eregi($p, $s, &$m = null) { return preg_match('~' . str_replace('~', '\~', $p) . '~i', $s, $m); }
    function split($p, $s, $n = -1) { return preg_split('~' . str_replace('~', '\~', $p) . '~', $s, $n); }
}
if (!function_exists('get_magic_quotes_gpc')) {
    function get_magic_quotes_gpc() { return false; }
}
