-- Profit of parts with a word in their name.
SELECT n.name, sum(l.price * (1 - l.discount) - u.cost * l.quantity) AS profit
FROM part p, supplier s, line l, supply u, nation n
WHERE s.id = l.supplier_id AND u.supplier_id = l.supplier_id AND u.part_id = l.part_id
  AND p.id = l.part_id AND s.nation_id = n.id AND p.name LIKE '%green%'
GROUP BY n.name
ORDER BY n.name
