<?php
// Pages that misbehave; each must leave the next request untouched.
switch ($_GET['do'] ?? '') {
    case 'loop': while (true) { }
    case 'big': for ($i = 0; $i < 50; $i++) echo str_repeat('x', 1 << 20); break;
    case 'delete': foreach (glob(__DIR__ . '/*') as $f) unlink($f); break;
    case 'kill': posix_kill(getmypid(), 9); break;
    case 'parent': posix_kill(posix_getppid(), 9); break;
    case 'memory': $s = 'x'; while (true) $s .= $s; break;
    case 'outside': file_put_contents('/etc/sundew-was-here', 'x'); break;
    case 'shell': system('touch ' . sys_get_temp_dir() . '/shell'); echo file_exists(sys_get_temp_dir() . '/shell') ? 'ran' : 'stub'; break;
    default: echo file_exists(__DIR__ . '/other.php') ? 'whole' : 'broken';
}
