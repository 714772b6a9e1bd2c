<?php
// Bodies that are no form. Each condition is for one kind of value.
function reach($what) { trigger_error("reached $what"); }
header('Content-Type: application/json');
$raw = file_get_contents('php://input');
if (strlen($raw) === 5 && $raw[0] === '!')
    reach('raw');
$in = json_decode($raw, true);
if (json_last_error() !== JSON_ERROR_NONE) {
    http_response_code(400);
    exit('{"error":"no JSON"}');
}
if (($in['user'] ?? '') === 'admin')
    reach('text');
if (isset($in['age']) && is_int($in['age']) && $in['age'] > 17)
    reach('number');
if (($in['sure'] ?? null) === true)
    reach('truth');
if (isset($in['ids'][1]) && $in['ids'][1] == 42)
    reach('list');
if (($in['address']['town'] ?? 'x') === 'Ulm')
    reach('nested');
if (array_key_exists('debug', $in))
    reach('key');
if (($in['user'] ?? '') === 'a' && ($in['user'] ?? '') === 'b')
    reach('never');
$o = json_decode($raw);
if (isset($o->color) && strtolower($o->color) === 'red')
    reach('property');
if (($o->size ?? 0) === 7)
    reach('typed property');
if (($o->part->name ?? '') === 'bolt')
    reach('nested property');
if (empty($o->there) === false && $o->there == 'yes')
    reach('empty property');
