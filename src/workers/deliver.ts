/**
 * Sends what is queued for webhooks. What is leased is the subscription, so each has a turn of its own (turn.ts), and a
 * receiver that is dead, slow or hostile has nothing but its own turn to spoil. Turns cost sockets, not CPU: those that wait
 * for slow ones are counted apart, and never take the places of those that answer.
 *
 * A run leases what is due as far as there are places, and returns while turns go on beside it. What they have to write is
 * gathered from all of them into one transaction at a time.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../domain/context.ts';
import { isOn } from '../domain/switches/switch.ts';
import { putOff, recordGone, recordTurns, takeBack } from '../domain/webhooks/record.ts';
import { eventContents, openSecret, sendingTo } from '../domain/webhooks/send.ts';
import { crashPoint } from '../kernel/crash.ts';
import type { WebhookSender } from '../ports/webhooks.ts';
import {
  claimQueues,
  extendQueues,
  type HeldQueue,
  hasDueQueues,
  nextQueueDue,
  readDue,
} from '../store/webhook-queues.ts';
import type { Duty } from './duty.ts';
import { Turn, type TurnParts } from './turn.ts';

/** Turns of subscriptions that answer in good time, and of those that do not. */
const QUICK_MAX = 256;
const SLOW_MAX = 512;
/** Deliveries of one turn. */
const QUICK_BATCH = 32;
const SLOW_BATCH = 8;

const LEASE_S = 15;
const HEARTBEAT_MS = 4_000;
/** How long results wait for others, to be written together; where turns are few, there is nothing to wait for. */
const GATHER_MS = 5;
const FEW = 8;
/** How long a run waits for the turns that are under way. */
const PATIENCE_MS = 500;
/** After a fault of our own: no sockets left, no database. */
const FAULT_PAUSE_MS = 1_000;
/** When the service stops: for what is under way. What is not answered by then is sent again by whoever comes next. */
const STOP_MS = 4_000;

export interface DeliverOptions {
  readonly stopMs?: number;
}

export function deliverDuty(
  service: Service,
  sender: WebhookSender,
  { stopMs = STOP_MS }: DeliverOptions = {},
): Duty {
  const deliverer = new Deliverer(service, sender, stopMs);
  return {
    name: 'deliver',
    holdsClock: true,
    run: () => deliverer.run(),
    nextDue: async () => ((await isOn(service.db, 'webhooks')) ? await nextQueueDue(service.db) : null),
    busy: () => deliverer.busy(),
    wake: () => deliverer.wake(),
    stop: () => deliverer.stop(),
  };
}

class Deliverer {
  readonly #service: Service;
  readonly #sender: WebhookSender;
  readonly #stopMs: number;
  readonly #turns = new Set<Turn>();
  readonly #heartbeat: NodeJS.Timeout;
  #writing: Promise<void> | undefined;
  #ended = 0;
  #woken = false;
  #rise: () => void = () => undefined;
  #restUntilMs = 0;
  #stopping = false;

  constructor(service: Service, sender: WebhookSender, stopMs: number) {
    this.#service = service;
    this.#sender = sender;
    this.#stopMs = stopMs;
    this.#heartbeat = setInterval(() => this.#extend(), HEARTBEAT_MS).unref();
  }

  async busy(): Promise<boolean> {
    const { db, clock } = this.#service;
    if (!(await isOn(db, 'webhooks'))) return false;
    return this.#turns.size > 0 || (await hasDueQueues(db, clock.now()));
  }

