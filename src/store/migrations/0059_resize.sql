-- Servers change their plan.
alter table operations drop constraint operations_kind_check;
alter table operations add constraint operations_kind_check check (kind in
  ('provision', 'destroy', 'stop', 'start', 'reboot', 'rescue', 'rebuild', 'restore', 'suspend', 'move', 'resize'));

alter table servers
  -- What its customer paid for the rest of the cycle, from the time of the last resize in it. A time before
  -- the cycle says nothing about it. Null: the price of the cycle, for all of it.
  add column paid_from timestamptz,
  add column paid_cents bigint check (paid_cents >= 0),
  -- Since when it has its price: prices announced before do not change it. Null: since its creation.
  add column priced_at timestamptz;

alter table moves
  -- Its host has no room for the new size of the server. Such a move is not tried again.
  add column for_resize boolean not null default false,
  -- How much larger the disk of the server will be on the other host.
  add column grow_disk_gb int not null default 0;
