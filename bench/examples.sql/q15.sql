-- The supplier with the most revenue.
WITH revenue AS (SELECT l.supplier_id, sum(l.price * (1 - l.discount)) AS total
                 FROM line l
                 WHERE l.shipped >= '1996-01-01' AND l.shipped < '1996-04-01'
                 GROUP BY l.supplier_id)
SELECT s.id, s.name, r.total
FROM supplier s JOIN revenue r ON s.id = r.supplier_id
WHERE r.total = (SELECT max(q.total) FROM revenue q)
ORDER BY s.id
