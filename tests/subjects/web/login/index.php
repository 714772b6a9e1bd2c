<!DOCTYPE html>
<html><head><title>Login</title></head><body>
<form action="login.php" method="post">
<p>Name <input type="text" name="user"> Password <input type="password" name="pw"> <input type="submit" value="Go"></p>
</form>
</body></html>
