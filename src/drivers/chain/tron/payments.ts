/**
 * What a transaction of Tron transferred, by its text and by what it did.
 *
 * TRX comes by a plain transfer, or from inside a contract. Inside, only calls, creations and destructions move it: the node tells
 * resources that are lent or taken back in the same list and with an amount too (`delegateResourceOfEnergy`), and nothing
 * moves then. Tokens of the older kind (TRC-10) stand beside TRX with their number. What failed, or was rejected on the way,
 * moved nothing, whatever amounts stand in it.
 */
import { unitsOf } from '../../../kernel/exact-json.ts';
import { type Fields, fieldsOf, maybeFields, maybeList, maybeText, textOf } from '../answers.ts';
import type { Transfer } from '../block-walk.ts';
import { keyed } from '../transfers.ts';
import { addressOf, hashIn } from './address.ts';

export type TronCoin = 'TRX' | 'USDTTRC';

export interface Executed {
  readonly txid: string;
  readonly transaction: Fields;
  /** The node's TransactionInfo. */
  readonly outcome: Fields;
}

/** Words of the virtual machine for what moves TRX. */
const MOVES = new Set(['call', 'create', 'suicide']);
/** Transfer(address,address,uint256). */
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

type Paid = { readonly address: string | null; readonly amountUnits: bigint };

/** `token`: the contract's forty digits, null where it has none. */
export function transfersOf(coin: TronCoin, token: string | null, executed: Executed): readonly Transfer[] {
  const { txid, transaction, outcome } = executed;
  const paid =
    coin === 'TRX' ? [...paidPlainly(transaction, outcome), ...paidInside(outcome)] : paidIn(token, outcome);
  return keyed(
    paid.flatMap(({ address, amountUnits }) =>
      address === null || amountUnits <= 0n ? [] : [{ txid, address, amountUnits }],
    ),
  );
}

function paidPlainly(transaction: Fields, outcome: Fields): Paid[] {
  const text = maybeFields(transaction.raw_data, 'a transaction’s text') ?? {};
  const [contract] = maybeList(text.contract, 'a transaction’s text');
  const { type, parameter } = maybeFields(contract, 'a transaction’s text') ?? {};
  const [result] = maybeList(transaction.ret, 'a transaction’s result');
  const { contractRet } = maybeFields(result, 'a transaction’s result') ?? {};
  if (type !== 'TransferContract' || contractRet !== 'SUCCESS' || hasFailed(outcome)) return [];
  const { to_address, amount } = fieldsOf(fieldsOf(parameter, 'a transfer').value, 'a transfer');
  const address = addressOf(textOf(to_address, 'who is paid'));
  return [{ address, amountUnits: unitsOf(amount ?? 0, 0) }];
}

function paidInside(outcome: Fields): Paid[] {
  if (!hasRun(outcome)) return [];
  return maybeList(outcome.internal_transactions, 'calls inside').flatMap((inner) => {
    const { rejected, note, transferTo_address, callValueInfo } = fieldsOf(inner, 'a call inside');
    const word = Buffer.from(maybeText(note, 'a call’s kind') ?? '', 'hex').toString('latin1');
    // Whatever this is, it must not be taken for "not rejected".
    if ((rejected !== undefined && rejected !== false) || !MOVES.has(word)) return [];
    const address = addressOf(maybeText(transferTo_address, 'who is paid') ?? '');
    return maybeList(callValueInfo, 'amounts')
      .map((each) => fieldsOf(each, 'an amount'))
      .filter(({ tokenId }) => tokenId === undefined)
      .map(({ callValue }) => ({ address, amountUnits: unitsOf(callValue ?? 0, 0) }));
  });
}

function paidIn(token: string | null, outcome: Fields): Paid[] {
  if (token === null || !hasRun(outcome)) return [];
  return maybeList(outcome.log, 'logs').flatMap((log) => {
    const { address, topics, data } = fieldsOf(log, 'a log');
    const [event, , to, ...more] = maybeList(topics, 'topics').map((topic) => textOf(topic, 'a topic'));
    const isTransfer = event === TRANSFER && to !== undefined && more.length === 0;
    if (!isTransfer || hashIn(maybeText(address, 'a contract') ?? '') !== token) return [];
    const word = maybeText(data, 'a log’s data') ?? '';
    if (!/^[0-9a-f]{64}$/i.test(word)) return [];
    return [{ address: addressOf(to.slice(-40)), amountUnits: BigInt(`0x${word}`) }];
  });
}

function hasFailed(outcome: Fields): boolean {
  return outcome.result !== undefined && outcome.result !== 'SUCESS';
}

/** A contract that ran to its end. The node spells one of the two words as it does. */
function hasRun(outcome: Fields): boolean {
  return maybeFields(outcome.receipt, 'a receipt')?.result === 'SUCCESS' && !hasFailed(outcome);
}
