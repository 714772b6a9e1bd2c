-- Customers with money and without orders.
SELECT substr(c.phone, 1, 2) AS code, count(*) AS n, sum(c.balance) AS total
FROM customer c
WHERE substr(c.phone, 1, 2) IN ('13', '31', '23')
  AND c.balance > (SELECT avg(d.balance) FROM customer d WHERE d.balance > 0.0)
  AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)
GROUP BY substr(c.phone, 1, 2)
ORDER BY code
