/** The outside world breaks: receivers of webhooks, chains, hosts, and the business clock. */
import { postSandbox } from '../../support/answers.ts';
import type { TcpProxy } from '../../support/tcp-proxy.ts';
import { respondWith } from '../../support/webhook-receiver.ts';
import { CUSTOMERS, type FaultStep } from '../history.ts';
import type { World } from '../world/world.ts';
import { type Begin, type Broken, breakOne, lasting, momentary, onPart, type Part, rotate } from './begin.ts';

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
  return momentary(() => jump);
};

/** `act` returns false if there was nothing to break. */
const onProxy =
  (place: string, find: (world: World) => TcpProxy) =>
  (act: (proxy: TcpProxy, value: number) => unknown, undo: ((proxy: TcpProxy) => void) | null): Begin =>
    breakOne(
      (world) => [onPart(place, find(world))],
      async (proxy, { value }) => {
        if (act(proxy, value) === false) return null;
        return undo === null ? momentary() : lasting(async () => undo(proxy));
      },
    );

export const onReceiver = onProxy('receiver proxy', ({ receiverProxy }) => receiverProxy);
export const onHost = onProxy('host proxy', ({ host }) => host.proxy);

export const delayHost = onHost(
  (proxy, value) => proxy.delay(1 + (value % DELAY_MAX_MS)),
  (proxy) => proxy.resume(),
);

export const killHost: Begin = async ({ host }) => {
  if (host.process.pid === null) return null;
  await host.process.end('SIGKILL', { hold: true });
  return lasting(async () => host.process.release());
};

export const freezeHostProcess = breakOne(
  ({ host }) => [onPart('freeze of the host', host.process)],
  async (one) => (one.signal('SIGSTOP') ? lasting(async () => void one.signal('SIGCONT')) : null),
);

export const delayReceiver = onReceiver(
  (proxy, value) => proxy.delay(1 + (value % DELAY_MAX_MS)),
  (proxy) => proxy.resume(),
);

export const failReceiver = breakOne(
  (_, { on }) => {
    const paths = Array.from({ length: CUSTOMERS }, (_each, index) => `/customer-${index}`);
    return rotate(
      paths.map((path) => onPart(`receiver ${path}`, path)),
      on,
    );
  },
  async (path, _, { receiver }) => {
    receiver.url(path, respondWith(500));
    return lasting(async () => void receiver.url(path, respondWith(200)));
  },
);

export const reorganize =
  (drop: boolean): Begin =>
  async (world, step) => {
    const depth = 1 + (step.value % REORG_DEPTH_MAX);
    const isDone = await callSandbox(world, step, 'reorgs', { coin: pick(COINS, step.on), depth, drop });
    return isDone ? momentary() : null;
  };

export const failNode = failDriver('chain', NODE_CALLS);
export const failHost = failDriver('compute', HOST_CALLS);

const hostsOf = ({ lostHosts }: World, { on }: FaultStep): Part<string>[] =>
  rotate(HOSTS, on)
    .filter((name) => !lostHosts.has(name))
    .map((name) => onPart(`host ${name}`, name));

/** A change whose outcome is unknown is undone as well. */
const succeeds = async (change: Promise<unknown>): Promise<boolean> =>
  await change.then(
    () => true,
    () => false,
  );

export const freezeHost = breakOne(hostsOf, async (name, _, { simulator, untilDone }) => {
  const isFrozen = await succeeds(simulator.setHostDown(name, true));
  return lasting(async () => {
    await untilDone(() => simulator.setHostDown(name, false));
    return isFrozen;
  });
});

/** Two hosts stay. */
export const loseHost = breakOne(
  (world, step) => (world.lostHosts.size < LOST_MAX ? hostsOf(world, step) : []),
  async (name, _, world) => {
    world.lostHosts.add(name);
    await succeeds(world.simulator.loseHost(name));
    return lasting(async () => {
      await world.untilDone(() => world.simulator.loseHost(name));
      await world.untilDone(async () => {
        const { code, stderr } = await world.command('hosts', 'lost', name, '--rebuild', '--yes');
        if (code !== 0) throw new Error(stderr);
      });
    });
  },
);

function failDriver(driver: string, operations: readonly string[]): Begin {
  return breakOne(
    (_, { on }) =>
      rotate(
        operations.map((operation) => onPart(`${driver} ${operation}`, operation)),
        on,
      ),
    async (operation, step, world): Promise<Broken> => {
      const fault = { driver, operation, times: 1 + (step.value % 4) };
      const isFailing = await callSandbox(world, step, 'faults', fault);
      return lasting(async () => {
        const sql = 'update sim.faults set remaining = 0 where driver = $1 and operation = $2';
        await world.untilDone(() => world.db.run(sql, [driver, operation]));
        return isFailing;
      });
    },
  );
}

/** Once: the service may be down, and a fault less is no failure. Returns whether it was done. */
async function callSandbox(world: World, { on }: FaultStep, name: string, body: object): Promise<boolean> {
  const { url } = rotate(world.processes.all, on).find((one) => one.url !== null) ?? {};
  if (!url) return false;
  const answer = postSandbox(url, name, body, AbortSignal.timeout(SANDBOX_TIMEOUT_MS));
  return await answer.then(
    ({ status }) => status < 400,
    () => false,
  );
}
