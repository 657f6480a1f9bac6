/**
 * Looks after the machines: makes what is true be what is wanted, machine by machine. Most of the time there is nothing
 * to do, so it looks first, without a lock, and looks again with one before it acts.
 */
import { existsSync } from 'node:fs';
import { stat, truncate } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../../../kernel/logger.ts';
import type { Tended } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { Busy } from '../lock.ts';
import { meterMachines } from '../metrics/sample.ts';
import { mendNetwork } from '../net/mend.ts';
import { plugNetwork } from '../net/plug.ts';
import { seeSockets } from '../processes.ts';
import { Qmp } from '../qmp.ts';
import { listRecords, type MachineRecord, readRecord } from '../record.ts';
import { bootName, runsOwnDisk } from './booted.ts';
import { countRestart, mayRestart } from './crashes.ts';
import { eachOf } from './each.ts';
import { noticeInstalled } from './install.ts';
import { isMute, lookAt, type Sight } from './look.ts';
import { plugCard } from './plug-card.ts';
import { start, switchOff } from './start.ts';
import { type IsWired, seeWires } from './wires.ts';

const LOG_MAX_BYTES = 1024 ** 2;

/** How long the others wait for one machine, and the caller for all of them. Work that takes longer goes on. */
const MACHINE_MAX_MS = 8_000;
const ALL_MAX_MS = 20_000;

type Found = Tended | undefined;

/** What is under way in this process: one round at a time, and one act for each machine. */
interface Tending {
  round: Promise<Tended[]> | undefined;
  readonly machines: Map<string, Promise<Found>>;
}
const TENDING = new WeakMap<QemuHost, Tending>();

/** Whoever asks while a round is under way is told what that finds. */
export async function tendMachines(host: QemuHost): Promise<Tended[]> {
  const tending: Tending = TENDING.get(host) ?? { round: undefined, machines: new Map() };
  TENDING.set(host, tending);
  tending.round ??= tendAll(host, tending.machines).finally(() => {
    tending.round = undefined;
  });
  return await tending.round;
}

