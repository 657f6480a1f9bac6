/**
 * The names of bases and segments, as ids of archives: they sort as the write-ahead log does. A segment has
 * its 24 hex digits and zeros; a base has its first segment, and its start in seconds.
 */

const SEGMENT_DIGITS = 24;
const SECONDS_DIGITS = 8;

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

function toId(hex: string): string {
  const digits = hex.toLowerCase();
  const ends = [8, 12, 16, 20, 32];
  return ends.map((end, index) => digits.slice(ends[index - 1] ?? 0, end)).join('-');
}

function digitsOf(id: string): string {
  return id.replaceAll('-', '');
}
