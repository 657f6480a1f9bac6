/**
 * What a transaction of Tron transferred, by its text and by what it did.
 *
 * TRX comes by a plain transfer, or from inside a contract. Inside, only calls, creations and destructions move it: the node tells
 * resources that are lent or taken back in the same list and with an amount too (`delegateResourceOfEnergy`), and nothing
 * moves then. Tokens of the older kind (TRC-10) stand beside TRX with their number. What failed, or was rejected on the way,
 * moved nothing, whatever amounts stand in it.
 */
import { parseCoinAmount } from '../../../kernel/exact-json.ts';
import type { Transfer } from '../block-walk.ts';
import {
  asObject,
  asString,
  type JsonObject,
  optionalArray,
  optionalObject,
  optionalString,
} from '../json-values.ts';
import { assignKeys } from '../transfer-keys.ts';
import { addressHash, fromHexAddress } from './address.ts';

export type TronCoin = 'TRX' | 'USDTTRC';

export interface ExecutedTransaction {
  readonly txid: string;
  readonly transaction: JsonObject;
  /** The node's TransactionInfo. */
  readonly outcome: JsonObject;
}

/** Words of the virtual machine for what moves TRX. */
const VALUE_MOVING_CALLS = new Set(['call', 'create', 'suicide']);
/** Transfer(address,address,uint256). */
const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

type RawTransfer = { readonly address: string | null; readonly amountUnits: bigint };

/** `token`: the contract's forty digits, null where it has none. */
export function transfersOf(
  coin: TronCoin,
  token: string | null,
  executed: ExecutedTransaction,
): readonly Transfer[] {
  const { txid, transaction, outcome } = executed;
  const paid =
    coin === 'TRX'
      ? [...plainTransfers(transaction, outcome), ...internalTransfers(outcome)]
      : tokenTransfers(token, outcome);
  return assignKeys(
    paid.flatMap(({ address, amountUnits }) =>
      address === null || amountUnits <= 0n ? [] : [{ txid, address, amountUnits }],
    ),
  );
}

function plainTransfers(transaction: JsonObject, outcome: JsonObject): RawTransfer[] {
  const text = optionalObject(transaction.raw_data, 'a transaction’s text') ?? {};
  const [contract] = optionalArray(text.contract, 'a transaction’s text');
  const { type, parameter } = optionalObject(contract, 'a transaction’s text') ?? {};
  const [result] = optionalArray(transaction.ret, 'a transaction’s result');
  const { contractRet } = optionalObject(result, 'a transaction’s result') ?? {};
  if (type !== 'TransferContract' || contractRet !== 'SUCCESS' || hasFailed(outcome)) return [];
  const { to_address, amount } = asObject(asObject(parameter, 'a transfer').value, 'a transfer');
  const address = fromHexAddress(asString(to_address, 'who is paid'));
  return [{ address, amountUnits: parseCoinAmount(amount ?? 0, 0) }];
}

function internalTransfers(outcome: JsonObject): RawTransfer[] {
  if (!hasSucceeded(outcome)) return [];
  return optionalArray(outcome.internal_transactions, 'calls inside').flatMap((inner) => {
    const { rejected, note, transferTo_address, callValueInfo } = asObject(inner, 'a call inside');
    const word = Buffer.from(optionalString(note, 'a call’s kind') ?? '', 'hex').toString('latin1');
    // Whatever this is, it must not be taken for "not rejected".
    if ((rejected !== undefined && rejected !== false) || !VALUE_MOVING_CALLS.has(word)) return [];
    const address = fromHexAddress(optionalString(transferTo_address, 'who is paid') ?? '');
    return optionalArray(callValueInfo, 'amounts')
      .map((each) => asObject(each, 'an amount'))
      .filter(({ tokenId }) => tokenId === undefined)
      .map(({ callValue }) => ({ address, amountUnits: parseCoinAmount(callValue ?? 0, 0) }));
  });
}

function tokenTransfers(token: string | null, outcome: JsonObject): RawTransfer[] {
  if (token === null || !hasSucceeded(outcome)) return [];
  return optionalArray(outcome.log, 'logs').flatMap((log) => {
    const { address, topics, data } = asObject(log, 'a log');
    const [event, , to, ...more] = optionalArray(topics, 'topics').map((topic) => asString(topic, 'a topic'));
    const isTransfer = event === TRANSFER_TOPIC && to !== undefined && more.length === 0;
    if (!isTransfer || addressHash(optionalString(address, 'a contract') ?? '') !== token) return [];
    const word = optionalString(data, 'a log’s data') ?? '';
    if (!/^[0-9a-f]{64}$/i.test(word)) return [];
    return [{ address: fromHexAddress(to.slice(-40)), amountUnits: BigInt(`0x${word}`) }];
  });
}

function hasFailed(outcome: JsonObject): boolean {
  return outcome.result !== undefined && outcome.result !== 'SUCESS';
}

/** A contract that ran to its end. The node spells one of the two words as it does. */
function hasSucceeded(outcome: JsonObject): boolean {
  return optionalObject(outcome.receipt, 'a receipt')?.result === 'SUCCESS' && !hasFailed(outcome);
}
