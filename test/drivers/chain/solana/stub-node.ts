/** A stub Solana node: slots in memory, with responses in Agave's documented format. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { base58 } from '@scure/base';

export const MAIN_NET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const FIRST_SLOT = 300_000_000;
/** It has unlimited funds. */
const SENDER = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const PROGRAM = '11111111111111111111111111111111';

type Json = Record<string, unknown>;

interface Transaction {
  readonly signature: string;
  readonly slot: number;
  readonly keys: readonly string[];
  readonly loaded: readonly string[];
  readonly before: readonly number[];
  readonly after: readonly number[];
  readonly err: unknown;
  readonly version: 'legacy' | number;
}

export interface Payment {
  readonly failed?: boolean;
  /** The transaction references the address through a lookup table. */
  readonly byTable?: boolean;
  /** The address pays instead of being paid. */
  readonly spends?: boolean;
  readonly version?: number;
}

export class StubSolana {
  genesis = MAIN_NET;
  healthProblem: string | null = null;
  keepsHistory = true;
  /** Addresses with an account. */
  readonly accounts = new Set<string>();
  /** Signatures that are listed but can't be read. */
  readonly unreadable = new Set<string>();
  /** A method with malformed responses. */
  broken = '';
  /** Age of the oldest slot. */
  ledgerDays = 30;
  readonly requests: string[] = [];
  /** Runs before each response. */
  before: () => void = () => undefined;
  readonly #clock: () => number;
  readonly #server: Server;
  readonly #balances = new Map<string, number>();
  #transactions: Transaction[] = [];
  #slot = FIRST_SLOT;
  #final = FIRST_SLOT;

