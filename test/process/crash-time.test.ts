/**
 * A process that is killed with SIGKILL while it renews, suspends, resumes, or destroys a server, publishes
 * an event, or sends mail. After the restart no event is lost or has a second id, no cycle is charged twice,
 * and no mail is sent twice.
 */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { openDatabase } from '../../src/store/db.ts';
import { findEmbedded } from '../../src/store/embedded/index.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { PASSWORD, SessionClient } from '../support/session-client.ts';
import { killLeftovers, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { V1Client } from '../support/v1-client.ts';
import { respondWith, WebhookReceiver } from '../support/webhook-receiver.ts';
import {
  advanceToDay,
  assertEventsDelivered,
  assertMails,
  BASE_BALANCE_USD,
  type BaseFixture,
  backUp,
  createBaseFixture,
  letAlertFire,
  readLedger,
  type ScenarioContext,
  settingsFor,
} from './crash-time-world.ts';
import { callSandbox } from './crash-world.ts';
import { type KillScenario, scenariosOfRun, testKillPlaces } from './kill-places.ts';

type Scenario = KillScenario<ScenarioContext> & {
  /** Sends mail over real SMTP instead of to the outbox. */
  readonly smtp?: true;
};

/** The server, if it still exists, ends with its cycle and is then destroyed. */
async function letServerEnd(context: ScenarioContext): Promise<void> {
  const { api, base } = context;
  // After a restart, the deletion may not have ended (409) or may have (404).
  const { status, body } = await api.patch(`/servers/${base.serverId}`, { auto_renew: false });
  assert.ok([200, 404, 409].includes(status), JSON.stringify(body));
  await advanceToDay(context, 20);
}

async function deleteAccount({ customer, url }: ScenarioContext): Promise<void> {
  const fields = { action: 'delete_account', current_password: PASSWORD, destroy_servers: 'yes' };
  await customer.post('/account-api.php', fields);
  await callSandbox(url, 'clock', { advance_s: 3_600 });
}

/** Orders a server that the balance cannot renew, and pays for the small one when both have ended. */
async function suspendAndPay(context: ScenarioContext): Promise<void> {
  const { base, api, url } = context;
  const order = { name: 'big', plan: 's3', region: 'par', image: base.imageId, ssh_keys: [base.keyId] };
  const servers = (await api.get('/servers')).body.data as { name: string }[];
  if (!servers.some(({ name }) => name === 'big')) {
    assert.equal((await api.post('/servers', order)).status, 201);
  }
  await advanceToDay(context, 5);
  const { body } = await api.post('/billing/topup', { coin: 'LTC', amount_usd: 30 }, { key: 'topup' });
  const paid = { coin: 'LTC', address: body.deposit_address, amount: body.deposit_amount };
  await callSandbox(url, 'settle');
  const topup = await api.get(`/billing/topup/${body.id}`);
  if (topup.body.status === 'pending') await callSandbox(url, 'payments', paid);
  await callSandbox(url, 'blocks', { coin: 'LTC', count: 12 });
  await callSandbox(url, 'settle');
}

/** Reboots the server once, while a webhook points to a receiver that is gone. */
async function rebootForGoneReceiver({ api, base, receiver, url }: ScenarioContext): Promise<void> {
  const gone = { url: receiver.url('/gone', respondWith(410)), events: ['server.rebooted'] };
  assert.equal((await api.post('/webhooks', gone, { key: 'gone' })).status, 201);
  await api.post(`/servers/${base.serverId}/reboot`, undefined, { key: 'reboot' });
  await callSandbox(url, 'settle');
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a renewal',
    run: (context) => advanceToDay(context, 2),
    finish: async (context) => {
      await advanceToDay(context, 10);
      assert.deepEqual((await readLedger(context)).slice(1), ['charge -7.35', 'charge -7.35']);
      const { body } = await context.api.get(`/servers/${context.base.serverId}`);
      assert.equal(body.status, 'running');
      const days = (Date.parse(body.paid_until) - Date.parse(context.base.paidUntil)) / 86_400_000;
      assert.ok(days >= 28 && days <= 31, 'one month was paid');
      assertEventsDelivered(context, { 'billing.charged': 1 });
      await assertMails(context, 0);
    },
  },
  {
    name: 'a suspension and its end',
    run: letServerEnd,
    finish: async (context) => {
      await letServerEnd(context);
      assert.deepEqual((await context.api.get('/servers')).body.data, []);
      assert.deepEqual((await readLedger(context)).slice(1), ['charge -7.35']);
      assertEventsDelivered(context, { 'server.suspended': 1, 'server.destroyed': 1, 'action.success': 2 });
      // Expiry notice, suspension, three warnings, destruction.
      await assertMails(context, 6);
    },
  },
  {
    name: 'a payment for a suspended server',
    run: suspendAndPay,
    finish: async (context) => {
      await suspendAndPay(context);
      await advanceToDay(context, 6);
      const { body } = await context.api.get('/servers?sort=created_at');
      const statuses = body.data.map(
        (server: { plan: string; status: string }) => `${server.plan} ${server.status}`,
      );
      assert.deepEqual(statuses, ['s1 running', 's3 suspended']);
      const { usd } = (await context.api.get('/billing/balance')).body;
      assert.equal(usd, Math.round((BASE_BALANCE_USD - 29.45 + 30 - 7.35) * 100) / 100);
      assertEventsDelivered(context, {
        ...{ 'server.created': 1, 'server.running': 2, 'billing.charged': 2 },
        ...{ 'billing.low_balance': 2, 'server.suspended': 2, 'topup.pending': 1, 'topup.confirmed': 1 },
        // The order, two suspensions, and the end of one.
        'action.success': 4,
      });
      await assertMails(context, 5);
    },
  },
  {
    name: 'a receiver that is gone',
    run: rebootForGoneReceiver,
    finish: async (context) => {
      await rebootForGoneReceiver(context);
      await context.api.post(`/servers/${context.base.serverId}/reboot`);
      await callSandbox(context.url, 'settle');
      const { body } = await context.api.get('/webhooks?sort=created_at');
      assert.deepEqual(
        body.data.map(({ active }: { active: boolean }) => active),
        [true, false],
      );
      assertEventsDelivered(context, { 'server.rebooted': 2, 'action.success': 2 });
      // The webhook was announced, and then paused.
      await assertMails(context, 2);
    },
  },
  {
    name: 'a backup',
    run: backUp,
    finish: async (context) => {
      await backUp(context);
      const [backup, ...more] = (await context.api.get('/snapshots')).body.data;
      assert.deepEqual([backup.type, backup.status, more], ['backup', 'ready', []]);
      await assertMails(context, 0);
    },
  },
  {
    name: 'an alert that fires',
    run: letAlertFire,
    finish: async (context) => {
      await letAlertFire(context);
      const { data } = (await context.api.get('/alerts')).body;
      assert.deepEqual(
        data.map(({ firing }: { firing: { server: string }[] }) => firing.map(({ server }) => server)),
        [[context.base.serverId]],
      );
      assertEventsDelivered(context, { 'alert.fired': 1 });
      await assertMails(context, 1);
    },
  },
  {
    name: 'mails over SMTP',
    smtp: true,
    run: letServerEnd,
    finish: async (context, place) => {
      await letServerEnd(context);
      const mails = context.mailServer.received.slice(context.mailedBefore);
      const subjects = mails.map(({ message }) => /^Subject: (.*)$/m.exec(message)?.[1]);
      assert.equal(new Set(subjects).size, subjects.length, `no mail is sent twice: ${subjects}`);
      const end = { unknown: await countUnknownMails(context.dataDir), received: subjects.length };
      const possible = mailsAfterKill(place);
      assert.ok(
        possible.some((each) => isDeepStrictEqual(each, end)),
        `${place}: ${end.unknown} unknown of ${subjects}`,
      );
    },
  },
  {
    name: 'the deletion of an account with a server',
    run: deleteAccount,
    finish: async (context) => {
      // If nothing was committed, the customer is still signed in and repeats the request.
      await deleteAccount(context);
      const signIn = await SessionClient.forUrl(context.url).signIn(context.base.email);
      assert.equal(signIn.status, 400);
      await assertMails(context, 1);
    },
  },
];

