-- A function of the position: distance on the sphere.
G = LOAD 'Galaxy' AS (objID:long, ra:double, dec:double, r:double);
D = FOREACH G GENERATE objID, SQRT(POW(ra - 185.0, 2.0) + POW(dec - 15.0, 2.0)) AS d, r;
F = FILTER D BY d < 3.0 AND r < 19.5;
O = ORDER F BY d;
L = LIMIT O 3;
STORE L INTO 'out';
