/** Looks up every acknowledged change of a customer through the API. */
import assert from 'node:assert/strict';
import { postSession } from '../support/answers.ts';
import { SessionClient } from '../support/session-client.ts';
import type { JsonBody } from '../support/v1-client.ts';
import type { WebhookReceiver } from '../support/webhook-receiver.ts';
import type { ShakenCustomer, TopupRecord } from './unshaken-customer.ts';

/** Pays what may not have been paid: its chain now says so. */
export async function payWhatIsUnpaid(customer: ShakenCustomer): Promise<void> {
  for (const topup of customer.topups.filter(({ paid }) => paid === 'unknown')) {
    const { body } = await customer.read(`/billing/topup/${topup.id}`);
    if (body.txids.length === 0) await customer.pay(topup);
    topup.paid = 'yes';
  }
}

/** Returns the number of acknowledged changes that were found. */
export async function assertNothingLost(customer: ShakenCustomer, url: string): Promise<number> {
  await assertServersAndVolumes(customer);
  const ledger = await readAll(customer, '/billing/ledger');
  const balance = (await customer.read('/billing/balance')).body.usd;
  assert.equal(sumCents(ledger), cents(balance), 'the ledger adds up to the balance');
  const charged = ledger.filter(({ type }) => type === 'charge').map(({ resource }) => resource);
  assert.deepEqual(charged.sort(), customer.servers.map(({ id }) => id).sort(), 'each server charged once');
  await assertTopups(customer, ledger);
  for (const email of customer.emails) {
    const answer = await postSession(SessionClient.forUrl(url), { action: 'signin', email });
    assert.equal(answer.body.ok, true, `${email}: ${answer.text}`);
  }
  const { servers, volumes, topups, emails } = customer;
  return servers.length + volumes.length + topups.length + emails.length;
}

async function assertServersAndVolumes(customer: ShakenCustomer): Promise<void> {
  const servers = (await readAll(customer, '/servers')).map(({ id, name, status }) => ({ id, name, status }));
  const liveServers = customer.servers.filter(({ isDeleted }) => !isDeleted);
  assert.deepEqual(
    byId(servers),
    byId(liveServers.map(({ id, name, status }) => ({ id, name, status }))),
    'each server exists once, in its last status',
  );
  const volumes = (await readAll(customer, '/volumes')).map(({ id, name, attached_to }) => ({
    id,
    name,
    attached_to,
  }));
  const liveVolumes = customer.volumes.filter(({ isDeleted }) => !isDeleted);
  assert.deepEqual(
    byId(volumes),
    byId(liveVolumes.map(({ id, name, server }) => ({ id, name, attached_to: server?.id ?? null }))),
    'each volume exists once, at its last server',
  );
}

async function assertTopups(customer: ShakenCustomer, ledger: readonly JsonBody[]): Promise<void> {
  const topups = new Map((await readAll(customer, '/billing/topup')).map((topup) => [topup.id, topup]));
  assert.equal(topups.size, customer.topups.length, 'each top-up exists once');
  const credits = ledger.filter(({ type }) => type === 'topup');
  const expected = ({ id, amountUsd, paid }: TopupRecord) =>
    paid === 'yes' ? [id, 'credited', amountUsd, 1, [amountUsd]] : [id, 'pending', 0, 0, []];
  const actual = ({ id }: TopupRecord) => {
    const { status, credited_usd: creditedUsd, txids } = topups.get(id) ?? { txids: [] };
    const credited = credits.filter(({ resource }) => resource === id).map((entry) => entry.amount_usd);
    return [id, status, creditedUsd, txids.length, credited];
  };
  assert.deepEqual(customer.topups.map(actual), customer.topups.map(expected), 'credited once');
}

/** Asserts that the customer's receiver got an event about every server and credit, under one id each. */
export function assertEventsArrived(customer: ShakenCustomer, receiver: WebhookReceiver): void {
  const ids = new Map<string, Set<string>>();
  for (const { body } of receiver.requestsTo(customer.hookPath)) {
    const event = JSON.parse(body);
    const subject = `${event.type} ${event.data.server?.id ?? event.data.topup?.id}`;
    ids.set(subject, (ids.get(subject) ?? new Set()).add(event.id));
  }
  const paid = customer.topups.filter((topup) => topup.paid === 'yes');
  const subjects = [
    ...customer.servers.map(({ id }) => `server.created ${id}`),
    ...paid.map(({ id }) => `topup.confirmed ${id}`),
  ];
  const wrong = subjects.filter((subject) => ids.get(subject)?.size !== 1);
  assert.deepEqual(wrong, [], 'each event arrived under one id');
}

async function readAll(customer: ShakenCustomer, path: string): Promise<JsonBody[]> {
  const items: JsonBody[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await customer.read(`${path}?page_size=100${after}`);
    items.push(...body.data);
    cursor = body.next_cursor;
  }
  return items;
}

function byId<T extends { readonly id: string }>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function cents(usd: number): number {
  return Math.round(usd * 100);
}

function sumCents(entries: readonly JsonBody[]): number {
  return entries.reduce((sum, entry) => sum + cents(entry.amount_usd), 0);
}
