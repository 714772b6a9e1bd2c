-- The cheapest supplier of a part within one region.
SELECT s.balance, s.name, n.name AS nation, p.id
FROM part p, supplier s, supply u, nation n, region r
WHERE p.id = u.part_id AND s.id = u.supplier_id AND p.size = 15 AND p.kind LIKE '%brass'
  AND s.nation_id = n.id AND n.region_id = r.id AND r.name = 'europe'
  AND u.cost = (SELECT min(v.cost) FROM supply v, supplier t, nation m, region o
                WHERE p.id = v.part_id AND t.id = v.supplier_id AND t.nation_id = m.id
                  AND m.region_id = o.id AND o.name = 'europe')
ORDER BY s.balance DESC, n.name, s.name, p.id
