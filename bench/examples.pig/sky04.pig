-- A cut on a sum of magnitudes and an ellipticity.
G = LOAD 'Galaxy' AS (objID:long, ra:double, dec:double, type:int, flags:long, u:double, g:double, r:double, i:double, z:double, run:int, camcol:int, field:int, q:double, uu:double, rad:double);
F = FILTER G BY r + rad < 23.0 AND q * q + uu * uu > 0.25 AND rad > 30.0 AND rad < 60.0;
STORE F INTO 'out';
