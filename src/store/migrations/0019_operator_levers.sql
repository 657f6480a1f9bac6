-- Why a switch stands as it does; of `deploys`, refused customers read it.
alter table switches add column reason text;

-- What the operator did to a server: frozen is wanted from then on, whatever it does now; a legal hold names its order.
alter table servers
  add column frozen_at timestamptz,
  add column freeze_reason text,
  add column hold_order text,
  add constraint servers_freeze_has_reason check ((frozen_at is null) = (freeze_reason is null));
-- The operator looks for them among all.
create index servers_frozen on servers (id) where frozen_at is not null;
create index servers_on_order on servers (id) where hold_order is not null;

-- What the operator keeps of a refund, such as the transaction that sent the coins back.
alter table deposits add column refund_note text;
create index topups_held on topups (created_at, id) where credit_held;
