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
?>
</body></html>
