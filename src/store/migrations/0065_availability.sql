-- How available each component of the public status page was, by day, as the service measured it.
create table availability (
  component text not null,
  -- Its beginning in UTC.
  day timestamptz not null,
  -- Seconds that were measured, and of these, weighted by how much was unavailable, the lost ones.
  measured_s double precision not null,
  lost_s double precision not null,
  -- Lost during planned maintenance, in neither of the others.
  maintenance_s double precision not null,
  primary key (component, day)
);
create index availability_by_day on availability (day);

-- The latest measurement of each component.
create table component_checks (
  component text primary key,
  -- How much is unavailable, from 0 to 1, and since when it is more than 0.
  lost double precision not null check (lost between 0 and 1),
  lost_since timestamptz,
  checked_at timestamptz not null,
  -- The same moment on the database's clock: a virtual clock may jump.
  checked_real_at timestamptz not null,
  -- Of a region: hosts in use, those that answer, free memory for sale from 0 to 1, and deploys of the last week.
  hosts int,
  hosts_up int,
  free_share double precision,
  deploys int,
  deploy_median_s double precision
);

-- The duration of deploys.
create index actions_deployed on actions (finished_at) where command = 'server.create' and status = 'success';
