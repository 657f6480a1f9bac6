/** A server that tests flood, its customer, and a technician. */
import assert from 'node:assert/strict';
import type { SimulatedFlood } from '../../../src/drivers/compute/simulator/floods.ts';
import { parseId } from '../../../src/kernel/ids.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { startStaffWorld } from './staff-world.ts';

interface Flood {
  readonly id: string;
  readonly state: string;
  readonly direction: string;
  readonly address: string;
  readonly server: string;
  readonly customer: string;
  readonly peak_packets_per_s: number;
  readonly blackholes: number;
  readonly blackhole_until: string | null;
  readonly lifted_by: string | null;
  readonly ending: string | null;
}

const SAMPLE_S = 10;
export const INTO: SimulatedFlood = { direction: 'in', family: 4, packetsPerS: 250_000 };

export async function startFloodWorld(settings: Readonly<Record<string, string>> = {}) {
  const world = await startStaffWorld(settings);
  const technician = await world.person('technician');
  const owner = await world.customer(60);
  const staff = (method: string, path: string, body?: object) =>
    world.api(technician.token, method, path, body);
  const order = async (customer: SessionClient): Promise<{ id: string; ipv4: string }> => {
    const ordered = await customer.post('/deploy-api.php', {
      ...{ product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 },
      root_password: 'a root password',
    });
    assert.equal(ordered.body.ok, true, JSON.stringify(ordered.body));
    await world.settle();
    const { body } = await staff('GET', `/servers?customer=${customer.email}`);
    return (body.data as { id: string; ipv4: string }[])[0] ?? assert.fail('no server');
  };
  const server = await order(owner);
  const machine = parseId('server', server.id) ?? assert.fail();
  const floods = async (query = ''): Promise<Flood[]> =>
    (await staff('GET', `/floods${query}`)).body.data as Flood[];
  return {
    ...{ world, technician, owner, staff, order, server, floods },
    flood: (flood: SimulatedFlood | null) => world.simulator.flood(machine, flood),
    blackholed: () => world.simulator.readBlackholed(machine),
    /** Lets the clock take so many samples. */
    samples: async (count: number) => {
      for (let taken = 0; taken < count; taken++) await world.advance(SAMPLE_S);
    },
    latest: async (): Promise<Flood> => (await floods())[0] ?? assert.fail('no flood'),
    mails: async (subject: RegExp): Promise<string[]> => {
      await world.settle();
      const outbox = await fetch(`${world.url}/sandbox/mails?to=${encodeURIComponent(owner.email)}`);
      const { mails } = (await outbox.json()) as { mails: { subject: string; text: string }[] };
      return mails.filter((mail) => subject.test(mail.subject)).map(({ text }) => text);
    },
  };
}
export type FloodWorld = Awaited<ReturnType<typeof startFloodWorld>>;
