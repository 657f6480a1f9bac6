/**
 * A process that is killed with SIGKILL at any place of a rescue, a restore, a firewall, or a change of
 * credentials. After the restart a repeated request completes the work once.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FULL_ONLY } from '../support/runs.ts';
import { PASSWORD, SessionClient } from '../support/session-client.ts';
import { runSkerryd } from '../support/skerryd-process.ts';
import { createApiToken, type V1Client } from '../support/v1-client.ts';
import { runningServer, type ScenarioContext, useCustomerWorld } from './crash-customer.ts';
import { callSandbox } from './crash-world.ts';
import { type KillScenario, scenariosOfRun, testKillPlaces } from './kill-places.ts';

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';

interface FirewallGroup {
  readonly id: string;
  readonly rules: readonly object[];
  readonly applied_to: readonly string[];
}

interface Running {
  readonly api: V1Client;
  readonly path: string;
}

function serverOf({ path }: Running): string {
  return path.slice('/servers/'.length);
}

/** Takes a snapshot, boots the rescue system, and puts the snapshot back, each once. */
async function rescueAndRestore(context: ScenarioContext): Promise<Running> {
  const running = await runningServer(context);
  const { api, path } = running;
  const snapshot = await api.post(`${path}/snapshots`, undefined, { key: 'snapshot' });
  assert.equal(snapshot.status, 201, snapshot.text);
  await callSandbox(context.url, 'settle');
  const rescued = await api.post(`${path}/rescue`, undefined, { key: 'rescue' });
  assert.equal(rescued.status, 202, rescued.text);
  await callSandbox(context.url, 'settle');
  const restored = await api.post(`${path}/restore`, { snapshot: snapshot.body.id }, { key: 'restore' });
  assert.equal(restored.status, 202, restored.text);
  await callSandbox(context.url, 'settle');
  return running;
}

/** Creates a group with one rule that applies to the server, once. */
async function createFirewall(context: ScenarioContext): Promise<Running & { readonly group: string }> {
  const running = await runningServer(context);
  const { api } = running;
  const fields = { name: 'web', default_action: 'drop' };
  const group = await api.post('/firewall/groups', fields, { key: 'group' });
  assert.equal(group.status, 201, group.text);
  const rule = { direction: 'in', proto: 'tcp', port: '443', source: '0.0.0.0/0', action: 'accept' };
  const rules = await api.post(`/firewall/groups/${group.body.id}/rules`, rule, { key: 'rule' });
  assert.equal(rules.status, 201, rules.text);
  const applied = await api.patch(`/firewall/groups/${group.body.id}`, { applied_to: [serverOf(running)] });
  assert.equal(applied.status, 200, applied.text);
  await callSandbox(context.url, 'settle');
  return { ...running, group: group.body.id };
}

/** Signs in elsewhere, and creates an SSH key, a token, a webhook, a console, and a TOTP secret. */
async function createCredentials(context: ScenarioContext): Promise<Running> {
  const running = await runningServer(context);
  const { api, path } = running;
  const elsewhere = SessionClient.forUrl(context.url);
  assert.equal((await elsewhere.signIn(await emailOf(context))).body.ok, true);
  const key = { name: 'laptop', public_key: PUBLIC_KEY };
  assert.equal((await api.post('/ssh-keys', key, { key: 'ssh-key' })).status, 201);
  await createApiToken(context.customer);
  const webhook = { url: 'https://receiver.example/hook', events: ['server.running'] };
  assert.equal((await api.post('/webhooks', webhook, { key: 'webhook' })).status, 201);
  assert.equal((await api.get(`${path}/console`)).status, 200);
  const totp = { action: 'enable_totp', current_password: PASSWORD };
  assert.equal((await context.customer.post('/account-api.php', totp)).body.ok, true);
  return running;
}

async function emailOf({ customer }: ScenarioContext): Promise<string> {
  return String((await customer.get('/me.php')).body.email);
}

const SCENARIOS: readonly KillScenario<ScenarioContext>[] = [
  {
    name: 'a rescue and a restore',
    run: async (context) => void (await rescueAndRestore(context)),
    finish: async (context) => {
      const { api, path } = await rescueAndRestore(context);
      assert.equal((await api.get(path)).body.status, 'running');
      assert.equal((await api.get('/snapshots')).body.data.length, 1);
    },
  },
  {
    name: 'a firewall',
    run: async (context) => void (await createFirewall(context)),
    finish: async (context) => {
      const firewall = await createFirewall(context);
      const groups = (await firewall.api.get('/firewall/groups')).body.data as FirewallGroup[];
      assert.deepEqual(
        groups.map(({ id, rules, applied_to }) => [id, rules.length, applied_to]),
        [[firewall.group, 1, [serverOf(firewall)]]],
      );
    },
  },
  {
    name: 'the permission to send mail',
    run: async (context) => allowMail(context),
    finish: async (context) => {
      await allowMail(context);
      const { api, path } = await runningServer(context);
      assert.equal((await api.get(path)).body.status, 'running');
    },
  },
  {
    name: 'a sign-in and credentials',
    run: async (context) => void (await createCredentials(context)),
    finish: async (context) => {
      const { api } = await createCredentials(context);
      assert.equal((await api.get('/ssh-keys')).body.data.length, 1);
      assert.equal((await api.get('/webhooks')).body.data.length, 1);
    },
  },
];

async function allowMail(context: ScenarioContext): Promise<void> {
  const { path } = await runningServer(context);
  const allowed = await runSkerryd(
    ['servers', 'mail', path.slice('/servers/'.length), 'allow'],
    context.settings,
  );
  assert.equal(allowed.code, 0, allowed.stderr);
  await callSandbox(context.url, 'settle');
}

describe('a process killed with SIGKILL while a customer changes things', FULL_ONLY, () => {
  const world = useCustomerWorld();
  for (const scenario of scenariosOfRun(SCENARIOS)) {
    it(`completes ${scenario.name} once`, (t) => testKillPlaces(t, world, scenario));
  }
});
