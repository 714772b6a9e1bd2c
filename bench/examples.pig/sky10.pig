-- Flags by arithmetic, and rounding.
P = LOAD 'PhotoObj' AS (objID:long, ra:double, dec:double, type:int, flags:long, u:double, g:double, r:double, i:double, z:double, run:int, camcol:int, field:int);
K = FOREACH P GENERATE objID, (flags / 8192L) % 2L AS bright, ROUND(r) AS mag, ABS(u - g) AS color;
F = FILTER K BY bright == 1L AND mag == 17L AND color > 1.5;
STORE F INTO 'out';
