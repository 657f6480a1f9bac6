/** A service with scripted chains whose calendar advances from due date to due date. */
import assert from 'node:assert/strict';
import type { CustomerActor, Service } from '../../../src/domain/context.ts';
import { credit } from '../../../src/domain/ledger/transfer.ts';
import { deploy } from '../../../src/domain/servers/deploy/deploy.ts';
import type { DeployOrder } from '../../../src/domain/servers/deploy/prepare.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import type { CoinCode } from '../../../src/spec/coins.ts';
import { readBalance } from '../../../src/store/ledger/ledger.ts';
import { findServer, type ServerRow } from '../../../src/store/servers/servers.ts';
import { JobRunner } from '../../../src/workers/job-runner.ts';
import { renewJob } from '../../../src/workers/jobs.ts';
import { operateJob } from '../../../src/workers/operate.ts';
import { watchJob } from '../../../src/workers/watch.ts';
import { S1 } from '../../support/fixtures.ts';
import { ScriptedChain } from '../../support/scripted-chain.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

const TIMEOUT_MS = 30_000;

export class CalendarWorld {
  readonly world: TestService;
  readonly service: Service;
  readonly chain: ScriptedChain;
  /** Whether a worker reads the chain. */
  watching = false;
  readonly #unwatchedRunner: JobRunner;
  readonly #watchedRunner: JobRunner;

  private constructor(world: TestService) {
    this.world = world;
    this.chain = new ScriptedChain('BTC', world.clock);
    this.service = {
      ...world.service,
      chains: new Map<CoinCode, ScriptedChain>([['BTC', this.chain]]),
      settings: { ...world.service.settings, shutdownDeadlineS: 10 },
    };
    const watch = watchJob(this.service, { retry: { firstMs: 1, maxMs: 2 } });
    const jobs = [renewJob(this.service), operateJob(this.service)];
    const { log } = world.service;
    this.#unwatchedRunner = new JobRunner({ jobs, pollMs: 500, log });
    this.#watchedRunner = new JobRunner({ jobs: [watch, ...jobs], pollMs: 500, log });
  }

  static async open(): Promise<CalendarWorld> {
    const world = await startTestService();
    const { fixtures } = world;
    await fixtures.addPlans(['par'], [S1, { ...S1, id: 's2', price_cents_month: 2_000n }]);
    await fixtures.addHosts([200]);
    await fixtures.addAddresses(200, 200);
    return new CalendarWorld(world);
  }

  async customer(cents = 0n): Promise<CustomerActor> {
    return await this.world.fixtures.addCustomer(cents);
  }

  async pay(actor: CustomerActor, amountCents: bigint): Promise<void> {
    const { db, clock } = this.world;
    const now = clock.now();
    const fact = `gift:${newId(now)}`;
    const gift = { customerId: actor.customerId, amountCents, fact, description: 'a gift' };
    await credit(db, { ...gift, account: 'adjustments', type: 'adjustment' }, now);
  }

  /**
   * Orders a server, waits until it runs, and returns its id. The install takes a few seconds of clock
   * time.
   */
  async running(actor: CustomerActor, wanted: Partial<DeployOrder> = {}): Promise<string> {
    const id = await this.ordered(actor, wanted);
    await this.advance(10_000);
    return id;
  }

  async ordered(actor: CustomerActor, wanted: Partial<DeployOrder> = {}): Promise<string> {
    return (await deploy(this.service, actor, this.world.fixtures.buildOrder(wanted))).server.id;
  }

  get now(): Date {
    return this.world.clock.now();
  }

  /** Advances to this moment, stopping at every due date. */
  async advanceTo(target: Date): Promise<void> {
    const { clock } = this.world;
    for (;;) {
      await this.runDueWork();
      const next = await this.#unwatchedRunner.nextDue();
      if (next === null || next >= target) break;
      if (next > clock.now()) clock.moveTo(next);
    }
    if (target > clock.now()) clock.moveTo(target);
    await this.runDueWork();
  }

  async advance(ms: number): Promise<void> {
    await this.advanceTo(new Date(this.now.getTime() + ms));
  }

  async advanceDays(days: number): Promise<void> {
    await this.advance(days * DAY_MS);
  }

  /** Jumps without work in between, as if the service had been down. */
  jumpTo(target: Date): void {
    this.world.clock.moveTo(target);
  }

  /** Runs due work until none is left. */
  async runDueWork(): Promise<void> {
    const runner = this.watching ? this.#watchedRunner : this.#unwatchedRunner;
    assert.ok(await runner.runDue(performance.now() + TIMEOUT_MS), 'the due work does not settle');
  }

  async server(id: string): Promise<ServerRow> {
    const server = await findServer(this.world.db, id);
    assert.ok(server, 'the server no longer exists');
    return server;
  }

  /** Returns `running`, `suspended balance`, `gone`, and so on. */
  async status(id: string): Promise<string> {
    const server = await findServer(this.world.db, id);
    if (!server) return 'gone';
    return [server.status, server.suspended_reason].filter((word) => word !== null).join(' ');
  }

  async machine(id: string): Promise<string | undefined> {
    return (await this.world.simulator.machines()).find((each) => each.id === id)?.state;
  }

  async balance(actor: CustomerActor): Promise<bigint> {
    return await readBalance(this.world.db, actor.customerId);
  }

  /** Returns the server's charges in cents, in order. */
  async charges(id: string): Promise<number[]> {
    const rows = await this.world.db.rows<{ cents: bigint }>(
      `select amount_cents as cents from transfers where resource_id = $1 and type = 'charge'
        order by split_part(fact, ':', 3)::int`,
      [id],
    );
    return rows.map((row) => Number(row.cents));
  }

  /** Returns the types of events about the server, including billing events, in order. */
  async events(id: string, like = '%'): Promise<string[]> {
    const shown = formatId('server', id);
    const rows = await this.world.db.rows<{ type: string }>(
      `select type from events
        where type like $2 and type not like 'action.%'
          and (data -> 'server' ->> 'id' = $1 or data -> 'ledger_entry' ->> 'resource' = $1)
        order by created_at, ctid`,
      [shown, like],
    );
    return rows.map((row) => row.type);
  }

  /** Returns the kinds of the customer's mails in order, with the days of warnings. */
  async mails(actor: CustomerActor): Promise<string[]> {
    const rows = await this.world.db.rows<{ kind: string; cause: string }>(
      'select kind, cause from mails where customer_id = $1 order by created_at, id',
      [actor.customerId],
    );
    return rows.map(({ kind, cause }) =>
      kind === 'destruction_warning' ? `${kind} ${cause.split(':').at(-1)}` : kind,
    );
  }

  async close(): Promise<void> {
    await this.world.close();
  }
}

/** Parses a UTC time such as `2030-02-28 12:00`. */
export function at(text: string): Date {
  return new Date(`${text.replace(' ', 'T')}:00Z`);
}

/** Formats a day such as `2030-02-28`. */
export function day(time: Date): string {
  return time.toISOString().slice(0, 10);
}
