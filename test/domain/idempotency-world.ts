/** A customer who sends requests with an Idempotency-Key. Every request that runs costs a dollar. */
import assert from 'node:assert/strict';
import type { CustomerActor, Service } from '../../src/domain/context.ts';
import {
  type IdempotentRequest,
  type IdempotentResult,
  runIdempotent,
} from '../../src/domain/idempotency.ts';
import { charge } from '../../src/domain/ledger/transfer.ts';
import { Failure } from '../../src/kernel/fail.ts';
import { formatId, newId } from '../../src/kernel/ids.ts';
import type { FailureCode } from '../../src/spec/errors.ts';
import { readBalance } from '../../src/store/ledger/ledger.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

export const CANARY = 'canary-secret-91c2';
export const CREDENTIAL = 'skerry_live_credential-canary';

export type RequestOptions = Partial<Omit<IdempotentRequest, 'refusal'>> & { readonly body?: object };

export class IdempotencyWorld {
  readonly world: TestService;
  actor: CustomerActor;
  /** Number of requests that ran. */
  runs = 0;
  #balance: bigint;

  private constructor(world: TestService, actor: CustomerActor) {
    this.world = world;
    this.actor = actor;
    this.#balance = 0n;
  }

  static async open(): Promise<IdempotencyWorld> {
    const world = await startTestService();
    return new IdempotencyWorld(world, await world.fixtures.addCustomer());
  }

  /** Creates a new customer who has sent nothing yet. */
  async renew(balanceCents = 1_000n): Promise<void> {
    this.runs = 0;
    this.#balance = balanceCents;
    this.actor = await this.world.fixtures.addCustomer(balanceCents);
  }

  /** Returns a request of the customer, the same one by default. */
  request(wanted: RequestOptions = {}): IdempotentRequest {
    const { body = { plan: 's1', months: 1 }, ...others } = wanted;
    return {
      actor: { ...this.actor, requestId: formatId('request', newId(new Date())) },
      key: 'key-1',
      credential: CREDENTIAL,
      request: { method: 'POST', path: '/deploy-api.php', query: {}, body },
      status: 200,
      ...others,
    };
  }

  /** Charges a dollar and saves a response with a secret. */
  readonly run = async ({ saveResponse }: CustomerActor): Promise<object> => {
    this.runs += 1;
    const response = { ok: true, number: this.runs, secret: CANARY };
    const { db, clock } = this.world;
    await db.transaction(async (tx) => {
      const { customerId } = this.actor;
      const fact = `once:${newId(new Date())}`;
      const movement = { customerId, account: 'adjustments', amountCents: 100n, fact } as const;
      await charge(tx, { ...movement, type: 'adjustment', description: 'test' }, clock.now());
      await saveResponse?.(tx, response);
    });
    return response;
  };

  async send(wanted?: RequestOptions, service: Service = this.world.service): Promise<IdempotentResult> {
    return await runIdempotent(service, this.request(wanted), this.run);
  }

  async spent(): Promise<bigint> {
    return this.#balance - (await readBalance(this.world.db, this.actor.customerId));
  }
}

export async function assertRefused(code: FailureCode, work: Promise<unknown>): Promise<void> {
  const error: unknown = await work.then(
    () => assert.fail('the request did not fail'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure, String(error));
  assert.equal(error.code, code);
}
