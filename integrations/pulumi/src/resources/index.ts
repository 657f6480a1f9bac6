/** All kinds of resources, and the rules that hold for each of them. */
import { Failure } from '../rpc/failure.ts';
import type { CheckFailure, DiffKind, DiffResponse } from '../rpc/protocol.ts';
import { hasUnknown, isMap, UNKNOWN, type Value, type Values } from '../rpc/values.ts';
import { firewallGroup, sshKey } from './access.ts';
import { alert } from './alert.ts';
import type { Input, Resource, Shape } from './resource.ts';
import { server } from './server.ts';
import { snapshot, volume } from './storage.ts';

export const RESOURCES: readonly Resource[] = [server, volume, snapshot, sshKey, firewallGroup, alert];

/** `urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME` */
export function resourceOf(urn: string): Resource {
  const type = urn.split('::')[2]?.split('$').at(-1);
  const found = RESOURCES.find((one) => one.type === type);
  if (!found) throw new Failure(`the provider has no resource of the type ${type}`);
  return found;
}

export const nameOf = (urn: string) => urn.split('::').slice(3).join('::');

export function secretInputs({ inputs }: Resource): readonly string[] {
  return Object.keys(inputs).filter((name) => inputs[name]?.secret);
}

/** Checks inputs without their marks. A value that is not known yet passes. */
export function checkInputs(resource: Resource, news: Values, olds: Values): readonly CheckFailure[] {
  const { inputs } = resource;
  const unknown = Object.keys(news)
    .filter((name) => !Object.hasOwn(inputs, name))
    .map((property) => ({ property, reason: 'there is no such property' }));
  const wrong = Object.entries(inputs).flatMap(([property, { required, shape }]) => {
    const value = news[property];
    if (value === undefined || value === null) {
      return required ? [{ property, reason: 'a value is required' }] : [];
    }
    return hasUnknown(value) || isOfShape(value, shape) ? [] : [{ property, reason: describe(shape) }];
  });
  const failures = [...unknown, ...wrong];
  return failures.length > 0 ? failures : (resource.check?.(news, olds) ?? []);
}

function isOfShape(value: Value, shape: Shape): boolean {
  if (shape.type === 'array') return Array.isArray(value);
  if (shape.type === 'object' || '$ref' in shape) return isMap(value);
  if (shape.type === 'integer') return Number.isInteger(value);
  return typeof value === shape.type;
}

function describe(shape: Shape): string {
  if (shape.type === 'array') return 'a list is expected';
  return shape.type === 'object' || '$ref' in shape
    ? 'an object is expected'
    : `a value of the type ${shape.type} is expected`;
}

/** Returns the inputs that differ. An input that the program omits stays unchanged in the account. */
export function changedInputs(
  { inputs }: Resource,
  olds: Values,
  news: Values,
  ignored: readonly string[],
): Values {
  const changed = Object.entries(inputs).flatMap(([name, input]) => {
    const value = news[name];
    const skips = value === undefined || ignored.includes(name) || input.change === 'order';
    return skips || isSame(input, olds[name], value) ? [] : [[name, value]];
  });
  return Object.fromEntries(changed);
}

export function diff(
  resource: Resource,
  olds: Values,
  news: Values,
  ignored: readonly string[],
): DiffResponse {
  const diffs = Object.keys(changedInputs(resource, olds, news, ignored));
  const inPlace = resource.updatedInPlace?.(news) ?? [];
  const replaces = diffs.filter(
    (name) => resource.inputs[name]?.change === 'replace' && !inPlace.includes(name),
  );
  const detailedDiff = Object.fromEntries(
    diffs.map((name) => {
      const verb = olds[name] === undefined || olds[name] === null ? 'ADD' : 'UPDATE';
      const kind: DiffKind = replaces.includes(name) ? `${verb}_REPLACE` : verb;
      return [name, { kind, inputDiff: true }];
    }),
  );
  const changes = diffs.length > 0 ? 'DIFF_SOME' : 'DIFF_NONE';
  return { replaces, changes, diffs, detailedDiff, hasDetailedDiff: true };
}

function isSame({ compare }: Input, old: Value | undefined, value: Value): boolean {
  if (value === null) return old === null || old === undefined;
  if (compare === 'members' && isMap(value) && isMap(old)) {
    return Object.keys(value).every((name) => isEqual(old[name] ?? null, value[name] ?? null));
  }
  if (compare === 'set' && Array.isArray(value) && Array.isArray(old)) {
    return isEqual([...new Set(old)].sort(), [...new Set(value)].sort());
  }
  return isEqual(old ?? null, value);
}

function isEqual(one: Value, other: Value): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => isEqual(item as Value, other[at] as Value));
  }
  if (!isMap(one) || !isMap(other)) return one === other;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => isEqual(one[name] ?? null, other[name] ?? null));
}

/** The state that a preview shows: inputs as they will be, and outputs that are not known yet. */
export function predict({ inputs, outputs }: Resource, news: Values, olds: Values | null): Values {
  const unknown = Object.keys(outputs).map((name) => [name, UNKNOWN]);
  const old = olds && Object.entries(olds).filter(([name]) => Object.hasOwn({ ...inputs, ...outputs }, name));
  return { ...Object.fromEntries(old ?? unknown), ...news };
}

/**
 * Returns the inputs of a resource that was read. After an import, they are everything that the program could
 * set; after a refresh, what it did set.
 */
export function readInputs({ inputs }: Resource, state: Values, olds: Values | null): Values {
  const names = Object.keys(inputs).filter((name) =>
    olds === null || Object.keys(olds).length === 0 ? isSet(state[name]) : olds[name] !== undefined,
  );
  return Object.fromEntries(
    names.map((name) => {
      // Null in the state: it was cleared elsewhere.
      const current = (Object.hasOwn(state, name) ? state[name] : olds?.[name]) ?? null;
      return [name, inputs[name]?.compare === 'members' ? pick(olds?.[name], current) : current];
    }),
  );
}

/** Of an object, a program sets only some members. */
function pick(old: Value | undefined, current: Value): Value {
  if (!isMap(old) || !isMap(current)) return current;
  return Object.fromEntries(Object.keys(old).map((name) => [name, current[name] ?? null]));
}

/** An input that is null, or whose members all are, is like an omitted input. */
function isSet(value: Value | undefined): boolean {
  if (value === undefined || value === null) return false;
  return !isMap(value) || Object.keys(value).length === 0 || Object.values(value).some((one) => one !== null);
}
