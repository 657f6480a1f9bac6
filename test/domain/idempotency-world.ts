/** A customer who sends requests with an Idempotency-Key; each that is carried out costs a dollar. */
import assert from 'node:assert/strict';
import type { CustomerActor, Service } from '../../src/domain/context.ts';
import { type OnceAnswer, type OnceRequest, once, type Within } from '../../src/domain/idempotency.ts';
import { charge } from '../../src/domain/ledger/transfer.ts';
import { Failure } from '../../src/kernel/fail.ts';
import { newId, showId } from '../../src/kernel/ids.ts';
import type { FailureCode } from '../../src/spec/errors.ts';
import { readBalance } from '../../src/store/ledger.ts';
import { type TestService, testService } from '../support/service.ts';

export const CANARY = 'canary-secret-91c2';
export const CREDENTIAL = 'skerry_live_credential-canary';

export type Wanted = Partial<Omit<OnceRequest, 'refusal'>> & { readonly body?: object };

export class OnceWorld {
  readonly world: TestService;
  actor: CustomerActor;
  /** How often a request was carried out. */
  acted = 0;
  #balance: bigint;

  private constructor(world: TestService, actor: CustomerActor) {
    this.world = world;
    this.actor = actor;
    this.#balance = 0n;
  }

  static async open(): Promise<OnceWorld> {
    const world = await testService();
    return new OnceWorld(world, await world.stock.customer());
  }

  /** A new customer, who has sent nothing yet. */
  async renew(balanceCents = 1_000n): Promise<void> {
    this.acted = 0;
    this.#balance = balanceCents;
    this.actor = await this.world.stock.customer(balanceCents);
  }

  /** A request of the customer, the same one unless told otherwise. */
  request(wanted: Wanted = {}): OnceRequest {
    const { body = { plan: 's1', months: 1 }, ...others } = wanted;
    return {
      actor: { ...this.actor, requestId: showId('request', newId(new Date())) },
      key: 'key-1',
      credential: CREDENTIAL,
      request: { method: 'POST', path: '/deploy-api.php', query: {}, body },
      status: 200,
      ...others,
    };
  }

  /** Takes a dollar, and keeps an answer that holds a secret. */
  readonly act = async (keep: Within | undefined): Promise<object> => {
    this.acted += 1;
    const answer = { ok: true, number: this.acted, secret: CANARY };
    const { db, clock } = this.world;
    await db.transaction(async (tx) => {
      const { customerId } = this.actor;
      const fact = `once:${newId(new Date())}`;
      const movement = { customerId, account: 'adjustments', amountCents: 100n, fact } as const;
      await charge(tx, { ...movement, type: 'adjustment', description: 'test' }, clock.now());
      await keep?.(tx, answer);
    });
    return answer;
  };

  async send(wanted?: Wanted, service: Service = this.world.service): Promise<OnceAnswer> {
    return await once(service, this.request(wanted), this.act);
  }

  async spent(): Promise<bigint> {
    return this.#balance - (await readBalance(this.world.db, this.actor.customerId));
  }
}

export async function refusedAs(code: FailureCode, work: Promise<unknown>): Promise<void> {
  const error: unknown = await work.then(
    () => assert.fail('it was not refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure, String(error));
  assert.equal(error.code, code);
}