  async run(): Promise<number> {
    this.#woken = false;
    if (this.#stopping) return 0;
    if (!(await isOn(this.#service.db, 'webhooks'))) {
      for (const turn of this.#turns) turn.stop();
      return 0;
    }
    await this.#begin();
    if (this.#turns.size > 0) await this.#something();
    const did = this.#ended + this.#turns.size;
    this.#ended = 0;
    return did;
  }

  /** More may be due: a run that waits for its turns looks again. */
  wake(): void {
    this.#woken = true;
    this.#rise();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.wake();
    for (const turn of this.#turns) turn.stop();
    const deadline = performance.now() + this.#stopMs;
    while (this.#turns.size > 0 && performance.now() < deadline) await pause(GATHER_MS);
    // Whatever is cut by this ends now, and is given back.
    await this.#sender.close();
    await pause(0);
    await this.#writing;
    clearInterval(this.#heartbeat);
  }

  /** Leases what is due, as far as there is room, and begins its turns. */
  async #begin(): Promise<void> {
    const { db, clock } = this.#service;
    const { quick, slow } = this.#room();
    if ((quick === 0 && slow === 0) || performance.now() < this.#restUntilMs) return;
    const now = clock.now();
    const leaseId = randomUUID();
    const queues = await claimQueues(db, { leaseId, leaseS: LEASE_S, now, quick, slow });
    if (queues.length === 0) return;
    crashPoint('deliver.claimed');
    const secrets = await this.#secrets(queues, leaseId);
    const ready = queues.filter(({ webhook_id }) => secrets.has(webhook_id));
    const wanted = ready.map(({ webhook_id, slow }) => ({
      webhook_id,
      most: slow ? SLOW_BATCH : QUICK_BATCH,
    }));
    const due = await readDue(db, wanted, now);
    const contents = await eventContents(db, [...due.values()].flat());
    for (const held of ready) {
      const { webhook_id, url } = held;
      const send = sendingTo(this.#sender, { url, secret: secrets.get(webhook_id) ?? '' }, contents);
      const turn = this.#turn({ held, leaseId, deliveries: due.get(webhook_id) ?? [], send });
      this.#turns.add(turn);
      turn.advance();
    }
  }

  /** By subscription; what waits for one that nothing can be sent to is taken back, or put off. */
  async #secrets(queues: readonly HeldQueue[], leaseId: string): Promise<ReadonlyMap<string, string>> {
    const secrets = new Map<string, string>();
    for (const held of queues) {
      const secret = held.active ? openSecret(this.#service, held) : null;
      if (secret !== null) {
        secrets.set(held.webhook_id, secret);
        continue;
      }
      await (held.active ? putOff : takeBack)(this.#service, {
        ...held,
        webhookId: held.webhook_id,
        leaseId,
      });
      this.#ended += 1;
    }
    return secrets;
  }

  #room(): { quick: number; slow: number } {
    let slow = 0;
    for (const turn of this.#turns) if (turn.isSlow) slow += 1;
    const quick = this.#turns.size - slow;
    // Slow ones beyond their places take those of others, until they have had their time.
    const beyond = Math.max(0, slow - SLOW_MAX);
    return { quick: Math.max(0, QUICK_MAX - quick - beyond), slow: Math.max(0, SLOW_MAX - slow) };
  }

  #turn(parts: Pick<TurnParts, 'held' | 'leaseId' | 'deliveries' | 'send'>): Turn {
    return new Turn({
      ...parts,
      clock: this.#service.clock,
      onChange: () => this.#write(),
      onOwnFault: (error) => this.#rest(error),
    });
  }

  #rest(error: unknown): void {
    if (this.#stopping) return;
    this.#restUntilMs = performance.now() + FAULT_PAUSE_MS;
    // Its text may name the address that was to be connected to.
    const { code = 'unknown' } = error as { code?: unknown };
    this.#service.log.warn({ code }, 'webhooks could not be sent');
  }

  /** Resolves when a turn has ended, when more may be due, or when its patience is over. */
  async #something(): Promise<void> {
    if (this.#woken || this.#ended > 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, PATIENCE_MS);
      this.#rise = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#rise = () => undefined;
  }

  /** Begins to write, unless it is being done: then what is new goes with the next transaction. */
  #write(): void {
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      await pause(this.#turns.size < FEW ? 0 : GATHER_MS);
      const turns = [...this.#turns].filter((turn) => turn.hasNews);
      if (turns.length === 0) {
        // Here and not a moment later: what is new after this look begins to be written again.
        this.#writing = undefined;
        return;
      }
      try {
        await this.#record(turns);
      } catch (error) {
        this.#service.log.warn({ err: error }, 'what became of webhooks could not be written');
        // Their leases end by themselves.
        if (this.#stopping) this.#turns.clear();
        await pause(FAULT_PAUSE_MS);
      }
    }
  }

  async #record(turns: readonly Turn[]): Promise<void> {
    const reports = turns.map((turn) => turn.report());
    const revisions = await recordTurns(this.#service, reports);
    turns.forEach((turn, n) => {
      const report = reports[n];
      const revision = revisions.get(turn.held.webhook_id);
      if (!report) return;
      // Another one holds it by now, or the customer has changed it: what was read of it holds no longer.
      if (revision !== turn.held.revision) turn.stop();
      turn.written(report.results.length);
      if (report.over || (revision === undefined && turn.isOver)) this.#end(turn);
    });
    for (const turn of turns) {
      if (!this.#turns.has(turn) || !turn.isOver || turn.gone.length === 0) continue;
      await recordGone(this.#service, { ...turn.lease, ...turn.held }, turn.gone);
      turn.goneWritten();
      this.#service.wake();
    }
  }

  #end(turn: Turn): void {
    this.#turns.delete(turn);
    this.#ended += 1;
    this.#rise();
  }

  #extend(): void {
    if (this.#turns.size === 0) return;
    const leases = [...this.#turns].map((turn) => turn.lease);
    extendQueues(this.#service.db, leases, LEASE_S).catch((error: unknown) => {
      this.#service.log.warn({ err: error }, 'a lease could not be extended');
    });
  }
}
