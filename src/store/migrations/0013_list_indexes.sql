-- Lists that grow without bound, by two filters at once: an index of one of them would be read from end to end where what
-- both ask for is rare.

create index topups_by_coin_status on topups (customer_id, coin, status, created_at desc, id desc);
create index deliveries_by_type_status on deliveries (webhook_id, event_type, status, created_at desc, id desc);
create index snapshots_of_status_name on snapshots (customer_id, status, name, created_at desc, id desc);
create index audit_events_by_resource_action on audit_events (customer_id, resource, action, created_at desc, id desc)
  where resource is not null;