interface MailsEnd {
  readonly unknown: number;
  readonly received: number;
}

const ALL_MAILED: MailsEnd = { unknown: 0, received: 6 };
/** A mail whose outcome is unknown may have arrived, and is never sent again. */
const ONE_ARRIVED_UNKNOWN: MailsEnd = { unknown: 1, received: 6 };
const ONE_LOST_UNKNOWN: MailsEnd = { unknown: 1, received: 5 };

/** The first mail has three commits: the claim, the mark before its text leaves, and the record. */
function mailsAfterKill(place: string): readonly MailsEnd[] {
  if (place === 'after commit(mails) 2') return [ONE_LOST_UNKNOWN];
  if (/^after mailer\.send|^before commit\(mails\) 3/.test(place)) return [ONE_ARRIVED_UNKNOWN];
  // Before a mail is marked, after its record, and at the commits that queue one.
  if (
    / (?:nowhere|mailer\.send|commit\((?:.*,)?mails[,)]|commit\(audit_events,servers\))/.test(` ${place}`)
  ) {
    return [ALL_MAILED];
  }
  // Other work runs at the same time as a mail, which may be at any step.
  return [ALL_MAILED, ONE_ARRIVED_UNKNOWN, ONE_LOST_UNKNOWN];
}

async function countUnknownMails(dataDir: string): Promise<number> {
  const connection = await findEmbedded({ dataDir });
  assert.ok(connection, 'the service runs its database');
  const db = openDatabase(connection, { poolSize: 1 });
  try {
    return (await db.rows(`select from mails where status = 'unknown'`)).length;
  } finally {
    await db.close();
  }
}

