<?php
$in = json_decode(stream_get_contents(fopen('php://input', 'r')), true);
if (!$in)
    exit("nothing\n");
if (($in['op'] ?? '') === 'stop')
    trigger_error('reached stream');
// What the program writes into it is its own: no parameter.
$in['op'] = 'mine';
if ($in['op'] === 'other')
    trigger_error('reached never');
try {
    $o = json_decode(file_get_contents('php://input'), false, 8, JSON_THROW_ON_ERROR);
} catch (JsonException $e) {
    exit("never here\n");
}
$o->own = 1;
if (($o->own ?? 0) === 2)
    trigger_error('reached never');
if ($_SERVER['REQUEST_METHOD'] === 'PUT' && ($o->op ?? '') === 'go')
    trigger_error('reached method');
if (isset($_FILES['x']) && str_ends_with($_FILES['x']['name'], '.gif'))
    trigger_error('reached never');
