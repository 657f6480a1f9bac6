-- The imported disk that an official image is installed from, by the SHA-256 of its file; null where none was imported.
alter table images add column base_sha256 text check (base_sha256 ~ '^[0-9a-f]{64}$');
alter table images add column base_disk_gb int check (base_disk_gb > 0);
