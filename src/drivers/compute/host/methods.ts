/** The port's methods as calls: the resources that a call changes, and the form of its answer. */
import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { ComputeDriver, IsoDrive, MachineSpec } from '../../../ports/compute.ts';
import type { SnapshotCopies } from '../../../ports/copies.ts';
import type { MachineMoves } from '../../../ports/moves.ts';
import {
  COPIES_VERSION,
  DISK_MOVES_VERSION,
  FLOODS_VERSION,
  ISO_DRIVE_VERSION,
  MINUTES_VERSION,
  PEM_MAX_CHARACTERS,
  RESIZE_VERSION,
  SHARED_DISKS_VERSION,
} from './wire.ts';

/** Methods that a call cannot carry: streams and properties. */
type Uncalled =
  | 'console'
  | 'examine'
  | 'name'
  | 'capabilities'
  | 'hosts'
  | 'images'
  | 'files'
  | 'sendFile'
  | 'passFile'
  | 'moves'
  | 'copies';
export type CallMethod = Exclude<keyof ComputeDriver, Uncalled> | keyof MachineMoves | keyof SnapshotCopies;

interface MethodRow {
  /** The arguments that name resources which the call changes; empty for questions. */
  readonly changes: readonly number[];
  readonly answer: ReturnType<typeof Compile>;
}

const Id = Type.String({ maxLength: 100 });
const Text = Type.String({ maxLength: 1_000 });
const Rate = Type.Number({ minimum: 0 });

const MachineState = Type.Object({
  id: Id,
  state: Type.Enum(['absent', 'unknown', 'installing', 'running', 'stopped']),
  host: Type.Union([Id, Type.Null()]),
  generation: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  rescue: Type.Boolean(),
  crashed: Type.Optional(Type.Literal(true)),
});
const SnapshotState = Type.Object({
  state: Type.Enum(['creating', 'ready', 'failed']),
  sizeGb: Type.Number({ minimum: 0 }),
});
const Instant = Type.Object({ $date: Type.Integer() });
const USAGE = {
  cpuPct: Rate,
  ramMb: Rate,
  diskReadBps: Rate,
  diskWriteBps: Rate,
  netInBps: Rate,
  netOutBps: Rate,
};
const HourSample = Type.Object({ id: Id, hour: Instant, ...USAGE });
const MinuteSample = Type.Object({ id: Id, minute: Instant, ...USAGE });
const PerSecond = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const PacketRate = Type.Object({ packetsPerS: PerSecond, bitsPerS: PerSecond, ipv6PacketsPerS: PerSecond });
const PacketSample = Type.Object({ id: Id, in: PacketRate, out: PacketRate });
const SupervisionResult = Type.Object({
  id: Id,
  outcome: Type.Enum(['restarted', 'failed', 'off']),
  message: Text,
});

const Count = Type.Integer({ minimum: 0, maximum: 2_000_000_000 });
/** The latest time of a JavaScript date. */
const TIME_MAX = 8.64e15;
const HostFacts = Type.Object({
  host: Id,
  // Printed on terminals: nothing but plain text.
  version: Type.String({ maxLength: 40, pattern: '^[0-9A-Za-z.+-]+$' }),
  time: Type.Object({ $date: Type.Integer({ minimum: 0, maximum: TIME_MAX }) }),
  uptimeS: Count,
  cores: Count,
  load: Rate,
  ramMb: Count,
  ramAvailableMb: Count,
  diskGb: Rate,
  diskFreeGb: Rate,
});

