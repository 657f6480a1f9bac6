-- Incompatible: the previous version cannot show an approval whose input has moved.
-- The input of an act that waits for a second person, sealed. It goes before the request does.
create table approval_inputs (
  request_id   uuid primary key references approval_requests on delete cascade,
  -- The parameters of the path and the body, as JSON.
  input_sealed text not null,
  expires_at   timestamptz not null
);
create index approval_inputs_by_end on approval_inputs (expires_at);

-- Filled by the previous version only. A job moves what is there to `approval_inputs`.
alter table approval_requests
  alter column params drop not null,
  alter column body drop not null;
create index approval_requests_unsealed on approval_requests (id) where body is not null;
