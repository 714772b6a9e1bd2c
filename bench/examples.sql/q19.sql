-- Discounted revenue of three kinds of parts.
SELECT sum(l.price * (1 - l.discount)) AS revenue
FROM line l JOIN part p ON p.id = l.part_id
WHERE (p.maker = 'acme' AND p.box IN ('case', 'box') AND l.quantity BETWEEN 1 AND 11 AND p.size <= 5)
   OR (p.maker = 'bolt' AND p.box IN ('bag', 'pack') AND l.quantity BETWEEN 10 AND 20 AND p.size <= 10)
   OR (p.maker = 'core' AND p.box = 'drum' AND l.quantity BETWEEN 20 AND 30 AND l.mode = 'air')