describe('a process killed with SIGKILL while time passes', FULL_ONLY, () => {
  let folder = '';
  let receiver: WebhookReceiver;
  let mailServer: MailServer;
  let base: BaseFixture;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-crash-'));
    // When root runs the tests, the database runs as another user, who must be able to enter this folder.
    await chmod(folder, 0o755);
    [receiver, mailServer] = await Promise.all([WebhookReceiver.start(), startMailServer()]);
    await writeFile(join(folder, 'ca.pem'), receiver.authority.cert);
    const serving = await startSkerryd(settings('base'));
    base = await createBaseFixture(serving, receiver);
    assert.equal((await serving.stop()).code, 0);
  });

  after(async () => {
    killLeftovers();
    await Promise.all([receiver.stop(), mailServer.close()]);
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });

  function settings(name: string, smtp?: true): Record<string, string> {
    const mail = {
      SKERRY_SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
      SKERRY_MAIL_FROM: 'no-reply@skerry.example',
    };
    return { ...settingsFor(folder, name), ...(smtp ? mail : {}) };
  }

  const seenBefore = new Map<string, Pick<ScenarioContext, 'receivedBefore' | 'mailedBefore'>>();

  /** One run has two contexts: of the killed process, and of the restarted one. */
  function createContext(serving: SkerrydProcess, name: string): ScenarioContext {
    const customer = SessionClient.forUrl(serving.url);
    Object.assign(customer, { cookie: base.cookie, csrf: base.csrf, email: base.email });
    const api = V1Client.forUrl(serving.url, base.token);
    const seen = seenBefore.get(name) ?? {
      receivedBefore: receiver.received.length,
      mailedBefore: mailServer.received.length,
    };
    seenBefore.set(name, seen);
    const dataDir = join(folder, name);
    return { url: serving.url, base, customer, api, receiver, mailServer, dataDir, ...seen };
  }

  for (const scenario of scenariosOfRun(SCENARIOS)) {
    it(`${scenario.name} loses nothing and repeats nothing`, async (t) => {
      const world = { folder, settings: (name: string) => settings(name, scenario.smtp), createContext };
      await testKillPlaces(t, world, scenario);
    });
  }
});
