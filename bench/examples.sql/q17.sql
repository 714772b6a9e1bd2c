-- Revenue of orders of very few pieces.
SELECT sum(l.price) AS total
FROM line l JOIN part p ON p.id = l.part_id
WHERE p.maker = 'acme' AND p.box = 'jar'
  AND l.quantity < (SELECT 0.5 * avg(m.quantity) FROM line m WHERE m.part_id = p.id)
