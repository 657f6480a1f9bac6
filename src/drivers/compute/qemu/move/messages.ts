/**
 * The questions of the source to the target, each on a stream of its own: `prepare` before
 * anything is copied, `finish` when everything is. A question and its answer are one line of JSON each. A
 * host checks what another one sends, as it becomes part of files and packet filters.
 */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { SECOND_MS } from '../../../../kernel/time.ts';
import { withTimeout } from '../../../../kernel/timeout.ts';
import { ComputeError } from '../../../../ports/compute.ts';
import type { MachineRecord } from '../record.ts';

/** A seed or a month of metrics is below 1 MiB. */
const LINE_MAX_BYTES = 4 * 1024 ** 2;
export const MESSAGE_MAX_CHARS = 300;
const ANSWER_TIMEOUT_MS = 20 * SECOND_MS;

const Id = Type.String({ minLength: 1, maxLength: 100 });
const Base64 = Type.String({ maxLength: 3_000_000, pattern: '^[A-Za-z0-9+/=]*$' });
const Port = Type.Integer({ minimum: 0, maximum: 65_535 });
const Policy = Type.Enum(['accept', 'drop']);
const Filter = Type.Object({
  defaultIn: Policy,
  defaultOut: Policy,
  rules: Type.Array(
    Type.Object({
      direction: Type.Enum(['in', 'out']),
      proto: Type.Enum(['tcp', 'udp', 'icmp', 'any']),
      ports: Type.Array(Type.Tuple([Port, Port]), { maxItems: 100 }),
      remote: Type.String({ maxLength: 50, pattern: '^[0-9a-fA-F.:/]+$' }),
      action: Type.Enum(['accept', 'drop', 'reject']),
    }),
    { maxItems: 500 },
  ),
});

/** The machine's record, apart from its spec. */
const State = Type.Object({
  power: Type.Enum(['on', 'off']),
  filter: Type.Union([Filter, Type.Null()]),
  traffic: Type.Object({
    bitsPerS: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
    mail: Type.Boolean(),
    blackholed: Type.Optional(Type.Array(Type.Union([Type.Literal(4), Type.Literal(6)]), { maxItems: 2 })),
  }),
});
const Prepare = Type.Object({
  generation: Type.Integer({ minimum: 1 }),
  /** Size of the disk that the guest sees, and the image below it. */
  diskBytes: Type.Integer({ minimum: 1 }),
  base: Type.Union([Type.String({ pattern: '^[0-9a-f]{64}$' }), Type.Null()]),
  volumes: Type.Array(Type.Object({ id: Id, bytes: Type.Integer({ minimum: 1 }) }), { maxItems: 32 }),
  /** The CD with the guest's cloud-init data, which it may have mounted. */
  seed: Type.Union([Base64, Type.Null()]),
  /** Its QEMU has the drive for ISO images, which is empty. */
  isoDrive: Type.Optional(Type.Literal(true)),
  state: State,
});
const Prepared = Type.Object({
  ok: Type.Literal(true),
  hasBase: Type.Boolean(),
  isoDrive: Type.Optional(Type.Literal(true)),
});

const Finish = Type.Object({
  /** It may have changed since it was prepared. */
  state: State,
  /** Files by name, in Base64. */
  metrics: Type.Object({
    'metrics.json': Type.Union([Base64, Type.Null()]),
    'metrics-past.json': Type.Union([Base64, Type.Null()]),
  }),
});
const Finished = Type.Object({ ok: Type.Literal(true) });
const Failure = Compile(
  Type.Object({ ok: Type.Literal(false), message: Type.String({ maxLength: MESSAGE_MAX_CHARS }) }),
);

export const REQUESTS = {
  prepare: { question: Compile(Prepare), answer: Compile(Prepared) },
  finish: { question: Compile(Finish), answer: Compile(Finished) },
};
export type PrepareRequest = Type.Static<typeof Prepare>;
export type PrepareAnswer = Type.Static<typeof Prepared>;
export type FinishRequest = Type.Static<typeof Finish>;

export function toldState({ power, filter, traffic }: MachineRecord): FinishRequest['state'] {
  // Without `readonly`, as the schema's type is.
  return structuredClone({ power, filter, traffic }) as FinishRequest['state'];
}

/** Asks the other host on a stream made for it. Throws `transient` with its reason if it fails. */
export async function ask(stream: Duplex, question: PrepareRequest): Promise<PrepareAnswer>;
export async function ask(stream: Duplex, question: FinishRequest): Promise<unknown>;
export async function ask(stream: Duplex, question: PrepareRequest | FinishRequest): Promise<unknown> {
  try {
    stream.write(`${JSON.stringify(question)}\n`);
    const answer = await withTimeout(readLine(stream), ANSWER_TIMEOUT_MS).catch(() => null);
    if (Failure.Check(answer)) throw new ComputeError('transient', (answer as { message: string }).message);
    const name = 'metrics' in question ? 'finish' : 'prepare';
    if (REQUESTS[name].answer.Check(answer)) return answer;
    throw new ComputeError('transient', 'the other host gave no valid answer');
  } finally {
    stream.destroy();
  }
}

/** Answers the other host's question. A failure is its to tell; `onError` logs what it is not told. */
export async function answerWith(
  stream: Duplex,
  work: (question: unknown) => Promise<object>,
  onError: (error: unknown) => void,
): Promise<void> {
  const answer = await withTimeout(readLine(stream), ANSWER_TIMEOUT_MS)
    .then(work)
    .catch((error: unknown) => {
      onError(error);
      const message = error instanceof ComputeError ? error.message : 'the other host failed';
      return { ok: false, message: message.slice(0, MESSAGE_MAX_CHARS) };
    });
  stream.end(`${JSON.stringify(answer)}\n`);
}

/** Reads a line of JSON, after which the other side waits for an answer. */
export async function readLine(stream: Duplex): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const part = stream.read() as Buffer | null;
    if (part === null) {
      if (stream.readableEnded || stream.destroyed) throw new Error('the stream ended');
      await eventOrClose(stream, 'readable');
      continue;
    }
    bytes += part.length;
    if (bytes > LINE_MAX_BYTES) throw new Error('the line is too long');
    parts.push(part);
    if (part.includes(0x0a)) return JSON.parse(Buffer.concat(parts).toString('utf8'));
  }
}

/** Waits for the event, or until the stream is closed. */
export async function eventOrClose(stream: Duplex, event: 'readable' | 'drain'): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race([once(stream, event, { signal }), once(stream, 'close', { signal })]);
  } finally {
    over.abort();
  }
}
