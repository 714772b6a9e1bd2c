<!DOCTYPE html>
<html><head><title>Holes</title></head><body>
<?php
$db = new PDO('sqlite:' . __DIR__ . '/data.db');
$db->exec('CREATE TABLE IF NOT EXISTS t (a TEXT)');
if (isset($_GET['raw']))
    $db->query("SELECT * FROM t WHERE a = '" . $_GET['raw'] . "'");
if (isset($_GET['bound'])) {
    $q = $db->prepare('SELECT * FROM t WHERE a = ?');
    $q->execute([$_GET['bound']]);
}
if (isset($_GET['name']))
    echo '<p>Hello ' . $_GET['name'] . '</p>';
if (isset($_GET['safe']))
    echo '<p>Hello ' . htmlspecialchars($_GET['safe']) . '</p>';
if (isset($_GET['part']))
    @include __DIR__ . '/parts/' . $_GET['part'];
if (isset($_GET['go']))
    header('Location: ' . $_GET['go']);
if (isset($_GET['home']))
    header('Location: /index.php?from=' . urlencode($_GET['home']));
if (isset($_GET['file']))
    echo strlen((string)@file_get_contents('parts/' . $_GET['file']));
if (isset($_GET['base']))
    echo strlen((string)@file_get_contents('parts/' . basename($_GET['base'])));
if (isset($_GET['ping']))
    system('ping ' . $_GET['ping']);
if (isset($_GET['pong']))
    system('ping ' . escapeshellarg($_GET['pong']));
if (isset($_GET['code']))
    try { eval('$x = "' . $_GET['code'] . '";'); } catch (ParseError) { echo 'no'; }
if (isset($_GET['data']))
    eval('$x = ' . var_export((string)$_GET['data'], true) . ';');
if (isset($_GET['from']))
    mail('a@example.com', 'Hello', 'text', 'From: ' . $_GET['from']);
if (isset($_GET['subject']))
    mail('a@example.com', $_GET['subject'], 'text', 'From: a@example.com');
if (isset($_GET['host']))
    @fsockopen($_GET['host'], 80);
?>
</body></html>
