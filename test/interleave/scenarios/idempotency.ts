/** Idempotency keys: one change and one response for each key, in any process, however it ends. */
import assert from 'node:assert/strict';
import type { CustomerActor } from '../../../src/domain/context.ts';
import type { runIdempotent } from '../../../src/domain/idempotency.ts';
import { charge } from '../../../src/domain/ledger/transfer.ts';
import { fail } from '../../../src/kernel/fail.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { readBalance } from '../../../src/store/ledger/ledger.ts';
import type { Chances } from '../core/events.ts';
import type { Prepared, Scenario } from '../core/explore.ts';
import { isDone } from '../core/outcomes.ts';
import type { Task } from '../core/scheduler.ts';
import type { InterleaveWorld } from '../core/world.ts';

type Module = { readonly runIdempotent: typeof runIdempotent };

/** The module as each process loads it, with its own requests in flight. */
async function load(process: string): Promise<Module> {
  return (await import(
    `${new URL('../../../src/domain/idempotency.ts', import.meta.url).href}?${process}`
  )) as Module;
}

const PROCESSES = { a: await load('a'), b: await load('b'), later: await load('later') };

/** No process knows a key from an earlier interleaving. */
let keys = 0;

const PRICE = 100n;

interface Sent {
  readonly process?: keyof typeof PROCESSES;
  readonly body?: object;
  /** Its verb fails without a change. */
  readonly refuses?: boolean;
}

/** Sends a request that costs a dollar. Returns the number of its charge, the same for every replay. */
function sender(world: InterleaveWorld, actor: CustomerActor) {
  keys += 1;
  const key = `key-${keys}`;
  return async ({ process = 'a', body = { months: 1 }, refuses = false }: Sent = {}): Promise<string> => {
    const service = world.service();
    const pay = async ({ customerId, saveResponse }: CustomerActor): Promise<object> => {
      if (refuses) fail('out_of_stock');
      return await service.db.transaction(async (tx) => {
        const id = newId(service.clock.now());
        const movement = { customerId, account: 'adjustments', amountCents: PRICE, fact: id } as const;
        await charge(tx, { ...movement, type: 'adjustment', description: 'test' }, service.clock.now());
        await saveResponse?.(tx, { id });
        return { id };
      });
    };
    const request = {
      actor: { ...actor, requestId: formatId('request', newId(service.clock.now())) },
      key,
      credential: 'skerry_live_test',
      request: { method: 'POST', path: '/v1/servers', query: {}, body },
      status: 200,
    } as const;
    const { response } = await PROCESSES[process].runIdempotent(service, request, pay);
    return (response.body as { id: string }).id;
  };
}

async function prepareKey(world: InterleaveWorld, sent: Readonly<Record<string, Sent>>): Promise<Prepared> {
  const actor = await world.fixtures.addCustomer(10n * PRICE);
  const send = sender(world, actor);
  const responses = (tasks: readonly Task[]) => new Set(tasks.filter(isDone).map(({ result }) => result));
  let retried = '';
  return {
    tasks: Object.fromEntries(
      Object.entries(sent).map(([name, one]) => [`${name}@${one.process ?? 'a'}`, () => send(one)]),
    ),
    // The customer's library tries again, with the same body.
    finish: async () => {
      retried = await send({ process: 'later' }).catch(() => 'refused');
    },
    check: async (tasks, db) => {
      const spent = 10n * PRICE - (await readBalance(db, actor.customerId));
      assert.equal(spent, PRICE, 'charged once');
      const seen = responses(tasks);
      assert.ok(seen.size <= 1, `${seen.size} responses`);
      if (seen.size === 1 && retried !== 'refused') assert.ok(seen.has(retried));
    },
  };
}

const FAULTS: Chances = { deaths: 1, faults: 2 };

const sameKey: Scenario = {
  name: 'same-key-in-parallel',
  chances: FAULTS,
  prepare: (world) => prepareKey(world, { one: {}, again: {}, elsewhere: { process: 'b' } }),
};

const otherBody: Scenario = {
  name: 'same-key-other-body',
  chances: FAULTS,
  prepare: (world) => prepareKey(world, { one: {}, other: { body: { months: 2 }, process: 'b' }, again: {} }),
};

const refusedOnce: Scenario = {
  name: 'same-key-refused-once',
  chances: FAULTS,
  prepare: (world) => prepareKey(world, { refused: { refuses: true }, paid: { process: 'b' }, again: {} }),
};

export const IDEMPOTENCY: readonly Scenario[] = [sameKey, otherBody, refusedOnce];
