-- Names that the zones of reverse DNS may hold: a row is there before a name is published, and until it is withdrawn.
create table published_rdns (
  address inet primary key,
  -- The server whose name it is. It may be gone: then the name is to be withdrawn.
  server_id uuid not null,
  -- As it was published last.
  host text not null,
  -- Why it is not published, or not withdrawn.
  fault text check (fault in ('no_zone', 'refused')),
  -- Of a server that is gone: when its address may go to somebody else. Until the name is withdrawn, nobody gets it.
  free_from timestamptz
);
create index published_rdns_by_server on published_rdns (server_id);
create index published_rdns_faulty on published_rdns (fault) where fault is not null;
