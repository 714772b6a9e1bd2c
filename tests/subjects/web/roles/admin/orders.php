<?php
session_start();
if (!isset($_SESSION['user'])) {
    header('Location: ../index.php');
    exit;
}
?>
<!DOCTYPE html>
<html><head><title>Admin</title></head><body>
<?php
$db = new PDO('sqlite:' . __DIR__ . '/shop.db');
$db->exec('CREATE TABLE IF NOT EXISTS orders (name TEXT)');
foreach ($db->query('SELECT name FROM orders') as $row)
    echo '<p>' . htmlspecialchars($row['name']) . '</p>';
?>
</body></html>
