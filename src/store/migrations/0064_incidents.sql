-- Incidents and planned maintenance of the public status page, in the operator's words.
create table incidents (
  id uuid primary key,
  kind text not null check (kind in ('incident', 'maintenance')),
  title text not null,
  -- That of the latest update. The state of maintenance follows from its times.
  state text check (state in ('investigating', 'identified', 'monitoring', 'resolved')),
  -- Empty: everything.
  components text[] not null,
  starts_at timestamptz not null,
  -- The planned end of maintenance.
  ends_at timestamptz,
  resolved_at timestamptz,
  updated_at timestamptz not null,
  constraint incidents_state check ((kind = 'incident') = (state is not null)),
  constraint incidents_planned check ((kind = 'maintenance') = (ends_at is not null)),
  constraint incidents_ends check (ends_at > starts_at)
);
create index incidents_by_start on incidents (starts_at desc, id desc);
create index incidents_unresolved on incidents (starts_at) where resolved_at is null;

create table incident_updates (
  id uuid primary key,
  incident_id uuid not null references incidents,
  state text,
  body text not null,
  created_at timestamptz not null
);
create index incident_updates_of on incident_updates (incident_id, id desc);
