/**
 * An in-memory model of one customer by the rules of the contract: balance, servers, cycles, invoices. It
 * shares no code with the service. Times are milliseconds. A cycle that starts "now" is approximate; the
 * model adopts the service's time once it is close enough.
 */

import type { ModelServer, ModelTopup } from './resources.ts';
import * as rules from './rules.ts';

/** A payment in a block within this time after the expiration still gets the locked rate. */
const RATE_LOCK_EXTENSION_MS = 3 * rules.HOUR_MS;

interface DueAction {
  readonly at: number;
  readonly tieBreaker: number;
  run(): void;
}

export class CustomerModel {
  now: number;
  /** No command starts at or after this time. */
  readonly end: number;
  balance = 0n;
  readonly servers: ModelServer[] = [];
  readonly topups: ModelTopup[] = [];
  readonly rates = new Map<rules.Coin, string>();
  /** `type cents resource`. */
  readonly ledger: string[] = [];
  /** Event types by resource, in order. */
  readonly events = new Map<string, string[]>();
  /** `kind resource`. */
  readonly mails: string[] = [];

  constructor(now: number, lengthMs: number) {
    this.now = now;
    this.end = now + lengthMs;
  }

  get activeServers(): ModelServer[] {
    return this.servers.filter((server) => server.status !== 'destroyed');
  }

  // ---- customer actions; each returns the expected HTTP status

  deploy(
    order: { plan: rules.Plan; months: rules.Months; autoRenew: boolean },
    created: () => { id: string; at: number },
  ): number {
    const price = rules.cyclePrice(order.plan, order.months);
    if (this.balance < price) return 422;
    const { id, at } = created();
    const anchor = rules.dayOfMonth(at);
    const server: ModelServer = {
      ...{ id, price, months: order.months, autoRenew: order.autoRenew, anchor, isApproximate: false },
      paidUntil: rules.addMonths(at, order.months, anchor),
      ...{ status: 'running', reason: null, resumeTo: 'running', suspendedAt: 0 },
      ...{ windowOpenedFor: 0, notifiedFor: 0, lastWarningDays: Number.POSITIVE_INFINITY },
    };
    this.servers.push(server);
    this.#recordEvent(id, 'server.created');
    this.#charge(server);
    this.#recordEvent(id, 'server.running');
    this.#afterDebit();
    return 201;
  }

  /** Destroys a server before it first ran. */
  destroyBeforeFirstRun(server: ModelServer): void {
    this.#recordEvent(server.id, 'server.destroyed');
    server.status = 'destroyed';
    const events = this.events.get(server.id) ?? [];
    events.splice(events.indexOf('server.running'), 1);
    this.#credit('refund', server.price, server.id);
    this.#afterCredit();
  }

  stop(server: ModelServer): number {
    if (server.status !== 'running') return 409;
    server.status = 'stopped';
    this.#recordEvent(server.id, 'server.stopped');
    return 202;
  }

  start(server: ModelServer): number {
    if (server.status === 'stopped') {
      server.status = 'running';
      return 202;
    }
    if (server.reason !== 'not_renewed') return 409;
    if (this.balance < server.price) return 422;
    this.#restartCycle(server, 'running');
    this.#afterDebit();
    return 202;
  }

  setAutoRenew(server: ModelServer, on: boolean): void {
    server.autoRenew = on;
    if (!on && server.reason === 'balance') server.reason = 'not_renewed';
  }

  destroy(server: ModelServer): void {
    server.status = 'destroyed';
    this.#recordEvent(server.id, 'server.destroyed');
  }

  invoice(
    topup: Pick<ModelTopup, 'id' | 'coin' | 'address' | 'requested' | 'units' | 'usd' | 'expiresAt'>,
  ): void {
    const none = { unitsInTime: 0n, lateCents: 0n, credited: 0n, bonus: 0n };
    this.topups.push({ ...topup, status: 'pending', ...none });
  }

  /** Adds a payment that is confirmed now. */
  pay(topup: ModelTopup, units: bigint): void {
    if (this.now <= topup.expiresAt + RATE_LOCK_EXTENSION_MS) topup.unitsInTime += units;
    else topup.lateCents += rules.centsFor(units, topup.coin, this.rateOf(topup.coin));
    const inTime = topup.unitsInTime;
    const isExact = inTime <= topup.units && inTime * 1000n >= topup.units * 995n;
    const inTimeCents = isExact ? topup.requested : rules.centsFor(inTime, topup.coin, topup.usd);
    const worth = topup.lateCents + inTimeCents;
    if (worth <= topup.credited) return;
    this.#recordEvent(topup.id, 'topup.pending', 'topup.confirmed');
    this.#credit('topup', worth - topup.credited, topup.id);
    topup.credited = worth;
    topup.status = 'credited';
    const bonus = rules.bonusFor(worth);
    if (bonus > topup.bonus) this.#credit('bonus', bonus - topup.bonus, topup.id);
    topup.bonus = bonus;
    this.mails.push(`topup_credited ${topup.id}`);
    this.#afterCredit();
  }

  adjustBalance(cents: bigint): void {
    this.#credit('adjustment', cents, null);
    this.#afterCredit();
  }

  rateOf(coin: rules.Coin): string {
    return this.rates.get(coin) ?? rules.COINS[coin].usd;
  }

  // ---- passing of time

  advanceTo(target: number): void {
    for (let due = this.#nextDue(); due && due.at <= target; due = this.#nextDue()) {
      this.now = Math.max(this.now, due.at);
      due.run();
    }
    this.now = target;
  }

  /** Returns the times of all scheduled changes. */
  dueTimes(): number[] {
    return this.#allDues().map(({ at }) => at);
  }

