<?php
// Planted: `split` comes from the address, and 0 is not refused. Only a shelf
// with something on it is split, so the fault is one click behind a form.
session_start();
$shelf = $_SESSION['shelf'] ?? [];
?>
<!DOCTYPE html>
<html><head><title>Shelf</title></head><body>
<ul>
<?php
foreach ($shelf as $thing)
    echo '<li>', htmlspecialchars($thing), "</li>\n";
if ($shelf && isset($_GET['split']))
    echo '<li>for each: ', intdiv(count($shelf), (int)$_GET['split']), "</li>\n";
if (!$shelf)
    echo "<li>nothing yet</li>\n";
?>
</ul>
<p><a href="index.php">Back</a></p>
</body></html>
