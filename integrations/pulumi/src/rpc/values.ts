/**
 * Values of properties. On the wire they are a google.protobuf.Struct, with marks for secret values and for
 * values that are not known before an update.
 */

export type Value = null | boolean | number | string | readonly Value[] | Values;
export interface Values {
  readonly [name: string]: Value;
}

/** Stands for a value that a preview does not know. */
export const UNKNOWN = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';
/** The key of a value with a special meaning, and the meaning "secret". */
const SIGNATURE = '4dabf18193072939515e22adb298388d';
const SECRET = '1b47061264138c4ac30d75fd1eb44270';

export interface Struct {
  readonly fields: Readonly<Record<string, WireValue>>;
}

interface WireValue {
  readonly nullValue?: 'NULL_VALUE';
  readonly boolValue?: boolean;
  readonly numberValue?: number;
  readonly stringValue?: string;
  readonly listValue?: { readonly values: readonly WireValue[] };
  readonly structValue?: Struct;
}

export function toStruct(values: Values): Struct {
  const fields = Object.entries(values).map(([name, value]) => [name, toWire(value)]);
  return { fields: Object.fromEntries(fields) };
}

function toWire(value: Value): WireValue {
  if (value === null) return { nullValue: 'NULL_VALUE' };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return { numberValue: value };
  if (typeof value === 'string') return { stringValue: value };
  if (Array.isArray(value)) return { listValue: { values: value.map(toWire) } };
  return { structValue: toStruct(value as Values) };
}

/** Returns the values with their marks. */
export function fromStruct(struct: Struct | null | undefined): Values {
  const fields = Object.entries(struct?.fields ?? {}).map(([name, value]) => [name, fromWire(value)]);
  return Object.fromEntries(fields);
}

function fromWire(wire: WireValue): Value {
  if (wire.structValue) return fromStruct(wire.structValue);
  if (wire.listValue) return wire.listValue.values.map(fromWire);
  return wire.stringValue ?? wire.numberValue ?? wire.boolValue ?? null;
}

/** Removes the marks of secrets, at any depth. */
export function plain(value: Values): Values;
export function plain(value: Value): Value;
export function plain(value: Value): Value {
  if (Array.isArray(value)) return value.map((one) => plain(one as Value));
  if (!isMap(value)) return value;
  if (value[SIGNATURE] === SECRET) return plain(value.value ?? null);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}

/** Returns the names of properties that are secret or contain a secret. */
export function secretNames(values: Values): ReadonlySet<string> {
  return new Set(Object.keys(values).filter((name) => hasSecret(values[name] ?? null)));
}

function hasSecret(value: Value): boolean {
  if (Array.isArray(value)) return value.some((one) => hasSecret(one as Value));
  return isMap(value) && (value[SIGNATURE] === SECRET || Object.values(value).some(hasSecret));
}

/** Marks the named properties as secrets. */
export function withSecrets(values: Values, names: ReadonlySet<string>): Values {
  const marked = Object.entries(values).map(([name, value]) =>
    names.has(name) && value !== null ? [name, { [SIGNATURE]: SECRET, value }] : [name, value],
  );
  return Object.fromEntries(marked);
}

export function hasUnknown(value: Value | undefined): boolean {
  if (Array.isArray(value)) return value.some((one) => hasUnknown(one as Value));
  return value === UNKNOWN || (isMap(value) && Object.values(value).some(hasUnknown));
}

export function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
