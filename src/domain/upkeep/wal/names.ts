/**
 * The names of bases and segments, as ids of archives: they sort as the write-ahead log does. A segment has
 * its 24 hex digits and zeros; a base has its first segment, and its start in seconds. The digits are the
 * timeline and two halves of the segment's number.
 */

import type { WalArchive } from '../../../ports/archives.ts';

const SEGMENT_DIGITS = 24;
const SECONDS_DIGITS = 8;
const TIMELINE_DIGITS = 8;
/** Segments have 16 MiB, and the second half of a number counts those of 4 GiB. */
const SEGMENTS_PER_FILE = 0x100;

export interface BaseName {
  readonly segment: string;
  readonly startedAt: Date;
}

export function segmentId(segment: string): string {
  return toId(segment + '0'.repeat(SECONDS_DIGITS));
}

export function baseId({ segment, startedAt }: BaseName): string {
  const seconds = Math.floor(startedAt.getTime() / 1000);
  return toId(segment + seconds.toString(16).padStart(SECONDS_DIGITS, '0'));
}

export function parseSegmentId(id: string): string {
  return digitsOf(id).slice(0, SEGMENT_DIGITS).toUpperCase();
}

export function parseBaseId(id: string): BaseName {
  const seconds = Number.parseInt(digitsOf(id).slice(SEGMENT_DIGITS), 16);
  return { segment: parseSegmentId(id), startedAt: new Date(seconds * 1000) };
}

/** Lists the names of the segments of an archive, in their order. */
export async function listSegments({ segments }: WalArchive): Promise<string[]> {
  return (await segments.list()).map(parseSegmentId).sort();
}

/** Each restored database continues on a timeline of its own. */
export function timelineOf(segment: string): number {
  return Number.parseInt(segment.slice(0, TIMELINE_DIGITS), 16);
}

/**
 * Returns the segments from `first` to `last`, or as far as none is missing. `missing` is the name
 * of the next segment if the timeline has later segments.
 */
export function followSegments(
  sorted: readonly string[],
  first: string,
  last: string | null,
): { readonly run: readonly string[]; readonly missing: string | null } {
  const known = new Set(sorted);
  const run: string[] = [];
  let next = first;
  for (; known.has(next) && (last === null || next <= last); next = segmentAfter(next)) run.push(next);
  if (last !== null && next > last) return { run, missing: null };
  const newest = sorted.findLast((segment) => timelineOf(segment) === timelineOf(first));
  return { run, missing: newest !== undefined && newest > next ? next : null };
}

function segmentAfter(segment: string): string {
  const [high, low] = [segment.slice(TIMELINE_DIGITS, 16), segment.slice(16)].map((digits) =>
    Number.parseInt(digits, 16),
  ) as [number, number];
  const next = high * SEGMENTS_PER_FILE + low + 1;
  const halves = [Math.floor(next / SEGMENTS_PER_FILE), next % SEGMENTS_PER_FILE];
  const digits = halves.map((half) => half.toString(16).toUpperCase().padStart(8, '0'));
  return segment.slice(0, TIMELINE_DIGITS) + digits.join('');
}

function toId(hex: string): string {
  const digits = hex.toLowerCase();
  const ends = [8, 12, 16, 20, 32];
  return ends.map((end, index) => digits.slice(ends[index - 1] ?? 0, end)).join('-');
}

function digitsOf(id: string): string {
  return id.replaceAll('-', '');
}
