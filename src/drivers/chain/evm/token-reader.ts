/** Reads what moved in the token: its contract logs every transfer. */
import { asArray, asHexAddress, asHexHash, asObject, type JsonObject } from '../json-values.ts';
import type { Movement, MovementReader } from './movement.ts';
import type { EvmNode } from './node.ts';

/** Keccak of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

export function tokenReader(node: EvmNode, address: string): MovementReader {
  const contract = address.toLowerCase();
  return {
    readBlocks: async (heads) => {
      const hashes = heads.map(({ hash }) => hash);
      const logs = await node.logs(hashes, { contract, topic: TRANSFER_TOPIC });
      return hashes.map((blockHash, i) => movementsFromLogs(logs[i] ?? [], { contract, blockHash }));
    },
    readTransactions: async (found) =>
      new Map(
        found.map(({ receipt: { txid, logs, blockHash } }) => {
          return [txid, { movements: movementsFromLogs(logs, { contract, blockHash }), isPartial: false }];
        }),
      ),
  };
}

/** Returns the contract's transfers in this block. Logs of any other shape are ignored. */
export function movementsFromLogs(
  answers: readonly unknown[],
  source: { readonly contract: string; readonly blockHash: string },
): Movement[] {
  const logs = answers.map((answer) => asObject(answer, 'log'));
  return logs
    .filter(
      ({ address, removed }) => removed !== true && asHexAddress(address, 'contract') === source.contract,
    )
    .flatMap((log) => {
      if (asHexHash(log.blockHash, 'block') !== source.blockHash) {
        throw new Error('the node returned logs of another block');
      }
      return parseTransferLog(log) ?? [];
    });
}

function parseTransferLog({ topics: list, data, transactionHash }: JsonObject): Movement | null {
  const topics = asArray(list, 'topics');
  const txid = asHexHash(transactionHash, 'transaction');
  const [topic, , to] = topics;
  if (topics.length !== 3 || topic !== TRANSFER_TOPIC) return null;
  // An address occupies the last 20 of 32 bytes.
  if (typeof to !== 'string' || !/^0x0{24}[0-9a-f]{40}$/i.test(to)) return null;
  if (typeof data !== 'string' || !/^0x[0-9a-f]{64}$/i.test(data)) return null;
  return { txid, to: `0x${to.slice(26).toLowerCase()}`, amountUnits: BigInt(data) };
}
