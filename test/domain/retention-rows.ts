/** Inserts expiring rows of any age and defines their retention. */
import type { RetentionName } from '../../src/domain/upkeep/retention.ts';
import { newId } from '../../src/kernel/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/kernel/time.ts';
import type { TestService } from '../support/test-service.ts';
import type { InsertedRow, RetentionCase } from './retention-case.ts';
import { endedFlood, keptForDays, untilExpiry } from './retention-case.ts';

type ExtraColumns = Record<string, unknown>;

export async function openRetentionRows(world: TestService) {
  await world.fixtures.addPlans();
  const { customerId } = await world.fixtures.addCustomer();
  const now = () => world.clock.now();
  const inRealTime = (at: Date) => new Date(Date.now() - (now().getTime() - at.getTime()));
  const ago = (ms: number) => new Date(now().getTime() - ms);

  async function insertServer(imageId?: string): Promise<{ id: string }> {
    const id = newId(now());
    await world.db.run(
      `insert into servers
         (id, public_no, customer_id, name, status, plan_id, region_id, image_id, ram_mb, disk_gb,
          billing_months, price_cents_month, price_cents_cycle, anchor_day, paid_until,
          created_at, updated_at)
       select $1, $2, $3, 'a', 'running', p.id, r.id, coalesce($4, (select id from images limit 1)),
              1, 1, 1, 1, 1, 1, $5, $5, $5
         from (select id from plans limit 1) p, (select id from regions limit 1) r`,
      [id, Math.floor(Math.random() * 1e9), customerId, imageId ?? null, now()],
    );
    return { id };
  }

  async function insert(table: string, row: ExtraColumns): Promise<InsertedRow> {
    const columns = Object.keys(row);
    const [inserted] = await world.db.rows<{ place: string }>(
      `insert into ${table} (${columns.join(', ')}) values (${columns.map((_, n) => `$${n + 1}`).join(', ')})
       returning ctid::text as place`,
      Object.values(row),
    );
    return { table, where: `ctid = '${inserted?.place}'` };
  }
  const insertReport = (closedAt: Date, more: ExtraColumns = {}) =>
    insert('abuse_reports', {
      ...{ id: newId(closedAt), source: 'staff', kind: 'spam', state: 'closed', result: 'fixed' },
      ...{ happened_at: closedAt, match: 'nobody', due_at: closedAt, suspend_when_late: false },
      ...{ created_at: closedAt, closed_at: closedAt, ...more },
    });
  const isThere = async ({ table, where }: InsertedRow) =>
    (await world.db.rows(`select from ${table} where ${where}`)).length === 1;

  const delivery = (at: Date, extra: ExtraColumns = {}) => {
    const id = newId(at);
    return insert('deliveries', {
      ...{ id, delivery_id: id, webhook_id: newId(at), customer_id: customerId, event_id: newId(at) },
      ...{ event_type: 'ping', attempt: 1, status: 'delivered', created_at: at, ...extra },
    });
  };
  const event = (at: Date, more: ExtraColumns = {}) =>
    insert('events', {
      ...{ id: newId(at), customer_id: customerId, type: 'server.stopped', data: '{}', created_at: at },
      ...{ seq: BigInt(Math.floor(Math.random() * 1e12)), ...more },
    });
  const session = (createdAt: Date, seenAt: Date) =>
    insert('sessions', {
      ...{ id: newId(createdAt), digest: digest(), customer_id: customerId },
      ...{ created_at: createdAt, seen_at: seenAt },
    });
  const deletedImage = (more: ExtraColumns = {}) =>
    insert('images', {
      ...{ id: newId(now()), type: 'custom', family: 'custom', version: '1', arch: ['amd64'], size_gb: 1 },
      ...{ cloud_init: false, released_at: now(), customer_id: customerId, deleted_at: ago(1), ...more },
    });
  const points = (stepS: number) => (at: Date) =>
    insert('metric_points', {
      server_id: serverId,
      step_s: stepS,
      starts_at: at,
      points: [1, 1, 1, 1, 1, 1],
    });
  const personRow = (disabledAt: Date | null) => {
    const id = newId(disabledAt ?? now());
    const email = `${id}@host.example`;
    return {
      id,
      email,
      email_key: email,
      name: 'x',
      role: 'support',
      created_at: now(),
      disabled_at: disabledAt,
    };
  };
  const person = async (disabledAt: Date | null) => {
    const row = personRow(disabledAt);
    await insert('staff', row);
    return row.id;
  };
  const approval = async (at: Date) => {
    const id = newId(at);
    const times = { created_at: at, expires_at: at };
    const act = { id, staff_id: await person(null), operation: 'customers.credit', ...times };
    return { id, ...(await insert('approval_requests', act)) };
  };
  const announcement = async (endsAt: Date) => {
    const id = newId(now());
    const content = { title: 'x', body: 'x', level: 'info', audience: 'everyone' };
    const period = { starts_at: new Date(endsAt.getTime() - DAY_MS), ends_at: endsAt, created_at: endsAt };
    return { id, ...(await insert('announcements', { id, ...content, ...period })) };
  };
  const mailing = async (at: Date) => {
    const id = newId(at);
    const content = { kind: 'news', subject: 'x', body: 'x', criteria: {}, status: 'done', total: 1 };
    const times = { next_at: at, created_at: at, finished_at: at };
    return { id, ...(await insert('mailings', { id, ...content, ...times })) };
  };
  const digest = () => Buffer.from(newId(new Date()).replaceAll('-', ''), 'hex');

  const serverId = (await insertServer()).id;
  const rules: Record<RetentionName, RetentionCase> = {
    audit: keptForDays(90, (at) =>
      insert('audit_events', {
        ...{ id: newId(at), customer_id: customerId, action: 'server.stop', request_id: 'req_x' },
        ...{ ip_country: 'XX', result: 'ok', created_at: at },
      }),
    ),
    actions: keptForDays(90, (at) =>
      insert('actions', {
        ...{ id: newId(at), customer_id: customerId, command: 'server.stop', status: 'success' },
        ...{ resource_kind: 'server', resource_id: serverId, steps: ['shutdown'], step_times: [at] },
        ...{ progress: 100, request_id: 'req_x', created_at: at, finished_at: at },
      }),
    ),
    staffLog: keptForDays(1_095, (at) =>
      insert('staff_log', {
        ...{ id: newId(at), surface: 'command', operation: 'staff.invite', result: 'ok' },
        ...{ request_id: 'req_x', created_at: at },
      }),
    ),
    customerNotes: keptForDays(1_095, (at) =>
      insert('customer_notes', { id: newId(at), customer_id: customerId, text: 'x', created_at: at }),
    ),
    // The person of these rows is kept.
    approvals: keptForDays(1_095, async (at) => await approval(at)),
    approvalInputs: untilExpiry(async (at) => {
      const { id } = await approval(now());
      return await insert('approval_inputs', { request_id: id, input_sealed: 'sealed', expires_at: at });
    }),
    staffSessions: {
      insert: async (at) =>
        insert('staff_sessions', {
          ...{ id: newId(at), digest: digest(), staff_id: await person(null), created_at: at },
          seen_at: now(),
        }),
      keptMs: 12 * HOUR_MS - 1,
      goneMs: 12 * HOUR_MS,
    },
    staffTokens: {
      insert: async (at) =>
        insert('staff_tokens', {
          ...{ id: newId(at), digest: digest(), staff_id: await person(null), name: 'x', role: 'owner' },
          ...{ created_at: at, expires_at: at },
        }),
      keptMs: -1,
      goneMs: 0,
    },
    staff: {
      insert: (at) => insert('staff', personRow(at)),
      keptMs: 1_095 * DAY_MS - 1,
      goneMs: 1_095 * DAY_MS,
    },
    deliveries: { insert: delivery, keptMs: 7 * DAY_MS, goneMs: 7 * DAY_MS + 1 },
    events: { insert: event, keptMs: 30 * DAY_MS, goneMs: 30 * DAY_MS + 1 },
    idempotency: {
      insert: (at) =>
        insert('idempotency', {
          ...{ customer_id: customerId, key_digest: digest(), fingerprint: 'k.x', answer: Buffer.of(1) },
          ...{ request_id: 'req_x', created_at: at },
        }),
      keptMs: DAY_MS,
      goneMs: DAY_MS + 1,
    },
    // Used a moment ago, until it is 30 days old.
    sessions: { insert: (at) => session(at, now()), keptMs: 30 * DAY_MS - 1, goneMs: 30 * DAY_MS },
    metrics: keptForDays(30, (at) =>
      insert('metrics', {
        ...{ server_id: serverId, hour: at, cpu_pct: 1, ram_mb: 1, disk_read_bps: 1, disk_write_bps: 1 },
        ...{ net_in_bps: 1, net_out_bps: 1 },
      }),
    ),
    // The row of an hour, and of five hours, ends later than it starts.
    minuteMetrics: { insert: points(60), keptMs: 7 * HOUR_MS, goneMs: 7 * HOUR_MS + 1 },
    fiveMinuteMetrics: { insert: points(300), keptMs: 53 * HOUR_MS, goneMs: 53 * HOUR_MS + 1 },
    mails: keptForDays(30, (at) =>
      insert('mails', {
        ...{ id: newId(at), customer_id: customerId, kind: 'low_balance', cause: newId(at) },
        ...{ status: 'sent', created_at: at },
      }),
    ),
    availability: {
      insert: (at) =>
        insert('availability', {
          ...{ component: 'panel', day: at, measured_s: 1, lost_s: 0, maintenance_s: 0 },
        }),
      keptMs: 91 * DAY_MS + HOUR_MS,
      goneMs: 91 * DAY_MS + HOUR_MS + 1,
    },
    tickets: keptForDays(365, (at) =>
      insert('tickets', {
        ...{ id: newId(at), customer_id: customerId, subject_sealed: 'sealed', status: 'closed' },
        ...{ created_at: at, updated_at: at, closed_at: at },
      }),
    ),
    ticketMails: keptForDays(14, (at) =>
      insert('ticket_mails', { digest: Buffer.concat([digest(), digest()]), received_at: at }),
    ),
    abuseReports: keptForDays(365, insertReport),
    floods: keptForDays(180, (at) => insert('floods', endedFlood({ customerId, serverId }, at))),
    abuseReporters: untilExpiry(async (at) => {
      const id = newId(at);
      await insertReport(now(), { id });
      return await insert('abuse_reporters', { report_id: id, contact_sealed: 'sealed', expires_at: at });
    }),
    legalOrders: keptForDays(1_096, (at) =>
      insert('legal_orders', {
        ...{ id: newId(at), kind: 'other', state: 'complied', details_sealed: 'sealed' },
        ...{ received_at: at, created_at: at, updated_at: at, closed_at: at },
      }),
    ),
    figures: keptForDays(400, (at) => insert('figures', { name: 'sign_ups', key: '', hour: at, value: 1 })),
    announcements: keptForDays(365, (at) => announcement(at)),
    announcementDismissals: untilExpiry(async (at) => {
      const { id } = await announcement(at);
      const dismissed = { announcement_id: id, customer_id: customerId };
      return await insert('announcement_dismissals', { ...dismissed, dismissed_at: ago(HOUR_MS) });
    }),
    mailingRecipients: keptForDays(90, async (at) => {
      const { id } = await mailing(now());
      return await insert('mailing_recipients', { mailing_id: id, customer_id: customerId, added_at: at });
    }),
    mailings: keptForDays(365, (at) => mailing(at)),
    orderDrafts: untilExpiry((at) =>
      insert('order_drafts', {
        ...{ id: newId(at), customer_id: customerId, draft_sealed: 'sealed' },
        ...{ created_at: at, expires_at: at },
      }),
    ),
    addressHistory: untilExpiry((at) =>
      insert('address_assignments', {
        ...{ address: '192.0.2.1/32', server_id: serverId, customer_id: customerId },
        ...{ assigned_at: at, released_at: at, expires_at: at },
      }),
    ),
    mailLinks: keptForDays(7, (at) =>
      insert('mail_links', {
        ...{ digest: digest(), customer_id: customerId, purpose: 'confirm' },
        ...{ email: 'a@b', email_key: 'a@b' },
        ...{ created_at: at, expires_at: at },
      }),
    ),
    usedChallenges: untilExpiry((at) => insert('used_challenges', { digest: digest(), expires_at: at })),
    consoleTickets: untilExpiry((at) =>
      insert('console_tickets', {
        ...{ digest: digest(), customer_id: customerId, server_id: serverId, read_only: true },
        expires_at: at,
      }),
    ),
    // In real time.
    rateBuckets: {
      insert: (at) => insert('rate_buckets', { token_id: newId(at), bucket: 'general', tat: inRealTime(at) }),
      keptMs: DAY_MS - MINUTE_MS,
      goneMs: DAY_MS + 1,
    },
    attemptBuckets: {
      insert: (at) => insert('attempt_buckets', { name: digest(), full_at: inRealTime(at) }),
      keptMs: -MINUTE_MS,
      goneMs: 1,
    },
    attemptKeys: {
      insert: (at) => insert('attempt_keys', { ends_at: inRealTime(at), key: digest() }),
      keptMs: -MINUTE_MS,
      goneMs: 1,
    },
    windows: keptForDays(90, (at) =>
      insert('maintenance_windows', {
        ...{ id: newId(new Date(at.getTime() - HOUR_MS)), starts_at: new Date(at.getTime() - HOUR_MS) },
        ends_at: at,
      }),
    ),
    deletedImages: { insert: (at) => deletedImage({ deleted_at: at }), keptMs: 0, goneMs: 1 },
  };
  return {
    ...{ customerId, serverId, now, ago, insertServer, isThere },
    ...{ delivery, event, session, deletedImage, rules },
  };
}

export type RetentionRows = Awaited<ReturnType<typeof openRetentionRows>>;
