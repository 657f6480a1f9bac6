/** Drives the provider as Pulumi's engine does: starts it, reads its port, and calls it over gRPC. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { Details, ResourceProvider } from '../../../../integrations/pulumi/src/rpc/protocol.ts';
import {
  fromStruct,
  plain,
  type Struct,
  toStruct,
  type Values,
} from '../../../../integrations/pulumi/src/rpc/values.ts';
import type { JsonBody } from '../../../support/v1-client.ts';

const BIN = fileURLToPath(
  new URL('../../../../integrations/pulumi/bin/pulumi-resource-skerry.js', import.meta.url),
);

export const urnOf = (kind: string, name: string) => `urn:pulumi:dev::shop::skerry:index:${kind}::${name}`;

/** The resource of the state, as the engine stores it. */
export interface Stored {
  readonly urn: string;
  readonly id: string;
  readonly inputs: Values;
  readonly state: Values;
}

export class Engine {
  readonly #client: Client;
  readonly #stop: () => Promise<void>;

  private constructor(client: Client, stop: () => Promise<void>) {
    this.#client = client;
    this.#stop = stop;
  }

  static async start(env: Readonly<Record<string, string>> = {}): Promise<Engine> {
    const child = spawn(process.execPath, [BIN, '127.0.0.1:1'], {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    assert.match(port, /^\d+$/);
    const client = new ResourceProvider(`127.0.0.1:${port}`, credentials.createInsecure());
    return new Engine(client, async () => {
      client.close();
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    });
  }

  /** Sends a message and returns the response as it is. */
  async raw(method: string, request: object = {}): Promise<JsonBody> {
    const send = this.#client as unknown as Record<string, (message: object, done: unknown) => void>;
    return await new Promise((resolve, reject) => {
      send[method]?.(request, (error: unknown, response: unknown) => {
        if (error) reject(error);
        else resolve(response);
      });
    });
  }

  async configure(args: Values): Promise<JsonBody> {
    return await this.raw('Configure', { args: toStruct(args) });
  }

  /** Returns the checked inputs with their marks; fails the test if there are failures. */
  async check(urn: string, news: Values, olds: Values = {}): Promise<Values> {
    const { inputs, failures } = await this.raw('Check', {
      ...{ urn, news: toStruct(news), olds: toStruct(olds) },
    });
    assert.deepEqual(failures, []);
    return fromStruct(inputs);
  }

  async failures(urn: string, news: Values, olds: Values = {}): Promise<JsonBody> {
    const request = { urn, news: toStruct(news), olds: toStruct(olds) };
    return (await this.raw('Check', request)).failures;
  }

  async create(kind: string, name: string, news: Values): Promise<Stored> {
    const urn = urnOf(kind, name);
    const inputs = await this.check(urn, news);
    const { id, properties } = await this.raw('Create', { urn, properties: toStruct(inputs) });
    assert.match(id, /^\w+_\w+$/);
    return { urn, id, inputs, state: fromStruct(properties) };
  }

  async preview(kind: string, name: string, news: Values): Promise<Values> {
    const urn = urnOf(kind, name);
    const inputs = await this.check(urn, news);
    return fromStruct(
      (await this.raw('Create', { urn, properties: toStruct(inputs), preview: true })).properties,
    );
  }

  async diff(
    { urn, id, inputs, state }: Stored,
    news: Values,
    ignoreChanges: readonly string[] = [],
  ): Promise<JsonBody> {
    const checked = await this.check(urn, { ...plain(inputs), ...news }, inputs);
    const olds = { olds: toStruct(state), old_inputs: toStruct(inputs) };
    return await this.raw('Diff', { urn, id, ...olds, news: toStruct(checked), ignoreChanges });
  }

  /** Returns the names of the properties to update, and to replace. */
  async plan(stored: Stored, news: Values): Promise<readonly [string[], string[]]> {
    const { diffs, replaces, changes, detailedDiff, hasDetailedDiff } = await this.diff(stored, news);
    assert.equal(changes, diffs.length > 0 ? 'DIFF_SOME' : 'DIFF_NONE');
    assert.deepEqual([hasDetailedDiff, Object.keys(detailedDiff).sort()], [true, [...diffs].sort()]);
    return [diffs.filter((name: string) => !replaces.includes(name)).sort(), replaces.sort()];
  }

  async update(stored: Stored, news: Values, preview = false): Promise<Stored> {
    const { urn, id, state } = stored;
    const inputs = await this.check(urn, { ...plain(stored.inputs), ...news }, stored.inputs);
    const { properties } = await this.raw('Update', {
      ...{ urn, id, olds: toStruct(state), old_inputs: toStruct(stored.inputs), news: toStruct(inputs) },
      preview,
    });
    return { urn, id, inputs, state: fromStruct(properties) };
  }

  /** Null: the resource no longer exists. */
  async refresh({ urn, id, inputs, state }: Stored): Promise<Stored | null> {
    const request = { urn, id, inputs: toStruct(inputs), properties: toStruct(state) };
    const read = await this.raw('Read', request);
    return read.id === '' ? null : { urn, ...readBack(read) };
  }

  async import(kind: string, name: string, id: string): Promise<Stored> {
    const urn = urnOf(kind, name);
    return { urn, ...readBack(await this.raw('Read', { urn, id })) };
  }

  async delete({ urn, id, state }: Stored): Promise<void> {
    await this.raw('Delete', { urn, id, properties: toStruct(state) });
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}

function readBack(read: { id: string; properties: Struct; inputs: Struct }): Omit<Stored, 'urn'> {
  return { id: read.id, state: fromStruct(read.properties), inputs: fromStruct(read.inputs) };
}

/** Returns the error of a call that must fail, and its detail about a resource that exists nevertheless. */
export async function errorOf(
  call: Promise<unknown>,
): Promise<{ readonly code: number; readonly message: string; readonly detail: JsonBody }> {
  const error = (await call.then(
    () => assert.fail('the call succeeds'),
    (one: unknown) => one,
  )) as ServiceError;
  const { Status } = Details.service;
  assert.ok(Status);
  const [bytes] = error.metadata?.get('grpc-status-details-bin') ?? [];
  const detail = bytes && (Status.requestDeserialize(bytes as Buffer) as JsonBody).details[0];
  return {
    code: error.code,
    message: error.details,
    detail: detail && Status.responseDeserialize(detail.value),
  };
}
