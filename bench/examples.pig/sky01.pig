-- Galaxies in a field.
P = LOAD 'PhotoObj' AS (objID:long, ra:double, dec:double, type:int, flags:long, u:double, g:double, r:double, i:double, z:double, run:int, camcol:int, field:int);
F = FILTER P BY run == 1033 AND camcol == 3 AND type == 3 AND field >= 11 AND field <= 12;
STORE F INTO 'out';
