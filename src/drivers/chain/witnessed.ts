/**
 * A chain with a second node. The first is read as if there were no other; of what it has in a block the second is asked, and
 * what that one does not have in the same block is told as not agreed: it is not credited, and a credit that stands is left. A
 * second node that is silent, or must not be used, agrees to nothing, and holds nothing else up.
 */
import { inTime, NotInTime } from '../../kernel/in-time.ts';
import { faultLine } from '../../kernel/logger.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import type { ChainDriver, ChainHealth, ChainNote, Deposit, Observation, Polled } from '../../ports/chain.ts';
import { confirmationsMost } from '../../spec/coins.ts';
import { Proof } from './proven.ts';

/** Less than a poll may take: the first node's word is not lost because the second one hangs. */
const PATIENCE_MS = 8 * SECOND_MS;
/**
 * How long it is not asked after it let us wait in vain: a look asks several times, and the first node's news must not wait for each. It
 * agrees to nothing meanwhile.
 */
const RESTS_MS = 10 * SECOND_MS;
/** Asked for at once: one that the second node stumbles over keeps few others waiting. */
const AT_ONCE = 50;

export interface Witness {
  /** Throws UnsafeChain where it is on another network, and any other error where it cannot be asked. */
  prove(): Promise<void>;
  /**
   * Of these payments, each in a block: those that it has in the same block with the same amount, by key, and how many confirmations
   * they have there.
   */
  confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>>;
  health(): Promise<ChainHealth>;
  /** What whoever runs the service should know of it. */
  examine?(): Promise<readonly ChainNote[]>;
}

export class WitnessedChain implements ChainDriver {
  readonly coin: string;
  readonly #first: ChainDriver;
  readonly #second: Witness;
  readonly #proof: Proof;
  readonly #patienceMs: number;
  readonly #restsMs: number;
  #restsUntilMs = 0;

  constructor(first: ChainDriver, second: Witness, { patienceMs = PATIENCE_MS, restsMs = RESTS_MS } = {}) {
    this.coin = first.coin;
    this.#first = first;
    this.#second = second;
    this.#proof = new Proof(() => second.prove());
    this.#patienceMs = patienceMs;
    this.#restsMs = restsMs;
  }

  async prove(): Promise<void> {
    await this.#first.prove();
    await this.#proof.renew();
  }

  async allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    return await this.#first.allocate(invoice);
  }

  async poll(from: { cursor: string | null }): Promise<Polled> {
    const polled = await this.#first.poll(from);
    return { ...polled, observations: await this.#judged(polled.observations) };
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    return await this.#judged(await this.#first.recheck(keys));
  }

  async health(): Promise<ChainHealth> {
    return await this.#first.health();
  }

  async examine(given: number): Promise<readonly ChainNote[]> {
    const health = this.#secondHealth();
    // Why it does not answer its health says.
    const notes = this.#asked(async () => (await this.#second.examine?.()) ?? []).catch(() => []);
    return [...(await this.#first.examine(given)), await health, ...(await notes)];
  }

  async #secondHealth(): Promise<ChainNote> {
    try {
      const { ok, height, detail } = await this.#asked(() => this.#second.health());
      return { level: ok ? 'ok' : 'look', says: `the second node is at block ${height}: ${detail}` };
    } catch (error) {
      return { level: 'look', says: `the second node cannot be asked: ${faultLine(error)}` };
    }
  }

  async #judged(observations: readonly Observation[]): Promise<Observation[]> {
    const included = observations.filter(({ blockHash }) => blockHash !== null);
    if (included.length === 0) return [...observations];
    const most = confirmationsMost(this.coin);
    const confirmed = await this.#confirmed(included);
    return observations.map((observation) => judged(observation, confirmed.get(observation.key) ?? 0, most));
  }

  /** What the second node said in time. Why it said no more is for whoever examines it. */
  async #confirmed(included: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    if (performance.now() < this.#restsUntilMs) return NONE;
    const confirmed = new Map<string, number>();
    let isLate = false;
    const ask = async () => {
      for (let i = 0; i < included.length && !isLate; i += AT_ONCE) {
        const some = await this.#second.confirm(included.slice(i, i + AT_ONCE)).catch(() => NONE);
        if (!isLate) for (const [key, confirmations] of some) confirmed.set(key, confirmations);
      }
    };
    await this.#asked(ask).catch((error: unknown) => {
      if (error instanceof NotInTime) this.#restsUntilMs = performance.now() + this.#restsMs;
    });
    isLate = true;
    return confirmed;
  }

  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    const answer = this.#proof.ensure().then(ask);
    return await inTime(answer, this.#patienceMs);
  }
}

const NONE: ReadonlyMap<string, number> = new Map();

/** `most`: as many as any amount needs. */
function judged(observation: Observation, confirmations: number, most: number): Observation {
  if (observation.blockHash === null) return observation;
  if (confirmations >= observation.confirmations) return observation;
  // A node that is always a block behind keeps nothing from being final.
  if (confirmations >= most) return { ...observation, confirmations };
  // What is final is not asked for again: this must be, until the second node has it deep enough.
  if (confirmations > 0) return { ...observation, state: 'included', confirmations };
  return { ...observation, state: 'included', agreed: false };
}
