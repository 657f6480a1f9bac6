import assert from 'node:assert/strict';
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { requestReset } from '../../src/domain/customers/reset-password.ts';
import { attachToTicket } from '../../src/domain/customers/tickets/attach.ts';
import { createTicket } from '../../src/domain/customers/tickets/change.ts';
import { readStatus } from '../../src/domain/health/status.ts';
import { enqueueMail } from '../../src/domain/mail/enqueue.ts';
import { saveOrderDraft } from '../../src/domain/servers/deploy/drafts.ts';
import { rescueServer } from '../../src/domain/servers/operations/power.ts';
import { attachAbuseFile } from '../../src/domain/staff/abuse/files.ts';
import { createAbuseReport } from '../../src/domain/staff/abuse/record.ts';
import { storeInput } from '../../src/domain/staff/approval-inputs.ts';
import { attachLegalDocument } from '../../src/domain/staff/legal/documents.ts';
import { createLegalOrder } from '../../src/domain/staff/legal/orders.ts';
import { inviteStaff } from '../../src/domain/staff/people.ts';
import { createTokenByToken } from '../../src/domain/tokens/tokens.ts';
import { verify } from '../../src/domain/verify/verify.ts';
import { openWebhookSecrets } from '../../src/domain/webhooks/attempt.ts';
import { createWebhook } from '../../src/domain/webhooks/change.ts';
import { rotateWebhookSecret } from '../../src/domain/webhooks/secret.ts';
import { formatId, newId, parseId } from '../../src/kernel/ids.ts';
import { KeyRing } from '../../src/kernel/secrets.ts';
import {
  LASTING_SEALED,
  NEEDED_SEALED,
  SEALED,
  type SealedColumn,
  type SealedName,
} from '../../src/spec/sealed.ts';
import { setTicketMail } from '../../src/store/customers/tickets.ts';
import { saveTotpSecret } from '../../src/store/customers/totp.ts';
import { insertControlPlane } from '../../src/store/inventory/control-plane.ts';
import { countSealedByKey } from '../../src/store/service/sealed.ts';
import { insertServiceRow } from '../../src/store/service/service.ts';
import { insertApproval } from '../../src/store/staff/approvals.ts';
import { resealJob } from '../../src/workers/jobs.ts';
import type { TestService } from '../support/test-service.ts';
import { RegionWorld } from './servers/region-world.ts';

const KEY = randomBytes(32);
const OLD_RING = `k1:${KEY.toString('base64')}`;
const NEW_KEY = `k2:${randomBytes(32).toString('base64')}`;

let region: RegionWorld;
let world: TestService;

before(async () => {
  region = await RegionWorld.open({ keys: OLD_RING });
  world = region.world;
  await region.reset();
  await storeTwoOfEach();
});
after(() => world.close());

/** Stores two values of every kind, each by the code that stores it in the service. */
async function storeTwoOfEach(): Promise<void> {
  const { service, clock } = world;
  const { actor } = region;
  const servers = [await region.running(), await region.running()];
  for (const { shown } of servers) await rescueServer(service, actor, shown);
  for (const n of [1, 2]) {
    const hook = await createWebhook(service, actor, { url: `https://example.com/${n}`, events: ['*'] });
    await rotateWebhookSecret(service, actor, hook.id);
    const limits = { ip_cidrs: [`192.0.2.${n}/32`] };
    await createTokenByToken(service, { ...actor, scope: 'write' }, { name: 'ci', scope: 'read', limits });
    await saveOrderDraft(service, actor, [['name', `web-${n}`]]);
    const { id: ticket } = await createTicket(service, actor, { subject: `s ${n}`, text: `t ${n}` });
    const ticketId = parseId('ticket', ticket) ?? '';
    await setTicketMail(
      service.db,
      ticketId,
      service.keys.seal(SEALED.ticketMail, ticketId, `<${n}@example.org>`),
    );
    await attachToTicket(service, actor, ticket, { name: '', content: Buffer.from(`file ${n}`) });
    const { id: report } = await createAbuseReport(service, {
      ...{ kind: 'spam', address: `192.0.2.${n}`, time: '2020-01-01T00:00:00Z', evidence: `e ${n}` },
      reporter: `r ${n}`,
    });
    await attachAbuseFile(service, report, { name: `log ${n}`, content: Buffer.from(`log ${n}`) });
    const known = { kind: 'other', authority: `authority ${n}`, reference: `r ${n}` } as const;
    const { id: order } = await createLegalOrder(service, known);
    await attachLegalDocument(service, order, { name: `order ${n}`, content: Buffer.from(`order ${n}`) });
    await requestReset(service, actor, `unknown-${n}@example.org`);
    const { customerId } = await world.fixtures.addCustomer();
    const secretSealed = service.keys.seal(SEALED.totpSecret, customerId, `secret ${n}`);
    await saveTotpSecret(service.db, { customerId, secretSealed, begunAt: clock.now() });
    await inviteStaff(service, { email: `staff-${n}@example.org`, name: 'x', role: 'support' });
    await storeApproval();
    const id = newId(clock.now());
    const keySealed = service.keys.seal(SEALED.controlPlaneKey, id, `key ${n}`);
    const created = {
      role: 'self-signed',
      certificate: 'x',
      key_sealed: keySealed,
      created_at: clock.now(),
    } as const;
    await insertControlPlane(service.db, { id, ...created });
    const data = { webhook: `whk_${n}`, url: 'https://example.com', pausedAt: clock.now() };
    const mail = { customerId, kind: 'webhook_paused', cause: `test ${n}`, data } as const;
    await enqueueMail(service.db, mail, clock.now(), service.keys);
    const content = { to: `${n}@example.org`, subject: 'x', text: 'x', encrypted: false };
    await service.mailer?.send({ id: formatId('mail', newId(clock.now())), ...content }, async () => true);
  }
  // Of each ticket, the message with the file stays.
  await service.db.run(
    `delete from ticket_messages m where not exists (select from ticket_files f where f.message_id = m.id)`,
  );
  await insertServiceRow(service.db, {
    mode: 'sandbox',
    key_check: service.keys.seal(SEALED.keyCheck, '', 'x'),
  });
  const secrets = { rootPasswordHash: '$6$x', userData: Buffer.from('#cloud-config') };
  await Promise.all([1, 2].map(() => region.order(secrets)));
}

