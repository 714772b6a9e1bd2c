<?php
// A small application to click in: a session, a cookie, an upload, a body that is no form.
session_start();
$_SESSION['seen'] = ($_SESSION['seen'] ?? 0) + 1;
setcookie('theme', '1', time() + 3600);
echo "<!DOCTYPE html>\n<html><head><title>Notes</title></head><body>\n";
echo '<p>seen ', $_SESSION['seen'], ' at ', htmlspecialchars($_SERVER['HTTP_HOST'] . ($_SERVER['PATH_INFO'] ?? '')), "</p>\n";
if (isset($_GET['link']))
    echo '<p>', symlink('/etc/passwd', 'out.txt') && symlink('/etc', 'up') ? 'linked' : 'not', "</p>\n";
if (($_COOKIE['theme'] ?? '') === '7')
    echo '<p>', 1 % 0, "</p>\n";
if ($_SERVER['REQUEST_METHOD'] === 'PUT')
    echo '<p>put ', strlen(file_get_contents('php://input')), "</p>\n";
if (isset($_FILES['photo']))
    echo '<p>photo ', htmlspecialchars($_FILES['photo']['name']), ' ', $_FILES['photo']['size'], "</p>\n";
if (isset($_POST['name']) && $_SESSION['seen'] > 1)
    echo '<p>', strlen($_POST['name']) > 3 ? intdiv(1, 0) : 'short', "</p>\n";
echo "</body></html>\n";
