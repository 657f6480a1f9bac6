/** A kind of resource: its properties, and the calls that create, read, change, and delete it. */
import { isApiError, type Skerry, WaitTimeoutError } from '@skerry/sdk';
import type { CheckFailure } from '../rpc/protocol.ts';
import type { Value, Values } from '../rpc/values.ts';

/** The type of a property in Pulumi's schema. */
export type Shape = Readonly<Record<string, unknown>>;

export interface Output {
  readonly shape: Shape;
  readonly about: string;
}

export interface Input extends Output {
  readonly required?: boolean;
  /** `order`: counts only for a new resource. */
  readonly change: 'update' | 'replace' | 'order';
  /** The order of a list, or a member that the program omits, makes no difference. */
  readonly compare?: 'set' | 'members';
  readonly secret?: boolean;
}

export interface Call {
  readonly skerry: Skerry;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface Created {
  readonly id: string;
  readonly state: Values;
}

export interface Change {
  /** The inputs that differ. */
  readonly changed: Values;
  /** All inputs of the program. */
  readonly inputs: Values;
  readonly state: Values;
}

export interface Resource {
  /** `skerry:index:Server` */
  readonly type: string;
  readonly about: string;
  readonly inputs: Readonly<Record<string, Input>>;
  readonly outputs: Readonly<Record<string, Output>>;
  /** Problems beyond missing, unknown, and mistyped properties. `olds`: inputs of an existing resource. */
  readonly check?: (news: Values, olds: Values) => readonly CheckFailure[];
  readonly create: (call: Call, inputs: Values) => Promise<Created>;
  /** Returns all properties that can be read; null if the resource does not exist. */
  readonly read: (call: Call, id: string, state: Values) => Promise<Values | null>;
  readonly update: (call: Call, id: string, change: Change) => Promise<void>;
  /** Inputs that usually replace the resource, and do not with the other inputs of this program. */
  readonly updatedInPlace?: (inputs: Values) => readonly string[];
  readonly delete: (call: Call, id: string) => Promise<void>;
}

export const TEXT: Shape = { type: 'string' };
export const INTEGER: Shape = { type: 'integer' };
export const FLAG: Shape = { type: 'boolean' };
export const TEXTS: Shape = { type: 'array', items: TEXT };
export const TEXT_MAP: Shape = { type: 'object', additionalProperties: TEXT };
export const typeRef = (name: string): Shape => ({ $ref: `#/types/skerry:index:${name}` });

export const PROTECTION: Input = {
  shape: typeRef('Protection'),
  about: 'Protects the resource from mistakes. Members that you omit stay unchanged.',
  change: 'update',
  compare: 'members',
};
export const LABELS: Input = { shape: TEXT_MAP, about: 'Labels. Replaces all labels.', change: 'update' };
export const NAME: Input = {
  shape: TEXT,
  about: 'Name. Default: the name of the resource in the program.',
  change: 'update',
};

/** Returns the API's name of a property. */
export const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the body of a request with these inputs, without inputs that the program omits. */
export function bodyOf<T>(inputs: Values, names: readonly string[]): T {
  const given = names.filter((name) => inputs[name] !== undefined);
  return Object.fromEntries(given.map((name) => [snakeCase(name), inputs[name] as Value])) as T;
}

/** Returns the response, or null if the resource does not exist. */
export async function findOrNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (isApiError(error, 'not_found')) return null;
    throw error;
  }
}

const POLL_MS = 1_000;
const FIRST_POLL_MS = 200;

/** Repeats until the resource is gone. */
export async function waitUntilGone(
  { signal, timeoutMs }: Call,
  name: string,
  find: () => Promise<unknown>,
): Promise<void> {
  const deadlineMs = Date.now() + timeoutMs;
  for (let pauseMs = FIRST_POLL_MS; (await find()) !== null; pauseMs = POLL_MS) {
    if (Date.now() > deadlineMs) throw new WaitTimeoutError(`The ${name} is still being deleted.`, null);
    await sleep(pauseMs, signal);
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
