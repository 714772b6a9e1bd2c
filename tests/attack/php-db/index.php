<?php
// Attacks by way of the database: its server is told to write, to load code, to end; its log becomes
// a pipe, its socket another's. What got through is an error, which Sundew reports.
$folder = dirname(ini_get('mysqli.default_socket'));
$got = [];

function ask($db, $text)
{
    try {
        $rows = $db->query($text);
        return $rows instanceof mysqli_result ? json_encode($rows->fetch_all()) : 'done';
    } catch (Throwable $e) {
        return 'refused: ' . $e->getMessage();
    }
}

// The tables that loading code needs; then the server obeys grants, and loads.
function make_system_tables($db)
{
    $db->query('CREATE DATABASE IF NOT EXISTS mysql');
    $db->select_db('mysql');
    $text = "SET default_storage_engine=MyISAM;\n" . file_get_contents('/usr/share/mysql/mysql_system_tables.sql');
    $more = $db->multi_query($text);
    while ($more) {
        try {
            if ($rows = $db->store_result())
                $rows->free();
            $more = $db->more_results() && $db->next_result();
        } catch (Throwable $e) {
            $more = $db->more_results();
        }
    }
    ask($db, 'FLUSH PRIVILEGES');
    ask($db, "CREATE USER IF NOT EXISTS 'root'@'localhost'");
    ask($db, "GRANT ALL ON *.* TO 'root'@'localhost' WITH GRANT OPTION");
}

$db = new mysqli(null, 'root', '', '');
$code = bin2hex(file_get_contents(__DIR__ . '/plugin.so'));
foreach (["$folder/data", rtrim(json_decode(ask($db, 'SELECT @@plugin_dir'))[0][0], '/')] as $to)
    ask($db, "SELECT UNHEX('$code') INTO DUMPFILE '$to/attack.so'");
@copy(__DIR__ . '/plugin.so', "$folder/data/attack.so");
ask($db, "SET GLOBAL general_log_file='/var/tmp/sundew-attack/log'");
if (ask($db, 'SET GLOBAL general_log=1') === 'done')
    $got[] = 'a log outside';
ask($db, "SELECT 'x' INTO OUTFILE '/var/tmp/sundew-attack/rows'");
if (strpos(ask($db, "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE notes"), 'refused') !== 0)
    $got[] = 'a file of the client';
make_system_tables($db);
foreach (["INSTALL SONAME 'attack.so'", "CREATE FUNCTION f RETURNS STRING SONAME 'attack.so'"] as $text)
    if (preg_match("/done|symbol/", ask($db, $text)))
        $got[] = 'code in the server';
if ($got)
    trigger_error('reached: ' . implode(', ', $got), E_USER_ERROR);
if (($_GET['end'] ?? '') !== 'no') {
    @unlink("$folder/log");
    @posix_mkfifo("$folder/log", 0666);
    ask($db, 'SHUTDOWN');
}
echo '<a href="index.php?end=yes">again</a>';
