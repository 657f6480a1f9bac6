/**
 * The HTTP API of a full node of Tron (java-tron), as it is documented. It leaves out whatever is zero, empty or false, and answers
 * `{}` for what it does not know. Addresses are asked for in hex.
 */
import { type Fields, fieldsOf, listOf, maybeFields, maybeList, maybeText, maybeWhole } from '../answers.ts';
import type { BlockHead } from '../block-walk.ts';
import {
  ANSWER_MAX_BYTES,
  askNode,
  type NodeAddress,
  NodeError,
  NodeTooLong,
  NodeUnreachable,
} from '../node-http.ts';

export interface TronBlock extends BlockHead {
  readonly transactions: readonly Fields[];
}

/** Any account; what only reads a contract needs one that asks. */
const NOBODY = `41${'0'.repeat(40)}`;

/** Of blocks with all their transactions, or with what these did; and of one transaction. */
const BLOCKS_MAX_BYTES = 64 * 1024 ** 2;
const TRANSACTION_MAX_BYTES = 16 * 1024 ** 2;

export class TronNode {
  readonly #node: NodeAddress;

  constructor(node: NodeAddress) {
    this.#node = node;
  }

  async newest(): Promise<BlockHead> {
    return headOf(await this.#ask('/wallet/getnowblock', {}, BLOCKS_MAX_BYTES)) ?? missing('newest block');
  }

  /** Null where the node has none of this height. */
  async head(height: number): Promise<BlockHead | null> {
    return headOf(await this.#ask('/wallet/getblock', { id_or_num: String(height), detail: false }));
  }

  /** These heights, both included. At most a hundred at once, says the node; what is too long together is asked in parts. */
  async blocks(from: number, to: number): Promise<readonly TronBlock[]> {
    try {
      return await this.#blocksTogether(from, to);
    } catch (error) {
      if (!(error instanceof NodeTooLong) || from === to) throw error;
      const half = Math.floor((from + to) / 2);
      return [...(await this.blocks(from, half)), ...(await this.blocks(half + 1, to))];
    }
  }

  async #blocksTogether(from: number, to: number): Promise<readonly TronBlock[]> {
    const answer = await this.#ask(
      '/wallet/getblockbylimitnext',
      { startNum: from, endNum: to + 1 },
      BLOCKS_MAX_BYTES,
    );
    return maybeList(fieldsOf(answer, 'blocks').block, 'blocks').map((block) => {
      const head = headOf(block) ?? missing('block');
      const transactions = maybeList(fieldsOf(block, 'a block').transactions, 'transactions');
      return { ...head, transactions: transactions.map((each) => fieldsOf(each, 'a transaction')) };
    });
  }

  /** What the transactions of a block did: logs, calls inside, results. */
  async outcomes(height: number): Promise<readonly Fields[]> {
    const answer = await this.#ask('/wallet/gettransactioninfobyblocknum', { num: height }, BLOCKS_MAX_BYTES);
    const outcomes = isNothing(answer) ? [] : listOf(answer, 'what transactions did');
    return outcomes.map((each) => fieldsOf(each, 'what a transaction did'));
  }

  /** The same of one; null where it is in no block. */
  async outcome(txid: string): Promise<Fields | null> {
    const what = 'what a transaction did';
    const answer = fieldsOf(
      await this.#ask('/wallet/gettransactioninfobyid', { value: txid }, TRANSACTION_MAX_BYTES),
      what,
    );
    return maybeText(answer.id, what) === null ? null : answer;
  }

  async transaction(txid: string): Promise<Fields | null> {
    const answer = fieldsOf(
      await this.#ask('/wallet/gettransactionbyid', { value: txid }, TRANSACTION_MAX_BYTES),
      'a transaction',
    );
    return maybeText(answer.txID, 'a transaction’s id') === null ? null : answer;
  }

  /** The newest block that can change no more, as the node knows it; null where it does not tell. */
  async solidHeight(): Promise<number | null> {
    // Not every node offers this under the same address; then it is among what the node says of itself.
    const solid = await this.#ask('/walletsolidity/getnowblock', {}, BLOCKS_MAX_BYTES).then(
      headOf,
      () => null,
    );
    if (solid !== null) return solid.height;
    const about = await this.about().catch(() => null);
    return about?.solidHeight ?? null;
  }

  async about(): Promise<{ readonly peers: number; readonly solidHeight: number | null }> {
    const answer = fieldsOf(await this.#ask('/wallet/getnodeinfo'), 'the node');
    const solid = /^Num:(\d{1,12}),/.exec(maybeText(answer.solidityBlock, 'the newest final block') ?? '');
    return {
      peers: maybeWhole(answer.currentConnectCount, 'the number of peers') ?? 0,
      solidHeight: solid ? Number(solid[1]) : null,
    };
  }

  /** What a token says its smallest unit is; null where it is no token, or the node reads no contracts. `contract` is in hex. */
  async decimals(contract: string): Promise<bigint | null> {
    const answer = fieldsOf(
      await this.#ask('/wallet/triggerconstantcontract', {
        owner_address: NOBODY,
        contract_address: contract,
        function_selector: 'decimals()',
      }),
      'what a contract says',
    );
    const [said] = maybeList(answer.constant_result, 'what a contract says');
    const word = maybeText(said, 'what a contract says') ?? '';
    return /^[0-9a-f]{64}$/i.test(word) ? BigInt(`0x${word}`) : null;
  }

  async #ask(path: string, body: object = {}, maxBytes = ANSWER_MAX_BYTES): Promise<unknown> {
    const answer = await askNode(this.#node, path, { path, body, maxBytes });
    const says = Array.isArray(answer.body) ? undefined : maybeFields(answer.body, path)?.Error;
    if (says !== undefined) throw new NodeError(path, answer.status, String(says));
    if (answer.status !== 200) throw new NodeUnreachable(`${path}: the node answers ${answer.status}`);
    return answer.body;
  }
}

function isNothing(answer: unknown): boolean {
  return !Array.isArray(answer) && Object.keys(fieldsOf(answer, 'an answer')).length === 0;
}

/** Null for `{}`. The first block has neither number nor time. */
function headOf(block: unknown): BlockHead | null {
  const { blockID, block_header } = fieldsOf(block, 'a block');
  const hash = maybeText(blockID, 'a block’s hash');
  if (hash === null) return null;
  const { raw_data } = fieldsOf(block_header, 'a block’s header');
  const { number, parentHash, timestamp } = fieldsOf(raw_data, 'a block’s header');
  return {
    height: maybeWhole(number, 'a block’s height') ?? 0,
    hash,
    parentHash: maybeText(parentHash, 'the block before') ?? '',
    time: new Date(maybeWhole(timestamp, 'a block’s time') ?? 0),
  };
}

function missing(what: string): never {
  throw new Error(`the node gave no ${what}`);
}
