/**
 * A chain with a second node. The first node is read as if it were the only one. For every payment in a
 * block, the second node is asked; a payment that it doesn't have in the same block is marked as not agreed:
 * it isn't credited, but an existing credit stays. A second node that is down or unsafe agrees to nothing and
 * delays nothing else.
 */

import { summarizeError } from '../../kernel/logger.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { TimeoutError, withTimeout } from '../../kernel/timeout.ts';
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

/** Shorter than a poll's timeout, so that a hanging second node doesn't cost the first node's result. */
const SECOND_NODE_TIMEOUT_MS = 8 * SECOND_MS;
/**
 * How long the second node is skipped after a timeout, so that a run of polls doesn't wait for it each time.
 * It agrees to nothing in the meantime.
 */
const SECOND_NODE_BACKOFF_MS = 10 * SECOND_MS;
/** Payments per request: a payment that the second node fails on delays few others. */
const CONFIRM_BATCH_SIZE = 50;

/** Asked only while its latest safety check passed. */
export interface SecondNode {
  /** Throws UnsafeChainError if it is on another network, and any other error if it can't be reached. */
  checkSafety(): Promise<void>;
  /**
   * Returns, by key, the confirmations of those payments that it has in the same block with the same amount.
   * Each given payment is in a block.
   */
  confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>>;
  health(): Promise<ChainHealth>;
  /** Returns findings for the operator. */
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
    { timeoutMs = SECOND_NODE_TIMEOUT_MS, backoffMs = SECOND_NODE_BACKOFF_MS } = {},
  ) {
    this.coin = first.coin;
    this.#first = first;
    this.#second = second;
    this.#safetyCheck = new SafetyCheck(() => second.checkSafety());
    this.#timeoutMs = timeoutMs;
    this.#backoffMs = backoffMs;
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

  async examine(nextIndex: number): Promise<readonly ChainFinding[]> {
    const health = this.#secondNodeNote();
    // The health finding already reports why it doesn't respond.
    const notes = this.#withTimeout(async () => (await this.#second.examine?.()) ?? []).catch(() => []);
    return [...(await this.#first.examine(nextIndex)), await health, ...(await notes)];
  }

  async #secondNodeNote(): Promise<ChainFinding> {
    try {
      const { ok, height, detail } = await this.#withTimeout(() => this.#second.health());
      return { level: ok ? 'ok' : 'fail', message: `the second node is at block ${height}: ${detail}` };
    } catch (error) {
      return { level: 'fail', message: `the second node is unavailable: ${summarizeError(error)}` };
    }
  }

  async #crossCheck(observations: readonly Observation[]): Promise<Observation[]> {
    const included = observations.filter(({ blockHash }) => blockHash !== null);
    if (included.length === 0) return [...observations];
    const neededConfirmations = maxConfirmations(this.coin);
    const confirmed = await this.#confirmations(included);
    return observations.map((observation) =>
      applySecondNode(observation, confirmed.get(observation.key) ?? 0, neededConfirmations),
    );
  }

  /**
   * Returns the confirmations that the second node reported in time. `examine` reports why any are missing.
   */
  async #confirmations(included: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    if (performance.now() < this.#backoffUntilMs) return NO_CONFIRMATIONS;
    const confirmed = new Map<string, number>();
    let isLate = false;
    const ask = async () => {
      for (let i = 0; i < included.length && !isLate; i += CONFIRM_BATCH_SIZE) {
        const batch = await this.#second
          .confirm(included.slice(i, i + CONFIRM_BATCH_SIZE))
          .catch(() => NO_CONFIRMATIONS);
        if (!isLate) for (const [key, confirmations] of batch) confirmed.set(key, confirmations);
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

/** `neededConfirmations` is the most that any amount needs. */
function applySecondNode(
  observation: Observation,
  confirmations: number,
  neededConfirmations: number,
): Observation {
  if (observation.blockHash === null) return observation;
  if (confirmations >= observation.confirmations) return observation;
  // Deep enough for any amount: a second node that is a block behind must not keep a payment from becoming
  // final.
  if (confirmations >= neededConfirmations) return { ...observation, confirmations };
  // A final payment is not polled again, so keep it `included` until the second node has it deep enough.
  if (confirmations > 0) return { ...observation, state: 'included', confirmations };
  return { ...observation, state: 'included', agreed: false };
}
