/**
 * The differences between the eight simulated networks: addresses, ids, and URIs. Networks that have a test
 * format use it, so that no real wallet pays a simulated address by mistake.
 */
import { createHash, createHmac, createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { base58, hex } from '@scure/base';
import { formatUnits } from '../../../kernel/money.ts';
import { type CoinCode, getCoin as coinOf } from '../../../spec/coins.ts';
import { evmAddress, moneroAddress, segwitAddress, solanaAddress, tronAddress } from '../addresses.ts';

/** Sepolia and its test USDT. */
const EVM_CHAIN_ID = 11_155_111;
const TEST_USDT = '0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0';

const MONERO_STAGENET_SUBADDRESS = 36;

interface Network {
  /** Returns the address of a 32-byte secret. */
  readonly address: (secret: Buffer) => string;
  /** Returns the network's canonical spelling of an address that some wallets write differently. */
  readonly canonical: (address: string) => string;
  /** Encodes transaction ids and block hashes. */
  readonly id: (bytes: Uint8Array) => string;
  readonly txidBytes: number;
  readonly uri: (address: string, units: bigint, decimal: string) => string;
}

const HEX = { canonical: (address: string) => address, id: hex.encode, txidBytes: 32 };

const TRON: Network = {
  ...HEX,
  address: (secret) => tronAddress(secret.subarray(0, 20)),
  uri: (address) => address,
};

const EVM = {
  address: (secret: Buffer) => evmAddress(secret.subarray(0, 20)),
  canonical: evmCanonical,
  id: (bytes: Uint8Array) => `0x${hex.encode(bytes)}`,
  txidBytes: 32,
};

const NETWORKS: Readonly<Record<CoinCode, Network>> = {
  BTC: bitcoinLike('tb', 'bitcoin'),
  LTC: bitcoinLike('tltc', 'litecoin'),
  XMR: {
    ...HEX,
    address: (secret) =>
      moneroAddress(
        MONERO_STAGENET_SUBADDRESS,
        ed25519PublicKey(derive(secret, 'spend')),
        ed25519PublicKey(derive(secret, 'view')),
      ),
    uri: (address, _units, decimal) => `monero:${address}?tx_amount=${decimal}`,
  },
  ETH: { ...EVM, uri: (address, units) => `ethereum:${address}@${EVM_CHAIN_ID}?value=${units}` },
  USDT: {
    ...EVM,
    uri: (address, units) =>
      `ethereum:${TEST_USDT}@${EVM_CHAIN_ID}/transfer?address=${address}&uint256=${units}`,
  },
  USDTTRC: TRON,
  TRX: TRON,
  SOL: {
    address: (secret) => solanaAddress(ed25519PublicKey(secret)),
    canonical: (address) => address,
    id: base58.encode,
    txidBytes: 64,
    uri: (address, _units, decimal) => `solana:${address}?amount=${decimal}`,
  },
};

function bitcoinLike(prefix: string, scheme: string): Network {
  return {
    ...HEX,
    address: (secret) => segwitAddress(prefix, secret.subarray(0, 20)),
    // QR codes contain bech32 in uppercase; mixed case is invalid.
    canonical: (address) => (address === address.toUpperCase() ? address.toLowerCase() : address),
    uri: (address, _units, decimal) => `${scheme}:${address}?amount=${decimal}`,
  };
}

/** An address in a single case carries no checksum and means the same. */
function evmCanonical(address: string): string {
  const match = /^0x([0-9a-f]{40}|[0-9A-F]{40})$/.exec(address);
  return match?.[1] ? evmAddress(hex.decode(match[1].toLowerCase())) : address;
}

function derive(secret: Uint8Array, use: string): Buffer {
  return createHmac('sha256', secret).update(use).digest();
}

/** Returns the address with this index on the coin's network: stable, and unique per index. */
export function addressAt(coin: CoinCode, seed: Uint8Array, index: number): string {
  return NETWORKS[coin].address(derive(seed, `${coin}:${index}`));
}

export function canonicalAddress(coin: CoinCode, address: string): string {
  return NETWORKS[coin].canonical(address);
}

export function paymentUri(coin: CoinCode, address: string, amountUnits: bigint): string {
  return NETWORKS[coin].uri(address, amountUnits, formatUnits(amountUnits, coinOf(coin).decimals));
}

export function newTxid(coin: CoinCode): string {
  return NETWORKS[coin].id(randomBytes(NETWORKS[coin].txidBytes));
}

/** Returns a new block's hash: it commits to the parent and, like a nonce, to randomness. */
export function newBlockHash(coin: CoinCode, parentHash: string): string {
  const digest = createHash('sha256').update(`${coin}:${parentHash}:`).update(randomBytes(16)).digest();
  return NETWORKS[coin].id(digest);
}

const ED25519_PKCS8 = hex.decode('302e020100300506032b657004220420');

/**
 * Returns the ed25519 public key of a 32-byte seed: a valid point on the curve, because wallets check that.
 * No real driver has access to anything that holds a seed.
 */
export function ed25519PublicKey(seed: Uint8Array): Uint8Array {
  const key = Buffer.concat([ED25519_PKCS8, seed]);
  const jwk = createPublicKey(createPrivateKey({ key, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  });
  return Buffer.from(jwk.x ?? '', 'base64url');
}
