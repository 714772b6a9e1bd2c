-- The part of the revenue that comes from promotions.
SELECT sum(CASE WHEN p.kind LIKE 'promo%' THEN l.price * (1 - l.discount) ELSE 0 END) AS promoted,
       sum(l.price * (1 - l.discount)) AS whole
FROM line l JOIN part p ON l.part_id = p.id
WHERE l.shipped >= '1995-09-01' AND l.shipped < '1995-10-01'
