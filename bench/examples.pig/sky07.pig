-- Counts by bins of right ascension.
G = LOAD 'Galaxy' AS (objID:long, ra:double, dec:double, type:int, flags:long, u:double, g:double, r:double, i:double, z:double, run:int, camcol:int, field:int);
B = FILTER G BY ra > 110.0 AND ra < 120.0 AND dec > 30.0 AND dec < 45.0;
K = FOREACH B GENERATE (int)(ra / 2.0) AS bin, r;
H = GROUP K BY bin;
C = FOREACH H GENERATE group, COUNT(K) AS n, AVG(K.r) AS mean;
M = FILTER C BY n > 1 AND mean < 21.0;
STORE M INTO 'out';
