/**
 * What one customer's life comes to by the rules of the contract, in memory: balance, servers, cycles, invoices. It knows
 * nothing of the code. Times are milliseconds; those of cycles that begin "now" are near, and taken over from
 * the service once they were found near enough.
 */
import * as rules from './rules.ts';
import type { ModelServer, ModelTopup } from './things.ts';

/** A payment in a block by then has the locked rate. */
const LOCKED_LONGER_MS = 3 * rules.HOUR_MS;

interface Due {
  readonly at: number;
  readonly order: number;
  happen(): void;
}

export class Life {
  now: number;
  /** Nothing is begun from then on. */
  readonly end: number;
  balance = 0n;
  readonly servers: ModelServer[] = [];
  readonly topups: ModelTopup[] = [];
  readonly rates = new Map<rules.Coin, string>();
  /** `type cents resource`. */
  readonly ledger: string[] = [];
  /** What each thing's events were, in order. */
  readonly events = new Map<string, string[]>();
  /** `kind thing`. */
  readonly mails: string[] = [];

  constructor(now: number, lengthMs: number) {
    this.now = now;
    this.end = now + lengthMs;
  }

  get alive(): ModelServer[] {
    return this.servers.filter((server) => server.status !== 'gone');
  }

  // ---- what the customer does; the answer is the status of the response

  deploy(
    order: { plan: rules.Plan; months: rules.Months; autoRenew: boolean },
    made: () => { id: string; at: number },
  ): number {
    const price = rules.cyclePrice(order.plan, order.months);
    if (this.balance < price) return 422;
    const { id, at } = made();
    const anchor = rules.dayOf(at);
    const server: ModelServer = {
      ...{ id, price, months: order.months, autoRenew: order.autoRenew, anchor, near: false },
      paidUntil: rules.monthsLater(at, order.months, anchor),
      ...{ status: 'running', reason: null, resumeTo: 'running', suspendedAt: 0 },
      ...{ windowOf: 0, toldOf: 0, warned: Number.POSITIVE_INFINITY },
    };
    this.servers.push(server);
    this.#event(id, 'server.created');
    this.#charge(server);
    this.#event(id, 'server.running');
    this.#afterDebit();
    return 201;
  }

  /** Destroyed before it first ran. */
  regret(server: ModelServer): void {
    this.#event(server.id, 'server.destroyed');
    server.status = 'gone';
    const events = this.events.get(server.id) ?? [];
    events.splice(events.indexOf('server.running'), 1);
    this.#credit('refund', server.price, server.id);
    this.#afterCredit();
  }

  stop(server: ModelServer): number {
    if (server.status !== 'running') return 409;
    server.status = 'stopped';
    this.#event(server.id, 'server.stopped');
    return 202;
  }

  start(server: ModelServer): number {
    if (server.status === 'stopped') {
      server.status = 'running';
      return 202;
    }
    if (server.reason !== 'not_renewed') return 409;
    if (this.balance < server.price) return 422;
    this.#fromNow(server, 'running');
    this.#afterDebit();
    return 202;
  }

  setAutoRenew(server: ModelServer, on: boolean): void {
    server.autoRenew = on;
    if (!on && server.reason === 'balance') server.reason = 'not_renewed';
  }

  destroy(server: ModelServer): void {
    server.status = 'gone';
    this.#event(server.id, 'server.destroyed');
  }

  invoice(
    topup: Pick<ModelTopup, 'id' | 'coin' | 'address' | 'asked' | 'units' | 'usd' | 'expiresAt'>,
  ): void {
    const none = { unitsInTime: 0n, lateCents: 0n, credited: 0n, bonus: 0n };
    this.topups.push({ ...topup, status: 'pending', ...none });
  }

  /** Paid and confirmed now. */
  pay(topup: ModelTopup, units: bigint): void {
    if (this.now <= topup.expiresAt + LOCKED_LONGER_MS) topup.unitsInTime += units;
    else topup.lateCents += rules.worthOf(units, topup.coin, this.rateOf(topup.coin));
    const inTime = topup.unitsInTime;
    const asAsked = inTime <= topup.units && inTime * 1000n >= topup.units * 995n;
    const worth = topup.lateCents + (asAsked ? topup.asked : rules.worthOf(inTime, topup.coin, topup.usd));
    if (worth <= topup.credited) return;
    this.#event(topup.id, 'topup.pending', 'topup.confirmed');
    this.#credit('topup', worth - topup.credited, topup.id);
    topup.credited = worth;
    topup.status = 'credited';
    const bonus = rules.bonusOf(worth);
    if (bonus > topup.bonus) this.#credit('bonus', bonus - topup.bonus, topup.id);
    topup.bonus = bonus;
    this.mails.push(`topup_credited ${topup.id}`);
    this.#afterCredit();
  }

  gift(cents: bigint): void {
    this.#credit('adjustment', cents, null);
    this.#afterCredit();
  }

  rateOf(coin: rules.Coin): string {
    return this.rates.get(coin) ?? rules.COINS[coin].usd;
  }

  // ---- what time does

  advanceTo(target: number): void {
    for (let due = this.#next(); due && due.at <= target; due = this.#next()) {
      this.now = Math.max(this.now, due.at);
      due.happen();
    }
    this.now = target;
  }

