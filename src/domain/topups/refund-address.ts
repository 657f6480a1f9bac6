/**
 * Checks the format of a refund address per network, including test networks. Catches addresses of other
 * networks and truncated ones. The sending wallet verifies the checksum.
 */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { type CoinCode, getCoin as coinOf } from '../../spec/coins.ts';
import { isDepositAddress } from '../../store/topups/refunds.ts';

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';
const BECH32 = '(?:[02-9ac-hj-np-z]{14,}|[02-9AC-HJ-NP-Z]{14,})';
const EVM = /^0x[0-9a-fA-F]{40}$/;
const TRON = new RegExp(`^T${BASE58}{33}$`);
const ADDRESS_PATTERNS: Readonly<Record<CoinCode, RegExp>> = {
  BTC: new RegExp(`^(?:(?:bc|BC|tb|TB|bcrt|BCRT)1${BECH32}|[123mn]${BASE58}{25,34})$`),
  LTC: new RegExp(`^(?:(?:ltc|LTC|tltc|rltc|ltcmweb|tmweb)1${BECH32}|[3LMQ2mn]${BASE58}{25,34})$`),
  XMR: new RegExp(`^${BASE58}{95}(?:${BASE58}{11})?$`),
  ETH: EVM,
  USDT: EVM,
  TRX: TRON,
  USDTTRC: TRON,
  SOL: new RegExp(`^${BASE58}{32,44}$`),
};
const ADDRESS_MAX_CHARS = 200;

/** Throws an OperatorError that does not quote the address. */
export async function requireRefundAddress(tx: Sql, coin: CoinCode, address: string): Promise<string> {
  if (address.length > ADDRESS_MAX_CHARS || !ADDRESS_PATTERNS[coin].test(address)) {
    throw new OperatorError(`--to is not a valid ${coin} address on ${coinOf(coin).network}`);
  }
  if (await isDepositAddress(tx, address)) {
    throw new OperatorError(
      '--to is a deposit address of this service: ask the customer for an address of theirs',
    );
  }
  return address;
}
