/**
 * A customer with a renewing server, mails, and a webhook that points to the test's receiver; and assertions
 * about every notification, no matter how often the process died.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { MailServer } from '../support/mail-server.ts';
import { SessionClient } from '../support/session-client.ts';
import type { SkerrydProcess } from '../support/skerryd-process.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import type { ReceivedRequest, WebhookReceiver } from '../support/webhook-receiver.ts';
import { topUp } from '../support/world.ts';
import { callSandbox, serviceEnvironment } from './crash-world.ts';

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
export const DAY_S = 86_400;
export const HOOK_PATH = '/hook';
/** The initial balance: 40.00 less the price of one s1 server in par for a month. */
export const BASE_BALANCE_USD = 32.65;

/** The state that every scenario starts from. */
export interface BaseFixture {
  readonly cookie: string;
  readonly csrf: string;
  readonly email: string;
  readonly token: string;
  readonly imageId: string;
  readonly keyId: string;
  readonly serverId: string;
  readonly paidUntil: string;
  readonly mailCount: number;
}

export interface ScenarioContext {
  readonly url: string;
  readonly base: BaseFixture;
  readonly customer: SessionClient;
  readonly api: V1Client;
  readonly receiver: WebhookReceiver;
  readonly mailServer: MailServer;
  readonly dataDir: string;
  /** The requests that the receiver, and the mails that the mail server, had before the run. */
  readonly receivedBefore: number;
  readonly mailedBefore: number;
}

/** Settings for a service in a separate folder. `ca.pem` in the parent folder signs for the receiver. */
export function settingsFor(folder: string, name: string): Record<string, string> {
  return {
    ...serviceEnvironment(join(folder, name)),
    SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true',
    SKERRY_WEBHOOK_CA_FILE: join(folder, 'ca.pem'),
    SKERRY_RATE_CAPACITY: '1000',
  };
}

/**
 * Moves the clock to this many days after the first cycle ends, or leaves it there if it is already later.
 */
export async function advanceToDay({ url, base }: ScenarioContext, daysAfterCycle: number): Promise<void> {
  const { now } = await callSandbox(url, 'clock', { advance_s: 0 });
  const left = Date.parse(base.paidUntil) / 1_000 + daysAfterCycle * DAY_S - Date.parse(now) / 1_000;
  await callSandbox(url, 'clock', { advance_s: Math.max(left, 0) });
  await callSandbox(url, 'settle');
}

/** Asserts that each event arrived this often, under one id, with one body, and with one delivery id. */
export function assertEventsDelivered(
  { receiver, receivedBefore }: ScenarioContext,
  expected: Readonly<Record<string, number>>,
): void {
  const received = receiver.received.slice(receivedBefore).filter(({ path }) => path === HOOK_PATH);
  const byEvent = Map.groupBy(received, ({ body }) => String(JSON.parse(body).id));
  for (const copies of byEvent.values()) {
    assert.equal(new Set(copies.map(({ body }) => body)).size, 1, 'a repeated event has the same body');
    assert.equal(new Set(copies.map(deliveryIdOf)).size, 1, 'a repeated delivery has the same id');
  }
  const types = [...byEvent.values()].map(([first]) => String(JSON.parse(first?.body ?? '').type));
  const counts = Object.entries(Object.groupBy(types, (type) => type)).map(([type, all]) => [
    type,
    all?.length,
  ]);
  assert.deepEqual(Object.fromEntries(counts), expected);
}

function deliveryIdOf({ headers }: ReceivedRequest): string {
  return String(headers['x-service-delivery-id']);
}

/** Asserts the number of mails since the base fixture, and that no two are the same. */
export async function assertMails({ url, base }: ScenarioContext, expected: number): Promise<void> {
  const response = await fetch(`${url}/sandbox/mails?to=${encodeURIComponent(base.email)}`);
  const { mails } = (await response.json()) as { mails: { subject: string; text: string }[] };
  const newMails = mails.slice(base.mailCount).map(({ subject, text }) => `${subject}\n${text}`);
  assert.deepEqual(
    [newMails.length, new Set(newMails).size],
    [expected, expected],
    newMails.join('\n----\n'),
  );
}

/** The load of a simulated machine is always above 0. */
export async function letAlertFire({ api, base, url }: ScenarioContext): Promise<void> {
  const alert = { name: 'any load', metric: 'cpu_pct', value: 0, servers: [base.serverId] };
  assert.equal((await api.post('/alerts', alert, { key: 'alert' })).status, 201);
  await callSandbox(url, 'clock', { advance_s: 600 });
  await callSandbox(url, 'settle');
  await callSandbox(url, 'clock', { advance_s: 60 });
  await callSandbox(url, 'settle');
}

/** The next backup, and the deletion of the one before it. */
export async function backUp({ api, base, url }: ScenarioContext): Promise<void> {
  const { status } = await api.put(`/servers/${base.serverId}/backup-policy`, { enabled: true, keep: 1 });
  assert.equal(status, 200);
  await callSandbox(url, 'clock', { advance_s: 86_400 });
  await callSandbox(url, 'settle');
}

/** Returns the ledger entries, oldest first, such as `charge -7.35`. */
export async function readLedger({ api }: ScenarioContext): Promise<string[]> {
  const { body } = await api.get('/billing/ledger?page_size=100');
  return body.data
    .map((entry: { type: string; amount_usd: number }) => `${entry.type} ${entry.amount_usd}`)
    .reverse();
}

export async function createBaseFixture(
  { url }: SkerrydProcess,
  receiver: WebhookReceiver,
): Promise<BaseFixture> {
  const customer = SessionClient.forUrl(url);
  await customer.signUp();
  const settle = async () => void (await callSandbox(url, 'settle'));
  await topUp({ sandbox: (name, body) => callSandbox(url, name, body), settle }, customer, 40);
  const token = await createApiToken(customer);
  const api = V1Client.forUrl(url, token);
  const webhook = await api.post('/webhooks', { url: receiver.url(HOOK_PATH), events: ['*'] });
  assert.equal(webhook.status, 201, webhook.text);
  const keyId = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body.id;
  const images = await api.get('/images?family=debian');
  const imageId = images.body.data.find(({ version }: { version: string }) => version === '13').id;
  const order = { name: 'small', plan: 's1', region: 'par', image: imageId, ssh_keys: [keyId] };
  const server = await api.post('/servers', order);
  assert.equal(server.status, 201, server.text);
  await callSandbox(url, 'clock', { advance_s: 3_600 });
  const mails = await fetch(`${url}/sandbox/mails?to=${encodeURIComponent(customer.email)}`);
  const mailCount = ((await mails.json()) as { mails: object[] }).mails.length;
  const { cookie = '', csrf = '', email } = customer;
  return {
    cookie,
    csrf,
    email,
    token,
    imageId,
    keyId,
    serverId: server.body.id,
    paidUntil: server.body.paid_until,
    mailCount,
  };
}
