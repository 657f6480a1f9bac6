-- Lists that grow without bound. An index for each filter, and for two that are given together: that of one alone would be
-- read from end to end where what both ask for is rare. No column here has nulls: where they would be tells the indexes
-- for no filter, one and two apart, so that no planner takes one for another (src/store/page.ts).

drop index transfers_by_type;
create index transfers_by_type on transfers
  (customer_id, type, created_at desc nulls last, id desc nulls last);

drop index topups_by_status, topups_by_coin;
create index topups_by_status on topups
  (customer_id, status, created_at desc nulls last, id desc nulls last);
create index topups_by_coin on topups
  (customer_id, coin, created_at desc nulls last, id desc nulls last);
create index topups_by_status_coin on topups
  (customer_id, status, coin, created_at desc, id desc nulls last);

drop index deliveries_by_status, deliveries_by_type;
create index deliveries_by_status on deliveries
  (webhook_id, status, created_at desc nulls last, id desc nulls last);
create index deliveries_by_type on deliveries
  (webhook_id, event_type, created_at desc nulls last, id desc nulls last);
create index deliveries_by_status_type on deliveries
  (webhook_id, status, event_type, created_at desc, id desc nulls last);

drop index snapshots_by_name, snapshots_by_status, snapshots_by_status_name, snapshots_of_name;
create index snapshots_by_name on snapshots (customer_id, name collate "C", id);
create index snapshots_by_status on snapshots
  (customer_id, status, created_at desc nulls last, id desc nulls last);
create index snapshots_by_status_name on snapshots
  (customer_id, status, name collate "POSIX" desc nulls last, id desc nulls last);
create index snapshots_of_name on snapshots
  (customer_id, name, created_at desc nulls last, id desc nulls last);
create index snapshots_of_status_name on snapshots
  (customer_id, status, name, created_at desc, id desc nulls last);

drop index audit_events_by_action, audit_events_by_resource;
create index audit_events_by_action on audit_events
  (customer_id, action, created_at desc nulls last, id desc nulls last);
create index audit_events_by_resource on audit_events
  (customer_id, resource, created_at desc nulls last, id desc nulls last) where resource is not null;
create index audit_events_by_resource_action on audit_events
  (customer_id, resource, action, created_at desc, id desc nulls last) where resource is not null;

-- What was deleted keeps its row, and any number may be.
drop index images_by_customer;
create index images_by_customer on images (customer_id, id) where customer_id is not null and deleted_at is null;

-- A statement that is planned for any customer is planned for the mean one, who has a few rows: to find, sort and throw
-- away so few looks no dearer than to follow the right index. For one who has a million rows that is the difference between 26
-- rows and all. So the planner is told to expect many rows of whomever it is asked about.
alter table transfers alter customer_id set (n_distinct = 2);
alter table topups alter customer_id set (n_distinct = 2);
alter table snapshots alter customer_id set (n_distinct = 2), alter name set (n_distinct = 2);
alter table deliveries alter customer_id set (n_distinct = 2), alter webhook_id set (n_distinct = 2);
alter table audit_events alter customer_id set (n_distinct = 2), alter resource set (n_distinct = 2);
