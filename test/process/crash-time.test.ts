/**
 * A process that is killed with SIGKILL while it renews, suspends, resumes, or destroys a server, publishes
 * an event, or sends mail. After the restart no event is lost or has a second id, no cycle is charged twice,
 * and no mail is sent twice.
 */
import assert from 'node:assert/strict';
import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CRASH_POINTS } from '../../src/kernel/crash.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { FULL_ONLY, rotate } from '../support/runs.ts';
import { PASSWORD, SessionClient } from '../support/session-client.ts';
import { killLeftovers, runSkerryd, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { V1Client } from '../support/v1-client.ts';
import { respondWith, WebhookReceiver } from '../support/webhook-receiver.ts';
import {
  advanceToDay,
  assertEventsDelivered,
  assertMails,
  BASE_BALANCE_USD,
  type BaseFixture,
  createBaseFixture,
  readLedger,
  type ScenarioContext,
  settingsFor,
} from './crash-time-world.ts';
import { callSandbox, waitForCrash } from './crash-world.ts';

const COVERED_POINTS = /^(renew|suspend|fanout|deliver|mail|account)\./;

interface Scenario {
  readonly points: RegExp;
  /** Sends mail over real SMTP instead of to the outbox. */
  readonly smtp?: true;
  reachPoint(context: ScenarioContext): Promise<void>;
  finish(context: ScenarioContext): Promise<void>;
}

async function disableAutoRenew({ api, base }: ScenarioContext): Promise<void> {
  assert.equal((await api.patch(`/servers/${base.serverId}`, { auto_renew: false })).status, 200);
}

async function deleteAccount({ customer }: ScenarioContext): Promise<void> {
  const fields = { action: 'delete_account', current_password: PASSWORD, destroy_servers: 'yes' };
  await customer.post('/account-api.php', fields);
}

const SCENARIOS: readonly Scenario[] = [
  {
    points: /^(renew|fanout)\.|^deliver\.(claimed|answered|written|recorded)$/,
    reachPoint: (context) => advanceToDay(context, 2),
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
    points: /^suspend\.(written|committed|destroy_written)$|^mail\.(claimed|sent)$/,
    reachPoint: async (context) => {
      await disableAutoRenew(context);
      await advanceToDay(context, 20);
    },
    finish: async (context) => {
      await advanceToDay(context, 20);
      assert.deepEqual((await context.api.get('/servers')).body.data, []);
      assert.deepEqual((await readLedger(context)).slice(1), ['charge -7.35']);
      assertEventsDelivered(context, { 'server.suspended': 1, 'server.destroyed': 1 });
      // Expiry notice, suspension, three warnings, destruction.
      await assertMails(context, 6);
    },
  },
  {
    points: /^suspend\.resume_written$/,
    reachPoint: async (context) => {
      const { base, api } = context;
      const order = { name: 'big', plan: 's3', region: 'par', image: base.imageId, ssh_keys: [base.keyId] };
      assert.equal((await api.post('/servers', order)).status, 201);
      await advanceToDay(context, 5);
      const { body } = await api.post('/billing/topup', { coin: 'LTC', amount_usd: 30 });
      const paid = { coin: 'LTC', address: body.deposit_address, amount: body.deposit_amount };
      await callSandbox(context.url, 'payments', paid);
      await callSandbox(context.url, 'blocks', { coin: 'LTC', count: 12 });
      await callSandbox(context.url, 'settle');
    },
    finish: async (context) => {
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
      });
      await assertMails(context, 5);
    },
  },
  {
    points: /^deliver\.paused_written$/,
    reachPoint: async (context) => {
      const { api, base, receiver } = context;
      const url = receiver.url('/gone', respondWith(410));
      assert.equal((await api.post('/webhooks', { url, events: ['server.rebooted'] })).status, 201);
      await api.post(`/servers/${base.serverId}/reboot`);
      await callSandbox(context.url, 'settle');
    },
    finish: async (context) => {
      await callSandbox(context.url, 'settle');
      await context.api.post(`/servers/${context.base.serverId}/reboot`);
      await callSandbox(context.url, 'settle');
      const { body } = await context.api.get('/webhooks?sort=created_at');
      assert.deepEqual(
        body.data.map(({ active }: { active: boolean }) => active),
        [true, false],
      );
      assertEventsDelivered(context, { 'server.rebooted': 2 });
      await assertMails(context, 1);
    },
  },
  {
    points: /^mail\.handed_over$/,
    smtp: true,
    reachPoint: async (context) => {
      await disableAutoRenew(context);
      await advanceToDay(context, 20);
    },
    finish: async (context) => {
      await advanceToDay(context, 20);
      const subjects = context.mailServer.received.map(
        ({ message }) => /^Subject: (.*)$/m.exec(message)?.[1],
      );
      assert.equal(subjects.length, 5, `the mail about the end of the cycle is not sent again: ${subjects}`);
      assert.equal(new Set(subjects).size, 5);
    },
  },
  {
    points: /^account\./,
    reachPoint: async (context) => {
      await deleteAccount(context);
      await callSandbox(context.url, 'clock', { advance_s: 3_600 });
    },
    finish: async (context) => {
      // If nothing was committed, the customer is still signed in and repeats the request.
      await deleteAccount(context);
      await callSandbox(context.url, 'clock', { advance_s: 3_600 });
      const signIn = await SessionClient.forUrl(context.url).signIn(context.base.email);
      assert.equal(signIn.status, 400);
      await assertMails(context, 1);
    },
  },
];

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

  function createContext(serving: SkerrydProcess, receivedBefore: number): ScenarioContext {
    const customer = SessionClient.forUrl(serving.url);
    Object.assign(customer, { cookie: base.cookie, csrf: base.csrf, email: base.email });
    const api = V1Client.forUrl(serving.url, base.token);
    return { url: serving.url, base, customer, api, receiver, mailServer, receivedBefore };
  }

  const every = CRASH_POINTS.filter((point) => COVERED_POINTS.test(point));

  it('has a scenario for every crash point', () => {
    const missing = every.filter((point) => !SCENARIOS.some(({ points }) => points.test(point)));
    assert.deepEqual(missing, []);
  });

  for (const point of rotate(every, { sample: 1, full: 3, soak: 1 })) {
    it(`loses nothing and repeats nothing at ${point}`, async () => {
      const scenario = SCENARIOS.find(({ points }) => points.test(point));
      assert.ok(scenario, 'every crash point has a scenario');
      await cp(join(folder, 'base'), join(folder, point), { recursive: true, preserveTimestamps: true });
      const receivedBefore = receiver.received.length;
      const armed = await startSkerryd({ ...settings(point, scenario.smtp), SKERRY_CRASH_AT: point });
      await scenario.reachPoint(createContext(armed, receivedBefore)).catch(() => undefined);
      assert.equal((await waitForCrash(armed)).signal, 'SIGKILL', 'the process reached the crash point');
      const serving = await startSkerryd(settings(point, scenario.smtp));
      try {
        await scenario.finish(createContext(serving, receivedBefore));
        const verified = await runSkerryd(['verify'], settings(point));
        assert.equal(verified.code, 0, verified.stdout + verified.stderr);
      } finally {
        assert.equal((await serving.stop()).code, 0);
        await rm(join(folder, point), { recursive: true, force: true });
      }
    });
  }
});
