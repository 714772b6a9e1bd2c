-- Galaxies with two constraints on brightness.
G = LOAD 'Galaxy' AS (objID:long, ra:double, dec:double, type:int, flags:long, u:double, g:double, r:double, i:double, z:double, run:int, camcol:int, field:int, ext_r:double);
F = FILTER G BY r < 22.0 AND ext_r > 0.175;
STORE F INTO 'out';