  /** When something happens by itself next. */
  dueTimes(): number[] {
    return this.#dues().map(({ at }) => at);
  }

  /** Moments near which nothing must be done: it would be chance on which side of them it is. */
  edges(): number[] {
    return [...this.dueTimes(), ...this.topups.map(({ expiresAt }) => expiresAt + LOCKED_LONGER_MS)];
  }

  #next(): Due | undefined {
    return this.#dues().sort((a, b) => a.at - b.at || a.order - b.order)[0];
  }

  #dues(): Due[] {
    const invoices = this.topups.filter(({ status }) => status === 'pending');
    return [
      ...this.alive.flatMap((server) => this.#duesOf(server, this.servers.indexOf(server))),
      ...invoices.map((topup) => ({
        at: topup.expiresAt,
        order: -1,
        happen: () => {
          topup.status = 'expired';
          this.#event(topup.id, 'topup.expired');
        },
      })),
    ];
  }

  #duesOf(server: ModelServer, order: number): Due[] {
    if (server.status === 'suspended') {
      const end = Math.max(server.suspendedAt, server.paidUntil) + rules.GRACE_DAYS * rules.DAY_MS;
      const days = rules.WARNED_DAYS.find((left) => left < server.warned);
      if (days === undefined) return [{ at: end, order, happen: () => this.#graceIsOver(server) }];
      return [{ at: end - days * rules.DAY_MS, order, happen: () => this.#warn(server, days) }];
    }
    if (server.windowOf === server.paidUntil) {
      return [{ at: server.paidUntil, order, happen: () => this.#cycleEnds(server) }];
    }
    const opens = () => {
      server.windowOf = server.paidUntil;
      if (server.autoRenew) this.#tellIfLow(server);
      else this.mails.push(`server_ends ${server.id}`);
    };
    return [{ at: server.paidUntil - rules.LOW_DAYS * rules.DAY_MS, order, happen: opens }];
  }

  #cycleEnds(server: ModelServer): void {
    if (!server.autoRenew || this.balance < server.price) {
      this.#suspend(server, server.autoRenew ? 'balance' : 'not_renewed');
      return;
    }
    server.paidUntil = rules.monthsLater(server.paidUntil, server.months, server.anchor);
    this.#charge(server);
    this.#afterDebit();
  }

  #suspend(server: ModelServer, reason: 'balance' | 'not_renewed'): void {
    server.resumeTo = server.status === 'stopped' ? 'stopped' : 'running';
    server.status = 'suspended';
    server.reason = reason;
    server.suspendedAt = this.now;
    server.warned = Number.POSITIVE_INFINITY;
    this.#event(server.id, 'server.suspended');
    this.mails.push(`server_suspended ${server.id}`);
  }

  #warn(server: ModelServer, days: number): void {
    server.warned = days;
    this.mails.push(`destruction_warning ${server.id}`);
  }

  #graceIsOver(server: ModelServer): void {
    this.destroy(server);
    this.mails.push(`server_destroyed ${server.id}`);
  }

  /** Who waits for the balance: those that have waited longest come first, then the oldest. */
  waiting(): ModelServer[] {
    const waiting = this.alive.filter(({ reason }) => reason === 'balance');
    return waiting.sort((a, b) => a.paidUntil - b.paidUntil);
  }

  /** In that order what can be paid resumes, with a cycle from now. */
  #afterCredit(): void {
    let resumed = false;
    for (const server of this.waiting()) {
      if (this.balance < server.price) continue;
      this.#fromNow(server, server.resumeTo);
      resumed = true;
    }
    if (resumed) this.#afterDebit();
  }

  #fromNow(server: ModelServer, status: 'running' | 'stopped'): void {
    this.#charge(server);
    server.anchor = rules.dayOf(this.now);
    server.paidUntil = rules.monthsLater(this.now, server.months, server.anchor);
    server.near = true;
    server.status = status;
    server.reason = null;
    if (status === 'running') this.#event(server.id, 'server.running');
  }

  #afterDebit(): void {
    for (const server of this.alive) {
      if (server.windowOf === server.paidUntil) this.#tellIfLow(server);
    }
  }

  /** Once per server and cycle, when the balance cannot pay all that renews until this cycle's end. */
  #tellIfLow(server: ModelServer): void {
    const renews = (one: ModelServer) => one.status !== 'suspended' && one.autoRenew;
    if (!renews(server) || server.toldOf === server.paidUntil) return;
    const needed = this.alive
      .filter((one) => renews(one) && one.paidUntil <= server.paidUntil)
      .reduce((sum, one) => sum + one.price, 0n);
    if (this.balance >= needed) return;
    server.toldOf = server.paidUntil;
    this.#event(server.id, 'billing.low_balance');
    this.mails.push(`low_balance ${server.id}`);
  }

  #charge(server: ModelServer): void {
    this.balance -= server.price;
    this.ledger.push(`charge ${-server.price} ${server.id}`);
    this.#event(server.id, 'billing.charged');
  }

  #credit(type: string, cents: bigint, resource: string | null): void {
    this.balance += cents;
    this.ledger.push(`${type} ${cents} ${resource}`);
  }

  #event(thing: string, ...types: string[]): void {
    this.events.set(thing, [...(this.events.get(thing) ?? []), ...types]);
  }
}
