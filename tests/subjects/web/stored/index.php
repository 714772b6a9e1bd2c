<?php
// What one request stores decides what a later one does: in a database (bound, pasted, read in
// several ways) and in a session.
function reach($what) { trigger_error("reached $what"); }
session_start();
$db = new PDO('sqlite:' . __DIR__ . '/guests.db');
$db->exec('CREATE TABLE IF NOT EXISTS guest (id INTEGER PRIMARY KEY, name TEXT, role TEXT, age INTEGER)');
echo "<!DOCTYPE html>\n<html><head><title>Guests</title></head><body>\n";
if (isset($_POST['name'], $_POST['role'])) {
    $q = $db->prepare('INSERT INTO guest (name, role, age) VALUES (?, ?, ?)');
    $q->execute([trim($_POST['name']), $_POST['role'], (int)($_POST['age'] ?? 0)]);
} elseif (isset($_GET['pasted'])) {
    $db->exec("INSERT INTO guest (name, role, age) VALUES ('" . str_replace("'", "''", $_GET['pasted']) . "', 'pasted', 5)");
} elseif (isset($_GET['color'])) {
    $_SESSION['color'] = strtolower($_GET['color']);
}
if (($_GET['list'] ?? '') !== '') {
    foreach ($db->query('SELECT name, age FROM guest') as $row)
        if ($row['name'] === 'boss')
            reach('name');
    $row = $db->query('SELECT role FROM guest')->fetch(PDO::FETCH_ASSOC);
    if ($row && $row['role'] === 'admin')
        reach('role');
    foreach ($db->query('SELECT age FROM guest')->fetchAll(PDO::FETCH_OBJ) as $guest)
        if ($guest->age > 64 && $guest->age < 70)
            reach('age');
    if ($db->query("SELECT name FROM guest WHERE role = 'pasted'")->fetchColumn() === 'secret')
        reach('pasted');
    if (($_SESSION['color'] ?? '') === 'red')
        reach('color');
    if ($row && $row['role'] === 'admin' && $row['role'] === 'other')
        reach('never');
}
?>
<form action="index.php" method="post"><p><input name="name"><input name="role"><input name="age"><input type="submit" value="Sign"></p></form>
<p><a href="index.php?list=1">all</a> <a href="index.php?pasted=x">paste</a> <a href="index.php?color=blue">color</a></p>
</body></html>
