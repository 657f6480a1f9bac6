-- What is kept for a time only is removed oldest first. Where ids begin with the time of their row (audit events, events,
-- deliveries, sessions, windows), the primary key is in that order already and costs nothing more.

-- Hours repeat in every server, so that the index is small.
create index metrics_by_hour on metrics (hour);

-- An event stays as long as something is still to be sent of it, or a replay of it is in the log.
create index deliveries_by_event on deliveries (event_id) where due_at is not null or on_request;

-- Images that their customers deleted and whose file is gone: the row goes when no server refers to it.
create index images_deleted on images (deleted_at) where deleted_at is not null and blob_key is null;
create index servers_by_image on servers (image_id);
