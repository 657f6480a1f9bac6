/** The servers of one customer, and all that belongs to them, for the export of the account. */
import type { IdKind } from '../../kernel/ids.ts';
import type { SealedColumn } from '../../spec/sealed.ts';

export interface ExportSection {
  readonly name: string;
  /** Columns that hold an id or a list of ids, with their kind. */
  readonly ids: Readonly<Record<string, IdKind>>;
  /** Sealed columns to open, and the columns that take their place. The row has its `id`. */
  readonly opens?: Readonly<Record<string, readonly [as: string, at: SealedColumn, 'utf8' | 'base64']>>;
  /** Rows to read at once, if they are large. */
  readonly batch?: number;
  /** A query of the rows of the customer `$1`. */
  readonly rows: string;
}

/** The image that a server or a snapshot was installed from. */
const IMAGE = `(select i.family || '-' || i.version from images i where i.id = image_id) as image`;

export const MACHINE_SECTIONS: readonly ExportSection[] = [
  {
    name: 'servers',
    ids: { id: 'server', ssh_keys: 'sshKey', iso_image_id: 'customImage' },
    rows: `select id, public_no, name, status, suspended_reason, plan_id as plan, s.region_id as region,
             ${IMAGE}, iso_image_id, boot, ram_mb, disk_gb, host(a.addr) as ipv4,
             p.prefix::text as ipv6, ssh_keys, ssh_public_keys, tags, labels, protect_delete,
             protect_rebuild, rdns, billing_months, auto_renew, price_cents_month, price_cents_cycle,
             backup_cents_cycle, backup_percent, eur_per_usd::text, anchor_day, paid_until, suspended_at,
             destroy_at, held_at, frozen_at, freeze_reason, first_run_at, created_at, updated_at
           from servers s left join ipv4_addresses a on a.server_id = s.id
             left join ipv6_prefixes p on p.server_id = s.id
          where customer_id = $1 order by created_at`,
  },
  {
    name: 'address_history',
    ids: { server_id: 'server' },
    rows: `select address::text, server_id, assigned_at, released_at, expires_at from address_assignments
            where customer_id = $1 order by assigned_at, address`,
  },
  {
    name: 'server_operations',
    ids: { server_id: 'server' },
    rows: `select o.server_id, o.kind, o.step, o.created_at from operations o
             join servers s on s.id = o.server_id where s.customer_id = $1 order by o.created_at`,
  },
  {
    name: 'actions',
    ids: {
      ...{ id: 'action', server_id: 'server', volume_id: 'volume', snapshot_id: 'snapshot' },
      image_id: 'customImage',
    },
    rows: `select id, command, status, server_id,
             case resource_kind when 'volume' then resource_id end as volume_id,
             case resource_kind when 'snapshot' then resource_id end as snapshot_id,
             case resource_kind when 'image' then resource_id end as image_id, steps, step_times, progress,
             error_code, error_message, request_id, created_at, finished_at
             from actions where customer_id = $1 order by created_at, id`,
  },
  {
    name: 'metrics',
    ids: { server_id: 'server' },
    rows: `select m.* from servers s join metrics m on m.server_id = s.id where s.customer_id = $1
            order by m.server_id, m.hour`,
  },
  {
    name: 'metric_points',
    ids: { server_id: 'server' },
    rows: `select m.* from servers s join metric_points m on m.server_id = s.id where s.customer_id = $1
            order by m.server_id, m.step_s, m.starts_at`,
  },
  {
    name: 'alerts',
    ids: { id: 'alert', servers: 'server' },
    rows: `select id, name, metric, compare, value, window_min, label_selector, enabled, created_at,
             array(select t.server_id from alert_servers t where t.alert_id = a.id order by 1) as servers
             from alerts a where customer_id = $1 order by created_at`,
  },
  {
    name: 'alert_firings',
    ids: { alert_id: 'alert', server_id: 'server' },
    rows: `select f.alert_id, f.server_id, f.since from alert_firings f join alerts a on a.id = f.alert_id
            where a.customer_id = $1 order by f.since`,
  },
  {
    name: 'transfer',
    ids: { server_id: 'server' },
    rows: `select t.server_id, t.month::text, t.bytes, s.throttled from servers s
             join transfers_out t on t.server_id = s.id where s.customer_id = $1 order by t.server_id`,
  },
  {
    name: 'floods',
    ids: { id: 'flood', server_id: 'server' },
    rows: `select id, server_id, direction, family, peak_packets_per_s, peak_bits_per_s, began_at,
                  last_seen_at, ended_at, blackholed_at, blackhole_until, blackholes, lifted_at
             from floods where customer_id = $1 and noticed_at is not null order by id`,
  },
  {
    name: 'blackholes',
    ids: { server_id: 'server' },
    rows: `select b.server_id, b.ipv4, b.ipv6, b.began_at, b.until from servers s
             join blackholes b on b.server_id = s.id where s.customer_id = $1 order by b.server_id`,
  },
  {
    name: 'volumes',
    ids: { id: 'volume', server_id: 'server' },
    rows: `select id, name, size_gb, region_id as region, encrypted, filesystem, labels, protect_delete,
             server_id, device, created_at
             from volumes where customer_id = $1 and deleted_at is null order by created_at`,
  },
  {
    name: 'snapshots',
    ids: { id: 'snapshot', server_id: 'server' },
    rows: `select id, server_id, name, status, type, labels, protect_delete, size_gb::text,
             region_id as region, ${IMAGE}, expires_at, created_at
             from snapshots where customer_id = $1 order by created_at`,
  },
  {
    name: 'backup_policies',
    ids: { server_id: 'server' },
    rows: `select b.server_id, enabled, every, weekday, hour_utc, keep, next_at, last_status, last_at
             from backup_policies b join servers s on s.id = b.server_id
            where s.customer_id = $1 order by b.server_id`,
  },
  {
    name: 'images',
    ids: { id: 'customImage' },
    rows: `select id, name, version, variant, arch, size_bytes, sha256, released_at, deleted_at from images
            where customer_id = $1 order by id`,
  },
  {
    name: 'firewall_groups',
    ids: { id: 'firewallGroup', applied_to: 'server' },
    rows: `select id, name, default_action, created_at,
             array(select server_id from firewall_attachments a
                    where a.group_id = g.id order by place) as applied_to,
             coalesce((select jsonb_agg(to_jsonb(r) - '{id,group_id,position}'::text[] order by position)
                         from firewall_rules r where r.group_id = g.id), '[]') as rules
             from firewall_groups g where customer_id = $1 order by created_at`,
  },
];
