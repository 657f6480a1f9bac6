/** Whether a node, and its wallet, can be relied on now. */
import type { ChainHealth } from '../../../ports/chain.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asObject, asString, asUint } from '../json-values.ts';
import { NodeError } from '../node-http.ts';
import { MAIN, REGTEST, UTXO_PARAMS, type UtxoCoin } from './networks.ts';
import { isRescanning } from './rescan.ts';
import { getBlockHeader } from './rpc.ts';

/** Headers come before their blocks; so few are about to be read. */
const HEADER_LEAD_BLOCKS = 2;

export async function nodeHealth(rpc: JsonRpc, coin: UtxoCoin): Promise<ChainHealth> {
  return await buildHealth(rpc, coin, []);
}

export async function walletHealth(rpc: JsonRpc, coin: UtxoCoin): Promise<ChainHealth> {
  return await buildHealth(rpc, coin, await findWalletProblems(rpc));
}

async function buildHealth(
  rpc: JsonRpc,
  coin: UtxoCoin,
  walletProblems: readonly string[],
): Promise<ChainHealth> {
  const [chainInfo, networkInfo] = await rpc.batch([
    { method: 'getblockchaininfo', params: [] },
    { method: 'getnetworkinfo', params: [] },
  ]);
  const info = asObject(chainInfo, 'the chain');
  const chain = asString(info.chain, 'the chain’s name');
  const height = asUint(info.blocks, 'the newest block’s height');
  const tipAt = (await getBlockHeader(rpc, asString(info.bestblockhash, 'the newest block’s hash'))).time;
  const peers = asUint(asObject(networkInfo, 'the network').connections, 'the number of peers');
  const ahead = asUint(info.headers, 'the newest header’s height') - height;
  const ageMs = Date.now() - tipAt.getTime();
  const problems = [...walletProblems];
  // One whose newest block is a day old says so as well: a network of one's own has blocks when somebody asks for one.
  if (info.initialblockdownload === true && chain !== REGTEST)
    problems.push('it is still reading the chain for the first time');
  else if (ahead > HEADER_LEAD_BLOCKS) problems.push(`it is ${ahead} blocks behind its network`);
  if (chain === MAIN && peers === 0) problems.push('it has no peers');
  if (chain !== REGTEST && ageMs > UTXO_PARAMS[coin].tipMaxAgeMs) {
    problems.push(`its newest block is ${Math.floor(ageMs / 60_000)} minutes old`);
  }
  const detail = problems.length === 0 ? `network ${chain}, ${peers} peers` : problems.join('; ');
  return { ok: problems.length === 0, height, tipAt, detail };
}

async function findWalletProblems(rpc: JsonRpc): Promise<string[]> {
  try {
    return isRescanning(await rpc.call('getwalletinfo', []))
      ? ['its wallet is reading old blocks again']
      : [];
  } catch (error) {
    if (error instanceof NodeError) return [`its wallet does not answer (${error.code})`];
    throw error;
  }
}
