-- Suppliers for parts of certain sizes, without those people complain about.
SELECT p.maker, p.kind, p.size, count(DISTINCT u.supplier_id) AS suppliers
FROM supply u JOIN part p ON p.id = u.part_id
WHERE p.maker <> 'acme' AND p.kind NOT LIKE 'medium%' AND p.size IN (3, 9, 14, 45)
  AND u.supplier_id NOT IN (SELECT s.id FROM supplier s WHERE s.remark LIKE '%complaint%')
GROUP BY p.maker, p.kind, p.size
ORDER BY suppliers DESC, p.maker, p.kind, p.size
