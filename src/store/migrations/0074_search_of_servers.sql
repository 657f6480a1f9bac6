-- Staff find servers of all customers by these.
create index servers_by_name on servers (name text_pattern_ops);
create index servers_by_host on servers (host_id) where host_id is not null;
create index servers_by_plan on servers (plan_id);
create index servers_by_region on servers (region_id);
create index servers_by_label on servers using gin (labels jsonb_path_ops) where labels <> '{}';
