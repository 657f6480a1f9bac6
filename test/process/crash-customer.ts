/** A customer with a balance, whose session the runs of a kill scenario continue. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { SessionClient } from '../support/session-client.ts';
import {
  type Environment,
  killLeftovers,
  type SkerrydProcess,
  startSkerryd,
} from '../support/skerryd-process.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { callSandbox, serviceEnvironment } from './crash-world.ts';
import type { KillWorld } from './kill-places.ts';

export const BALANCE = 90;
export const KEY = { 'idempotency-key': 'crash-test' };
export const DEPLOY = {
  product: 'vps',
  plan: 's1',
  region: 'par',
  os: 'debian',
  billing: 1,
  root_password: 'a root password',
};

export interface ScenarioContext {
  readonly url: string;
  readonly settings: Environment;
  /** With the same token in every run: an idempotency key belongs to one credential. */
  readonly api: V1Client;
  readonly customer: SessionClient;
}

/** Registers the hooks that create the data folder of every run, and remove it. */
export function useCustomerWorld(): KillWorld<ScenarioContext> {
  const session = { cookie: '', csrf: '' };
  let token = '';
  const world = {
    folder: '',
    settings: (name: string) => serviceEnvironment(join(world.folder, name)),
    createContext: ({ url }: SkerrydProcess, name: string): ScenarioContext => ({
      url,
      settings: world.settings(name),
      api: V1Client.forUrl(url, token),
      customer: Object.assign(SessionClient.forUrl(url), session),
    }),
  };

  before(async () => {
    world.folder = await mkdtemp(join(tmpdir(), 'skerry-crash-'));
    // When root runs the tests, the database runs as another user, who must be able to enter this folder.
    await chmod(world.folder, 0o755);
    const serving = await startSkerryd(world.settings('base'));
    const client = SessionClient.forUrl(serving.url);
    await client.signUp();
    const created = await client.post('/topup-api.php', { action: 'create', amount: BALANCE, coin: 'BTC' });
    assert.equal(created.status, 200, JSON.stringify(created.body));
    await pay({ url: serving.url, customer: client }, String(created.body.order_ref), 'BTC');
    assert.equal(await balance(client), BALANCE);
    session.cookie = client.cookie ?? '';
    session.csrf = client.csrf ?? '';
    token = await createApiToken(client);
    assert.equal((await serving.stop()).code, 0);
  });
  after(async () => {
    killLeftovers();
    await rm(world.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });
  return world;
}

export async function pay(
  { url, customer }: Pick<ScenarioContext, 'url' | 'customer'>,
  ref: string,
  coin: string,
): Promise<void> {
  const { status, body } = await customer.get(`/topup-status.php?ref=${ref}`);
  assert.equal(status, 200, JSON.stringify(body));
  await callSandbox(url, 'payments', { coin, address: body.deposit_address, amount: body.deposit_amount });
  await callSandbox(url, 'blocks', { coin, count: 12 });
  await callSandbox(url, 'settle');
}

/** Returns the only server of these scenarios: ordered once, and running. */
export async function runningServer(context: ScenarioContext): Promise<{ api: V1Client; path: string }> {
  await context.customer.post('/deploy-api.php', DEPLOY, { headers: KEY });
  await callSandbox(context.url, 'settle');
  const { api } = context;
  const [server] = (await api.get('/servers')).body.data;
  assert.equal(server?.status, 'running');
  return { api, path: `/servers/${server.id}` };
}

export async function balance(customer: SessionClient): Promise<number> {
  return Number((await customer.get('/me.php')).body.balance);
}
