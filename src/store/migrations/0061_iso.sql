-- Customers insert their ISO images into existing servers, and choose what these boot.
alter table operations drop constraint operations_kind_check;
alter table operations add constraint operations_kind_check check (kind in
  ('provision', 'destroy', 'stop', 'start', 'reboot', 'rescue', 'rebuild', 'restore', 'suspend', 'move', 'resize',
   'insert_iso', 'eject_iso', 'set_boot'));

alter table servers
  -- In its drive for ISO images. The image that it was installed from has another one.
  add column iso_image_id uuid references images,
  add column boot text not null default 'disk' check (boot in ('disk', 'iso')),
  add constraint servers_boot_iso check (boot = 'disk' or iso_image_id is not null);
create index servers_iso_image on servers (iso_image_id) where iso_image_id is not null;

alter table sim.machines
  add column iso_sha256 text,
  add column boots_iso boolean not null default false;
