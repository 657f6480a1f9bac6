-- Backups cost a share of the price of the plan.
alter table plans
  add column backup_percent int not null default 0 check (backup_percent between 0 and 100);

alter table servers
  -- The share that its backups cost; null: it has none.
  add column backup_percent int check (backup_percent between 0 and 100),
  -- The part of price_cents_cycle that is for its backups.
  add column backup_cents_cycle bigint not null default 0
    check (backup_cents_cycle between 0 and price_cents_cycle
           and (backup_cents_cycle = 0 or backup_percent is not null));
update servers set backup_percent = 0
 where id in (select server_id from backup_policies where enabled);
