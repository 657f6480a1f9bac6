/**
 * A process killed with -9 while it renews, suspends, resumes or destroys, tells of it, or sends letters: after the restart
 * no event is lost, none comes under another id, no cycle is charged twice and no letter is sent twice.
 */
import assert from 'node:assert/strict';
import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CRASH_POINTS } from '../../src/kernel/crash.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { killLeftovers, type Serving, skerryd, startServing } from '../support/process.ts';
import { answer, Receiver } from '../support/receiver.ts';
import { IN_FULL } from '../support/runs.ts';
import { PASSWORD, SessionClient } from '../support/session-client.ts';
import { V1Client } from '../support/v1-client.ts';
import {
  assertLetters,
  assertTold,
  type Base,
  booked,
  goTo,
  LEFT_USD,
  makeBase,
  type Scene,
  settingsFor,
} from './crash-time-world.ts';
import { killedWithin, sandbox } from './crash-world.ts';

const POINTS = /^(renew|suspend|fanout|deliver|mail|account)\./;

interface Scenario {
  readonly points: RegExp;
  /** By real SMTP instead of the letter box. */
  readonly smtp?: true;
  lead(scene: Scene): Promise<void>;
  finish(scene: Scene): Promise<void>;
}

async function doNotRenew({ api, base }: Scene): Promise<void> {
  assert.equal((await api.patch(`/servers/${base.serverId}`, { auto_renew: false })).status, 200);
}

async function deleteAccount({ customer }: Scene): Promise<void> {
  const fields = { action: 'delete_account', current_password: PASSWORD, destroy_servers: 'yes' };
  await customer.post('/account-api.php', fields);
}

const SCENARIOS: readonly Scenario[] = [
  {
    points: /^(renew|fanout)\.|^deliver\.(claimed|answered|written|recorded)$/,
    lead: (scene) => goTo(scene, 2),
    finish: async (scene) => {
      await goTo(scene, 10);
      assert.deepEqual((await booked(scene)).slice(1), ['charge -7.35', 'charge -7.35']);
      const { body } = await scene.api.get(`/servers/${scene.base.serverId}`);
      assert.equal(body.status, 'running');
      const days = (Date.parse(body.paid_until) - Date.parse(scene.base.paidUntil)) / 86_400_000;
      assert.ok(days >= 28 && days <= 31, 'a month was paid');
      assertTold(scene, { 'billing.charged': 1 });
      await assertLetters(scene, 0);
    },
  },
  {
    points: /^suspend\.(written|committed|destroy_written)$|^mail\.(claimed|sent)$/,
    lead: async (scene) => {
      await doNotRenew(scene);
      await goTo(scene, 20);
    },
    finish: async (scene) => {
      await goTo(scene, 20);
      assert.deepEqual((await scene.api.get('/servers')).body.data, []);
      assert.deepEqual((await booked(scene)).slice(1), ['charge -7.35']);
      assertTold(scene, { 'server.suspended': 1, 'server.destroyed': 1 });
      // It ends, is suspended, three warnings, destroyed.
      await assertLetters(scene, 6);
    },
  },
  {
    points: /^suspend\.resume_written$/,
    lead: async (scene) => {
      const { base, api } = scene;
      const order = { name: 'big', plan: 's3', region: 'par', image: base.imageId, ssh_keys: [base.keyId] };
      assert.equal((await api.post('/servers', order)).status, 201);
      await goTo(scene, 5);
      const { body } = await api.post('/billing/topup', { coin: 'LTC', amount_usd: 30 });
      const paid = { coin: 'LTC', address: body.deposit_address, amount: body.deposit_amount };
      await sandbox(scene.url, 'payments', paid);
      await sandbox(scene.url, 'blocks', { coin: 'LTC', count: 12 });
      await sandbox(scene.url, 'settle');
    },
    finish: async (scene) => {
      await goTo(scene, 6);
      const { body } = await scene.api.get('/servers?sort=created_at');
      const statuses = body.data.map(
        (server: { plan: string; status: string }) => `${server.plan} ${server.status}`,
      );
      assert.deepEqual(statuses, ['s1 running', 's3 suspended']);
      const { usd } = (await scene.api.get('/billing/balance')).body;
      assert.equal(usd, Math.round((LEFT_USD - 29.45 + 30 - 7.35) * 100) / 100);
      assertTold(scene, {
        ...{ 'server.created': 1, 'server.running': 2, 'billing.charged': 2 },
        ...{ 'billing.low_balance': 2, 'server.suspended': 2, 'topup.pending': 1, 'topup.confirmed': 1 },
      });
      await assertLetters(scene, 5);
    },
  },
  {
    points: /^deliver\.paused_written$/,
    lead: async (scene) => {
      const { api, base, receiver } = scene;
      const url = receiver.url('/gone', answer(410));
      assert.equal((await api.post('/webhooks', { url, events: ['server.rebooted'] })).status, 201);
      await api.post(`/servers/${base.serverId}/reboot`);
      await sandbox(scene.url, 'settle');
    },
    finish: async (scene) => {
      await sandbox(scene.url, 'settle');
      await scene.api.post(`/servers/${scene.base.serverId}/reboot`);
      await sandbox(scene.url, 'settle');
      const { body } = await scene.api.get('/webhooks?sort=created_at');
      assert.deepEqual(
        body.data.map(({ active }: { active: boolean }) => active),
        [true, false],
      );
      assertTold(scene, { 'server.rebooted': 2 });
      await assertLetters(scene, 1);
    },
  },
  {
    points: /^mail\.handed_over$/,
    smtp: true,
    lead: async (scene) => {
      await doNotRenew(scene);
      await goTo(scene, 20);
    },
    finish: async (scene) => {
      await goTo(scene, 20);
      const subjects = scene.mailServer.received.map(({ message }) => /^Subject: (.*)$/m.exec(message)?.[1]);
      assert.equal(
        subjects.length,
        5,
        `the letter about the end of the cycle is never sent again: ${subjects}`,
      );
      assert.equal(new Set(subjects).size, 5);
    },
  },
  {
    points: /^account\./,
    lead: async (scene) => {
      await deleteAccount(scene);
      await sandbox(scene.url, 'clock', { advance_s: 3_600 });
    },
    finish: async (scene) => {
      // Where nothing was committed he is still signed in, and asks again.
      await deleteAccount(scene);
      await sandbox(scene.url, 'clock', { advance_s: 3_600 });
      const signIn = await SessionClient.over(scene.url).signIn(scene.base.email);
      assert.equal(signIn.status, 400);
      await assertLetters(scene, 1);
    },
  },
];

