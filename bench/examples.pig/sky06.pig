-- Stars with colors of a white dwarf.
S = LOAD 'Star' AS (objID:long, ra:double, dec:double, type:int, flags:long, u:double, g:double, r:double, i:double, z:double, run:int, camcol:int, field:int);
F = FILTER S BY u - g < 0.4 AND g - r < 0.7 AND r - i > 0.4 AND i - z > 0.4;
STORE F INTO 'out';
