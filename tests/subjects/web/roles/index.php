<?php
session_start();
if (($_POST['user'] ?? '') === 'root' && password_verify($_POST['pw'] ?? '', '$2y$04$QG8/lCkEqRR9HNs21MrHKOxD6R8IJWBYfeSq2BC3AiZn0AyUvv3ge'))
    $_SESSION['user'] = 'root';
?>
<!DOCTYPE html>
<html><head><title>Shop</title></head><body>
<?php if (isset($_SESSION['user'])) { ?>
<p><a href="admin/users.php">users</a> <a href="admin/items.php">items</a> <a href="admin/orders.php">orders</a>
<a href="admin/export.php">export</a> <a href="admin/help.php">help</a></p>
<?php } else { ?>
<form method="post" action="index.php"><p><input name="user"><input type="password" name="pw"><input type="submit"></p></form>
<?php } ?>
</body></html>
