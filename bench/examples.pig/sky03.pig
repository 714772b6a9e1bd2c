-- Spectra of galaxies in a range of redshift, joined with photometry.
P = LOAD 'PhotoObj' AS (objID:long, ra:double, dec:double, type:int, flags:long, u:double, g:double, r:double, i:double, z:double, run:int, camcol:int, field:int);
S = LOAD 'SpecObj' AS (specID:long, bestObjID:long, zred:double, zWarning:int, class:chararray);
F = FILTER S BY zred >= 0.1 AND zred < 0.3 AND zWarning == 0 AND class == 'GALAXY';
B = FILTER P BY g - r > 0.5;
J = JOIN F BY bestObjID, B BY objID;
O = FOREACH J GENERATE B::objID, F::zred, B::g - B::r AS color;
STORE O INTO 'out';
