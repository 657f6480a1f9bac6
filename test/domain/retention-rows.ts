/** Rows of what is kept for a time, of any age, and how old each may become. */
import type { RetentionName } from '../../src/domain/retention/rules.ts';
import { newId } from '../../src/kernel/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/kernel/time.ts';
import type { TestService } from '../support/service.ts';

/** What finds a row again. */
export interface Laid {
  readonly table: string;
  readonly where: string;
}

/** A row whose time is `at`; the ages of one that stays and of one that goes. */
export interface Aging {
  readonly lay: (at: Date) => Promise<Laid>;
  readonly keptMs: number;
  readonly goneMs: number;
}

type More = Record<string, unknown>;

export async function openRows(world: TestService) {
  await world.stock.offer();
  const { customerId } = await world.stock.customer();
  const now = () => world.clock.now();
  const ago = (ms: number) => new Date(now().getTime() - ms);

  async function laidServer(imageId?: string): Promise<{ id: string }> {
    const id = newId(now());
    await world.db.run(
      `insert into servers (id, public_no, customer_id, name, status, plan_id, region_id, image_id, ram_mb, disk_gb,
                            billing_months, price_cents_month, price_cents_cycle, anchor_day, paid_until, created_at, updated_at)
       select $1, $2, $3, 'a', 'running', p.id, r.id, coalesce($4, (select id from images limit 1)), 1, 1, 1, 1, 1, 1, $5, $5, $5
         from (select id from plans limit 1) p, (select id from regions limit 1) r`,
      [id, Math.floor(Math.random() * 1e9), customerId, imageId ?? null, now()],
    );
    return { id };
  }

  async function insert(table: string, row: More): Promise<Laid> {
    const columns = Object.keys(row);
    const [made] = await world.db.rows<{ place: string }>(
      `insert into ${table} (${columns.join(', ')}) values (${columns.map((_, n) => `$${n + 1}`).join(', ')})
       returning ctid::text as place`,
      Object.values(row),
    );
    return { table, where: `ctid = '${made?.place}'` };
  }
  const isThere = async ({ table, where }: Laid) =>
    (await world.db.rows(`select from ${table} where ${where}`)).length === 1;

  const delivery = (at: Date, more: More = {}) => {
    const id = newId(at);
    return insert('deliveries', {
      ...{ id, delivery_id: id, webhook_id: newId(at), customer_id: customerId, event_id: newId(at) },
      ...{ event_type: 'ping', attempt: 1, status: 'delivered', created_at: at, ...more },
    });
  };
  const event = (at: Date, more: More = {}) =>
    insert('events', {
      ...{ id: newId(at), customer_id: customerId, type: 'server.stopped', data: '{}', created_at: at },
      ...{ seq: BigInt(Math.floor(Math.random() * 1e12)), ...more },
    });
  const session = (createdAt: Date, seenAt: Date) =>
    insert('sessions', {
      ...{ id: newId(createdAt), digest: digest(), customer_id: customerId },
      ...{ created_at: createdAt, seen_at: seenAt },
    });
  const deletedImage = (more: More = {}) =>
    insert('images', {
      ...{ id: newId(now()), type: 'custom', family: 'custom', version: '1', arch: ['amd64'], size_gb: 1 },
      ...{ cloud_init: false, released_at: now(), customer_id: customerId, deleted_at: ago(1), ...more },
    });
  const digest = () => Buffer.from(newId(new Date()).replaceAll('-', ''), 'hex');

  const serverId = (await laidServer()).id;
  const rules: Record<RetentionName, Aging> = {
    audit: {
      lay: (at) =>
        insert('audit_events', {
          ...{ id: newId(at), customer_id: customerId, action: 'server.stop', request_id: 'req_x' },
          ...{ ip_country: 'XX', result: 'ok', created_at: at },
        }),
      keptMs: 90 * DAY_MS,
      goneMs: 90 * DAY_MS + 1,
    },
    deliveries: { lay: delivery, keptMs: 7 * DAY_MS, goneMs: 7 * DAY_MS + 1 },
    events: { lay: event, keptMs: 30 * DAY_MS, goneMs: 30 * DAY_MS + 1 },
    idempotency: {
      lay: (at) =>
        insert('idempotency', {
          ...{ customer_id: customerId, key_digest: digest(), fingerprint: 'k.x', answer: Buffer.of(1) },
          ...{ request_id: 'req_x', created_at: at },
        }),
      keptMs: DAY_MS,
      goneMs: DAY_MS + 1,
    },
    // Seen a moment ago, until it is 30 days old.
    sessions: { lay: (at) => session(at, now()), keptMs: 30 * DAY_MS - 1, goneMs: 30 * DAY_MS },
    metrics: {
      lay: (at) =>
        insert('metrics', {
          ...{ server_id: serverId, hour: at, cpu_pct: 1, ram_mb: 1, disk_read_bps: 1, disk_write_bps: 1 },
          ...{ net_in_bps: 1, net_out_bps: 1 },
        }),
      keptMs: 30 * DAY_MS,
      goneMs: 30 * DAY_MS + 1,
    },
    mails: {
      lay: (at) =>
        insert('mails', {
          ...{
            id: newId(at),
            customer_id: customerId,
            kind: 'low_balance',
            cause: newId(at),
            status: 'sent',
          },
          created_at: at,
        }),
      keptMs: 30 * DAY_MS,
      goneMs: 30 * DAY_MS + 1,
    },
    mailLinks: {
      lay: (at) =>
        insert('mail_links', {
          ...{
            digest: digest(),
            customer_id: customerId,
            purpose: 'confirm',
            email: 'a@b',
            email_key: 'a@b',
          },
          ...{ created_at: at, expires_at: at },
        }),
      keptMs: 7 * DAY_MS,
      goneMs: 7 * DAY_MS + 1,
    },
    consoleTickets: {
      lay: (at) =>
        insert('console_tickets', {
          ...{ digest: digest(), customer_id: customerId, server_id: serverId, read_only: true },
          expires_at: at,
        }),
      keptMs: 0,
      goneMs: 1,
    },
    // Real time.
    rateBuckets: {
      lay: (at) =>
        insert('rate_buckets', {
          token_id: newId(at),
          bucket: 'general',
          tat: new Date(Date.now() - (now().getTime() - at.getTime())),
        }),
      keptMs: DAY_MS - MINUTE_MS,
      goneMs: DAY_MS + 1,
    },
    windows: {
      lay: (at) =>
        insert('maintenance_windows', {
          ...{ id: newId(new Date(at.getTime() - HOUR_MS)), starts_at: new Date(at.getTime() - HOUR_MS) },
          ends_at: at,
        }),
      keptMs: 90 * DAY_MS,
      goneMs: 90 * DAY_MS + 1,
    },
    deletedImages: { lay: (at) => deletedImage({ deleted_at: at }), keptMs: 0, goneMs: 1 },
  };
  return {
    customerId,
    serverId,
    now,
    ago,
    laidServer,
    isThere,
    delivery,
    event,
    session,
    deletedImage,
    rules,
  };
}

export type Rows = Awaited<ReturnType<typeof openRows>>;