const MoveProgress = Type.Object({
  state: Type.Enum(['copying', 'sent', 'failed']),
  copiedBytes: Rate,
  totalBytes: Rate,
  message: Type.Union([Text, Type.Null()]),
});
const CopyProgress = Type.Object({
  state: Type.Enum(['working', 'done', 'failed']),
  bytes: Rate,
  fault: Type.Union([Type.Enum(['transient', 'host', 'refused', 'waiting']), Type.Null()]),
  message: Type.Union([Text, Type.Null()]),
});
const PreparedCopy = Type.Object({
  sizeBytes: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  partBytes: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  partMd5s: Type.Array(Type.String({ pattern: '^[0-9a-f]{32}$' }), { minItems: 1, maxItems: 10_000 }),
});
const MOVE_KEY_BYTES = 32;
const MoveArgument = Compile(Type.Object({ id: Id, machineId: Id, from: Id, to: Id, key: Type.Unknown() }));
const DiskMoveArgument = Compile(
  Type.Object({
    ...{ id: Id, from: Id, to: Id, key: Type.Unknown() },
    disk: Type.Object({ kind: Type.Enum(['volume', 'snapshot']), id: Id }),
  }),
);
const SizeGb = Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 });
const MovedDiskArgument = Compile(
  Type.Object({
    sizeGb: SizeGb,
    snapshot: Type.Union([
      Type.Object({ machineId: Id, generation: Type.Integer({ minimum: 1 }), diskGb: SizeGb }),
      Type.Null(),
    ]),
  }),
);
const MovedArgument = Compile(
  Type.Object({
    spec: Type.Object({ id: Id }),
    volumes: Type.Array(Type.Object({ id: Id }), { maxItems: 100 }),
  }),
);

export const Finding = Compile(
  Type.Object({ level: Type.Enum(['ok', 'note', 'warn', 'fail']), subject: Text, message: Text }),
);
export const WelcomeAnswer = Compile(
  Type.Object({ version: Type.Integer(), hosts: Type.Array(Id, { maxItems: 100 }) }),
);
export const ErrorAnswer = Compile(
  Type.Object({
    error: Type.Object({
      fault: Type.Enum(['host', 'transient', 'refused', 'waiting', 'late', 'missing', 'damaged']),
      message: Text,
    }),
  }),
);
export const HelloBody = Compile(
  Type.Object({
    versions: Type.Array(Type.Integer(), { maxItems: 20 }),
    call: Type.Integer({ minimum: 1 }),
  }),
);
const Pem = Type.String({ minLength: 1, maxLength: PEM_MAX_CHARACTERS });
export const AuthorityBody = Compile(Type.Object({ authority: Pem }));
export const CertificateBody = Compile(Type.Object({ certificate: Pem }));
const CallSchema = Type.Object({
  call: Type.Integer({ minimum: 1 }),
  args: Type.Array(Type.Unknown(), { maxItems: 4 }),
});
export type CallBody = Static<typeof CallSchema>;
export const CallBody = Compile(CallSchema);

function question(result: TSchema): MethodRow {
  return { changes: [], answer: Compile(Type.Object({ result })) };
}

function change(changes: readonly number[], result?: TSchema): MethodRow {
  return { changes, answer: Compile(Type.Object(result ? { result } : {})) };
}

/** The version that brought a method, unless it was the first. */
export const METHOD_VERSIONS: Readonly<Partial<Record<CallMethod, number>>> = {
  readFacts: 3,
  sampleMinutes: MINUTES_VERSION,
  seizeDisk: SHARED_DISKS_VERSION,
  revive: SHARED_DISKS_VERSION,
  receiveDisk: DISK_MOVES_VERSION,
  resize: RESIZE_VERSION,
  setIso: ISO_DRIVE_VERSION,
  samplePackets: FLOODS_VERSION,
  prepareCopy: COPIES_VERSION,
  sendCopy: COPIES_VERSION,
  forgetCopy: COPIES_VERSION,
  fetchCopy: COPIES_VERSION,
};