describe('a process killed with -9 while time passes', IN_FULL, () => {
  let folder = '';
  let receiver: Receiver;
  let mailServer: MailServer;
  let base: Base;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-crash-'));
    // Root's database runs as another user, who must be able to pass through.
    await chmod(folder, 0o755);
    [receiver, mailServer] = await Promise.all([Receiver.start(), startMailServer()]);
    await writeFile(join(folder, 'ca.pem'), receiver.authority.cert);
    const serving = await startServing(settings('base'));
    base = await makeBase(serving, receiver);
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

  function scene(serving: Serving, before: number): Scene {
    const customer = SessionClient.over(serving.url);
    Object.assign(customer, { cookie: base.cookie, csrf: base.csrf, email: base.email });
    const api = V1Client.over(serving.url, base.token);
    return { url: serving.url, base, customer, api, receiver, mailServer, before };
  }

  const every = CRASH_POINTS.filter((point) => POINTS.test(point));
  for (const point of every) {
    it(`at ${point}: nothing is lost, and nothing happens twice`, async () => {
      const scenario = SCENARIOS.find(({ points }) => points.test(point));
      assert.ok(scenario, 'every point has a scenario');
      await cp(join(folder, 'base'), join(folder, point), { recursive: true, preserveTimestamps: true });
      const had = receiver.received.length;
      const armed = await startServing({ ...settings(point, scenario.smtp), SKERRY_CRASH_AT: point });
      await scenario.lead(scene(armed, had)).catch(() => undefined);
      assert.equal((await killedWithin(armed)).signal, 'SIGKILL', 'the point was reached');
      const serving = await startServing(settings(point, scenario.smtp));
      try {
        await scenario.finish(scene(serving, had));
        const verified = await skerryd(['verify'], settings(point));
        assert.equal(verified.code, 0, verified.stdout + verified.stderr);
      } finally {
        assert.equal((await serving.stop()).code, 0);
        await rm(join(folder, point), { recursive: true, force: true });
      }
    });
  }
});
