-- Compatible: only indexes.
-- A customer's keys are spread over the table. With the listed columns in the index, a page reads a few blocks
-- instead of one for each key.
drop index ssh_keys_by_customer;
create index ssh_keys_by_customer on ssh_keys (customer_id, created_at desc, id desc)
  include (name, type, fingerprint);
-- Volumes have too many listed columns for that. Those of other regions need not be read.
drop index volumes_by_customer;
create index volumes_by_customer on volumes (customer_id, created_at desc, id desc, region_id);
