-- Numbers that only rise, and are kept outside the database too: a restored database that is behind them would give out
-- addresses again.

-- Names this database. A restored copy has the same name, a new database another one.
alter table service add column incarnation uuid not null default gen_random_uuid();

alter table coins
  -- How often an address was given out, also a released one.
  add column given bigint not null default 0,
  -- The place of the last address of the pool that was ever given out, in the order of import.
  add column pool_place bigint not null default 0;
update coins c
   set pool_place = (select count(*) from address_pool p
                      where p.coin = c.code
                        and p.n <= (select max(n) from address_pool t where t.coin = c.code and t.topup_id is not null));

-- The highest numbers that a machine has seen, where the database is behind them: it is in recovery.
create table address_marks (
  coin text primary key,
  next_index bigint not null,
  given bigint not null,
  pool_place bigint not null
);
