-- Uploads that arrive in parts and resume: `expires_at` is null for an upload in one piece. `received_bytes` are on the
-- disk. `writer` is the request that appends to it, while `alive_until` is in the future.
alter table image_uploads
  add column file_key text,
  add column size_bytes bigint check (size_bytes > 0),
  add column received_bytes bigint not null default 0 check (received_bytes between 0 and size_bytes),
  add column writer uuid,
  add column created_at timestamptz,
  add column expires_at timestamptz,
  add constraint image_uploads_resumable check (
    expires_at is null or (file_key is not null and size_bytes is not null and created_at is not null));
