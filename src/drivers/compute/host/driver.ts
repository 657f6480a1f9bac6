/** The compute driver of a host on another machine: each call is a request to it. */

import { type ClientHttp2Stream, constants } from 'node:http2';
import type { Duplex } from 'node:stream';
import { requireLeaseHeld } from '../../../kernel/faults/lease-context.ts';
import {
  type ComputeDriver,
  ComputeError,
  type ExpectedResources,
  type HostFinding,
  type HourSample,
  type IsoDrive,
  type MachineSize,
  type MachineState,
  type MinuteSample,
  type SnapshotState,
  type SupervisionResult,
  type Traffic,
} from '../../../ports/compute.ts';
import type { HostFacts } from '../../../ports/host-facts.ts';
import type { PacketSample } from '../../../ports/network.ts';
import type { BackendDriver } from '../composed/link.ts';
import { type ConnectionOptions, HostConnection } from './connection.ts';
import {
  type CallMethod,
  driveWithoutPath,
  Finding,
  METHOD_VERSIONS,
  METHODS,
  withoutPath,
} from './methods.ts';
import { readLines } from './read-stream.ts';
import { type Caller, remoteCopies, remoteMoves } from './remote-moves.ts';
import { noValidAnswer, openStream, readAnswer } from './requests.ts';
import { letFetch, offerFile, putFile } from './send-file.ts';
import { requireSharedDisks, requireSnapshotOrders, requireVersion } from './versions.ts';
import {
  decodeValue,
  encodeValue,
  FLOODS_VERSION,
  ISO_DRIVE_VERSION,
  MINUTES_VERSION,
  parseJson,
  RESIZE_VERSION,
} from './wire.ts';

export interface HostDriverOptions extends ConnectionOptions {
  readonly capabilities: ComputeDriver['capabilities'];
}

export function openHostDriver(
  options: HostDriverOptions,
): BackendDriver & Required<Pick<BackendDriver, 'putFile' | 'offerFile' | 'fetchFile'>> {
  const connection = new HostConnection(options);
  // A file would delay the calls behind it.
  const files = new HostConnection(options);
  const call = async (method: CallMethod, ...args: unknown[]): Promise<unknown> =>
    await callHost(connection, options, method, args);
  /** The answer was checked against the method's schema. */
  const change = async (method: CallMethod, ...args: unknown[]): Promise<void> =>
    void (await call(method, ...args));
  return {
    name: 'host',
    capabilities: options.capabilities,
    hosts: null,
    images: null,
    moves: remoteMoves(call, connection),
    copies: remoteCopies(call, connection),
    ensure: async (spec) => {
      await requireSharedDisks(connection, spec);
      await requireSnapshotOrders(connection, spec);
      await change('ensure', withoutPath(spec));
    },
    remove: (id) => change('remove', id),
    power: (id, action) => change('power', id, action),
    observe: async (ids) => (await call('observe', ids)) as MachineState[],
    rebuild: async (spec) => {
      await requireSharedDisks(connection, spec);
      await change('rebuild', withoutPath(spec));
    },
    restore: async (spec, snapshotId) => {
      await requireSharedDisks(connection, spec);
      await change('restore', spec, snapshotId);
    },
    resize: (id, size) => resizeMachine(call, connection, { id, size }),
    setIso: (id, drive) => setIso(call, connection, { id, drive }),
    rescue: (id, access) => change('rescue', id, access),
    console: (id) => openConsole(connection, id),
    sample: async (ids, since) => (await call('sample', ids, since)) as HourSample[],
    ...remoteSamples(call, connection),
    attach: (machineId, volume) => change('attach', machineId, volume),
    detach: (id) => change('detach', id),
    grow: (id, sizeGb) => change('grow', id, sizeGb),
    removeVolume: (id) => change('removeVolume', id),
    seizeVolume: (id, host) => change('seizeVolume', id, host),
    seizeDisk: (id, host) => change('seizeDisk', id, host),
    revive: (spec) => change('revive', withoutPath(spec)),
    snapshot: async (machineId, id) => (await call('snapshot', machineId, id)) as SnapshotState,
    removeSnapshot: (id) => change('removeSnapshot', id),
    filter: (id, filter) => change('filter', id, filter),
    traffic: (id, traffic) => setTraffic(call, connection, { id, traffic }),
    list: async () => (await call('list')) as string[],
    superviseMachines: async (blocks) => (await call('superviseMachines', blocks)) as SupervisionResult[],
    protocol: () => connection.version(),
    readFacts: async () => {
      if ((await connection.version()) < (METHOD_VERSIONS.readFacts ?? 0)) return null;
      return (await call('readFacts')) as HostFacts[] | null;
    },
    examine: (expected) => examine(connection, options, expected),
    putFile: (file) => putFile(files, options, file),
    offerFile: (file, transfer) => offerFile(files, file, transfer),
    fetchFile: (file, source) => letFetch(files, options, { file, source }),
    close: () => {
      connection.close();
      files.close();
    },
  };
}

