-- Staff find servers of all customers by these. Some are partial, so that the lists of one customer do not use
-- them: every number is above 0, and only the queries of staff say so.
create index servers_by_name on servers (name text_pattern_ops) where public_no > 0;
create index servers_by_host on servers (host_id) where host_id is not null;
create index servers_by_plan on servers (plan_id) where public_no > 0;
create index servers_by_region on servers (region_id, status) where public_no > 0;
create index servers_by_label on servers using gin (labels jsonb_path_ops) where labels <> '{}';
