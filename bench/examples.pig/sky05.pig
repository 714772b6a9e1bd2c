-- Galaxies between two planes.
G = LOAD 'Galaxy' AS (colc_g:float, colc_r:float, cx:float, cy:float);
F = FILTER G BY -0.642788*cx + 0.766044*cy >= 0 AND -0.984808*cx - 0.173648*cy < 0;
STORE F INTO 'out';
