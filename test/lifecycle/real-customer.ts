/**
 * The same customer in the real service, over the REST API and the sandbox controls, compared with the model.
 */
import assert from 'node:assert/strict';
import type { SessionClient } from '../support/session-client.ts';
import { type JsonBody, V1Client } from '../support/v1-client.ts';
import type { World } from '../support/world.ts';
import type { CustomerModel } from './model.ts';
import type { ModelServer } from './resources.ts';
import * as rules from './rules.ts';

/**
 * The shortest step: long enough for work that a command started. No step may end this close to a due time or
 * midnight.
 */
const MIN_STEP_MS = 120_000;
const BOUNDARY_MARGIN_MS = 60_000;
const MAX_STEP_MS = 25 * rules.DAY_MS;
/** The largest accepted difference between the service and the model for a cycle that starts "now". */
const CYCLE_TOLERANCE_MS = 60_000;

export class RealCustomer {
  readonly api: V1Client;
  readonly imageId: string;
  readonly keyId: string;
  readonly #world: World;
  readonly #customer: SessionClient;
  #comparedEntries = 0;
  #lastSeq = 0n;
  readonly #events = new Map<string, string[]>();
  readonly #mails = new Map<string, string>();

  constructor(
    world: World,
    customer: SessionClient,
    options: { token: string; imageId: string; keyId: string },
  ) {
    this.#world = world;
    this.#customer = customer;
    this.api = V1Client.forApp(world.http, options.token);
    this.imageId = options.imageId;
    this.keyId = options.keyId;
  }

  async addBalance(cents: bigint): Promise<void> {
    await this.#world.addBalance(this.#customer, cents);
  }

  async sandbox(name: string, body: object): Promise<JsonBody> {
    const response = await this.#world.http.inject({
      method: 'POST',
      url: `/sandbox/${name}`,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
    assert.equal(response.statusCode, 200, `/sandbox/${name}: ${response.body}`);
    return response.json();
  }

  /** Advances both by at least `ms`, and further if a due time would otherwise be close. */
  async advance(model: CustomerModel, ms = 0): Promise<void> {
    let left = Math.max(ms, MIN_STEP_MS);
    // Events and mails are kept for a month, so collect them more often than that.
    for (; left > MAX_STEP_MS; left -= MAX_STEP_MS) await this.#advanceOnce(model, MAX_STEP_MS);
    await this.#advanceOnce(model, left);
  }

