/**
 * An in-memory implementation of the chain port, without a node, that a test scripts. Unlike a real chain it
 * may be shorter after a reorganization, until the test mines.
 */
import { createHash } from 'node:crypto';
import { NodeBehind, parseCursor } from '../../src/drivers/chain/cursor.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type {
  ChainDriver,
  ChainFinding,
  ChainHealth,
  Deposit,
  Observation,
  PollResult,
} from '../../src/ports/chain.ts';
import type { CoinCode } from '../../src/spec/coins.ts';

const FIRST_HEIGHT = 1_000;
const FINAL_CONFIRMATIONS = 40;

interface Block {
  readonly hash: string;
  readonly time: Date;
  readonly keys: ReadonlySet<string>;
}

interface Output {
  readonly address: string;
  readonly amountUnits: bigint;
  /** The state outside a block: in the mempool, double-spent, or unknown to the node. */
  unminedState: 'mempool' | 'conflicted' | 'removed';
}

export class ScriptedChain implements ChainDriver {
  readonly coin: CoinCode;
  readonly polls: (string | null)[] = [];
  readonly rechecks: string[][] = [];
  readonly examined: number[] = [];
  /** Reports every observation twice. */
  duplicatesObservations = false;
  /** Calls that fail before the next one succeeds, by operation. */
  readonly failures = { allocate: 0, poll: 0, recheck: 0, checkSafety: 0, health: 0, examine: 0 };
  /**
   * True: polls report the mempool and unread blocks only, like drivers of real nodes. False: they report
   * everything.
   */
  terse = false;
  /** Whether the chain reports block times. */
  reportsBlockTime = true;
  /** The most blocks that a poll reads. It ends early if there are more. */
  pollBlocks = Number.POSITIVE_INFINITY;
  /** The health that the chain reports. */
  ok = true;
  notes: readonly ChainFinding[] = [];
  /** Outputs that polls do not report. */
  readonly hiddenKeys = new Set<string>();
  /** Outputs that a second node does not have. */
  readonly disputedKeys = new Set<string>();
  /** Runs during each poll. */
  duringPoll: () => Promise<void> = async () => undefined;
  readonly #clock: Clock;
  readonly #outputs = new Map<string, Output>();
  readonly #addresses = new Map<string, string>();
  #blocks: Block[] = [];
  #unsynced: Block[] = [];
  /**
   * The height before a rewind or a loss of blocks. The driver counts as behind until the chain is there
   * again.
   */
  #rewoundFrom = 0;
  /** The number of blocks, from the first, that never change. */
  #finalBlocks = 1;
  #hashCount = 0;
  static #chains = 0;
  readonly #nonce: number;

  /** Chains of one nonce and one script have the same hashes. */
  constructor(coin: CoinCode, clock: Clock, nonce = ++ScriptedChain.#chains) {
    this.coin = coin;
    this.#clock = clock;
    this.#nonce = nonce;
    // The first block is final, so no script can reorganize it.
    this.mine();
  }

  /** Adds a payment to the mempool; returns its key. */
  pay(address: string, amountUnits: bigint): string {
    const key = `${this.#hash('tx')}:0`;
    this.#outputs.set(key, { address, amountUnits, unminedState: 'mempool' });
    return key;
  }

  get height(): number {
    return FIRST_HEIGHT + this.#blocks.length - 1;
  }

  /** Whether the node was rewound to a height below this one. */
  isBehind(height: number): boolean {
    return this.height < this.#rewoundFrom && this.height < height;
  }

