/** Whether a node, and its wallet, can be relied on now. */
import type { ChainHealth } from '../../../ports/chain.ts';
import { fieldsOf, textOf, wholeOf } from '../answers.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { NodeError } from '../node-http.ts';
import { MAIN, REGTEST, UTXO_FACTS, type UtxoCoin } from './networks.ts';
import { headerOf } from './rpc.ts';
import { isScanning } from './scanning.ts';

/** Headers come before their blocks; so few are about to be read. */
const BLOCKS_ON_THEIR_WAY = 2;

export async function nodeHealth(rpc: JsonRpc, coin: UtxoCoin): Promise<ChainHealth> {
  return await health(rpc, coin, []);
}

export async function walletHealth(rpc: JsonRpc, coin: UtxoCoin): Promise<ChainHealth> {
  return await health(rpc, coin, await walletFaults(rpc));
}

async function health(rpc: JsonRpc, coin: UtxoCoin, walletSays: readonly string[]): Promise<ChainHealth> {
  const [chainInfo, networkInfo] = await rpc.batch([
    { method: 'getblockchaininfo', params: [] },
    { method: 'getnetworkinfo', params: [] },
  ]);
  const info = fieldsOf(chainInfo, 'the chain');
  const chain = textOf(info.chain, 'the chain’s name');
  const height = wholeOf(info.blocks, 'the newest block’s height');
  const tipAt = (await headerOf(rpc, textOf(info.bestblockhash, 'the newest block’s hash'))).time;
  const peers = wholeOf(fieldsOf(networkInfo, 'the network').connections, 'the number of peers');
  const ahead = wholeOf(info.headers, 'the newest header’s height') - height;
  const ageMs = Date.now() - tipAt.getTime();
  const faults = [...walletSays];
  // One whose newest block is a day old says so as well: a network of one's own has blocks when somebody asks for one.
  if (info.initialblockdownload === true && chain !== REGTEST)
    faults.push('it is still reading the chain for the first time');
  else if (ahead > BLOCKS_ON_THEIR_WAY) faults.push(`it is ${ahead} blocks behind its network`);
  if (chain === MAIN && peers === 0) faults.push('it has no peers');
  if (chain !== REGTEST && ageMs > UTXO_FACTS[coin].tipMaxAgeMs) {
    faults.push(`its newest block is ${Math.floor(ageMs / 60_000)} minutes old`);
  }
  const detail = faults.length === 0 ? `network ${chain}, ${peers} peers` : faults.join('; ');
  return { ok: faults.length === 0, height, tipAt, detail };
}

async function walletFaults(rpc: JsonRpc): Promise<string[]> {
  try {
    return isScanning(await rpc.call('getwalletinfo', [])) ? ['its wallet is reading old blocks again'] : [];
  } catch (error) {
    if (error instanceof NodeError) return [`its wallet does not answer (${error.code})`];
    throw error;
  }
}
