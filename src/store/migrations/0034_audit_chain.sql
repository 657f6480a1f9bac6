-- The audit log as a hash chain. A worker links each row after its commit, so no request waits for the one before it.
-- The hash of a row is stored with its link: the chain stays provable after the row itself was deleted.
create table audit_links (
  no bigint primary key,
  event_id uuid not null unique,
  row_hash bytea not null,
  -- SHA-256 of the previous link's hash and this row's.
  hash bytea not null
);

-- The last link that was deleted because its row has expired: the next link follows it.
create table audit_anchor (
  single bool primary key default true check (single),
  no bigint not null,
  hash bytea not null
);
insert into audit_anchor (no, hash) values (0, sha256(''));
