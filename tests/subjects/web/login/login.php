<?php
include(dirname(__FILE__) . '/lib/constants.php');
session_start();
$user = $_REQUEST['user'] ?? null;
$pw = $_REQUEST['pw'] ?? null;
echo "<!DOCTYPE html>\n<html><head><title>Login</title></head><body>\n";
if (check_password($user, $pw)) {
    $_SESSION[$user_key] = $user;
    $_SESSION[$pw_key] = $pw;
    if ($user == 'admin')
        $_SESSION[$type_key] = 'admin';
    echo "<form action=\"view.php\" method=\"get\"><p>Topic <input type=\"text\" name=\"topic\">\n";
    echo "<input type=\"submit\" value=\"View\"></p></form>\n";
} else {
    echo "<p>No such user, or wrong password.</p>\n";
}
echo "</body></html>\n";
