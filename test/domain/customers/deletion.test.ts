import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { tearDownAccount } from '../../../src/domain/customers/deletion/tear-down.ts';
import { verify } from '../../../src/domain/verify/verify.ts';
import { runOperator } from '../../../src/operator/run.ts';
import { postAccountAction } from '../../http/account-links.ts';
import { makeEstate, NO_RATES } from '../../http/v1/contract/estate.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { PASSWORD, type SessionClient } from '../../support/session-client.ts';
import { totpAt } from '../../support/totp.ts';
import { startWorld, topUp, type World } from '../../support/world.ts';

/**
 * Tables that still refer to a deleted customer by id: accounting, chain data, the audit log for 90 days,
 * the last mail.
 */
const KEPT = ['audit_events', 'balances', 'customers', 'mails', 'topups', 'transfers'];

describe('deleting an account', () => {
  let world: World;
  let folder: string;
  before(async () => {
    world = await startWorld(NO_RATES);
    folder = await mkdtemp(join(tmpdir(), 'skerry-export-'));
  });
  after(async () => {
    await world.close();
    await rm(folder, { recursive: true });
  });

  const remove = (client: SessionClient, fields: Record<string, string> = {}) =>
    client.post('/account-api.php', { action: 'delete_account', current_password: PASSWORD, ...fields });

  async function idOf({ email }: SessionClient): Promise<string> {
    const row = await world.opened.db.row<{ id: string }>('select id from customers where email = $1', [
      email,
    ]);
    return row?.id ?? assert.fail('customer not found');
  }

  /** Returns the tables with rows of the customer. */
  async function tablesOf(customerId: string): Promise<string[]> {
    const { db } = world.opened;
    const tables = await db.rows<{ name: string }>(
      `select table_name as name from information_schema.columns
        where table_schema = 'public'
          and (column_name = 'customer_id' or table_name || column_name = 'customersid')
        order by 1`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const column = name === 'customers' ? 'id' : 'customer_id';
      if (await db.row(`select from ${name} where ${column} = $1 limit 1`, [customerId])) found.push(name);
    }
    return found;
  }

  async function operator(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
    const { service } = world.opened;
    const [out, err]: [string[], string[]] = [[], []];
    const doors = {
      settings: () => [],
      database: async () => world.opened.db,
      service: async () => ({
        service,
        register: async () => undefined,
        carryOut: async () => undefined,
        coins: null,
      }),
    };
    const terminal = {
      out: (line: string) => void out.push(line),
      err: (line: string) => void err.push(line),
      ask: null,
    };
    const code = await runOperator(argv, doors, undefined, terminal);
    return { code, out: out.join('\n'), err: err.join('\n') };
  }

  const mailsTo = async (address: string) => {
    const response = await fetch(`${world.url}/sandbox/mails?to=${encodeURIComponent(address)}`);
    return ((await response.json()) as { mails: { subject: string; text: string }[] }).mails;
  };

  it('deleting an account removes all resources and keeps the books without a name', FULL_ONLY, async () => {
    const client = world.visitor();
    await client.signUp();
    const estate = await makeEstate({ ...world, customer: async () => client });
    const customerId = await idOf(client);
    const { secret } = (await postAccountAction(client, { action: 'enable_totp' })).body;
    await postAccountAction(client, { action: 'enable_totp', code: totpAt(String(secret)) });
    await world.opened.db.run(
      `insert into passkeys
         (id, customer_id, credential_id, public_key, counter, transports, name, created_at, last_used_at)
       values (gen_random_uuid(), $1, 'c', 'k', 0, '{usb}', 'key', '2026-01-02', null),
              (gen_random_uuid(), $1, 'd', 'k', 0, '{usb}', 'my laptop', '2026-01-03', '2026-01-04')`,
      [customerId],
    );
    await world.opened.db.run(
      `insert into saved_filters (id, customer_id, name, query, created_at)
       values (gen_random_uuid(), $1, 'up', 'status=running', '2026-01-02')`,
      [customerId],
    );
    await world.opened.db.run(
      `insert into order_drafts (id, customer_id, draft_sealed, created_at, expires_at)
       values (gen_random_uuid(), $1, 'sealed', '2026-01-02', '2026-01-09')`,
      [customerId],
    );
    await world.opened.db.run(
      `with coupon as (
         insert into coupons (id, code, amount_cents, max_uses, uses, note, created_at)
         values (gen_random_uuid(), 'SPRING', 500, 10, 1, '', '2026-01-02') returning id)
       insert into coupon_redemptions (coupon_id, customer_id, redeemed_at)
       select id, $1, '2026-01-02' from coupon`,
      [customerId],
    );
    await world.opened.db.run(
      `with mailing as (
         insert into mailings (id, kind, subject, body, criteria, status, total, next_at, created_at,
                               finished_at)
         values (gen_random_uuid(), 'news', 'Hi', 'Hi', '{}', 'done', 1, '2026-01-02', '2026-01-02',
                 '2026-01-02')
         returning id),
       announcement as (
         insert into announcements (id, title, body, level, audience, starts_at, ends_at, created_at)
         values (gen_random_uuid(), 'Hi', 'Hi', 'info', 'everyone', '2026-01-02', '2099-01-02', '2026-01-02')
         returning id),
       dismissal as (
         insert into announcement_dismissals (announcement_id, customer_id, dismissed_at)
         select id, $1, '2026-01-02' from announcement)
       insert into mailing_recipients (mailing_id, customer_id, added_at)
       select id, $1, '2026-01-02' from mailing`,
      [customerId],
    );
    const before = await tablesOf(customerId);
    const talking = ['announcement_dismissals', 'mailing_recipients'];
    const personal = ['deliveries', 'events', 'mails', 'mail_links', 'images', 'totp_secrets', 'passkeys'];
    for (const table of [...personal, ...talking, 'saved_filters', 'order_drafts', 'coupon_redemptions'])
      assert.ok(before.includes(table), table);

    const file = join(folder, 'customer.json');
    assert.deepEqual(await operator('customers', 'export', client.email, '--out', file), {
      code: 0,
      out: `written to ${file}`,
      err: '',
    });
    await assertExported(file, client, estate);
    assert.match((await operator('customers', 'export', client.email, '--out', file)).err, /already exists/);
    const shown = (await operator('customers', 'show', client.email)).out;
    assert.match(shown, /^servers +2$/m);
    assert.match(shown, /^one-time codes +since 20/m);
    assert.deepEqual(shown.match(/^passkeys? .*$/gm), [
      'passkey         key, since 2026-01-02 00:00:00 UTC, never used',
      'passkey         my laptop, since 2026-01-03 00:00:00 UTC, last used 2026-01-04 00:00:00 UTC',
    ]);

    assert.match((await operator('customers', 'delete', client.email, '--yes')).err, /has 2 servers/);
    const refused = await remove(client);
    assert.deepEqual([refused.status, refused.body.error, refused.body.servers], [200, 'servers_left', 2]);
    const wrong = await remove(client, { current_password: 'not it', destroy_servers: 'yes' });
    assert.equal(wrong.body.error, 'bad_credentials');
    const begun = await remove(client, { destroy_servers: 'yes' });
    assert.deepEqual([begun.body.ok, begun.body.completed], [true, false]);
    assert.ok(Number(begun.body.forfeited_usd) > 0);
    assert.equal((await client.get('/me.php')).body.logged_in, false);
    assert.equal((await client.signIn()).body.error, 'bad_credentials');
    assert.equal((await estate.api.get('/servers')).status, 401);

    // Steps may run twice, and concurrently with the worker.
    await Promise.allSettled([1, 2].map(() => tearDownAccount(world.opened.service, customerId)));
    await world.settle();
    await world.advance(300);
    assert.deepEqual(await tablesOf(customerId), ['address_assignments', ...KEPT]);
    const history = await world.opened.db.row<{ longest: number }>(
      `select max(a.expires_at::date - c.deleted_at::date) as longest
         from address_assignments a join customers c on c.id = a.customer_id where c.id = $1`,
      [customerId],
    );
    assert.deepEqual(history, { longest: 90 });
    const row = await world.opened.db.row<{ row: string }>(
      'select c::text || b::text as row from customers c join balances b on b.customer_id = c.id where ' +
        'c.id = $1',
      [customerId],
    );
    assert.doesNotMatch(String(row?.row), /@|argon2/);
    const sent = await world.opened.db.rows<{ kind: string; data_sealed: null; to_address: null }>(
      'select kind, data_sealed, to_address from mails where customer_id = $1',
      [customerId],
    );
    assert.deepEqual(sent, [{ kind: 'account_deleted', data_sealed: null, to_address: null }]);
    assert.deepEqual(
      (await verify(world.opened.service)).filter(({ broken }) => broken > 0n),
      [],
    );
    const last = (await mailsTo(client.email)).at(-1);
    assert.match(String(last?.subject), /deleted/);
    assert.equal((await client.signUp()).body.ok, true, 'the address is available again');
    assert.notEqual(await idOf(client), customerId);
  });

  async function assertExported(
    file: string,
    client: SessionClient,
    estate: Awaited<ReturnType<typeof makeEstate>>,
  ): Promise<void> {
    const text = await readFile(file, 'utf8');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const document = JSON.parse(text) as Record<string, Record<string, unknown>[]>;
    assert.equal(document.account?.[0]?.email, client.email);
    assert.match(String(document.account?.[0]?.totp_since), /^20\d\d-/);
    const ids = (name: string) => document[name]?.map(({ id }) => id);
    assert.deepEqual(ids('servers'), [estate.server.running, estate.server.stopped]);
    assert.deepEqual(ids('ssh_keys'), [...estate.keys]);
    assert.deepEqual(ids('snapshots'), [estate.snapshot]);
    assert.deepEqual(ids('images'), [estate.image.own, estate.image.inserted]);
    assert.deepEqual(
      document.servers?.map(({ iso_image_id: iso }) => iso),
      [null, estate.image.inserted],
    );
    assert.deepEqual(document.firewall_groups?.[0]?.applied_to, [estate.server.running]);
    assert.ok(ids('ledger')?.includes(estate.ledgerEntry));
    assert.ok(document.audit_events?.some(({ action }) => action === 'customer.export'));
    const empty = Object.entries(document).filter(([, rows]) => Array.isArray(rows) && rows.length === 0);
    const sampled = ['metrics', 'metric_points', 'alert_firings', 'transfer'];
    const names = empty.map(([name]) => name).filter((name) => !sampled.includes(name));
    const none = ['abuse_reports', 'backup_policies', 'blackholes', 'floods', 'kept_answers'];
    assert.deepEqual(names.sort(), [
      ...none,
      'server_operations',
      'staff_notes',
      'staff_tags',
      'ticket_files',
    ]);
    assert.doesNotMatch(text, /argon2|\\\\x[0-9a-f]{32}|whsec_|sealed|digest"/);
    const secrets = await world.opened.db.rows<{ secret: string }>(
      `select secret_sealed as secret from webhooks
       union all select secret_sealed from totp_secrets
       union all select data_sealed from mails where data_sealed is not null
       union all select encode(digest, 'hex') from sessions
       union all select encode(digest, 'hex') from api_tokens`,
    );
    for (const { secret } of secrets) assert.ok(!text.includes(secret));
  }

  it('a deletion waits for pending payments and frozen accounts, and withholds late payments', async () => {
    const client = world.visitor();
    await client.signUp();
    const created = await client.post('/topup-api.php', { action: 'create', amount: 30, coin: 'LTC' });
    const { body } = await client.get(`/topup-status.php?ref=${created.body.order_ref}`);
    const pay = (amount: unknown) =>
      world.sandbox('payments', { coin: 'LTC', address: body.deposit_address, amount });
    await pay(body.deposit_amount);
    await world.settle();
    assert.equal((await remove(client)).body.error, 'payments_left');
    await world.sandbox('blocks', { coin: 'LTC', count: 30 });
    await world.settle();
    await world.opened.db.run('update customers set frozen_at = now() where email = $1', [client.email]);
    assert.match((await operator('customers', 'delete', client.email, '--yes')).err, /frozen/);
    await world.opened.db.run('update customers set frozen_at = null where email = $1', [client.email]);
    const customerId = await idOf(client);
    const gone = await operator('customers', 'delete', client.email, '--yes');
    assert.deepEqual([gone.code, gone.out], [0, 'deleted; forfeited: 30.00 USD']);

    await pay('1');
    await world.sandbox('blocks', { coin: 'LTC', count: 30 });
    await world.settle();
    const held = (await operator('topups', 'held')).out;
    assert.match(held, new RegExp(`${created.body.order_ref} +deleted`));
    const released = await operator('topups', 'release', String(created.body.order_ref));
    assert.match(released.err, /account is deleted/);
    await world.advance(300);
    assert.deepEqual(await tablesOf(customerId), KEPT);
    assert.deepEqual(
      (await verify(world.opened.service)).filter(({ broken }) => broken > 0n),
      [],
    );
  });

  it('an account with a server under a legal hold cannot be deleted', async () => {
    const client = await world.customer(30);
    await topUp(world, client, 30);
    const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 };
    await client.post('/deploy-api.php', { ...order, root_password: 'a root password' });
    await world.settle();
    await world.opened.db.run('update servers set held_at = now()');
    const refused = await remove(client, { destroy_servers: 'yes' });
    assert.deepEqual([refused.status, refused.body.error], [451, 'jurisdictional_block']);
    assert.equal((await client.get('/me.php')).body.logged_in, true);
  });
});
