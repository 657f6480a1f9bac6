-- Coupons: codes that add credit to a balance. A row of redemptions is one customer's use of one coupon.

create table coupons (
  id uuid primary key,
  -- Uppercase. Never used again, also after the coupon ended.
  code text not null unique check (code ~ '^[A-Z0-9][A-Z0-9-]{2,31}$'),
  amount_cents bigint not null check (amount_cents > 0),
  max_uses integer not null check (max_uses > 0),
  -- Counts the uses of deleted customers, too.
  uses integer not null default 0 check (uses between 0 and max_uses),
  -- Null: it does not expire.
  expires_at timestamptz,
  -- Only for accounts younger than this. Null: for all.
  account_days integer check (account_days > 0),
  note text not null,
  created_at timestamptz not null,
  ended_at timestamptz
);

create table coupon_redemptions (
  coupon_id uuid not null references coupons,
  customer_id uuid not null references customers on delete cascade,
  redeemed_at timestamptz not null,
  primary key (coupon_id, customer_id)
);
create index coupon_redemptions_by_customer on coupon_redemptions (customer_id);
create index coupon_redemptions_by_time on coupon_redemptions (coupon_id, redeemed_at desc);
