/**
 * Ether has no logs: a contract may pay an address without a transaction to it, as exchanges do that pay many at once. Only who
 * executes a block again sees that, so the node must be able to trace.
 */
import { UnsafeChain } from '../../../ports/chain.ts';
import { several } from '../answers.ts';
import { NodeError } from '../node-http.ts';
import { isOfOne, isTooLong, LargeBlocks, saidMovements, type Telling } from './large-block.ts';
import type { Movement } from './movement.ts';
import type { EvmNode, Head } from './node.ts';
import { movementsOfFrames, movementsOfTraces } from './traces.ts';

/** How a node tells where ether went. */
export type Tracing = Telling | 'none';

/** Blocks traced at the same time: each costs the node about what its first execution did, and memory here. */
export const TRACED_AT_ONCE = 2;
/** Transactions whose movements are kept: in one block they are always the same. */
const KEPT_MOST = 2_000;

/** Asked once for each proof: by the newest block. Throws where the node could trace, but does not now. */
export async function tracingOf(node: EvmNode, newest: Head): Promise<Tracing> {
  for (const tracing of ['traces', 'frames'] as const) {
    try {
      await traced(node, tracing, newest);
      return tracing;
    } catch (error) {
      if (isLacking(error)) continue;
      // It can, and more than is wanted.
      if (isTooLong(error)) return tracing;
      // The first block was never executed, and geth says so.
      if (error instanceof NodeError && newest.height === 0) return tracing;
      throw error;
    }
  }
  return 'none';
}

/** Without tracing payments would be missed, and nobody would know. */
export function requireTracing(tracing: Tracing): void {
  if (tracing !== 'none') return;
  throw new UnsafeChain(
    'the node can trace neither by trace_block nor by debug_traceBlockByHash: payments that contracts make, such as those of exchanges, would be missed. Turn its trace or debug interface on',
  );
}

/** The method is not there, or turned off; each make of node has its own words and number for it. */
function isLacking(error: unknown): boolean {
  if (!(error instanceof NodeError)) return false;
  return [-32601, -32600, -32004].includes(error.code) || /method|namespace|module/i.test(error.message);
}

/** What moved in this block. Throws NodeError where the node cannot say it, any more or at all. */
export async function traced(node: EvmNode, tracing: Tracing, head: Head): Promise<Movement[]> {
  if (tracing === 'none') throw new Error('the node cannot trace');
  return tracing === 'traces'
    ? movementsOfTraces(await node.traceBlock(head.height), head)
    : movementsOfFrames(await node.callFrames(head.hash), head);
}

export interface Told {
  readonly movements: readonly Movement[];
  /** The node cannot trace its block: there may be more than these. */
  readonly isPartial: boolean;
}

export class EtherReader {
  readonly #node: EvmNode;
  readonly #tracing: () => Tracing;
  readonly #large: LargeBlocks;
  readonly #kept = new Map<string, readonly Movement[]>();

  constructor(node: EvmNode, tracing: () => Tracing, unread: (line: string) => void) {
    this.#node = node;
    this.#tracing = tracing;
    this.#large = new LargeBlocks(node, unread);
  }

  /** Of each block in turn. */
  async ofBlocks(heads: readonly Head[]): Promise<(readonly Movement[])[]> {
    return await several(heads, TRACED_AT_ONCE, (head) => this.#ofBlock(head));
  }

  async #ofBlock(head: Head): Promise<readonly Movement[]> {
    const tracing = this.#tracing();
    if (head.txids.length === 0) return [];
    // Not asked for whole again: that would take a poll's time each time.
    if (tracing !== 'none' && this.#large.hasBegun(head)) return await this.#large.movements(tracing, head);
    try {
      return await traced(this.#node, tracing, head);
    } catch (error) {
      // Nodes have many words for a block that is too much for them.
      if (!isOfOne(error) || tracing === 'none') throw error;
      return await this.#large.movements(tracing, head);
    }
  }

  /** Of these transactions, each in its block, that succeeded; by transaction. */
  async ofTransactions(
    found: readonly { readonly head: Head; readonly receipt: { readonly txid: string } }[],
  ): Promise<ReadonlyMap<string, Told>> {
    const told = new Map<string, Told>();
    const unknown = new Map<string, { readonly head: Head; readonly txids: string[] }>();
    for (const {
      head,
      receipt: { txid },
    } of found) {
      const kept = this.#kept.get(nameOf(txid, head));
      if (kept) told.set(txid, { movements: kept, isPartial: false });
      else unknown.set(head.hash, { head, txids: [...(unknown.get(head.hash)?.txids ?? []), txid] });
    }
    await several([...unknown.values()], TRACED_AT_ONCE, async ({ head, txids }) => {
      for (const [txid, each] of await this.#inBlock(head, txids)) told.set(txid, each);
    });
    return told;
  }

  async #inBlock(head: Head, txids: readonly string[]): Promise<ReadonlyMap<string, Told>> {
    const traced = await this.#tracedNow(head);
    const movements = traced ?? (await saidMovements(this.#node, txids));
    return new Map(
      txids.map((txid) => {
        const mine = movements.filter((each) => each.txid === txid);
        if (traced) this.#keep(nameOf(txid, head), mine);
        return [txid, { movements: mine, isPartial: traced === null }];
      }),
    );
  }

  /** Null where the node cannot tell, any more or at all. */
  async #tracedNow(head: Head): Promise<readonly Movement[] | null> {
    if (this.#tracing() === 'none') return null;
    try {
      return await this.#ofBlock(head);
    } catch (error) {
      if (error instanceof NodeError) return null;
      throw error;
    }
  }

  #keep(name: string, movements: readonly Movement[]): void {
    this.#kept.set(name, movements);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MOST && oldest !== undefined) this.#kept.delete(oldest);
  }
}

function nameOf(txid: string, head: Head): string {
  return `${head.hash} ${txid}`;
}