  /** Mines blocks with the current time; the first includes the mempool. A rewound node does not see them. */
  mine(count = 1): void {
    for (let i = 0; i < count; i++) {
      if (this.#unsynced.length > 0) {
        this.#unsynced.push({ hash: this.#hash('block'), time: this.#clock.now(), keys: new Set() });
        continue;
      }
      const keys = [...this.#outputs]
        .filter(([, output]) => output.unminedState === 'mempool')
        .map(([key]) => key);
      this.#push(keys.filter((key) => !this.#blockOf(key)));
    }
  }

  /** Mines empty blocks with the current time. */
  mineEmpty(count: number): void {
    for (let i = 0; i < count; i++) this.#push([]);
  }

  /** Removes the newest blocks. Their payments return to the mempool or are dropped. */
  reorg(depth: number, options: { readonly drop?: boolean } = {}): void {
    for (const block of this.#removeNewest(depth)) {
      if (options.drop) for (const key of block.keys) this.#setUnminedState(key, 'removed');
    }
  }

  /** A payment in the mempool is double-spent. A node that forgot it cannot tell. */
  replace(key: string): void {
    if (this.#outputs.get(key)?.unminedState === 'mempool') this.#setUnminedState(key, 'conflicted');
  }

  /** The node silently forgets a payment in the mempool. */
  forget(key: string): void {
    this.#setUnminedState(key, 'removed');
  }

  /** Restores an earlier state of the node: it does not know its newest blocks until it reads them again. */
  rewind(depth: number): void {
    this.#rewoundFrom = this.height;
    this.#unsynced = this.#removeNewest(depth);
    for (const key of this.#unsynced.flatMap((block) => [...block.keys]))
      this.#setUnminedState(key, 'removed');
  }

  resync(): void {
    for (const key of this.#unsynced.flatMap((block) => [...block.keys]))
      this.#setUnminedState(key, 'mempool');
    this.#blocks.push(...this.#unsynced.splice(0));
    this.#rewoundFrom = 0;
  }

  /**
   * Restores an earlier state of the node whose newest blocks are lost: the next blocks are another branch.
   */
  loseBlocks(depth: number, options: { readonly drop?: boolean } = {}): void {
    const { height } = this;
    this.reorg(depth, options);
    this.#rewoundFrom = height;
  }

  async allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    this.#failIfScripted('allocate');
    const address = this.#addresses.get(invoice.id) ?? `${this.coin}-address-${invoice.index}`;
    this.#addresses.set(invoice.id, address);
    return { address, uri: `${this.coin}:${address}?units=${invoice.amountUnits}` };
  }

  async poll(from: { cursor: string | null }): Promise<PollResult> {
    this.polls.push(from.cursor);
    await this.duringPoll();
    this.#failIfScripted('poll');
    const first = this.#firstUnread(from.cursor);
    const end = Math.min(this.#blocks.length, first + this.pollBlocks);
    const reported = [...this.#outputs.keys()].filter(
      (key) => !this.hiddenKeys.has(key) && this.#isReported(key, first, end),
    );
    const observations = reported.map((key) => this.observe(key));
    return {
      cursor: `${FIRST_HEIGHT + end - 1}:${this.#blocks[end - 1]?.hash}`,
      observations: this.duplicatesObservations ? [...observations, ...observations] : observations,
      isComplete: end === this.#blocks.length,
    };
  }

  /**
   * Returns the index of the first unread block. A cursor on an orphaned branch goes back to the last final
   * block.
   */
  #firstUnread(text: string | null): number {
    const cursor = parseCursor(text);
    if (cursor === null) return 0;
    if (this.isBehind(cursor.height)) throw new NodeBehind(this.height, cursor.height);
    const at = cursor.height - FIRST_HEIGHT;
    if (this.#blocks[at]?.hash === cursor.hash) return at + 1;
    return Math.max(0, Math.min(at, this.#blocks.length) - FINAL_CONFIRMATIONS);
  }

  #isReported(key: string, first: number, end: number): boolean {
    const at = this.#blocks.findIndex((block) => block.keys.has(key));
    if (at < 0) return !this.terse || this.#outputs.get(key)?.unminedState === 'mempool';
    return at < end && (!this.terse || at >= first);
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    this.rechecks.push([...keys]);
    this.#failIfScripted('recheck');
    return keys.map((key) => this.observe(key));
  }

  async checkSafety(): Promise<void> {
    this.#failIfScripted('checkSafety');
  }

  async examine(count: number): Promise<readonly ChainFinding[]> {
    this.examined.push(count);
    this.#failIfScripted('examine');
    return this.notes;
  }

  async health(): Promise<ChainHealth> {
    this.#failIfScripted('health');
    const tipAt = this.reportsBlockTime ? (this.#blocks.at(-1)?.time ?? null) : null;
    return { ok: this.ok, height: this.height, tipAt, detail: 'scripted' };
  }

  /** Returns the current state of an output. */
  observe(key: string): Observation {
    const output = this.#outputs.get(key);
    const at = this.#blocks.findIndex((block) => block.keys.has(key));
    const block = this.#blocks[at];
    const confirmations = block ? this.#blocks.length - at : 0;
    const included = at < this.#finalBlocks ? 'final' : 'included';
    return {
      key,
      txid: key.split(':')[0] ?? key,
      // A node that lost an output cannot tell which address it paid.
      address: output?.unminedState === 'removed' ? '' : (output?.address ?? ''),
      amountUnits: output?.amountUnits ?? 0n,
      state: block ? included : (output?.unminedState ?? 'removed'),
      confirmations,
      height: block ? FIRST_HEIGHT + at : null,
      blockHash: block?.hash ?? null,
      blockTime: this.reportsBlockTime ? (block?.time ?? null) : null,
      agreed: !this.disputedKeys.has(key),
    };
  }

  #push(keys: readonly string[]): void {
    this.#blocks.push({ hash: this.#hash('block'), time: this.#clock.now(), keys: new Set(keys) });
    this.#finalBlocks = Math.max(this.#finalBlocks, this.#blocks.length - FINAL_CONFIRMATIONS + 1);
    if (this.height >= this.#rewoundFrom) this.#rewoundFrom = 0;
  }

  #removeNewest(depth: number): Block[] {
    return this.#blocks.splice(Math.max(this.#finalBlocks, this.#blocks.length - depth));
  }

  #blockOf(key: string): Block | undefined {
    return this.#blocks.find((block) => block.keys.has(key));
  }

  #setUnminedState(key: string, outside: Output['unminedState']): void {
    const output = this.#outputs.get(key);
    if (output && !this.#blockOf(key)) output.unminedState = outside;
  }

  #failIfScripted(operation: keyof ScriptedChain['failures']): void {
    if (this.failures[operation] === 0) return;
    this.failures[operation] -= 1;
    throw new Error(`scripted failure of ${operation}`);
  }

  #hash(kind: string): string {
    this.#hashCount += 1;
    return createHash('sha256').update(`${this.#nonce} ${kind} ${this.#hashCount}`).digest('hex');
  }
}
