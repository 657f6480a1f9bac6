/**
 * Parsers for node responses. A missing or malformed value throws a NodeError that names it: silently
 * ignoring a broken response would look like no payment. The `optional…` parsers accept only missing values;
 * a value that is there must still be valid.
 */
import { NodeError } from './node-http.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** `label` names the value, such as `block height`. All parsers below take it. */
export function malformedValue(label: string, expected: string): NodeError {
  return new NodeError(label, 0, `the node returned no valid ${expected}`);
}

export function asObject(value: unknown, label: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw malformedValue(label, 'object');
}

export function asArray(value: unknown, label: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw malformedValue(label, 'list');
}

export function asString(value: unknown, label: string): string {
  if (typeof value === 'string') return value;
  throw malformedValue(label, 'string');
}

/** A height, a slot, a count, or a time: 0 or more. */
export function asUint(value: unknown, label: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw malformedValue(label, 'whole number');
}

/** Like `asUint`, but may be negative. */
export function asInteger(value: unknown, label: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw malformedValue(label, 'whole number');
}

/** An unsigned 64-bit number; `parseExactJson` leaves those beyond a JavaScript number as text. */
export function asUint64(value: unknown, label: string): bigint {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && /^\d{1,20}$/.test(text)) return BigInt(text);
  throw malformedValue(label, 'whole number');
}

/** 32 bytes as 64 lowercase hex digits. */
export function asHash(value: unknown, label: string): string {
  if (typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)) return value;
  throw malformedValue(label, 'hash');
}

/** A time in seconds. */
export function asDate(value: unknown, label: string): Date {
  return new Date(asUint(value, label) * 1_000);
}

export function optionalObject(value: unknown, label: string): JsonObject | null {
  return isMissing(value) ? null : asObject(value, label);
}

/** Returns an empty list for a missing value. */
export function optionalArray(value: unknown, label: string): readonly unknown[] {
  return isMissing(value) ? [] : asArray(value, label);
}

export function optionalString(value: unknown, label: string): string | null {
  return isMissing(value) ? null : asString(value, label);
}

export function optionalUint(value: unknown, label: string): number | null {
  return isMissing(value) ? null : asUint(value, label);
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

/** Parsers for the hexadecimal values of Ethereum nodes. Each throws NodeError for any other value. */

/** Up to 2^53. */
export function asHexUint(value: unknown, label: string): number {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,14}$/i.test(value)) {
    const parsed = Number(value);
    if (Number.isSafeInteger(parsed)) return parsed;
  }
  throw malformedValue(label, 'number');
}

export function asHexBigInt(value: unknown, label: string): bigint {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value);
  throw malformedValue(label, 'number');
}

/** Returns it in lowercase with `0x`. */
export function asHexHash(value: unknown, label: string): string {
  if (typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value)) return value.toLowerCase();
  throw malformedValue(label, 'hash');
}

/** Returns it in lowercase with `0x`. */
export function asHexAddress(value: unknown, label: string): string {
  if (typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value)) return value.toLowerCase();
  throw malformedValue(label, 'address');
}
