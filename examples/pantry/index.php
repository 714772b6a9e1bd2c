<?php
// A pantry: what is on the shelf, kept in the session.
session_start();
if ($_SERVER['REQUEST_METHOD'] === 'POST' && ($_POST['name'] ?? '') !== '') {
    $_SESSION['shelf'][] = $_POST['name'];
    header('Location: shelf.php');
    exit;
}
?>
<!DOCTYPE html>
<html><head><title>Pantry</title></head><body>
<form action="index.php" method="post">
<p>Put on the shelf: <input type="text" name="name"> <input type="submit" value="Put"></p>
</form>
<p><a href="shelf.php">The shelf</a></p>
</body></html>
