-- Hosts of a region send files to each other.
alter table backend_files
  -- The backend that sends it. Null: the machine of the service.
  add column source text references backends on delete set null,
  -- When another host found that the copy of this backend has other bytes. Null: no one did.
  add column damaged_at timestamptz;
create index backend_files_source on backend_files (source) where source is not null;
