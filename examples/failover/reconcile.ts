/**
 * Checks the two servers and the volume, and continues a failover if one is due. It relies on the current
 * state, never on the content of an event: events arrive twice, late, and in any order, and this program can
 * be killed at any point.
 *
 *   1. The primary is stopped, suspended, or gone.   2. Detach the volume from it.
 *   3. Attach the volume to the standby.             4. Start the standby.
 *   5. Announce it.                                  6. Label it `primary`, and the old primary `former`.
 *
 * Each step first checks if it is already done. Labels change last, so a repeated run continues where it
 * stopped.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isApiError, type Server, type Skerry, type Volume } from '@skerry/sdk';
import type { Settings } from './settings.ts';

export interface FailoverContext {
  readonly skerry: Skerry;
  readonly settings: Settings;
  readonly log: (line: string) => void;
}

export type Outcome = 'nothing to do' | 'failed over';

const ANNOUNCE_TIMEOUT_MS = 60_000;
const POLL_MS = 1_000;

/** Throws if a step fails. Call it again later. */
export async function reconcile(world: FailoverContext): Promise<Outcome> {
  const { skerry, settings, log } = world;
  const servers = await skerry.servers.list().all();
  const ours = servers.filter(({ labels }) => labels.group === settings.group);
  const primaries = ours.filter(({ labels }) => labels.role === 'primary');
  if (primaries.some((server) => !isDown(server))) {
    await demote(world, primaries.filter(isDown));
    return 'nothing to do';
  }
  const standby = ours.find(({ labels, status }) => labels.role === 'standby' && status !== 'destroying');
  if (!standby) {
    // A retry cannot help: someone has to label a new standby.
    log(`group ${settings.group}: the primary is down and no standby exists`);
    return 'nothing to do';
  }
  if (!['running', 'stopped'].includes(standby.status)) {
    throw new Error(`standby ${standby.name} is ${standby.status} and cannot take over`);
  }
  await moveVolume(world, standby);
  const running = await startServer(world, standby);
  await announce(world, running);
  await skerry.servers.update(running.id, { labels: { ...running.labels, role: 'primary' } });
  await demote(world, primaries);
  log(`${running.name} is now the primary`);
  return 'failed over';
}

/** A server that is being installed is not down: it will run soon. */
function isDown({ status }: Server): boolean {
  return ['stopped', 'suspended', 'destroying'].includes(status);
}

async function moveVolume({ skerry, settings, log }: FailoverContext, standby: Server): Promise<void> {
  let volume = await skerry.volumes.get(settings.volume);
  if (volume.attached_to !== null && volume.attached_to !== standby.id) {
    await assertDown(skerry, volume.attached_to);
    log(`detach ${volume.name}`);
    // A conflict means that it is already detached, by a deletion or a killed run.
    volume = await orCurrentState(skerry.volumes.detach(volume.id), () => skerry.volumes.get(volume.id));
  }
  if (volume.attached_to === null) {
    log(`attach ${volume.name} to ${standby.name}`);
    const reload = () => skerry.volumes.get(volume.id);
    volume = await orCurrentState(skerry.volumes.attach(volume.id, { server: standby.id }), reload);
  }
  // The conflict had another cause, such as an operation on the standby. Retry later.
  if (volume.attached_to !== standby.id) throw new Error(`${volume.name} is not attached to ${standby.name}`);
}

/** Two servers writing to one disk destroy its data, so check the owner again right before detaching. */
async function assertDown(skerry: Skerry, id: string): Promise<void> {
  const owner = await skerry.servers.get(id).catch((error: unknown) => {
    if (isApiError(error, 'not_found')) return null;
    throw error;
  });
  if (owner && !isDown(owner)) throw new Error(`volume is in use by ${owner.name}, which is ${owner.status}`);
}

/** Returns the current state if the call conflicts with it. */
async function orCurrentState(call: Promise<Volume>, now: () => Promise<Volume>): Promise<Volume> {
  return await call.catch((error: unknown) => {
    if (isApiError(error, 'conflict_state')) return now();
    throw error;
  });
}

async function startServer({ skerry, log }: FailoverContext, standby: Server): Promise<Server> {
  const server = await skerry.servers.get(standby.id);
  if (server.status === 'running') return server;
  log(`start ${server.name}`);
  await skerry.servers.start(server.id).catch((error: unknown) => {
    // It is already starting.
    if (!isApiError(error, 'conflict_state')) throw error;
  });
  return await skerry.waitFor(server, 'running', { intervalMs: POLL_MS });
}

/** Runs at least once: a command that switches DNS or traffic may run again. */
async function announce({ skerry, settings, log }: FailoverContext, primary: Server): Promise<void> {
  if (settings.announceCommand === null) return;
  const { device } = await skerry.volumes.get(settings.volume);
  // Pass only what the command needs, not the token and the secret of this program.
  const { PATH, HOME, SSH_AUTH_SOCK } = process.env;
  const env = {
    ...{ PATH, HOME, SSH_AUTH_SOCK },
    PRIMARY_NAME: primary.name,
    PRIMARY_IPV4: primary.ipv4?.address ?? '',
    PRIMARY_IPV6: primary.ipv6?.address ?? '',
    VOLUME_DEVICE: device ?? '',
  };
  log(`announce ${primary.name}`);
  await promisify(execFile)('sh', ['-c', settings.announceCommand], { env, timeout: ANNOUNCE_TIMEOUT_MS });
}

/** Prevents a server that returns without its volume from counting as a primary. */
async function demote({ skerry }: FailoverContext, servers: readonly Server[]): Promise<void> {
  for (const server of servers) {
    // These accept no new labels. If one is released later, the next check finds it.
    if (server.status === 'destroying' || server.suspended_reason === 'operator') continue;
    const labels = { ...server.labels, role: 'former' };
    await skerry.servers.update(server.id, { labels }).catch((error: unknown) => {
      // It is being deleted or already gone.
      if (!isApiError(error, 'conflict_state') && !isApiError(error, 'not_found')) throw error;
    });
  }
}
