-- The simulated coin networks: the world outside, shared by all processes. No table of the service refers to
-- these, and these refer to nothing of the service. All times are business time.
create schema if not exists sim;

-- What simulated addresses are derived from: another database never deals out the same ones.
create table sim.seed (
  one boolean primary key default true check (one),
  seed bytea not null
);
insert into sim.seed (seed)
values (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));

-- One row a network, locked by whatever changes it. `seq` counts the network's changes; a block and a payment keep
-- the number of the change that made them what they are, so "since this block" is a comparison of numbers.
-- `waiting_from`: the next block is due an interval after it; null while nothing waits for one.
create table sim.chains (
  coin text primary key,
  first_height integer not null,
  height integer not null,
  hash text not null,
  seq bigint not null default 0,
  waiting_from timestamptz
);

-- Orphaned blocks stay, so that a cursor on one still says when its owner last looked.
create table sim.blocks (
  coin text not null references sim.chains (coin),
  hash text not null,
  parent_hash text,
  height integer not null,
  mined_at timestamptz not null,
  seq bigint not null,
  orphaned boolean not null default false,
  primary key (coin, hash)
);
create unique index blocks_by_height on sim.blocks (coin, height) where not orphaned;

create table sim.addresses (
  coin text not null references sim.chains (coin),
  invoice_id text not null,
  index bigint not null,
  address text not null,
  primary key (coin, invoice_id),
  unique (coin, index),
  unique (coin, address)
);

-- One output paying one of our addresses. Rows are never deleted: what a reorganisation dropped is `removed`.
create table sim.payments (
  coin text not null,
  key text not null,
  txid text not null,
  address text not null,
  amount_units numeric not null check (amount_units > 0),
  state text not null check (state in ('mempool', 'included', 'removed', 'conflicted')),
  height integer,
  block_hash text,
  changed_seq bigint not null,
  primary key (coin, key),
  foreign key (coin, address) references sim.addresses (coin, address),
  foreign key (coin, block_hash) references sim.blocks (coin, hash),
  check ((state = 'included') = (height is not null)),
  check ((height is null) = (block_hash is null))
);
create index payments_by_txid on sim.payments (txid);
create index payments_by_change on sim.payments (coin, changed_seq);
create index payments_by_height on sim.payments (coin, height) where state = 'included';
create index payments_in_mempool on sim.payments (coin) where state = 'mempool';

-- Rates set by hand; a coin without a row has its default.
create table sim.rates (
  coin text primary key,
  usd numeric not null check (usd > 0)
);

-- Each network begins at a block of its own, at about the height and in the notation of the real one.
insert into sim.chains (coin, first_height, height, hash)
select coin, height, height, case notation
    when 'hex' then hash
    when '0x' then '0x' || hash
    -- 44 characters of base58 that begin with a low digit are 32 bytes; hexadecimal without its 0 is base58.
    when 'base58' then '5' || left(translate(hash, '0', 'Z'), 43)
  end
from (
  select coin, height, notation,
    encode(sha256(convert_to(coin || gen_random_uuid()::text, 'UTF8')), 'hex') as hash
  from (values
    ('BTC', 905000, 'hex'),
    ('XMR', 3450000, 'hex'),
    ('ETH', 22900000, '0x'),
    ('USDT', 22900000, '0x'),
    ('USDTTRC', 73800000, 'hex'),
    ('LTC', 2930000, 'hex'),
    ('TRX', 73800000, 'hex'),
    ('SOL', 352000000, 'base58')
  ) as networks (coin, height, notation)
) as first_blocks;

insert into sim.blocks (coin, hash, height, mined_at, seq)
select coin, hash, height, timestamptz '2020-01-01 00:00:00+00', 0 from sim.chains;
