/**
 * A customer with a renewing server, a webhook that leads to a receiver of the test, and letters; and what must be true of
 * all he was told, however often the process died meanwhile.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { MailServer } from '../support/mail-server.ts';
import type { Serving } from '../support/process.ts';
import type { Received, Receiver } from '../support/receiver.ts';
import { SessionClient } from '../support/session-client.ts';
import { apiToken, V1Client } from '../support/v1-client.ts';
import { topUp } from '../support/world.ts';
import { environment, sandbox } from './crash-world.ts';

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
export const DAY_S = 86_400;
export const HOOK = '/hook';
/** Of what the customer has at first: one server s1 in par for a month, and 40.00 less its price. */
export const LEFT_USD = 32.65;

/** What the base holds and every scenario begins with. */
export interface Base {
  readonly cookie: string;
  readonly csrf: string;
  readonly email: string;
  readonly token: string;
  readonly imageId: string;
  readonly keyId: string;
  readonly serverId: string;
  readonly paidUntil: string;
  readonly letters: number;
}

export interface Scene {
  readonly url: string;
  readonly base: Base;
  readonly customer: SessionClient;
  readonly api: V1Client;
  readonly receiver: Receiver;
  readonly mailServer: MailServer;
  /** What the receiver had when the scenario began. */
  readonly before: number;
}

/** For a service in a folder of its own; `ca.pem` beside it signs for the receiver. */
export function settingsFor(folder: string, name: string): Record<string, string> {
  return {
    ...environment(join(folder, name)),
    SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true',
    SKERRY_WEBHOOK_CA_FILE: join(folder, 'ca.pem'),
    SKERRY_RATE_CAPACITY: '1000',
  };
}

/** Moves the clock to so many days after the end of the first cycle; where it is by then, it stays. */
export async function goTo({ url, base }: Scene, daysAfterCycle: number): Promise<void> {
  const { now } = await sandbox(url, 'clock', { advance_s: 0 });
  const left = Date.parse(base.paidUntil) / 1_000 + daysAfterCycle * DAY_S - Date.parse(now) / 1_000;
  await sandbox(url, 'clock', { advance_s: Math.max(left, 0) });
  await sandbox(url, 'settle');
}

/** Each of these events arrived, so often; each under one id, with one body, in deliveries of one id. */
export function assertTold({ receiver, before }: Scene, expected: Readonly<Record<string, number>>): void {
  const received = receiver.received.slice(before).filter(({ path }) => path === HOOK);
  const byEvent = Map.groupBy(received, ({ body }) => String(JSON.parse(body).id));
  for (const copies of byEvent.values()) {
    assert.equal(new Set(copies.map(({ body }) => body)).size, 1, 'a repeated event is the same');
    assert.equal(new Set(copies.map(deliveryOf)).size, 1, 'a repeated delivery has its id');
  }
  const types = [...byEvent.values()].map(([first]) => String(JSON.parse(first?.body ?? '').type));
  const counts = Object.entries(Object.groupBy(types, (type) => type)).map(([type, all]) => [
    type,
    all?.length,
  ]);
  assert.deepEqual(Object.fromEntries(counts), expected);
}

function deliveryOf({ headers }: Received): string {
  return String(headers['x-service-delivery-id']);
}

/** How many letters came since the base, each once: no two are the same. */
export async function assertLetters({ url, base }: Scene, expected: number): Promise<void> {
  const response = await fetch(`${url}/sandbox/mails?to=${encodeURIComponent(base.email)}`);
  const { mails } = (await response.json()) as { mails: { subject: string; text: string }[] };
  const fresh = mails.slice(base.letters).map(({ subject, text }) => `${subject}\n${text}`);
  assert.deepEqual([fresh.length, new Set(fresh).size], [expected, expected], fresh.join('\n----\n'));
}

/** What was booked, oldest first: `charge -7.35`. */
export async function booked({ api }: Scene): Promise<string[]> {
  const { body } = await api.get('/billing/ledger?page_size=100');
  return body.data
    .map((entry: { type: string; amount_usd: number }) => `${entry.type} ${entry.amount_usd}`)
    .reverse();
}

export async function makeBase({ url }: Serving, receiver: Receiver): Promise<Base> {
  const customer = SessionClient.over(url);
  await customer.signUp();
  const settle = async () => void (await sandbox(url, 'settle'));
  await topUp({ sandbox: (name, body) => sandbox(url, name, body), settle }, customer, 40);
  const token = await apiToken(customer);
  const api = V1Client.over(url, token);
  const webhook = await api.post('/webhooks', { url: receiver.url(HOOK), events: ['*'] });
  assert.equal(webhook.status, 201, webhook.text);
  const keyId = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body.id;
  const images = await api.get('/images?family=debian');
  const imageId = images.body.data.find(({ version }: { version: string }) => version === '13').id;
  const order = { name: 'small', plan: 's1', region: 'par', image: imageId, ssh_keys: [keyId] };
  const server = await api.post('/servers', order);
  assert.equal(server.status, 201, server.text);
  await sandbox(url, 'clock', { advance_s: 3_600 });
  const mails = await fetch(`${url}/sandbox/mails?to=${encodeURIComponent(customer.email)}`);
  const letters = ((await mails.json()) as { mails: object[] }).mails.length;
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
    letters,
  };
}