  async #advanceOnce(model: CustomerModel, ms: number): Promise<void> {
    const to = advanceClearOfBoundaries(model, model.now + ms);
    const { now } = await this.sandbox('clock', { advance_s: (to - this.#nowMs()) / 1_000 });
    model.now = Math.max(Date.parse(now), to);
    await this.compare(model);
  }

  #nowMs(): number {
    return this.#world.opened.clock.now().getTime();
  }

  /** Asserts that balance, servers, and new ledger entries match the model. */
  async compare(model: CustomerModel): Promise<void> {
    const [balance, servers] = [
      await this.api.get('/billing/balance'),
      await this.api.get('/servers?page_size=100'),
    ];
    const serversById = new Map<string, JsonBody>(
      servers.body.data.map((server: JsonBody) => [server.id, server]),
    );
    for (const server of model.activeServers) adoptCycleEnd(server, serversById.get(server.id));
    const actual = [...serversById.values()].map(serverFields);
    assert.deepEqual(actual.sort(byId), model.activeServers.map(modelFields).sort(byId));
    assert.deepEqual(balanceFields(balance.body), modelBalance(model));
    const added = model.ledger.slice(this.#comparedEntries);
    if (added.length > 0) {
      assert.deepEqual((await this.#newestEntries(added.length)).sort(), added.sort());
      this.#comparedEntries = model.ledger.length;
    }
    await this.#collectEventsAndMails();
  }

  async #newestEntries(count: number): Promise<string[]> {
    const page = await this.api.get(`/billing/ledger?page_size=${Math.min(count, 100)}`);
    return page.body.data.map(
      (entry: JsonBody) => `${entry.type} ${cents(entry.amount_usd)} ${entry.resource}`,
    );
  }

  /** Asserts at the end that events, mails, and invoices also match the model. */
  async compareFinal(model: CustomerModel): Promise<void> {
    assert.deepEqual(sortedEntries(this.#events), sortedEntries(model.events));
    assert.deepEqual(countByKind([...this.#mails.values()]), countByKind(model.mails));
    for (const topup of model.topups) {
      const { body } = await this.api.get(`/billing/topup/${topup.id}`);
      assert.deepEqual(
        [body.status, cents(body.credited_usd), topup.credited > 0n ? cents(body.bonus_usd) : 0n],
        [topup.status, topup.credited, topup.bonus],
      );
    }
  }

  /** Collects new events and mails. A billing event belongs to the server that was charged. */
  async #collectEventsAndMails(): Promise<void> {
    const { db } = this.#world.opened;
    const events = await db.rows<{ seq: bigint; type: string; data: JsonBody }>(
      `select e.seq, e.type, e.data from events e join customers c on c.id = e.customer_id
        where c.email = $1 and (e.seq is null or e.seq > $2) order by e.seq`,
      [this.#customer.email, this.#lastSeq],
    );
    for (const { seq, type, data } of events) {
      this.#lastSeq += 1n;
      assert.equal(seq, this.#lastSeq, 'event numbers have no gap');
      if (type.startsWith('token.') || type.startsWith('action.')) continue;
      const resource = data.server?.id ?? data.topup?.id ?? data.ledger_entry?.resource;
      this.#events.set(resource, [...(this.#events.get(resource) ?? []), type]);
    }
    const mails = await db.rows<{ id: string; kind: string; status: string }>(
      `select m.id, m.kind, m.status from mails m
         join customers c on c.id = m.customer_id where c.email = $1`,
      [this.#customer.email],
    );
    for (const { id, kind, status } of mails) {
      assert.equal(status, 'sent', kind);
      if (!/confirm_address|new_sign_in|token_created/.test(kind)) this.#mails.set(id, kind);
    }
  }
}

/**
 * Moves the model to about `to`, and further while a due time or midnight is close. Returns the final time.
 */
function advanceClearOfBoundaries(model: CustomerModel, to: number): number {
  const next = Math.min(...model.dueTimes());
  if (next <= to - BOUNDARY_MARGIN_MS) {
    // A due action may schedule more actions.
    model.advanceTo(next);
    return advanceClearOfBoundaries(model, to);
  }
  const edge = [...model.boundaryTimes(), nearestMidnight(to)].find(
    (at) => Math.abs(at - to) < BOUNDARY_MARGIN_MS,
  );
  if (edge !== undefined) return advanceClearOfBoundaries(model, edge + BOUNDARY_MARGIN_MS);
  model.advanceTo(to);
  return to;
}

/**
 * Adopts the service's end of an approximate cycle, after asserting that it is close; from then on it is
 * exact.
 */
function adoptCycleEnd(server: ModelServer, body: JsonBody): void {
  if (!server.isApproximate || !body) return;
  const paidUntil = Date.parse(body.paid_until);
  assert.ok(
    Math.abs(paidUntil - server.paidUntil) <= CYCLE_TOLERANCE_MS,
    `${body.paid_until} is not close to the model's cycle end`,
  );
  server.paidUntil = paidUntil;
  server.isApproximate = false;
}

function serverFields(body: JsonBody) {
  const { id, status, suspended_reason: reason, auto_renew: autoRenew, billing_months: months } = body;
  return {
    id,
    status,
    reason,
    autoRenew,
    months,
    price: cents(body.price_usd_cycle),
    paidUntil: body.paid_until,
  };
}

function modelFields(server: ModelServer) {
  const { id, status, reason, autoRenew, months, price } = server;
  return { id, status, reason, autoRenew, months, price, paidUntil: formatSeconds(server.paidUntil) };
}

function balanceFields(body: JsonBody) {
  return {
    usd: cents(body.usd),
    running: body.active_servers,
    until: body.runway_until,
    low: body.low_balance_at,
  };
}

function modelBalance(model: CustomerModel) {
  const running = model.activeServers.filter(({ status }) => status === 'running');
  const until = running.length > 0 ? Math.min(...running.map(({ paidUntil }) => paidUntil)) : null;
  return {
    usd: model.balance,
    running: running.length,
    until: until && formatSeconds(until).slice(0, 10),
    low: until && formatSeconds(until - rules.LOW_BALANCE_DAYS * rules.DAY_MS),
  };
}

function formatSeconds(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

function cents(usd: number): bigint {
  return BigInt(Math.round(usd * 100));
}

function nearestMidnight(time: number): number {
  return Math.round(time / rules.DAY_MS) * rules.DAY_MS;
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}

/** Counts mails by kind; the service's names for their causes do not matter. */
function countByKind(mails: readonly string[]): [string, number][] {
  const kinds = Object.groupBy(mails, (mail) => mail.split(' ')[0] ?? '');
  return Object.entries(kinds)
    .map(([kind, all]): [string, number] => [kind, all?.length ?? 0])
    .sort();
}

function sortedEntries(events: ReadonlyMap<string, readonly string[]>): [string, readonly string[]][] {
  return [...events].sort(([a], [b]) => (a < b ? -1 : 1));
}
