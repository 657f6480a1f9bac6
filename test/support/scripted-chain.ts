/** A chain that does what a test tells it: the chain port without a node, in memory. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../src/kernel/clock.ts';
import type { ChainDriver, Deposit, Observation } from '../../src/ports/chain.ts';
import type { CoinCode } from '../../src/spec/coins.ts';

const FIRST_HEIGHT = 1_000;
const FINAL_CONFIRMATIONS = 40;

interface Block {
  readonly hash: string;
  readonly time: Date;
  readonly keys: readonly string[];
}

interface Output {
  readonly address: string;
  readonly amountUnits: bigint;
  /** Outside a block: waiting, double-spent, or unknown to the node. */
  outside: 'mempool' | 'conflicted' | 'removed';
}

export class ScriptedChain implements ChainDriver {
  readonly coin: CoinCode;
  readonly polls: (string | null)[] = [];
  readonly rechecks: string[][] = [];
  /** Every notice comes twice. */
  echoes = false;
  /** Calls that fail before the next one succeeds, by operation. */
  readonly failures = { allocate: 0, poll: 0, recheck: 0 };
  /** Outputs that polls do not mention. */
  readonly hushed = new Set<string>();
  /** Runs while a poll is under way. */
  duringPoll: () => Promise<void> = async () => undefined;
  readonly #clock: Clock;
  readonly #outputs = new Map<string, Output>();
  readonly #addresses = new Map<string, string>();
  #blocks: Block[] = [];
  #unsynced: Block[] = [];
  #made = 0;
  static #chains = 0;
  readonly #nonce = ++ScriptedChain.#chains;

  constructor(coin: CoinCode, clock: Clock) {
    this.coin = coin;
    this.#clock = clock;
    // A first block that no script reaches.
    this.mine();
  }

  /** A payment in the mempool; returns its key. */
  pay(address: string, amountUnits: bigint): string {
    const key = `${this.#hash('tx')}:0`;
    this.#outputs.set(key, { address, amountUnits, outside: 'mempool' });
    return key;
  }

  /** Blocks of now; the first takes the mempool. */
  mine(count = 1): void {
    for (let i = 0; i < count; i++) {
      const keys = [...this.#outputs]
        .filter(([, output]) => output.outside === 'mempool')
        .map(([key]) => key);
      const taken = keys.filter((key) => !this.#blockOf(key));
      this.#blocks.push({ hash: this.#hash('block'), time: this.#clock.now(), keys: taken });
    }
  }

  /** The newest blocks vanish; their payments wait again or are gone. */
  reorg(depth: number, options: { readonly drop?: boolean } = {}): void {
    for (const block of this.#newest(depth)) {
      if (options.drop) for (const key of block.keys) this.#set(key, 'removed');
    }
  }

  /** The coins of a payment in the mempool were spent otherwise. */
  replace(key: string): void {
    this.#set(key, 'conflicted');
  }

  /** The node forgets a payment in the mempool, without a word. */
  forget(key: string): void {
    this.#set(key, 'removed');
  }

  /** The node is put back to an earlier state and knows nothing of its newest blocks, until it reads them again. */
  rewindNode(depth: number): void {
    this.#unsynced = this.#newest(depth);
    for (const key of this.#unsynced.flatMap((block) => block.keys)) this.#set(key, 'removed');
  }

  resyncNode(): void {
    for (const key of this.#unsynced.flatMap((block) => block.keys)) this.#set(key, 'mempool');
    this.#blocks.push(...this.#unsynced.splice(0));
  }

  async allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    this.#meetFailure('allocate');
    const address = this.#addresses.get(invoice.id) ?? `${this.coin}-address-${invoice.index}`;
    this.#addresses.set(invoice.id, address);
    return { address, uri: `${this.coin}:${address}?units=${invoice.amountUnits}` };
  }

  async poll(from: { cursor: string | null }): Promise<{ cursor: string; observations: Observation[] }> {
    this.polls.push(from.cursor);
    await this.duringPoll();
    this.#meetFailure('poll');
    const told = [...this.#outputs.keys()].filter((key) => !this.hushed.has(key));
    const observations = told.map((key) => this.observe(key));
    const cursor = `${FIRST_HEIGHT + this.#blocks.length - 1}:${this.#blocks.at(-1)?.hash}`;
    return { cursor, observations: this.echoes ? [...observations, ...observations] : observations };
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    this.rechecks.push([...keys]);
    this.#meetFailure('recheck');
    return keys.map((key) => this.observe(key));
  }

  async health(): Promise<{ ok: boolean; height: number; detail: string }> {
    return { ok: true, height: FIRST_HEIGHT + this.#blocks.length - 1, detail: 'scripted' };
  }

  /** An output as the chain has it now. */
  observe(key: string): Observation {
    const output = this.#outputs.get(key);
    const at = this.#blocks.findIndex((block) => block.keys.includes(key));
    const block = this.#blocks[at];
    const confirmations = block ? this.#blocks.length - at : 0;
    const included = confirmations >= FINAL_CONFIRMATIONS ? 'final' : 'included';
    return {
      key,
      txid: key.split(':')[0] ?? key,
      // A node that lost an output cannot say whom it paid.
      address: output?.outside === 'removed' ? '' : (output?.address ?? ''),
      amountUnits: output?.amountUnits ?? 0n,
      state: block ? included : (output?.outside ?? 'removed'),
      confirmations,
      height: block ? FIRST_HEIGHT + at : null,
      blockHash: block?.hash ?? null,
      blockTime: block?.time ?? null,
    };
  }

  #newest(depth: number): Block[] {
    return this.#blocks.splice(Math.max(1, this.#blocks.length - depth));
  }

  #blockOf(key: string): Block | undefined {
    return this.#blocks.find((block) => block.keys.includes(key));
  }

  #set(key: string, outside: Output['outside']): void {
    const output = this.#outputs.get(key);
    if (output && !this.#blockOf(key)) output.outside = outside;
  }

  #meetFailure(operation: keyof ScriptedChain['failures']): void {
    if (this.failures[operation] === 0) return;
    this.failures[operation] -= 1;
    throw new Error(`scripted failure of ${operation}`);
  }

  #hash(what: string): string {
    this.#made += 1;
    return createHash('sha256').update(`${this.#nonce} ${what} ${this.#made}`).digest('hex');
  }
}