async function tendAll(host: QemuHost, underWay: Map<string, Promise<Found>>): Promise<Tended[]> {
  const tended: Tended[] = [];
  await mendRules(host);
  const until = Date.now() + ALL_MAX_MS;
  const [isWired, hasProcess] = [await seeWires(host), await seeSockets()];
  await eachOf(await listRecords(host.layout), async (id) => {
    const leftMs = Math.min(MACHINE_MAX_MS, until - Date.now());
    // The next round begins with it: those before are quickly seen to be well.
    if (leftMs <= 0) return;
    const before = underWay.get(id);
    const work = before ?? tendOne(host, id, { isWired, hasProcess });
    underWay.set(id, work);
    const found = await within(leftMs, work);
    if (found !== 'late') underWay.delete(id);
    if (found === 'late' && before) tended.push({ id, what: 'failed', says: 'what it needs takes long' });
    if (found && found !== 'late') tended.push(found);
  });
  await meterMachines(host);
  return tended.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | 'late'> {
  const timer = new AbortController();
  try {
    return await Promise.race([work, sleep(ms, 'late' as const, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

/** Rules that could not be put back are missing the next time, too. */
async function mendRules(host: QemuHost): Promise<void> {
  try {
    await mendNetwork(host);
  } catch (error) {
    host.log.warn({ err: error }, 'packet filter could not be put back');
  }
}

interface Seen {
  readonly isWired: IsWired;
  readonly hasProcess: (socket: string) => boolean;
}

/** What fails with one machine is told, and keeps nobody from looking after the others. */
async function tendOne(host: QemuHost, id: string, { isWired, hasProcess }: Seen): Promise<Found> {
  try {
    const record = await readRecord(host.layout, id);
    if (!record) return undefined;
    const isOff = record.power === 'off' && !hasProcess(host.layout.running(id, 'qmp'));
    if (isOff) return undefined;
    const sight = await lookAt(host, id);
    if (sight.is === 'silent' && record.power === 'on') return mute(id, sight.is);
    if (!isAsWanted(record, sight)) return await host.aloneWith(id, () => putRight(host, id));
    if (!isWired(id)) return await host.aloneWith(id, () => plugAgain(host, id));
    if (record.installingSince !== null && runsOwnDisk(bootName(record), record))
      await noticeInstalled(host, record);
    await cutLog(host.layout.machine(id, 'qemu.log'));
    return undefined;
  } catch (error) {
    // Whoever works on it sees to it.
    if (error instanceof Busy) return undefined;
    host.log.warn({ err: error, machine: id }, 'machine could not be looked after');
    const { message } = describeError(error) as { readonly message?: string };
    return { id, what: 'failed', says: message ?? 'an unexpected fault' };
  }
}

function isAsWanted(record: MachineRecord, sight: Sight): boolean {
  if (record.power === 'off') return sight.is === 'gone';
  return sight.is === 'on' && sight.name === bootName(record);
}

/** The same look again, now that nobody else acts on it. */
async function putRight(host: QemuHost, id: string): Promise<Tended | undefined> {
  const record = await readRecord(host.layout, id);
  if (!record) return undefined;
  const sight = await lookAt(host, id);
  if (isAsWanted(record, sight)) return undefined;
  if (record.power === 'off') {
    await switchOff(host, record);
    return undefined;
  }
  if (sight.is === 'gone') return await startAgain(host, record);
  if (isMute(sight)) return mute(id, sight.is);
  if (sight.is === 'begun' || sight.name !== bootName(record)) {
    await start(host, record);
    return {
      id,
      what: 'restarted',
      says: 'its start, or a change to it, had been broken off; that is done now',
    };
  }
  if (sight.is === 'off') {
    // The guest's own will.
    await switchOff(host, record);
    return { id, what: 'off', says: 'its guest switched itself off' };
  }
  return await goOn(host, id, sight.status);
}

/** Its guest may be well, or be so again: whether it is ended is not decided here. */
function mute(id: string, how: 'silent' | 'lost'): Tended {
  const says = {
    silent: 'QEMU does not answer; if that lasts, a reset starts it anew',
    lost: 'it runs, and its sockets below /run were deleted; a reset starts it anew',
  };
  return { id, what: 'failed', says: says[how] };
}

async function startAgain(host: QemuHost, record: MachineRecord): Promise<Tended | undefined> {
  const { id } = record.spec;
  if (!(await mayRestart(host, id))) {
    return {
      id,
      what: 'failed',
      says: 'it does not stay on, or cannot be started; that is tried again in a while',
    };
  }
  // A start of the host empties the folder with the process ids.
  const died = existsSync(host.layout.running(id, 'pid'));
  await countRestart(host, id);
  await start(host, record);
  const says = died ? 'its process had ended by itself' : 'it was not on, as after a start of this host';
  return { id, what: 'restarted', says };
}

/** QEMU halts a guest whose disk cannot be written. When there is space again it goes on where it was. */
async function goOn(host: QemuHost, id: string, status: string): Promise<Tended> {
  if (status !== 'io-error')
    return { id, what: 'failed', says: `QEMU halted it (${status}); a reset starts it anew` };
  const qmp = await Qmp.open(host.layout.running(id, 'qmp'));
  try {
    await qmp?.execute('cont');
  } finally {
    qmp?.close();
  }
  return {
    id,
    what: 'failed',
    says: 'it was halted because its disk could not be written; it was told to go on',
  };
}

/** Its tap was deleted under it. */
async function plugAgain(host: QemuHost, id: string): Promise<Tended | undefined> {
  const record = await readRecord(host.layout, id);
  if (!record || !isAsWanted(record, await lookAt(host, id))) return undefined;
  if ((await seeWires(host))(id)) return undefined;
  await plugNetwork(host, record);
  await plugCard(host, id);
  return {
    id,
    what: 'restarted',
    says: 'its network had been taken away; it was put back while the machine ran on',
  };
}

async function cutLog(path: string): Promise<void> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size > LOG_MAX_BYTES) await truncate(path);
}
