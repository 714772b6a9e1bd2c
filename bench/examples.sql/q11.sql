-- Parts that are much of a nation's stock.
SELECT u.part_id, sum(u.cost * u.available) AS worth
FROM supply u JOIN supplier s ON u.supplier_id = s.id JOIN nation n ON s.nation_id = n.id
WHERE n.name = 'germany'
GROUP BY u.part_id
HAVING sum(u.cost * u.available) > (SELECT sum(v.cost * v.available) * 0.5
                                    FROM supply v JOIN supplier t ON v.supplier_id = t.id
                                    JOIN nation m ON t.nation_id = m.id
                                    WHERE m.name = 'germany')
ORDER BY worth DESC, u.part_id
