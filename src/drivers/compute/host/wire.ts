/**
 * The protocol between the control plane and a host: HTTP/2 over mutual TLS 1.3, one connection per process
 * of the control plane. Calls are JSON; a console is the raw bytes of its stream.
 *
 *   POST /v1/hello            versions and the number of a call → the version to speak, the host's names
 *   POST /v1/call/<method>    { call, args } → { result } or { error }
 *   POST /v1/console/<id>     → the screen's stream, both ways
 *   POST /v1/examine          { args } → one finding per line
 *   POST /v1/find-file        a file → how much of it the host has (files.ts)
 *   POST /v1/file/<header>    the bytes that are missing → {}, over a connection of its own
 *   POST /v1/offer-file       { file, transfer } → { result: { address } }; sends the file to the host that
 *                             has the key, while the request is open (version 3)
 *   POST /v1/fetch-file       { call, file, source } → lines of { bytes }, and {} at the end (version 3)
 *   POST /v1/join             { nonce } → { request, proof }, once (join.ts)
 *   POST /v1/join/certificate { certificate } → {}
 *   POST /v1/certificate/request   { authority } → { request }: a new key and its request (version 2)
 *   POST /v1/certificate/install   { certificate } → {} (version 2)
 *
 * A later version keeps `/v1/hello`: both sides name the versions that they speak, and the highest common one
 * is used. Each release speaks the previous version, too.
 */
import { SECOND_MS } from '../../../kernel/time.ts';
import type { ComputeFault } from '../../../ports/compute-fault.ts';

export const PROTOCOL_VERSIONS: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8];
/** The version that lets hosts send files to each other. */
export const PEER_FILES_VERSION = 3;
/** The version that moves volumes and snapshots, and that knows disks on shared storage. */
export const DISK_MOVES_VERSION = 4;
export const SHARED_DISKS_VERSION = 4;
/** The version that creates machines from snapshots. */
export const SNAPSHOT_ORDERS_VERSION = 5;
/** The version that reads metrics by the minute. */
export const MINUTES_VERSION = 5;
/** The version that changes the size of machines. */
export const RESIZE_VERSION = 5;
/** The version that has a drive for ISO images. */
export const ISO_DRIVE_VERSION = 6;
/** The version that counts packets and blackholes addresses. */
export const FLOODS_VERSION = 7;

/** The version that sends snapshots to a store of files. */
export const COPIES_VERSION = 8;

/** The version that brought an action, unless it was the first. */
export const ACTION_VERSIONS: Readonly<Record<string, number>> = {
  certificate: 2,
  file: 2,
  'find-file': 2,
  'offer-file': PEER_FILES_VERSION,
  'fetch-file': PEER_FILES_VERSION,
};

/** A call carries at most a machine's user data, keys, and a filter of a few hundred rules. */
export const CALL_MAX_BYTES = 1_048_576;
/** States or samples of many machines. */
export const ANSWER_MAX_BYTES = 16 * 1_048_576;
/** For the whole body: a sender that stalls holds nothing for longer. */
export const BODY_TIMEOUT_MS = 10 * SECOND_MS;
/** How long a sender of a file may pause. */
export const FILE_IDLE_MS = 30 * SECOND_MS;
/** How often a host that fetches a file tells how much it has. */
export const FETCH_PROGRESS_MS = SECOND_MS / 2;
/** Bytes of a file on their way: enough for 80 Mbit/s over 100 ms, and sent within the time of a ping. */
export const WINDOW_BYTES = 1_048_576;
/** Calls and consoles at once on one connection. */
export const STREAMS_MAX = 512;
/** Of a request for a certificate, of a certificate, and of the authority's. */
export const PEM_MAX_CHARACTERS = 4_096;

/** The message of a host to a malformed call, or to a call of a later version. */
export const UNKNOWN_CALL = 'the host does not know this call';

/** The request is malformed: our control plane never sends it. */
export class BadRequest extends Error {}

export interface Hello {
  readonly versions: readonly number[];
  /** A new number of a call, higher than those of all earlier calls. */
  readonly call: number;
}

export interface Welcome {
  readonly version: number;
  readonly hosts: readonly string[];
}

/**
 * `late`: a later call for the same resource arrived first, so this one was not carried out. `missing`: the
 * host lacks the image that the call needs. `damaged`: another host sent other bytes than those of the file.
 */
export interface WireError {
  readonly fault: ComputeFault | 'late' | 'missing' | 'damaged';
  readonly message: string;
}

/** JSON has no dates and bytes. */
export function encodeValue(value: unknown): unknown {
  if (value instanceof Date) return { $date: value.getTime() };
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(encodeValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, encodeValue(part)]));
}

/** `JSON.parse` has limited the depth by the size of the body. */
export function decodeValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decodeValue);
  if (typeof value !== 'object' || value === null) return value;
  const { $date: time, $bytes: bytes } = value as { readonly $date?: unknown; readonly $bytes?: unknown };
  if (typeof time === 'number') return new Date(time);
  if (typeof bytes === 'string') return new Uint8Array(Buffer.from(bytes, 'base64'));
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, decodeValue(part)]));
}

/** Returns undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
