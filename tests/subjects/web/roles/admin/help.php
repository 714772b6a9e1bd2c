<?php
session_start();
?>
<!DOCTYPE html>
<html><head><title>Admin</title></head><body>
<p>Press the buttons.</p>
</body></html>
