-- Top-ups from which an amount was taken back before 0032 recorded it. The ledger knows what was credited after each of its
-- commits: what is taken back is the distance from the highest total to the present one, and the last time is that of the
-- last commit that lowered it. Where the ledger and the top-up disagree, nothing changes.
with reversed as (
  select distinct resource_id as id from transfers where type = 'reversal' and resource_kind = 'topup'
), steps as (
  select resource_id as id, created_at, booked_at,
         sum(case when credit_account = customer_id then amount_cents else -amount_cents end)
           over (partition by resource_id order by booked_at) as total
    from transfers where resource_id in (select id from reversed) and type in ('topup', 'bonus', 'reversal')
), commits as (
  select distinct on (id, created_at) id, created_at, booked_at, total
    from steps order by id, created_at, booked_at desc
), changes as (
  select id, created_at, booked_at, total,
         total < lag(total) over (partition by id order by booked_at) as is_fall
    from commits
), ledger as (
  select id, max(total) as highest, (array_agg(total order by booked_at desc))[1] as present,
         (array_agg(created_at order by booked_at desc) filter (where is_fall))[1] as fell_at
    from changes group by id
)
update topups t set reversed_cents = l.highest - l.present, reversed_at = l.fell_at
  from ledger l
 where t.id = l.id and l.present = t.credited_cents + t.bonus_paid_cents
   and l.highest - l.present > t.reversed_cents and l.fell_at is not null;
