-- Compatible: rows are deleted with their server as before.
-- The check of the foreign key took half the time of storing an hour. Whoever stores hours holds locks on
-- their servers, so none appears after its server is gone.
alter table metrics drop constraint metrics_server_id_fkey;
create function delete_metrics() returns trigger language plpgsql as $$
begin
  delete from metrics where server_id = old.id;
  return null;
end $$;
create trigger servers_metrics after delete on servers for each row execute function delete_metrics();
