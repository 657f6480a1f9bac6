/** The health of a node and its wallet. */
import type { ChainHealth } from '../../../ports/chain.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asObject, asString, asUint } from '../json-values.ts';
import { NodeError } from '../node-http.ts';
import { MAIN, REGTEST, UTXO_PARAMS, type UtxoCoin } from './networks.ts';
import { isRescanning } from './rescan.ts';
import { getBlockHeader } from './rpc.ts';

/** Headers arrive before their blocks; a lead this small is normal. */
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
  const info = asObject(chainInfo, 'chain info');
  const chain = asString(info.chain, 'network name');
  const height = asUint(info.blocks, 'tip height');
  const tipAt = (await getBlockHeader(rpc, asString(info.bestblockhash, 'tip hash'))).time;
  const peers = asUint(asObject(networkInfo, 'network info').connections, 'peer count');
  const ahead = asUint(info.headers, 'header height') - height;
  const ageMs = Date.now() - tipAt.getTime();
  const problems = [...walletProblems];
  // Not on regtest: it mines on demand, and a node with a day-old tip also reports an initial download.
  if (info.initialblockdownload === true && chain !== REGTEST)
    problems.push('initial block download is in progress');
  else if (ahead > HEADER_LEAD_BLOCKS) problems.push(`the node is ${ahead} blocks behind its network`);
  if (chain === MAIN && peers === 0) problems.push('the node has no peers');
  if (chain !== REGTEST && ageMs > UTXO_PARAMS[coin].tipMaxAgeMs) {
    problems.push(`the newest block is ${Math.floor(ageMs / 60_000)} minutes old`);
  }
  const detail = problems.length === 0 ? `network ${chain}, ${peers} peers` : problems.join('; ');
  return { ok: problems.length === 0, height, tipAt, detail };
}

async function findWalletProblems(rpc: JsonRpc): Promise<string[]> {
  try {
    return isRescanning(await rpc.call('getwalletinfo', [])) ? ['the wallet is rescanning old blocks'] : [];
  } catch (error) {
    if (error instanceof NodeError) return [`the wallet is unavailable (${error.code})`];
    throw error;
  }
}