async function storeApproval(): Promise<void> {
  const { service, clock, db } = world;
  const person = await db.row<{ id: string }>('select id from staff limit 1');
  const now = clock.now();
  const id = newId(now);
  const act = { id, staff_id: person?.id ?? '', operation: 'customers.credit', target: null, reason: null };
  await insertApproval(service.db, { ...act, created_at: now, expires_at: now });
  await storeInput(service.db, service, { id, endsAt: now, input: { params: {}, body: { n: id } } });
}

interface Value {
  readonly row: string;
  readonly sealed: string;
}

async function valuesOf({ table, column, row }: SealedColumn): Promise<Value[]> {
  return await world.db.rows<Value>(
    `select ${row ?? `''`}::text as row, ${column} as sealed from ${table} where ${column} is not null
      order by 1 limit 2`,
  );
}

const opens = (at: SealedColumn, { row, sealed }: Value, keys = world.service.keys) => {
  try {
    return keys.open(at, row, sealed).length > 0;
  } catch {
    return false;
  }
};

/** Seals as version 0.1 did: bound to the purpose only. */
function sealUnbound({ purpose }: SealedColumn, plain: string): string {
  const key = Buffer.from(hkdfSync('sha256', KEY, Buffer.alloc(0), `skerry/${purpose}`, 32));
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return `k1.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
}

const CASES = Object.entries(SEALED) as [SealedName, SealedColumn][];

describe('sealed values', () => {
  it('every sealed column of the database is in the table of sealed columns', async () => {
    const columns = await world.db.rows<{ name: string }>(
      `select case table_schema when 'public' then '' else table_schema || '.' end || table_name
              || '.' || column_name as name
         from information_schema.columns where column_name ~ '(_sealed|^key_check)$' order by 1`,
    );
    const listed = CASES.map(([, { table, column }]) => `${table}.${column}`).sort();
    const found = columns.map(({ name }) => name).sort();
    assert.deepEqual(
      found.filter((name) => !listed.includes(name)),
      [],
    );
  });

  for (const [name, at] of CASES.filter(([, { row }]) => row !== null)) {
    it(`a sealed value (${name}) that is swapped with the one of another row does not open`, async () => {
      const [one, other] = await valuesOf(at);
      assert.ok(one && other, 'the test stored no two values');
      assert.deepEqual([opens(at, one), opens(at, other)], [true, true]);
      const swap = `update ${at.table} t set ${at.column} = o.${at.column} from ${at.table} o
                     where t.${at.row} = any($1) and o.${at.row} = any($1) and o.${at.row} <> t.${at.row}`;
      assert.equal(await world.db.run(swap, [[one.row, other.row]]), 2);
      const swapped = await valuesOf(at);
      assert.deepEqual(
        swapped.map(({ sealed }) => sealed),
        [other.sealed, one.sealed],
      );
      assert.deepEqual(
        swapped.map((value) => opens(at, value)),
        [false, false],
      );
      await world.db.run(swap, [[one.row, other.row]]);
    });
  }

  it('a sealed value does not open in any other column, even with the same purpose and row', async () => {
    for (const [, at] of CASES) {
      const row = newId(new Date());
      const sealed = world.service.keys.seal(at, row, 'x');
      assert.ok(opens(at, { row, sealed }));
      for (const [, other] of CASES.filter(([, place]) => place !== at)) {
        const moved = { ...other, purpose: at.purpose };
        assert.ok(!opens(moved, { row, sealed }), `${at.table} to ${other.table}`);
      }
    }
  });

  it('a webhook with the secret of another one sends nothing', async (t) => {
    t.mock.method(world.service.log, 'error', () => undefined);
    const [one, other] = await valuesOf(SEALED.webhookSecret);
    const queue = {
      webhook_id: one?.row ?? '',
      secret_sealed: other?.sealed ?? '',
      next_secret_sealed: null,
    };
    const open = (values: object) =>
      openWebhookSecrets(world.service, values as Parameters<typeof openWebhookSecrets>[1]);
    assert.equal(open(queue), null);
    assert.match(open({ ...queue, secret_sealed: one?.sealed })?.secret ?? '', /^whsec_/);
    const next = { secret_sealed: one?.sealed, next_secret_sealed: one?.sealed };
    assert.equal(open({ ...queue, ...next }), null, 'a current secret is no next one');
  });

  it('a value that version 0.1 sealed opens, and a bound value does not open as one of those', () => {
    const row = newId(new Date());
    const { keys } = world.service;
    for (const [name, at] of CASES)
      assert.equal(keys.open(at, row, sealUnbound(at, name)).toString(), name, name);
    const bound = keys.seal(SEALED.mail, row, 'x');
    assert.ok(!opens(SEALED.mail, { row, sealed: bound.replace('.2.', '.') }));
  });
});

describe('resealing', () => {
  const keyNotes = async (keys: KeyRing) =>
    (await readStatus({ ...world.service, keys })).filter(({ subject }) => subject === 'key');

  it('after a rotation, lasting secrets are sealed with the newest key, and the old one can go', async () => {
    const ring = new KeyRing(`${NEW_KEY},${OLD_RING}`);
    const shortLived = NEEDED_SEALED.filter(({ lasting }) => !lasting);
    const [{ n: short } = assert.fail()] = await countSealedByKey(world.db, shortLived);
    const [hook] = await valuesOf(SEALED.webhookSecret);
    const secret = world.service.keys.open(SEALED.webhookSecret, hook?.row ?? '', hook?.sealed ?? '');
    assert.deepEqual(
      (await keyNotes(ring)).map(({ level, message }) => [level, message]),
      [['note', `${2n * BigInt(LASTING_SEALED.length) + short} secrets are sealed with k1: keep it for now`]],
    );
    // One of them is of the earlier format.
    await world.db.run('update webhooks set secret_sealed = $2 where id = $1', [
      hook?.row,
      sealUnbound(SEALED.webhookSecret, secret.toString()),
    ]);
    const job = resealJob({ ...world.service, keys: ring });
    assert.equal(await job.run(), 2 * LASTING_SEALED.length);
    assert.equal(await job.run(), 0);
    const newOnly = new KeyRing(NEW_KEY);
    for (const at of LASTING_SEALED)
      for (const value of await valuesOf(at)) assert.ok(opens(at, value, newOnly), at.table);
    const [resealed] = await valuesOf(SEALED.webhookSecret);
    assert.deepEqual(newOnly.open(SEALED.webhookSecret, hook?.row ?? '', resealed?.sealed ?? ''), secret);
    assert.deepEqual(
      (await keyNotes(ring)).map(({ message }) => message),
      [`${short} secrets are sealed with k1: keep it for now`],
    );
  });

  it('every value that version 0.1 sealed is bound once, and verify tells how many are left', async () => {
    const unbound = async () => {
      const results = await verify(world.service);
      return results.find(({ invariant }) => invariant.name === 'sealed values are bound')?.broken;
    };
    const stored = CASES.filter(([, { row }]) => row !== null);
    assert.equal(await unbound(), 0n);
    // More than a batch.
    await world.db.run(
      `insert into reset_requests (id, email_sealed, ip_country, requested_at)
       select gen_random_uuid(), '', 'XX', now() from generate_series(1, 450)`,
    );
    for (const [name, { table, column, row }] of stored) {
      const sealed = sealUnbound(SEALED[name], name);
      await world.db.run(`update ${table} set ${column} = $1 where ${column} is not null`, [sealed]);
      assert.ok(row);
    }
    const left = (await unbound()) ?? 0n;
    assert.ok(left > 450n, String(left));
    const jobs = [1, 2].map(() => resealJob(world.service));
    const done = await Promise.all(jobs.map((job) => job.run()));
    for (const job of jobs) done.push(await job.run());
    assert.equal(
      done.reduce((sum, n) => sum + n),
      Number(left),
    );
    assert.equal(await unbound(), 0n);
    for (const [name, at] of stored)
      for (const { row, sealed } of await valuesOf(at))
        assert.equal(world.service.keys.open(at, row, sealed).toString(), name);
  });
});
