/**
 * Looks at the two servers and the volume, and takes the next steps of a fail-over if one is due. It goes by what there is, never
 * by what an event said: events come twice, late and in any order, and this program may be killed at any point.
 *
 *   1. the primary is stopped, suspended or gone     2. the volume is detached from it
 *   3. the volume is attached to the standby         4. the standby runs
 *   5. it is announced                               6. its label says `primary`, and the old one's `former`
 *
 * Each step looks first whether it is done. The labels come last: until then every run takes up where the last one ended.
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
const POLL_INTERVAL_MS = 1_000;

/** Throws when a step does not work now; to be called again later. */
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
    // After a fail-over and until there is a new standby: for a person, not for another attempt.
    log(`group ${settings.group}: the primary is down, and there is no standby`);
    return 'nothing to do';
  }
  if (!['running', 'stopped'].includes(standby.status)) {
    throw new Error(`the standby ${standby.name} is ${standby.status}: it cannot take over`);
  }
  await moveVolume(world, standby);
  const running = await startServer(world, standby);
  await announce(world, running);
  await skerry.servers.update(running.id, { labels: { ...running.labels, role: 'primary' } });
  await demote(world, primaries);
  log(`${running.name} is the primary now`);
  return 'failed over';
}

/** One that is being installed comes back by itself. */
function isDown({ status }: Server): boolean {
  return ['stopped', 'suspended', 'destroying'].includes(status);
}

async function moveVolume({ skerry, settings, log }: FailoverContext, standby: Server): Promise<void> {
  let volume = await skerry.volumes.get(settings.volume);
  if (volume.attached_to !== null && volume.attached_to !== standby.id) {
    await assertDown(skerry, volume.attached_to);
    log(`detach ${volume.name}`);
    // Refused when it is detached by now: by whoever destroyed the server, or by a run that was killed.
    volume = await reloadOnConflict(skerry.volumes.detach(volume.id), () => skerry.volumes.get(volume.id));
  }
  if (volume.attached_to === null) {
    log(`attach ${volume.name} to ${standby.name}`);
    const reload = () => skerry.volumes.get(volume.id);
    volume = await reloadOnConflict(skerry.volumes.attach(volume.id, { server: standby.id }), reload);
  }
  // It was refused, and not because it was done: something else goes on with the standby. Later.
  if (volume.attached_to !== standby.id) throw new Error(`${volume.name} is not attached to ${standby.name}`);
}

/** Two servers that write to one disk destroy it: right before it is taken away, its owner has to be down still. */
async function assertDown(skerry: Skerry, id: string): Promise<void> {
  const owner = await skerry.servers.get(id).catch((error: unknown) => {
    if (isApiError(error, 'not_found')) return null;
    throw error;
  });
  if (owner && !isDown(owner))
    throw new Error(`the volume is in use by ${owner.name}, which is ${owner.status}`);
}

/** On a conflict with the state, what it is now. */
async function reloadOnConflict(call: Promise<Volume>, reload: () => Promise<Volume>): Promise<Volume> {
  return await call.catch((error: unknown) => {
    if (isApiError(error, 'conflict_state')) return reload();
    throw error;
  });
}

async function startServer({ skerry, log }: FailoverContext, standby: Server): Promise<Server> {
  const server = await skerry.servers.get(standby.id);
  if (server.status === 'running') return server;
  log(`start ${server.name}`);
  await skerry.servers.start(server.id).catch((error: unknown) => {
    // It is being started already.
    if (!isApiError(error, 'conflict_state')) throw error;
  });
  return await skerry.waitFor(server, 'running', { intervalMs: POLL_INTERVAL_MS });
}

/** At least once: a command that switches DNS, or moves traffic, may run again. */
async function announce({ skerry, settings, log }: FailoverContext, primary: Server): Promise<void> {
  if (settings.announceCommand === null) return;
  const { device } = await skerry.volumes.get(settings.volume);
  // Its own and no more: the token and the secret of this program are nothing to it.
  const { PATH, HOME, SSH_AUTH_SOCK } = process.env;
  const env = {
    ...{ PATH, HOME, SSH_AUTH_SOCK },
    PRIMARY_NAME: primary.name,
    PRIMARY_IPV4: primary.ipv4?.address ?? '',
    PRIMARY_IPV6: primary.ipv6?.address ?? '',
    VOLUME_DEVICE: device ?? '',
  };
  log('announce it');
  await promisify(execFile)('sh', ['-c', settings.announceCommand], { env, timeout: ANNOUNCE_TIMEOUT_MS });
}

/** So that it does not count as a primary when it comes back, without its volume. */
async function demote({ skerry }: FailoverContext, servers: readonly Server[]): Promise<void> {
  for (const server of servers) {
    // These take no new labels. Where one is released later, the next look finds it.
    if (server.status === 'destroying' || server.suspended_reason === 'operator') continue;
    const labels = { ...server.labels, role: 'former' };
    await skerry.servers.update(server.id, { labels }).catch((error: unknown) => {
      // It is being destroyed by now, or gone.
      if (!isApiError(error, 'conflict_state') && !isApiError(error, 'not_found')) throw error;
    });
  }
}