async function resizeMachine(
  call: Caller,
  connection: HostConnection,
  { id, size }: { readonly id: string; readonly size: MachineSize },
): Promise<{ readonly diskGb: number }> {
  await requireVersion(connection, RESIZE_VERSION, 'resize machines');
  return (await call('resize', id, size)) as { diskGb: number };
}

async function setIso(
  call: Caller,
  connection: HostConnection,
  { id, drive }: { readonly id: string; readonly drive: IsoDrive },
): Promise<void> {
  await requireVersion(connection, ISO_DRIVE_VERSION, 'insert ISO images');
  await call('setIso', id, driveWithoutPath(drive));
}

/** An older host has no samples of these kinds. */
function remoteSamples(
  call: Caller,
  connection: HostConnection,
): Pick<BackendDriver, 'sampleMinutes' | 'samplePackets'> {
  const knows = async (version: number) => (await connection.version()) >= version;
  return {
    sampleMinutes: async (ids, since) =>
      (await knows(MINUTES_VERSION)) ? ((await call('sampleMinutes', ids, since)) as MinuteSample[]) : [],
    samplePackets: async (ids) =>
      (await knows(FLOODS_VERSION)) ? ((await call('samplePackets', ids)) as PacketSample[]) : [],
  };
}

/** An older host applies the limits, and would ignore that an address is blackholed. */
async function setTraffic(
  call: Caller,
  connection: HostConnection,
  { id, traffic }: { readonly id: string; readonly traffic: Traffic },
): Promise<void> {
  await call('traffic', id, traffic);
  if (traffic.blackholed?.length) await requireVersion(connection, FLOODS_VERSION, 'blackhole addresses');
}

async function callHost(
  connection: HostConnection,
  { nextCall }: Pick<ConnectionOptions, 'nextCall'>,
  method: CallMethod,
  args: readonly unknown[],
): Promise<unknown> {
  const stream = await openStream(connection, method, `/v1/call/${method}`);
  const number = await issueNumber(stream, nextCall, method);
  stream.end(JSON.stringify({ call: number, args: args.map(encodeValue) }));
  const answer = await readAnswer(connection, stream);
  if (METHODS[method].answer.Check(answer))
    return decodeValue((answer as { readonly result?: unknown }).result);
  throw noValidAnswer(connection);
}

/** Called when connected: a host that was just greeted refuses lower numbers. Questions need none. */
async function issueNumber(
  stream: ClientHttp2Stream,
  nextCall: ConnectionOptions['nextCall'],
  method: CallMethod,
): Promise<number> {
  if (METHODS[method].changes.length === 0) return 1;
  try {
    const number = await nextCall();
    // After the number was issued: the next holder of the lease only gets higher ones.
    await requireLeaseHeld();
    return number;
  } catch (error) {
    stream.close(constants.NGHTTP2_CANCEL);
    throw error;
  }
}

async function openConsole(connection: HostConnection, id: string): Promise<Duplex> {
  const stream = await openStream(connection, 'console', `/v1/console/${encodeURIComponent(id)}`);
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  stream.once('response', (headers) => resolve(headers[':status'] === 200));
  const fail = () => reject(new ComputeError('transient', `host ${connection.name} opened no console`));
  stream.once('error', fail);
  stream.once('close', fail);
  if (await promise) return stream;
  await readAnswer(connection, stream);
  throw new ComputeError('transient', `host ${connection.name} opened no console`);
}

const FINDING_MAX_BYTES = 16_384;
/** More than a host has to say about itself. */
const FINDINGS_MAX = 500;

async function* examine(
  connection: HostConnection,
  { nextCall }: Pick<ConnectionOptions, 'nextCall'>,
  expected: ExpectedResources,
): AsyncIterable<HostFinding> {
  const stream = await openStream(connection, 'examine', '/v1/examine');
  stream.end(JSON.stringify({ call: await nextCall(), args: [encodeValue(expected)] }));
  let count = 0;
  try {
    for await (const line of readLines(stream, { maxBytes: FINDING_MAX_BYTES })) {
      const finding = parseJson(line);
      count += 1;
      if (!Finding.Check(finding) || count > FINDINGS_MAX) throw noValidAnswer(connection);
      yield finding as HostFinding;
    }
  } catch (error) {
    if (error instanceof ComputeError) throw error;
    throw new ComputeError('transient', `the connection to host ${connection.name} ended during the call`);
  }
}
