/** The operations that tools are made of. The file is generated from the OpenAPI document. */
import { readFileSync } from 'node:fs';
import type { Account } from '@skerry/sdk';

export type Arguments = Readonly<Record<string, unknown>>;

export interface InputSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

export interface Operation {
  /** `servers.create` */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly scope: Scope;
  readonly summary: string;
  readonly description: string;
  /** The IDs in the path, in order. They are arguments too. */
  readonly ids: readonly string[];
  readonly input: InputSchema;
}

/** Each scope includes the previous ones. */
const SCOPES = ['read', 'write', 'billing'] as const;
type Scope = (typeof SCOPES)[number];

/** Operations that no tool offers, with the reason. */
export const EXCLUDED: Readonly<Record<string, string>> = {
  'tokens.create': 'an assistant must not give itself access that outlives its own token',
};

export function readContract(): readonly Operation[] {
  const text = readFileSync(new URL('../../contract.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as readonly Operation[]).filter(({ id }) => !Object.hasOwn(EXCLUDED, id));
}

/** Names of tools have no dots: `ssh_keys_list`. */
export function toolName({ id }: Operation): string {
  return id.replace('.', '_');
}

/** Returns the operation to quote, such as `server.create`, if the service has prices for this one. */
export function quotedAs({ id }: Operation, contract: readonly Operation[]): string | null {
  const quotes = contract.find((one) => one.id === 'quotes.create')?.input.properties.operation;
  const { enum: quoted = [] } = (quotes ?? {}) as { readonly enum?: readonly string[] };
  return quoted.find((name) => name === id.replace(/^(\w+)s\./, '$1.')) ?? null;
}

/** Limits of a token, as far as they decide which operations it can call. Older services have none. */
interface TokenLimits {
  readonly operations?: readonly string[] | null;
}

export function limitsOf({ token }: Account): TokenLimits | null {
  return (token as { readonly limits?: TokenLimits | null }).limits ?? null;
}

export function isAllowed({ id, scope }: Operation, account: Account): boolean {
  const operations = limitsOf(account)?.operations;
  if (SCOPES.indexOf(scope) > SCOPES.indexOf(account.token.scope)) return false;
  return !operations || operations.some((one) => one === id || one === `${id.split('.')[0]}.*`);
}
