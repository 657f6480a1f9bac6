-- Quotas that the operator set for one customer, by name. Null: those of the service apply. In the row that
-- an order locks and updates anyway.
alter table balances add column own_limits jsonb;
