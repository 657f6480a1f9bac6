/** Invariants of servers: their charges, and the operations on them. */
import { LIMITS } from '../../spec/limits.ts';
import { type Invariant, shownIdSql } from './invariant.ts';

/**
 * The servers that events say were created. An id as customers see it is computed once for each server and
 * joined to it: a comparison with each event would take hours for a customer with thousands of servers.
 */
const CREATED_SERVERS = `(
  select distinct customer_id, data -> 'server' ->> 'id' as shown from events
   where type = 'server.created') as created`;

/**
 * The time since when each customer's events are complete: always, while no numbered event is missing; else
 * for nearly the retention period. A customer being deleted may have no events.
 */
export const EVENTS_KEPT_SINCE = `(
  select c.id as customer_id,
         case when c.deleting_at is not null then 'infinity'::timestamptz
              when coalesce(n.last_seq, 0) = (select count(*) from events e
                                               where e.customer_id = c.id and e.seq is not null)
              then '-infinity'::timestamptz
              else (select clock_timestamp() + clock_offset_ms * interval '1 ms'
                           - interval '${LIMITS.eventRetentionDays - 1} days'
                      from service) end as since
    from customers c left join event_counters n on n.customer_id = c.id) as kept`;

export const SERVER_INVARIANTS: readonly Invariant[] = [
  {
    name: 'every server is paid for',
    description: 'each server has exactly one charge per cycle, including the first',
    source: 'servers',
    violations: `select id from (
        select s.id, t.id as charge,
               case when starts_with(t.fact, 'cycle:' || s.id || ':')
                         and split_part(t.fact, ':', 3) ~ '^[0-9]{1,6}$'
                    then split_part(t.fact, ':', 3)::int end as cycle
          from servers s
          left join transfers t
                 on t.resource_id = s.id and t.type = 'charge' and t.customer_id = s.customer_id
               and t.fact !~ '^(resize|backups):'
               and not exists (select from transfers r where r.reverses = t.id)) as paid
      group by id having count(charge) = 0 or count(cycle) <> count(charge) or max(cycle) <> count(cycle)`,
  },
  {
    name: 'no charge without a server',
    description:
      'every charge is for an existing server, or for a deleted server whose first cycle was charged',
    source: `transfers where type = 'charge'`,
    violations: `select t.id from transfers t
      where t.type = 'charge'
        and not exists (select from servers s where s.id = t.resource_id and s.customer_id = t.customer_id)
        and not exists (select from transfers f where f.customer_id = t.customer_id and f.type = 'charge'
                         and f.fact = 'cycle:' || t.resource_id || ':1')
      union all
      select t.id
        from (select id, customer_id, created_at, ${shownIdSql('srv_', 'resource_id')} as shown
                from transfers where type = 'charge' and fact = 'cycle:' || resource_id || ':1' offset 0) t
        join ${EVENTS_KEPT_SINCE} on kept.customer_id = t.customer_id
        left join ${CREATED_SERVERS} on created.customer_id = t.customer_id and created.shown = t.shown
      where t.created_at >= kept.since and created.shown is null`,
  },
  {
    name: 'refunds fit their charges',
    description:
      'each refund is of a charged cycle of a server that is deleted or being deleted, of a resize, or of ' +
      'backups, and no server has more refunds than charges',
    source: `transfers where type = 'refund'`,
    violations: `select t.id from transfers t
      where t.type = 'refund' and t.fact !~ '^(resize|undo|backups):'
        and (not exists (select from transfers c
                          where c.type = 'charge' and c.fact = regexp_replace(t.fact, '^refund:', 'cycle:')
                            and c.resource_id = t.resource_id and c.customer_id = t.customer_id)
             or exists (select from servers s where s.id = t.resource_id and s.status <> 'destroying'))
      union all
      select t.id from transfers t
      where t.type = 'refund' and starts_with(t.fact, 'undo:')
        and not exists (select from transfers c
                         where c.fact = regexp_replace(t.fact, '^undo:', 'resize:') and c.type = 'charge'
                           and c.resource_id = t.resource_id or c.resource_id = t.resource_id
                           and c.type = 'charge' and starts_with(c.fact, 'cycle:'))
      union all
      select resource_id from transfers
      where type in ('charge', 'refund') and resource_kind = 'server'
        and resource_id in (select resource_id from transfers where type = 'refund')
      group by resource_id
      having sum(case type when 'charge' then amount_cents else -amount_cents end) < 0`,
  },
  {
    name: 'servers have creation events',
    description: 'every server has its server.created event',
    source: 'servers',
    violations: `select s.id
        from (select id, customer_id, created_at, ${shownIdSql('srv_', 'id')} as shown
                from servers offset 0) s
        join ${EVENTS_KEPT_SINCE} on kept.customer_id = s.customer_id
        left join ${CREATED_SERVERS} on created.customer_id = s.customer_id and created.shown = s.shown
      where s.created_at >= kept.since and created.shown is null`,
  },
  {
    name: 'creation and charge events match',
    description: 'every server.created event has a billing.charged event, and so does every charge',
    source: `events where type in ('server.created', 'billing.charged')`,
    violations: `select e.id from events e join ${EVENTS_KEPT_SINCE} on kept.customer_id = e.customer_id
      where e.type = 'server.created' and e.created_at >= kept.since
        and not exists (select from events c
                         where c.customer_id = e.customer_id and c.type = 'billing.charged'
                         and c.data -> 'ledger_entry' ->> 'resource' = e.data -> 'server' ->> 'id')
      union all
      select customer_id from (
        select customer_id, created_at, 1 as n from transfers where type = 'charge'
        union all select customer_id, created_at, -1 from events where type = 'billing.charged') as pair
        join ${EVENTS_KEPT_SINCE} using (customer_id)
       where created_at >= since
      group by customer_id having sum(n) <> 0`,
  },
  {
    name: 'operations fit the status',
    description:
      'each operation fits the status of its server, and a server in a transitional status has one',
    source: 'servers',
    violations: `select s.id from servers s left join operations o on o.server_id = s.id
      where case when o.kind = 'provision' then s.status not in ('provisioning', 'installing')
                 when o.kind in ('rebuild', 'restore') then s.status <> 'installing'
                 when o.kind in ('stop', 'reboot', 'rescue') then s.status <> 'running'
                 when o.kind = 'suspend' then s.status <> 'suspended'
                 when o.kind = 'start' then s.status not in ('stopped', 'suspended')
                 when o.kind in ('resize', 'insert_iso', 'eject_iso', 'set_boot')
                   then s.status not in ('running', 'stopped')
                 when o.kind = 'move' then s.status not in ('running', 'stopped', 'suspended')
                 when o.kind = 'destroy' then s.status <> 'destroying'
                 else s.status in ('provisioning', 'installing', 'destroying') end`,
  },
  {
    name: 'operations have their data',
    description:
      'a rescue, rebuild, restore, or resize has its sealed payload, and a first install is on the first ' +
      'disk',
    source: 'servers',
    violations: `select o.id from operations o join servers s on s.id = o.server_id
      where (o.kind in ('rescue', 'rebuild', 'restore', 'resize')) <> (o.payload_sealed is not null)
         or (o.kind = 'provision') <> (o.kind <> 'destroy' and s.first_run_at is null)
         or (o.kind = 'provision' and s.generation <> 1)`,
  },
  {
    name: 'inserted ISO images exist',
    description: 'every ISO image in a server is an image of its customer that is not deleted, with its file',
    source: 'servers where iso_image_id is not null',
    violations: `select s.id from servers s join images i on i.id = s.iso_image_id
      where s.status <> 'destroying'
        and (i.customer_id is distinct from s.customer_id or i.deleted_at is not null or i.blob_key is null)`,
  },
  {
    name: 'servers have the text of their keys',
    description: 'every server has one public key per SSH key',
    source: 'servers',
    violations: `select id from servers where cardinality(ssh_keys) <> cardinality(ssh_public_keys)`,
  },
  {
    name: 'server counts are right',
    description: 'each customer’s server count, which the quota uses, matches their servers',
    source: 'balances',
    violations: `select b.customer_id from balances b
      where b.servers <> (select count(*) from servers s where s.customer_id = b.customer_id)`,
  },
  {
    name: 'install secrets are deleted',
    description: 'no server that was started still has its root password hash or user data',
    source: `servers where status in ('running', 'stopped', 'suspended')`,
    violations: `select id from servers
      where status in ('running', 'stopped', 'suspended')
        and (first_run_at is null
             or not never_started and (root_password_sealed is not null or user_data_sealed is not null))`,
  },
];