export const METHODS: Readonly<Record<CallMethod, MethodRow>> = {
  ensure: change([0]),
  remove: change([0]),
  power: change([0]),
  observe: question(Type.Array(MachineState)),
  rebuild: change([0]),
  restore: change([0]),
  resize: change([0], Type.Object({ diskGb: Type.Integer({ minimum: 1, maximum: 1_000_000 }) })),
  setIso: change([0]),
  rescue: change([0]),
  sample: question(Type.Array(HourSample)),
  sampleMinutes: question(Type.Array(MinuteSample)),
  samplePackets: question(Type.Array(PacketSample)),
  attach: change([0, 1]),
  detach: change([0]),
  grow: change([0]),
  removeVolume: change([0]),
  seizeVolume: change([0]),
  seizeDisk: change([0]),
  revive: change([0]),
  snapshot: change([1], SnapshotState),
  removeSnapshot: change([0]),
  filter: change([0]),
  traffic: change([0]),
  list: question(Type.Array(Id)),
  superviseMachines: question(Type.Array(SupervisionResult)),
  readFacts: question(Type.Union([Type.Array(HostFacts, { maxItems: 100 }), Type.Null()])),
  receive: change([0], Type.Object({ address: Type.String({ maxLength: 300 }) })),
  receiveDisk: change([0], Type.Object({ address: Type.String({ maxLength: 300 }) })),
  send: change([0], MoveProgress),
  takeOver: change([0]),
  keep: change([0]),
  forget: change([0]),
  prepareCopy: change([0], Type.Union([PreparedCopy, Type.Null()])),
  sendCopy: change([0], CopyProgress),
  forgetCopy: change([0]),
  fetchCopy: change([0], CopyProgress),
};

const MOVE_METHODS: readonly CallMethod[] = [
  ...(['receive', 'receiveDisk', 'send', 'takeOver', 'keep', 'forget'] as const),
];

export function isMoveMethod(method: CallMethod): method is keyof MachineMoves {
  return MOVE_METHODS.includes(method);
}

const COPY_METHODS: readonly CallMethod[] = [
  ...(['prepareCopy', 'sendCopy', 'forgetCopy', 'fetchCopy'] as const),
];

export function isCopyMethod(method: CallMethod): method is keyof SnapshotCopies {
  return COPY_METHODS.includes(method);
}

export function isCallMethod(name: string): name is CallMethod {
  return Object.hasOwn(METHODS, name);
}

/** Returns the ids of the resources that the call changes, or null if an argument names none. */
export function changedResources(method: CallMethod, args: readonly unknown[]): string[] | null {
  if (isMoveMethod(method)) return resourcesOfMove(method, args);
  const ids = METHODS[method].changes.map((index) => {
    const arg = args[index];
    return typeof arg === 'object' && arg !== null ? (arg as { readonly id?: unknown }).id : arg;
  });
  return ids.every((id) => typeof id === 'string') ? ids : null;
}

/** A move changes a volume, a snapshot, or a machine and, on the target, the volumes that come with it. */
function resourcesOfMove(method: keyof MachineMoves, [move, content]: readonly unknown[]): string[] | null {
  const isDisk = DiskMoveArgument.Check(move);
  if (!isDisk && !MoveArgument.Check(move)) return null;
  const { key } = move;
  if (!(key instanceof Uint8Array) || key.length !== MOVE_KEY_BYTES) return null;
  if (isDisk) return isDiskCall(method, move.disk.kind, content) ? [move.disk.id] : null;
  const { machineId } = move;
  if (method === 'receiveDisk') return null;
  if (method !== 'receive') return [machineId];
  if (!MovedArgument.Check(content)) return null;
  const { spec, volumes } = content;
  return spec.id === machineId ? [machineId, ...volumes.map(({ id }) => id)] : null;
}

function isDiskCall(method: keyof MachineMoves, kind: 'volume' | 'snapshot', content: unknown): boolean {
  if (method !== 'receiveDisk') return method !== 'receive';
  return MovedDiskArgument.Check(content) && (kind === 'snapshot') === (content.snapshot !== null);
}

/** A path of the control plane means nothing to a host, and it opens no other file for the control plane. */
export function withoutPath(spec: MachineSpec): MachineSpec {
  const iso = spec.image?.iso ?? null;
  return iso === null ? spec : { ...spec, image: { ...spec.image, iso: { ...iso, path: null } } };
}

/** Does the same for an ISO image to insert. */
export function driveWithoutPath({ iso, ...drive }: IsoDrive): IsoDrive {
  return { ...drive, iso: iso && { ...iso, path: null } };
}
