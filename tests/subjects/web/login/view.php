<?php
include(dirname(__FILE__) . '/lib/constants.php');
session_start();
echo "<!DOCTYPE html>\n<html><head><title>View</title></head><body>\n";
if (!check_password($_SESSION[$user_key] ?? null, $_SESSION[$pw_key] ?? null)) {
    echo "<p>Please log in.</p>\n";
} else {
    $topic = htmlspecialchars($_REQUEST['topic'] ?? '');
    if (($_SESSION[$type_key] ?? '') == 'admin') {
        echo "<h2>Admin view of $topic\n";
    } else {
        echo "<h2>Normal view of $topic</h2>\n";
    }
}
echo "</body></html>\n";
