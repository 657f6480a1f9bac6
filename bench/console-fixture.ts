/** The rows of a large host: what the pages of the operator's console must bear. */
import pg from 'pg';
import { FIGURE_NAMES, FIGURES_KEPT_DAYS } from '../src/spec/staff/figures.ts';
import type { OpenDatabase } from '../src/store/db.ts';

export const CUSTOMERS = 100_000;
export const SERVERS = 300_000;
export const TRANSFERS = 5_000_000;
const TOPUPS = 500_000;
const AUDIT_EVENTS = 1_000_000;
const STAFF_ACTS = 200_000;
const ABUSE_REPORTS = 50_000;
const MAILINGS = 200;
const ANNOUNCEMENTS = 200;

/** One of the rows, in the middle of its table. */
export interface Sample {
  readonly customerId: string;
  readonly serverId: string;
  readonly topupId: string;
}

export const SAMPLE = {
  email: `customer-${CUSTOMERS / 2}@example.org`,
  server: `server-${SERVERS / 2}`,
  address: '10.2.73.240',
  txid: `tx-${TOPUPS / 2}`,
  order: `order-${TOPUPS / 2}`,
} as const;

/** Adds rows to the database of a sandbox, which has a catalog already. Returns the ids of the sample. */
export async function insertLargeHost(db: OpenDatabase): Promise<Sample> {
  const client = new pg.Client({ ...db.settings, query_timeout: 0 });
  await client.connect();
  try {
    // Load the rows without checking foreign keys: there are too many.
    await client.query('set session_replication_role = replica');
    await client.query('set statement_timeout = 0');
    for (const statement of STATEMENTS) await client.query(statement);
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
  const row = await db.row<Sample>(
    `select ${customerSql(String(CUSTOMERS / 2))} as "customerId",
            (select id from servers where name = '${SAMPLE.server}') as "serverId",
            (select id from topups where order_ref = '${SAMPLE.order}') as "topupId"`,
  );
  if (!row) throw new Error('the sample is missing');
  return row;
}

function customerSql(n: string): string {
  return `('0c' || lpad(to_hex(${n}), 30, '0'))::uuid`;
}

/** Spreads the rows of a table over the customers, newest last, one minute apart. */
function numbered(rows: number): string {
  return `(select i, ${customerSql(`i % ${CUSTOMERS}`)} as customer,
                  now() - (${rows} - i) * interval '1 second' as at
             from generate_series(1, ${rows}) as i) as numbered`;
}

const STATEMENTS: readonly string[] = [
  `insert into customers (id, public_no, email, email_key, password_hash, created_at)
   select customer, 1000 + i, 'customer-' || i % ${CUSTOMERS} || '@example.org',
          'customer-' || i % ${CUSTOMERS} || '@example.org', '', at
     from ${numbered(CUSTOMERS)}`,
  `insert into balances (customer_id, balance_cents, servers)
   select customer, 1000000, ${SERVERS / CUSTOMERS} from ${numbered(CUSTOMERS)}`,
  `insert into servers (id, public_no, customer_id, name, status, plan_id, region_id, image_id, ram_mb,
                        disk_gb, billing_months, price_cents_month, price_cents_cycle, anchor_day, paid_until,
                        bill_at, first_run_at, created_at, updated_at, host_id, sampled)
   select new_id(at), 1000 + i, customer, 'server-' || i, 'running', plan.id, plan.region_id, image.id,
          plan.ram_mb, plan.disk_gb, 1, 500, 500, 15, now() + interval '20 days', now() + interval '13 days',
          at, at, at, host.id, true
     from ${numbered(SERVERS)},
          (select p.id, r.region_id, p.ram_mb, p.disk_gb from plans p join plan_regions r on r.plan_id = p.id
            where p.category = 'vps' order by p.id, r.region_id limit 1) as plan,
          (select id from images where type = 'official' limit 1) as image,
          (select id from hosts order by name limit 1) as host`,
  `insert into ipv4_addresses (addr, block_id, region_id, gateway, server_id, free_from)
   select '10.0.0.0'::inet + (public_no - 1000), block.id, region_id, '10.255.255.254', s.id, s.created_at
     from servers s, (select id from ip_blocks where family = 4 limit 1) as block
    where s.name like 'server-%' and not exists (
      select from ipv4_addresses a where a.addr = '10.0.0.0'::inet + (public_no - 1000))`,
  `insert into ipv6_prefixes (prefix, block_id, region_id, server_id, free_from)
   select ('fd00:0:' || to_hex(public_no / 65536) || ':' || to_hex(public_no % 65536) || '::/64')::cidr,
          block.id, region_id, s.id, s.created_at
     from servers s, (select id from ip_blocks where family = 6 limit 1) as block
    where s.name like 'server-%'`,
  `insert into transfers (id, debit_account, credit_account, amount_cents, customer_id, type, description,
                          fact, balance_after_cents, created_at, booked_at)
   select new_id(at), customer, new_id(at), 500, customer, 'charge', 'A month of a server', 'bench:' || i, i,
          at, at
     from ${numbered(TRANSFERS)}`,
  `insert into topups (id, public_no, order_ref, customer_id, coin, amount_cents, bonus_cents,
                       deposit_address, deposit_uri, deposit_units, rate_usd, required_confirmations, status,
                       expires_at, created_at)
   select new_id(at), 1000 + i, 'order-' || i, customer, 'LTC', 3000, 0, 'address-' || i, '', 1, '1', 1,
          'credited', at, at
     from ${numbered(TOPUPS)}`,
  `insert into deposits (coin, key, topup_id, txid, amount_units, state, confirmations, first_seen_at)
   select 'LTC', order_ref, id, 'tx-' || (public_no - 1000), 1, 'final', 12, created_at
     from topups where order_ref like 'order-%'`,
  `insert into audit_events (id, customer_id, action, request_id, ip_country, result, created_at)
   select new_id(at), customer, 'server.create', 'req_' || i, 'XX', 'ok', at
     from ${numbered(AUDIT_EVENTS)}`,
  `insert into staff_log (id, surface, operation, result, request_id, created_at)
   select new_id(at), 'api', 'servers.freeze', 'ok', 'req_' || i, at
     from ${numbered(STAFF_ACTS)}`,
  // With nothing sealed: they belong to deleted accounts.
  `insert into abuse_reports (id, source, kind, state, result, happened_at, match, due_at, suspend_when_late,
                              created_at, closed_at)
   select new_id(at), 'form', (array['spam', 'port_scan', 'ddos'])[1 + i % 3],
          case when i % 50 = 0 then 'open' else 'closed' end, case when i % 50 > 0 then 'unfounded' end, at,
          'deleted', at + interval '1 day', false, at, case when i % 50 > 0 then at end
     from ${numbered(ABUSE_REPORTS)}`,
  `insert into mailings (id, kind, subject, body, criteria, status, total, sent, next_at, created_at,
                         finished_at)
   select new_id(at), 'news', 'Mailing ' || i, 'Text', '{}', 'done', ${CUSTOMERS}, ${CUSTOMERS}, at, at, at
     from ${numbered(MAILINGS)}`,
  `insert into mailing_recipients (mailing_id, customer_id, status, added_at)
   select m.id, c.id, 'sent', now()
     from (select id from mailings order by id desc limit 5) as m,
          (select id from customers where email like 'customer-%') as c`,
  `insert into announcements (id, title, body, level, audience, starts_at, ends_at, created_at)
   select new_id(at), 'Announcement ' || i, 'Text', 'info', 'customers', at, now() + interval '1 day', at
     from ${numbered(ANNOUNCEMENTS)}`,
  `insert into figures (name, key, hour, value)
   select name, 'part ' || part, date_trunc('hour', now()) - hour * interval '1 hour', 1
     from unnest('{${FIGURE_NAMES.join()}}'::text[]) as name, generate_series(1, 3) as part,
          generate_series(0, ${24 * FIGURES_KEPT_DAYS}) as hour`,
];
