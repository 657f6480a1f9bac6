/** What is different between the coins of Bitcoin's family. */
import { HOUR_MS } from '../../../kernel/time.ts';

export type UtxoCoin = 'BTC' | 'LTC';

export interface UtxoParams {
  readonly name: string;
  /** What a payment request begins with. */
  readonly scheme: string;
  /** The hash of the main network's first block: it tells the coins' nodes apart. */
  readonly genesisHash: string;
  /** How addresses of native SegWit begin, by the node's own name of the network. */
  readonly addressPrefixes: Readonly<Record<string, string>>;
  readonly blocksPerDay: number;
  /** A newest block older than this means that the node has lost touch. */
  readonly tipMaxAgeMs: number;
  /** Of nodes on the main network, as `getnetworkinfo` writes it: older ones believe blocks that the network refuses. Null: any. */
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
     * In spring 2026 coins were made out of nothing by false withdrawals from the extension blocks; nodes below 0.21.5.4 believed
     * them, for up to 13 blocks. 0.21.5.6 and 0.21.5.8 have the rules in force from blocks 3,154,440 and 3,172,640 on.
     */
    minVersion: { number: 210_508, text: '0.21.5.8' },
  },
};
