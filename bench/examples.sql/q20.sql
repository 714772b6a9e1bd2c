-- Suppliers that have more of a part than half a year needs.
SELECT s.name
FROM supplier s JOIN nation n ON s.nation_id = n.id
WHERE n.name = 'canada'
  AND s.id IN (SELECT u.supplier_id FROM supply u
               WHERE u.part_id IN (SELECT p.id FROM part p WHERE p.name LIKE 'forest%')
                 AND u.available > (SELECT 0.5 * sum(l.quantity) FROM line l
                                    WHERE l.part_id = u.part_id AND l.supplier_id = u.supplier_id
                                      AND l.shipped >= '1994-01-01'))
ORDER BY s.name
