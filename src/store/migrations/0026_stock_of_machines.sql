-- Where each dedicated machine is in its round: free → sold → wiping → tested → free. Only a free one is ever sold.
alter table machines
  add column state text not null default 'free' check (state in ('free', 'sold', 'wiping', 'tested')),
  add column state_since timestamptz,
  -- Since when the operator says that he has it switched off, where no driver reaches it.
  add column off_since timestamptz;
update machines m
   set state = case when server_id is null then 'free' else 'sold' end,
       state_since = coalesce((select s.created_at from servers s where s.id = m.server_id), m.created_at);
alter table machines alter column state_since set not null;

drop index machines_free;
create index machines_free on machines (plan_id, region_id, id) where state = 'free';

-- What the operator said of it, such as how disks were wiped; customers do not read it.
alter table audit_events add column note text;