  /** Times near which no command may run: the service could be on either side of them. */
  boundaryTimes(): number[] {
    return [...this.dueTimes(), ...this.topups.map(({ expiresAt }) => expiresAt + RATE_LOCK_EXTENSION_MS)];
  }

  #nextDue(): DueAction | undefined {
    return this.#allDues().sort((a, b) => a.at - b.at || a.tieBreaker - b.tieBreaker)[0];
  }

  #allDues(): DueAction[] {
    const invoices = this.topups.filter(({ status }) => status === 'pending');
    return [
      ...this.activeServers.flatMap((server) => this.#duesOf(server, this.servers.indexOf(server))),
      ...invoices.map((topup) => ({
        at: topup.expiresAt,
        tieBreaker: -1,
        run: () => {
          topup.status = 'expired';
          this.#recordEvent(topup.id, 'topup.expired');
        },
      })),
    ];
  }

  #duesOf(server: ModelServer, tieBreaker: number): DueAction[] {
    if (server.status === 'suspended') {
      const end = Math.max(server.suspendedAt, server.paidUntil) + rules.GRACE_DAYS * rules.DAY_MS;
      const days = rules.WARNING_DAYS.find((left) => left < server.lastWarningDays);
      if (days === undefined) return [{ at: end, tieBreaker, run: () => this.#endGracePeriod(server) }];
      return [{ at: end - days * rules.DAY_MS, tieBreaker, run: () => this.#warn(server, days) }];
    }
    if (server.windowOpenedFor === server.paidUntil) {
      return [{ at: server.paidUntil, tieBreaker, run: () => this.#endCycle(server) }];
    }
    const opens = () => {
      server.windowOpenedFor = server.paidUntil;
      if (server.autoRenew) this.#notifyIfLow(server);
      else this.mails.push(`server_ends ${server.id}`);
    };
    return [{ at: server.paidUntil - rules.LOW_BALANCE_DAYS * rules.DAY_MS, tieBreaker, run: opens }];
  }

  #endCycle(server: ModelServer): void {
    if (!server.autoRenew || this.balance < server.price) {
      this.#suspend(server, server.autoRenew ? 'balance' : 'not_renewed');
      return;
    }
    server.paidUntil = rules.addMonths(server.paidUntil, server.months, server.anchor);
    this.#charge(server);
    this.#afterDebit();
  }

  #suspend(server: ModelServer, reason: 'balance' | 'not_renewed'): void {
    server.resumeTo = server.status === 'stopped' ? 'stopped' : 'running';
    server.status = 'suspended';
    server.reason = reason;
    server.suspendedAt = this.now;
    server.lastWarningDays = Number.POSITIVE_INFINITY;
    this.#recordEvent(server.id, 'server.suspended');
    this.mails.push(`server_suspended ${server.id}`);
  }

  #warn(server: ModelServer, days: number): void {
    server.lastWarningDays = days;
    this.mails.push(`destruction_warning ${server.id}`);
  }

  #endGracePeriod(server: ModelServer): void {
    this.destroy(server);
    this.mails.push(`server_destroyed ${server.id}`);
  }

  /** Returns the servers that wait for a sufficient balance, in the order in which they resume. */
  awaitingBalance(): ModelServer[] {
    const waiting = this.activeServers.filter(({ reason }) => reason === 'balance');
    return waiting.sort((a, b) => a.paidUntil - b.paidUntil);
  }

  /** Resumes every server that the balance covers, in that order, with a cycle that starts now. */
  #afterCredit(): void {
    let resumed = false;
    for (const server of this.awaitingBalance()) {
      if (this.balance < server.price) continue;
      this.#restartCycle(server, server.resumeTo);
      resumed = true;
    }
    if (resumed) this.#afterDebit();
  }

  #restartCycle(server: ModelServer, status: 'running' | 'stopped'): void {
    this.#charge(server);
    server.anchor = rules.dayOfMonth(this.now);
    server.paidUntil = rules.addMonths(this.now, server.months, server.anchor);
    server.isApproximate = true;
    server.status = status;
    server.reason = null;
    if (status === 'running') this.#recordEvent(server.id, 'server.running');
  }

  #afterDebit(): void {
    for (const server of this.activeServers) {
      if (server.windowOpenedFor === server.paidUntil) this.#notifyIfLow(server);
    }
  }

  /**
   * Notifies once per server and cycle if the balance does not cover every renewal up to the end of this
   * cycle.
   */
  #notifyIfLow(server: ModelServer): void {
    const renews = (candidate: ModelServer) => candidate.status !== 'suspended' && candidate.autoRenew;
    if (!renews(server) || server.notifiedFor === server.paidUntil) return;
    const needed = this.activeServers
      .filter((candidate) => renews(candidate) && candidate.paidUntil <= server.paidUntil)
      .reduce((sum, { price }) => sum + price, 0n);
    if (this.balance >= needed) return;
    server.notifiedFor = server.paidUntil;
    this.#recordEvent(server.id, 'billing.low_balance');
    this.mails.push(`low_balance ${server.id}`);
  }

  #charge(server: ModelServer): void {
    this.balance -= server.price;
    this.ledger.push(`charge ${-server.price} ${server.id}`);
    this.#recordEvent(server.id, 'billing.charged');
  }

  #credit(type: string, cents: bigint, resource: string | null): void {
    this.balance += cents;
    this.ledger.push(`${type} ${cents} ${resource}`);
  }

  #recordEvent(resource: string, ...types: string[]): void {
    this.events.set(resource, [...(this.events.get(resource) ?? []), ...types]);
  }
}
