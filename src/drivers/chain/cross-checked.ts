/**
 * A chain with a second node. The first is read as if there were no other; of what it has in a block the second is asked, and
 * what that one does not have in the same block is told as not agreed: it is not credited, and a credit that stands is left. A
 * second node that is silent, or must not be used, agrees to nothing, and holds nothing else up.
 */

import { summarizeError } from '../../kernel/logger.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { TimeoutError, withTimeout } from '../../kernel/with-timeout.ts';
import type {
  ChainDriver,
  ChainFinding,
  ChainHealth,
  Deposit,
  Observation,
  PollResult,
} from '../../ports/chain.ts';
import { maxConfirmations } from '../../spec/coins.ts';
import { SafetyCheck } from './safety-check.ts';

/** Less than a poll may take: the first node's word is not lost because the second one hangs. */
const SECOND_NODE_TIMEOUT_MS = 8 * SECOND_MS;
/**
 * How long it is not asked after it let us wait in vain: a look asks several times, and the first node's news must not wait for each. It
 * agrees to nothing meanwhile.
 */
const SECOND_NODE_BACKOFF_MS = 10 * SECOND_MS;
/** Asked for at once: one that the second node stumbles over keeps few others waiting. */
const CONFIRM_BATCH_SIZE = 50;

export interface SecondNode {
  /** Throws UnsafeChain where it is on another network, and any other error where it cannot be asked. */
  checkSafety(): Promise<void>;
  /**
   * Of these payments, each in a block: those that it has in the same block with the same amount, by key, and how many confirmations
   * they have there.
   */
  confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>>;
  health(): Promise<ChainHealth>;
  /** What whoever runs the service should know of it. */
  examine?(): Promise<readonly ChainFinding[]>;
}

export class CrossCheckedChain implements ChainDriver {
  readonly coin: string;
  readonly #first: ChainDriver;
  readonly #second: SecondNode;
  readonly #safetyCheck: SafetyCheck;
  readonly #timeoutMs: number;
  readonly #backoffMs: number;
  #backoffUntilMs = 0;

  constructor(
    first: ChainDriver,
    second: SecondNode,
    { patienceMs = SECOND_NODE_TIMEOUT_MS, restsMs = SECOND_NODE_BACKOFF_MS } = {},
  ) {
    this.coin = first.coin;
    this.#first = first;
    this.#second = second;
    this.#safetyCheck = new SafetyCheck(() => second.checkSafety());
    this.#timeoutMs = patienceMs;
    this.#backoffMs = restsMs;
  }

  async checkSafety(): Promise<void> {
    await this.#first.checkSafety();
    await this.#safetyCheck.rerun();
  }

  async allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    return await this.#first.allocate(invoice);
  }

  async poll(from: { cursor: string | null }): Promise<PollResult> {
    const polled = await this.#first.poll(from);
    return { ...polled, observations: await this.#crossCheck(polled.observations) };
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    return await this.#crossCheck(await this.#first.recheck(keys));
  }

  async health(): Promise<ChainHealth> {
    return await this.#first.health();
  }

  async examine(given: number): Promise<readonly ChainFinding[]> {
    const health = this.#secondNodeNote();
    // Why it does not answer its health says.
    const notes = this.#withTimeout(async () => (await this.#second.examine?.()) ?? []).catch(() => []);
    return [...(await this.#first.examine(given)), await health, ...(await notes)];
  }

  async #secondNodeNote(): Promise<ChainFinding> {
    try {
      const { ok, height, detail } = await this.#withTimeout(() => this.#second.health());
      return { level: ok ? 'ok' : 'fail', message: `the second node is at block ${height}: ${detail}` };
    } catch (error) {
      return { level: 'fail', message: `the second node cannot be asked: ${summarizeError(error)}` };
    }
  }

  async #crossCheck(observations: readonly Observation[]): Promise<Observation[]> {
    const included = observations.filter(({ blockHash }) => blockHash !== null);
    if (included.length === 0) return [...observations];
    const most = maxConfirmations(this.coin);
    const confirmed = await this.#confirmations(included);
    return observations.map((observation) =>
      applySecondNode(observation, confirmed.get(observation.key) ?? 0, most),
    );
  }

  /** What the second node said in time. Why it said no more is for whoever examines it. */
  async #confirmations(included: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    if (performance.now() < this.#backoffUntilMs) return NO_CONFIRMATIONS;
    const confirmed = new Map<string, number>();
    let isLate = false;
    const ask = async () => {
      for (let i = 0; i < included.length && !isLate; i += CONFIRM_BATCH_SIZE) {
        const some = await this.#second
          .confirm(included.slice(i, i + CONFIRM_BATCH_SIZE))
          .catch(() => NO_CONFIRMATIONS);
        if (!isLate) for (const [key, confirmations] of some) confirmed.set(key, confirmations);
      }
    };
    await this.#withTimeout(ask).catch((error: unknown) => {
      if (error instanceof TimeoutError) this.#backoffUntilMs = performance.now() + this.#backoffMs;
    });
    isLate = true;
    return confirmed;
  }

  async #withTimeout<T>(ask: () => Promise<T>): Promise<T> {
    const answer = this.#safetyCheck.ensure().then(ask);
    return await withTimeout(answer, this.#timeoutMs);
  }
}

const NO_CONFIRMATIONS: ReadonlyMap<string, number> = new Map();

/** `most`: as many as any amount needs. */
function applySecondNode(
  observation: Observation,
  confirmations: number,
  maxConfirmations: number,
): Observation {
  if (observation.blockHash === null) return observation;
  if (confirmations >= observation.confirmations) return observation;
  // A node that is always a block behind keeps nothing from being final.
  if (confirmations >= maxConfirmations) return { ...observation, confirmations };
  // What is final is not asked for again: this must be, until the second node has it deep enough.
  if (confirmations > 0) return { ...observation, state: 'included', confirmations };
  return { ...observation, state: 'included', agreed: false };
}