  private constructor(clock: () => number) {
    this.#clock = clock;
    this.#server = createServer((request, response) => {
      void this.#reply(request).then((body) => response.writeHead(200).end(JSON.stringify(body)));
    });
  }

  static async start(clock: () => number = Date.now): Promise<StubSolana> {
    const stub = new StubSolana(clock);
    await new Promise<void>((resolve) => {
      stub.#server.listen(0, '127.0.0.1', resolve);
    });
    return stub;
  }

  get node(): { readonly url: string; readonly authorization: null } {
    const { port } = this.#server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, authorization: null };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get finalSlot(): number {
    return this.#final;
  }

  /** Adds a confirmed payment in a new slot; returns its signature. */
  pay(address: string, lamports: bigint, payment: Payment = {}): string {
    const { failed = false, byTable = false, spends = false, version } = payment;
    this.#slot += 1;
    const previous = (this.#balances.get(address) ?? 0) + (spends ? Number(lamports) : 0);
    const change = failed ? 0 : Number(lamports) * (spends ? -1 : 1);
    this.#balances.set(address, previous + change);
    // Balances of accounts from lookup tables follow the others.
    const keys = byTable ? [SENDER, PROGRAM] : [SENDER, address, PROGRAM];
    const balances = (balance: number) => (byTable ? [10 ** 12, 1, balance] : [10 ** 12, balance, 1]);
    const signature = base58.encode(randomBytes(64));
    this.#transactions.push({
      signature,
      slot: this.#slot,
      keys,
      loaded: byTable ? [address] : [],
      before: balances(previous),
      after: balances(previous + change),
      err: failed ? { InstructionError: [0, { Custom: 1 }] } : null,
      version: version ?? (byTable ? 0 : 'legacy'),
    });
    return signature;
  }

  /** Makes everything confirmed final. */
  finalize(): void {
    this.#slot += 1;
    this.#final = this.#slot;
  }

  /** Drops everything that is not final. */
  drop(): void {
    this.#transactions = this.#transactions.filter(({ slot }) => slot <= this.#final);
  }

  /** Restores an older state of the node; returns a function that undoes it. */
  rollBack(slots: number): () => void {
    const [slot, final, transactions] = [this.#slot, this.#final, this.#transactions];
    this.#slot = this.#final = final - slots;
    this.#transactions = transactions.filter((each) => each.slot <= this.#final);
    return () => {
      [this.#slot, this.#final, this.#transactions] = [slot, final, transactions];
    };
  }

  /** Removes the oldest transactions, as nodes do. */
  pruneOldest(count: number): void {
    this.#transactions.splice(0, count);
  }

  async #reply(request: IncomingMessage): Promise<unknown> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString()) as unknown;
    return Array.isArray(body) ? body.map((call) => this.#answer(call)) : this.#answer(body as Json);
  }

  #answer({ id, method, params }: Json): Json {
    this.before();
    this.requests.push(String(method));
    const [first, config = {}] = params as [unknown, Json?];
    const base = { jsonrpc: '2.0', id };
    try {
      return { ...base, result: this.#result(String(method), first, config) };
    } catch (error) {
      return { ...base, error: { code: -32_000, message: (error as Error).message } };
    }
  }

  #result(method: string, first: unknown, config: Json): unknown {
    if (method === this.broken) return {};
    switch (method) {
      case 'getGenesisHash':
        return this.genesis;
      case 'getLatestBlockhash':
        return { context: { slot: this.#final }, value: { blockhash: MAIN_NET, lastValidBlockHeight: 1 } };
      case 'getFirstAvailableBlock':
        return FIRST_SLOT - 1;
      case 'getBlockTime':
        return Math.floor(this.#clock() / 1000) - (first === FIRST_SLOT - 1 ? this.ledgerDays * 86_400 : 0);
      case 'getHealth':
        if (this.healthProblem !== null) throw new Error(this.healthProblem);
        return 'ok';
      case 'getAccountInfo':
        return {
          context: { slot: this.#slot },
          value: this.accounts.has(String(first)) ? { lamports: 1 } : null,
        };
      case 'getMultipleAccounts':
        return {
          context: { slot: this.#final },
          value: (first as string[]).map((each) => (this.accounts.has(each) ? { lamports: 1 } : null)),
        };
      case 'getSignaturesForAddress':
        return this.#list(String(first), config);
      case 'getTransaction':
        return this.#transaction(String(first), config);
      default:
        throw new Error(`${method}: method not found`);
    }
  }

  #list(address: string, { before, until, limit = 1_000, commitment = 'finalized' }: Json): unknown {
    if (!this.keepsHistory) throw new Error('Transaction history is not available from this node');
    const seen = this.#transactions.filter(({ slot }) => commitment === 'confirmed' || slot <= this.#final);
    const newest = [...seen].reverse();
    const indexOf = (signature: unknown) => newest.findIndex((each) => each.signature === signature);
    // An unknown `before` gives an empty list; an unknown `until` is ignored.
    if (before !== undefined && indexOf(before) < 0) return [];
    const from = before === undefined ? 0 : indexOf(before) + 1;
    const to = until === undefined || indexOf(until) < 0 ? newest.length : indexOf(until);
    return newest
      .slice(from, Math.max(from, to))
      .filter(({ keys, loaded }) => keys.includes(address) || loaded.includes(address))
      .slice(0, Number(limit))
      .map(({ signature, slot, err }) => ({
        signature,
        slot,
        err,
        memo: null,
        blockTime: Math.floor(this.#clock() / 1000),
        confirmationStatus: slot <= this.#final ? 'finalized' : 'confirmed',
      }));
  }

  #transaction(signature: string, { commitment, maxSupportedTransactionVersion }: Json): unknown {
    const found = this.#transactions.find((each) => each.signature === signature);
    const visible = found && (commitment === 'confirmed' || found.slot <= this.#final);
    if (!visible || this.unreadable.has(signature)) return null;
    const { slot, keys, loaded, before, after, err, version } = found;
    if (version !== 'legacy' && version > Number(maxSupportedTransactionVersion ?? -1)) {
      throw new Error(`Transaction version (${version}) is not supported by the requesting client`);
    }
    return {
      slot,
      version,
      blockTime: Math.floor(this.#clock() / 1000),
      meta: {
        err,
        fee: 5_000,
        preBalances: before,
        postBalances: after,
        loadedAddresses: { writable: loaded, readonly: [] },
      },
      transaction: { signatures: [signature], message: { accountKeys: keys, instructions: [] } },
    };
  }
}
