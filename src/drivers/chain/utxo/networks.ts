/** The differences between Bitcoin and Litecoin. */
import { HOUR_MS } from '../../../kernel/time.ts';

export type UtxoCoin = 'BTC' | 'LTC';

export interface UtxoParams {
  readonly name: string;
  /** The URI scheme of a payment request. */
  readonly scheme: string;
  /** The main network's genesis hash: it distinguishes the nodes of the two coins. */
  readonly genesisHash: string;
  /** Prefixes of native SegWit addresses, by the node's name of the network. */
  readonly addressPrefixes: Readonly<Record<string, string>>;
  readonly blocksPerDay: number;
  /** If the newest block is older than this, the node has lost its connection. */
  readonly tipMaxAgeMs: number;
  /** Minimum version on the main network, as in `getnetworkinfo`: older nodes accept invalid blocks. */
  readonly minVersion: { readonly number: number; readonly text: string } | null;
}

export const MAIN = 'main';
export const REGTEST = 'regtest';
export const DECIMALS = 8;

export const UTXO_PARAMS: Readonly<Record<UtxoCoin, UtxoParams>> = {
  BTC: {
    name: 'Bitcoin',
    scheme: 'bitcoin',
    genesisHash: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
    addressPrefixes: { [MAIN]: 'bc', test: 'tb', testnet4: 'tb', signet: 'tb', [REGTEST]: 'bcrt' },
    blocksPerDay: 144,
    tipMaxAgeMs: 2 * HOUR_MS,
    minVersion: null,
  },
  LTC: {
    name: 'Litecoin',
    scheme: 'litecoin',
    genesisHash: '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2',
    addressPrefixes: { [MAIN]: 'ltc', test: 'tltc', signet: 'tltc', [REGTEST]: 'rltc' },
    blocksPerDay: 576,
    tipMaxAgeMs: HOUR_MS,
    /**
     * In spring 2026 forged withdrawals from the extension blocks created coins out of nothing. Nodes below
     * 0.21.5.4 accepted them, for up to 13 blocks. 0.21.5.6 and 0.21.5.8 enforce the new rules from blocks
     * 3,154,440 and 3,172,640.
     */
    minVersion: { number: 210_508, text: '0.21.5.8' },
  },
};
