<?php
$user_key = 'user';
$pw_key = 'pw';
$type_key = 'type';
function check_password($user, $pw) {
    if ($user == 'admin' && $pw == 'admin')
        return true;
    if ($user == 'reg' && $pw == 'reg')
        return true;
    return false;
}
