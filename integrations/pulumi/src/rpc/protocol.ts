/** Loads the protocol, and has the types of its messages. */
import { fileURLToPath } from 'node:url';
import { loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { Struct } from './values.ts';

const FILE = fileURLToPath(new URL('../../proto/provider.proto', import.meta.url));

interface Protocol {
  readonly pulumirpc: {
    readonly ResourceProvider: ServiceClientConstructor;
    readonly Details: ServiceClientConstructor;
  };
}

const definition = loadSync(FILE, { keepCase: true, enums: String, longs: Number, defaults: true });
export const { ResourceProvider, Details } = (loadPackageDefinition(definition) as unknown as Protocol)
  .pulumirpc;

export interface CheckRequest {
  readonly urn: string;
  readonly olds: Struct | null;
  readonly news: Struct | null;
}

export interface CheckFailure {
  readonly property: string;
  readonly reason: string;
}

export interface DiffRequest extends CheckRequest {
  readonly id: string;
  readonly ignoreChanges: readonly string[];
  readonly old_inputs: Struct | null;
}

export type DiffKind = 'ADD' | 'ADD_REPLACE' | 'UPDATE' | 'UPDATE_REPLACE';

export interface DiffResponse {
  readonly replaces: readonly string[];
  readonly changes: 'DIFF_NONE' | 'DIFF_SOME';
  readonly diffs: readonly string[];
  readonly detailedDiff: Readonly<Record<string, { readonly kind: DiffKind; readonly inputDiff: boolean }>>;
  readonly hasDetailedDiff: true;
}

export interface ConfigureRequest {
  readonly variables: Readonly<Record<string, string>>;
  readonly args: Struct | null;
}

export interface CreateRequest {
  readonly urn: string;
  readonly properties: Struct | null;
  /** Seconds; 0: the provider's own timeout. */
  readonly timeout: number;
  readonly preview: boolean;
}

export interface ReadRequest {
  readonly id: string;
  readonly urn: string;
  readonly properties: Struct | null;
  /** Null for an import. */
  readonly inputs: Struct | null;
}

export interface UpdateRequest extends DiffRequest {
  readonly timeout: number;
  readonly preview: boolean;
}

export interface DeleteRequest {
  readonly id: string;
  readonly urn: string;
  readonly properties: Struct | null;
  readonly timeout: number;
}
