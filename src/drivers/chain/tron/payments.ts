/**
 * The transfers of a Tron transaction, from its contents and its outcome.
 *
 * TRX moves in a plain transfer or inside a contract. Of a contract's internal transactions only calls,
 * creations, and destructions move it: delegated resources are in the same list with an amount too
 * (`delegateResourceOfEnergy`), but move nothing. TRC-10 tokens appear next to TRX, with a token id. A failed
 * or rejected transaction moves nothing, regardless of its amounts.
 */
import { parseCoinAmount } from '../../../kernel/exact-json.ts';
import { fromTronHex, tronHash } from '../addresses.ts';
import {
  asObject,
  asString,
  type JsonObject,
  optionalArray,
  optionalObject,
  optionalString,
} from '../json-values.ts';
import type { Transfer } from '../payment-keys.ts';
import { assignKeys } from '../payment-keys.ts';

export type TronCoin = 'TRX' | 'USDTTRC';

export interface ExecutedTransaction {
  readonly txid: string;
  readonly transaction: JsonObject;
  /** The node's TransactionInfo. */
  readonly outcome: JsonObject;
}

/** The virtual machine's names for internal transactions that move TRX. */
const VALUE_MOVING_CALLS = new Set(['call', 'create', 'suicide']);
/** Transfer(address,address,uint256). */
const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

type RawTransfer = { readonly address: string | null; readonly amountUnits: bigint };

/** `token` is the contract's 40 hex digits, or null. */
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
  const content = optionalObject(transaction.raw_data, 'transaction content') ?? {};
  const [contract] = optionalArray(content.contract, 'transaction content');
  const { type, parameter } = optionalObject(contract, 'transaction content') ?? {};
  const [result] = optionalArray(transaction.ret, 'transaction result');
  const { contractRet } = optionalObject(result, 'transaction result') ?? {};
  if (type !== 'TransferContract' || contractRet !== 'SUCCESS' || hasFailed(outcome)) return [];
  const { to_address, amount } = asObject(asObject(parameter, 'transfer').value, 'transfer');
  const address = fromTronHex(asString(to_address, 'destination address'));
  return [{ address, amountUnits: parseCoinAmount(amount ?? 0, 0) }];
}

function internalTransfers(outcome: JsonObject): RawTransfer[] {
  if (!hasSucceeded(outcome)) return [];
  return optionalArray(outcome.internal_transactions, 'internal transactions').flatMap((inner) => {
    const { rejected, note, transferTo_address, callValueInfo } = asObject(inner, 'internal transaction');
    const kind = Buffer.from(optionalString(note, 'internal transaction note') ?? '', 'hex').toString(
      'latin1',
    );
    // An unexpected value must not count as "not rejected".
    if ((rejected !== undefined && rejected !== false) || !VALUE_MOVING_CALLS.has(kind)) return [];
    const address = fromTronHex(optionalString(transferTo_address, 'destination address') ?? '');
    return optionalArray(callValueInfo, 'amounts')
      .map((each) => asObject(each, 'amount'))
      .filter(({ tokenId }) => tokenId === undefined)
      .map(({ callValue }) => ({ address, amountUnits: parseCoinAmount(callValue ?? 0, 0) }));
  });
}

function tokenTransfers(token: string | null, outcome: JsonObject): RawTransfer[] {
  if (token === null || !hasSucceeded(outcome)) return [];
  return optionalArray(outcome.log, 'logs').flatMap((log) => {
    const { address, topics, data } = asObject(log, 'log');
    const [event, , to, ...more] = optionalArray(topics, 'topics').map((topic) => asString(topic, 'topic'));
    const isTransfer = event === TRANSFER_TOPIC && to !== undefined && more.length === 0;
    if (!isTransfer || tronHash(optionalString(address, 'contract address') ?? '') !== token) return [];
    const word = optionalString(data, 'log data') ?? '';
    if (!/^[0-9a-f]{64}$/i.test(word)) return [];
    return [{ address: fromTronHex(to.slice(-40)), amountUnits: BigInt(`0x${word}`) }];
  });
}

function hasFailed(outcome: JsonObject): boolean {
  return outcome.result !== undefined && outcome.result !== 'SUCESS';
}

/** Whether a contract ran to completion. java-tron spells one of the two words "SUCESS". */
function hasSucceeded(outcome: JsonObject): boolean {
  return optionalObject(outcome.receipt, 'receipt')?.result === 'SUCCESS' && !hasFailed(outcome);
}
