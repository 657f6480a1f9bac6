/** The outside world breaks: receivers of webhooks, chains, hosts, and the business clock. */
import { postSandbox } from '../../support/answers.ts';
import type { TcpProxy } from '../../support/tcp-proxy.ts';
import { respondWith } from '../../support/webhook-receiver.ts';
import { CUSTOMERS, type FaultStep } from '../history.ts';
import type { World } from '../world/world.ts';
import { type Begin, type End, nothingToRepair } from './breaking.ts';

const JUMPS_S = [60, 3_600, 3_600, 7_200, 86_400, 2 * 86_400] as const;
const DELAY_MAX_MS = 2_000;
/** The jump of a clock does the work of days. */
const SANDBOX_TIMEOUT_MS = 120_000;
const REORG_DEPTH_MAX = 8;
const COINS = ['LTC', 'XMR', 'USDT'] as const;
export const HOSTS = ['par-1', 'par-2', 'par-3', 'par-4'] as const;
const LOST_MAX = 2;
const NODE_CALLS = ['poll', 'recheck', 'allocate', 'health'] as const;
const HOST_CALLS = [
  ...(['ensure', 'remove', 'power', 'observe', 'rebuild', 'restore'] as const),
  ...(['attach', 'detach', 'grow', 'removeVolume', 'snapshot', 'removeSnapshot', 'filter'] as const),
];

const pick = <T>(items: readonly T[], at: number): T => items[at % items.length] as T;

/** The jump ends with the work that is due until then, so nothing waits for it but the end of the fault. */
export const advanceClock: Begin = async (world, step) => {
  const jump = callSandbox(world, step, 'clock', { advance_s: pick(JUMPS_S, step.value) });
  return async () => void (await jump);
};

const onProxy =
  (find: (world: World) => TcpProxy) =>
  (act: (proxy: TcpProxy, value: number) => void, undo: (proxy: TcpProxy) => void): Begin =>
  async (world, { value }) => {
    const proxy = find(world);
    act(proxy, value);
    return async () => undo(proxy);
  };

export const onReceiver = onProxy(({ receiverProxy }) => receiverProxy);
export const onHost = onProxy(({ host }) => host.proxy);

export const delayHost = onHost(
  (proxy, value) => proxy.delay(1 + (value % DELAY_MAX_MS)),
  (proxy) => proxy.resume(),
);

export const killHost: Begin = async ({ host }) => {
  await host.process.end('SIGKILL', { hold: true });
  return async () => host.process.release();
};

export const freezeHostProcess: Begin = async ({ host }) => {
  host.process.signal('SIGSTOP');
  return async () => host.process.signal('SIGCONT');
};

export const delayReceiver = onReceiver(
  (proxy, value) => proxy.delay(1 + (value % DELAY_MAX_MS)),
  (proxy) => proxy.resume(),
);

export const failReceiver: Begin = async ({ receiver }, { on }) => {
  const path = `/customer-${on % CUSTOMERS}`;
  receiver.url(path, respondWith(500));
  return async () => void receiver.url(path, respondWith(200));
};

export const reorganize =
  (drop: boolean): Begin =>
  async (world, step) => {
    const depth = 1 + (step.value % REORG_DEPTH_MAX);
    await callSandbox(world, step, 'reorgs', { coin: pick(COINS, step.on), depth, drop });
    return nothingToRepair;
  };

export const failNode: Begin = (world, step) => failDriver(world, step, 'chain', NODE_CALLS);
export const failHost: Begin = (world, step) => failDriver(world, step, 'compute', HOST_CALLS);

export const freezeHost: Begin = async (world, { on }) => {
  const name = pick(HOSTS, on);
  if (world.lostHosts.has(name)) return nothingToRepair;
  world.frozenHosts.add(name);
  await world.simulator.setHostDown(name, true).catch(() => undefined);
  return async () => await bringUp(world, name);
};

/** The database may be down as well. */
async function bringUp(world: World, name: string): Promise<void> {
  if (world.lostHosts.has(name)) return;
  await world.untilDone(() => world.simulator.setHostDown(name, false));
}

/** Two hosts stay. */
export const loseHost: Begin = async (world, { on }) => {
  const name = pick(HOSTS, on);
  if (world.lostHosts.has(name) || world.lostHosts.size >= LOST_MAX) return nothingToRepair;
  world.lostHosts.add(name);
  const end = async () =>
    await world.untilDone(async () => {
      const { code, stderr } = await world.command('hosts', 'lost', name, '--rebuild', '--yes');
      if (code !== 0) throw new Error(stderr);
    });
  await world.simulator.loseHost(name).catch(() => undefined);
  return end;
};

async function failDriver(
  world: World,
  step: FaultStep,
  driver: string,
  operations: readonly string[],
): Promise<End> {
  const operation = pick(operations, step.on);
  await callSandbox(world, step, 'faults', { driver, operation, times: 1 + (step.value % 4) });
  world.brokenCalls.add(`${driver} ${operation}`);
  return async () => await clearFault(world, driver, operation);
}

async function clearFault(world: World, driver: string, operation: string): Promise<void> {
  const sql = 'update sim.faults set remaining = 0 where driver = $1 and operation = $2';
  await world.untilDone(() => world.db.run(sql, [driver, operation]));
}

/** Once: the service may be down, and a fault less is no failure. */
async function callSandbox(world: World, { on }: FaultStep, name: string, body: object): Promise<void> {
  const url = world.processes.at(on).url;
  const signal = AbortSignal.timeout(SANDBOX_TIMEOUT_MS);
  if (url !== null) await postSandbox(url, name, body, signal).catch(() => undefined);
}
