/**
 * The stream `copy` of a move of a volume or snapshot:
 *
 *   source: an announcement        target: its state
 *   source, if that is `ready`: the file, and its SHA-256 in hex
 *                                  target: its state once it has checked the copy
 *
 * The announcement and the states are one line of JSON each. A host checks what another one sends.
 */
import type { Duplex } from 'node:stream';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { ComputeError } from '../../../../../ports/compute.ts';
import { MESSAGE_MAX_CHARS, readLine } from '../messages.ts';

export const COPY_STREAM = 'copy';
/** Characters of a SHA-256 in hex. */
export const DIGEST_CHARS = 64;

const AnnouncementSchema = Type.Object({
  /** Of the file. */
  bytes: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  /** The image that the disk is an overlay of. */
  base: Type.Union([Type.String({ pattern: '^[0-9a-f]{64}$' }), Type.Null()]),
});
export type Announcement = Static<typeof AnnouncementSchema>;
export const Announcement = Compile(AnnouncementSchema);

/** `no_base`: the target lacks the image, so the disk has to arrive without one. */
const StateSchema = Type.Object({
  state: Type.Enum(['ready', 'no_base', 'receiving', 'complete', 'failed']),
  message: Type.Optional(Type.String({ maxLength: MESSAGE_MAX_CHARS })),
});
type TargetState = Static<typeof StateSchema>;
const TargetState = Compile(StateSchema);

export function tell(stream: Duplex, line: Announcement | TargetState): void {
  stream.write(`${JSON.stringify(line)}\n`);
}

/** Returns the target's state. Throws `transient` with the target's reason if it failed. */
export async function readTargetState(stream: Duplex): Promise<Exclude<TargetState['state'], 'failed'>> {
  const answer = await readLine(stream).catch(() => null);
  if (!TargetState.Check(answer)) throw new ComputeError('transient', 'the other host gave no valid answer');
  const { state, message = 'the other host failed' } = answer;
  if (state === 'failed') throw new ComputeError('transient', message);
  return state;
}
