-- How many customers have how many orders.
SELECT t.n, count(*) AS customers
FROM (SELECT c.id, count(o.id) AS n
      FROM customer c LEFT JOIN orders o ON c.id = o.customer_id AND o.remark NOT LIKE '%special%'
      GROUP BY c.id) t
GROUP BY t.n
ORDER BY customers DESC, t.n DESC
