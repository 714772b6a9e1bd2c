-- Quasars near galaxies.
Q = LOAD 'SpecObj' AS (specID:long, bestObjID:long, zred:double, class:chararray);
N = LOAD 'Neighbors' AS (objID:long, neighborObjID:long, distance:double, neighborType:int);
G = LOAD 'Galaxy' AS (objID:long, r:double);
F = FILTER Q BY class == 'QSO' AND zred > 2.0;
D = FILTER N BY distance < 0.5 AND neighborType == 3;
J = JOIN F BY bestObjID, D BY objID;
L = JOIN J BY D::neighborObjID, G BY objID;
X = DISTINCT L;
STORE X INTO 'out';
