/**
 * The cost of a Litecoin block with 10,000 watched addresses, compared with 10: two real nodes with one
 * wallet each and the same payments, block by block. The wallet finds our payments, so the service never
 * scans addresses.
 */
import { HDKey } from '@scure/bip32';
import { AccountKey } from '../src/drivers/chain/account-key.ts';
import { UtxoChain } from '../src/drivers/chain/utxo/driver.ts';
import { LitecoinNode, NO_LITECOIND, waitUntil } from '../test/drivers/chain/utxo/litecoin-node.ts';
import { CannotMeasure, type Figure, median } from './figure.ts';

const FEW = 10;
const MANY = 10_000;
const BLOCKS = 200;
const PAYMENTS_PER_BLOCK = 5;
const WALLET = 'watch';
const INITIAL_BLOCKS = 110;

interface Watcher {
  readonly node: LitecoinNode;
  readonly chain: UtxoChain;
  cursor: string | null;
  readonly wallMs: number[];
  readonly cpuMs: number[];
  readonly nodeCpuMs: number[];
}

export async function benchWatchedUtxo(): Promise<Figure[]> {
  if (NO_LITECOIND !== false) {
    throw new CannotMeasure(`watched Litecoin addresses: ${NO_LITECOIND}`);
  }
  const nodes: LitecoinNode[] = [];
  try {
    for (let i = 0; i < 3; i++) nodes.push(await LitecoinNode.start());
    return await measure(nodes);
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
  }
}

async function measure([payer, fewNode, manyNode]: readonly LitecoinNode[]): Promise<Figure[]> {
  if (!payer || !fewNode || !manyNode) throw new Error('three nodes are required');
  const wallet = HDKey.fromMasterSeed(new Uint8Array(32).fill(1)).derive(`m/84'/2'/0'`);
  const account = AccountKey.parse(wallet.publicExtendedKey);
  await payer.call('createwallet', ['pay']);
  const own = String(await payer.call('getnewaddress', ['', 'bech32'], 'pay'));
  await payer.call('generatetoaddress', [INITIAL_BLOCKS, own]);
  const few = await createWatcher(fewNode, account);
  const many = await createWatcher(manyNode, account);
  const addresses = await importFewAddresses(few, account);
  for (let index = 0; index < MANY; index += 1_000) await allocate(many.chain, index);
  await Promise.all([few, many].map(({ node }) => node.connect(payer)));
  for (const watcher of [few, many]) await read(watcher, false);
  for (let block = 0; block < BLOCKS; block++) {
    const amounts = Object.fromEntries(
      addresses.slice(0, PAYMENTS_PER_BLOCK).map((address) => [address, '0.001']),
    );
    await payer.call('sendmany', ['', amounts], 'pay');
    await payer.call('generatetoaddress', [1, own]);
    const tip = await payer.tip();
    const [first, second] = block % 2 === 0 ? [few, many] : [many, few];
    for (const each of [first, second])
      await waitUntil('a block', async () => (await each.node.tip()) === tip);
    for (const each of [first, second]) await read(each, true);
    for (const each of [few, many]) each.nodeCpuMs.push(await each.node.cpuMs());
  }
  return toFigures(few, many);
}

async function createWatcher(node: LitecoinNode, account: AccountKey): Promise<Watcher> {
  await node.call('createwallet', [WALLET, true, true]);
  const own = async () => new Set<string>();
  const chain = new UtxoChain({ coin: 'LTC', node: node.endpoint(WALLET), account, own, allowTest: true });
  return { node, chain, cursor: null, wallMs: [], cpuMs: [], nodeCpuMs: [] };
}

async function allocate(chain: UtxoChain, index: number): Promise<string> {
  return (await chain.allocate({ id: `${index}`, index, amountUnits: 1n })).address;
}

/** Imports the addresses directly, because the driver imports a thousand at once. */
async function importFewAddresses({ node, chain }: Watcher, account: AccountKey): Promise<string[]> {
  const info = await node.call('getdescriptorinfo', [`wpkh(${account.tpub}/0/*)`]);
  const { descriptor } = info as { descriptor: string };
  const watching = { watchonly: true, keypool: false, timestamp: 'now' };
  const request = { desc: descriptor, range: [0, FEW - 1], ...watching };
  await node.call('importmulti', [[request], { rescan: false }], WALLET);
  return await Promise.all(Array.from({ length: FEW }, (_, index) => allocate(chain, index)));
}

async function read(watcher: Watcher, isRecorded: boolean): Promise<void> {
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const { cursor, observations } = await watcher.chain.poll({ cursor: watcher.cursor });
  const wallMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  watcher.cursor = cursor;
  if (!isRecorded) return;
  if (observations.length !== PAYMENTS_PER_BLOCK)
    throw new Error(`${observations.length} payments were found`);
  watcher.wallMs.push(wallMs);
  watcher.cpuMs.push((user + system) / 1_000);
}

function toFigures(few: Watcher, many: Watcher): Figure[] {
  if (process.env.BENCH_VERBOSE) {
    for (const [count, { wallMs, cpuMs, nodeCpuMs }] of [[FEW, few] as const, [MANY, many] as const]) {
      const [wall, cpu] = [median(wallMs).toFixed(2), median(cpuMs).toFixed(2)];
      const node = median(increments(nodeCpuMs)).toFixed(2);
      process.stderr.write(
        `${count} addresses: ${wall} ms per block; CPU ${cpu} ms, and ${node} ms of the node\n`,
      );
    }
  }
  const figure = (name: string, cost: (side: Watcher) => readonly number[]): Figure => ({
    name: `${name}, ${MANY} watched Litecoin addresses ÷ ${FEW}`,
    value: median(cost(many)) / median(cost(few)),
    unit: '×',
    limit: 1.2,
    goal: 1.1,
    bound: 'max',
  });
  return [
    figure('a block', ({ wallMs }) => wallMs),
    figure('CPU for a block', ({ cpuMs }) => cpuMs),
    figure('CPU of the node', ({ nodeCpuMs }) => increments(nodeCpuMs)),
  ];
}

/** Returns the increase from one block to the next. */
function increments(totals: readonly number[]): number[] {
  return totals.slice(1).map((total, i) => total - (totals[i] ?? 0));
}
