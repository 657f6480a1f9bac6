/** Runs the compute contract in the namespace of the control plane: see `namespaces.test.ts`. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openHostDriver } from '../../../../src/drivers/compute/host/driver.ts';
import {
  CONTROL_PLANE,
  createAuthority,
  fingerprintOf,
  hostSubject,
} from '../../../../src/kernel/certificates.ts';
import type { Backend } from '../../../../src/ports/backends.ts';
import type { ComputeWorld } from '../compute-world.ts';
import { computeContract } from '../contract.ts';
import { identity } from '../host/host-world.ts';
import { composedWorld, type Member } from './composed-world.ts';
import { contractWorld } from './contract-world.ts';
import { HOST_ADDRESSES, type HostSettings, type NamespacedHost, namespaceOf } from './namespaces.ts';

const HOST_PROGRAM = fileURLToPath(new URL('./namespace-host.ts', import.meta.url));

computeContract('the composed driver with hosts in namespaces', openWorld);

/** The contract's hosts are on `a` and `b`. The links of `c` are cut meanwhile. */
async function openWorld(): Promise<ComputeWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-namespaces-'));
  const clockFile = join(folder, 'clock');
  const moved = (now: Date) => {
    writeFileSync(`${clockFile}.new`, String(now.getTime()));
    renameSync(`${clockFile}.new`, clockFile);
  };
  const hosts = new Map<string, { readonly ended: Promise<unknown>; readonly process: ChildProcess }>();
  const fleet = await createFleet();
  const world = await composedWorld(Object.keys(HOST_ADDRESSES), {
    open: fleet.open,
    moved,
  });
  moved(world.local.clock.now());
  for (const member of world.members) {
    const child = await fleet.start(member, clockFile);
    hosts.set(member.name, { process: child, ended: once(child, 'exit') });
    await world.addHost(member, { a: 'one', b: 'two' }[member.name] ?? 'three');
  }
  return {
    ...contractWorld(world),
    close: async () => {
      await world.close();
      for (const { process: child, ended } of hosts.values()) {
        child.disconnect();
        await ended;
      }
      await rm(folder, { recursive: true });
    },
  };
}

/** Starts the processes of hosts, and opens the drivers that call them. */
async function createFleet() {
  const authority = await createAuthority();
  const issued = await identity(CONTROL_PLANE, { authority });
  const credentials = { authority: authority.certificate, issued, selfSigned: null };
  const started = new Map<string, Pick<Backend, 'address' | 'fingerprint' | 'identity' | 'isIssued'>>();
  let calls = 0;
  return {
    start: async ({ name, world }: Member, clockFile: string): Promise<ChildProcess> => {
      const id = randomUUID();
      const address = HOST_ADDRESSES[name as NamespacedHost];
      const own = await identity(hostSubject(id), { authority });
      const controlPlane = { authority: authority.certificate, former: null };
      const settings: HostSettings = {
        connection: world.connection,
        membership: { name, identity: own, controlPlane },
        address,
        clockFile,
      };
      const args = [`--net=/run/netns/${namespaceOf(name)}`, process.execPath, HOST_PROGRAM];
      const env = { ...process.env, SKERRY_TEST_HOST: JSON.stringify(settings) };
      const child = spawn('nsenter', args, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
      const [port] = (await once(child, 'message')) as [number];
      const fingerprint = fingerprintOf(own.certificate);
      started.set(name, { address: `${address}:${port}`, fingerprint, identity: id, isIssued: true });
      return child;
    },
    open: ({ name, world }: Member, backend: Backend) =>
      openHostDriver({
        backend: { ...backend, ...(started.get(name) ?? assert.fail(`${name} has not started`)) },
        credentials: async () => credentials,
        nextCall: async () => ++calls,
        capabilities: world.driver.capabilities,
      }),
  };
}
