-- A wholesaler: parts that suppliers sell, orders of customers, lines of orders.
CREATE TABLE region (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE nation (
    id int PRIMARY KEY,
    name text NOT NULL,
    region_id int NOT NULL REFERENCES region (id)
);
CREATE TABLE supplier (
    id int PRIMARY KEY,
    name text NOT NULL,
    nation_id int NOT NULL REFERENCES nation (id),
    balance real NOT NULL,
    remark text
);
CREATE TABLE part (
    id int PRIMARY KEY,
    name text NOT NULL,
    maker text NOT NULL,
    kind text NOT NULL,
    size int NOT NULL CHECK (size > 0),
    box text NOT NULL,
    price real NOT NULL
);
CREATE TABLE supply (
    part_id int NOT NULL REFERENCES part (id),
    supplier_id int NOT NULL REFERENCES supplier (id),
    available int NOT NULL CHECK (available >= 0),
    cost real NOT NULL,
    PRIMARY KEY (part_id, supplier_id)
);
CREATE TABLE customer (
    id int PRIMARY KEY,
    name text NOT NULL,
    nation_id int NOT NULL REFERENCES nation (id),
    phone text NOT NULL,
    balance real NOT NULL,
    segment text NOT NULL
);
CREATE TABLE orders (
    id int PRIMARY KEY,
    customer_id int NOT NULL REFERENCES customer (id),
    status text NOT NULL CHECK (status IN ('open', 'part', 'done')),
    total real NOT NULL,
    ordered date NOT NULL,
    priority text NOT NULL,
    remark text
);
CREATE TABLE line (
    order_id int NOT NULL REFERENCES orders (id),
    number int NOT NULL,
    part_id int NOT NULL REFERENCES part (id),
    supplier_id int NOT NULL REFERENCES supplier (id),
    quantity int NOT NULL CHECK (quantity > 0),
    price real NOT NULL,
    discount real NOT NULL CHECK (discount >= 0 AND discount <= 1),
    tax real NOT NULL,
    returned text NOT NULL CHECK (returned IN ('yes', 'no', 'asked')),
    shipped date NOT NULL,
    promised date NOT NULL,
    received date NOT NULL,
    mode text NOT NULL,
    PRIMARY KEY (order_id, number)
);
