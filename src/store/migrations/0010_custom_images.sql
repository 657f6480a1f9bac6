-- Customers' own images. What was an official image's row stays as it is: all of this is null there.
alter table images
  add column customer_id uuid references customers,
  add column name text,
  add column sha256 text,
  -- Where its file is; null once the file is gone, which it is when nothing needs it any more.
  add column blob_key uuid,
  add column size_bytes bigint check (size_bytes > 0),
  -- Deleted as its customer sees it; servers that were installed from it keep the row.
  add column deleted_at timestamptz;
create index images_by_customer on images (customer_id, id) where customer_id is not null;

-- Uploads that are under way. The id is also that of the image it becomes and the key of its file: whichever of the two
-- rows there is says whether the file is wanted.
create table image_uploads (
  id uuid primary key,
  customer_id uuid not null references customers,
  -- By the database's clock, pushed forward by the process that receives it.
  alive_until timestamptz not null
);
create index image_uploads_by_customer on image_uploads (customer_id);
