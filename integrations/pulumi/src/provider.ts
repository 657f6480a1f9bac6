/** The calls of the engine. */
import { Skerry } from '@skerry/sdk';
import {
  changedInputs,
  checkInputs,
  diff,
  nameOf,
  predict,
  readInputs,
  resourceOf,
  secretInputs,
} from './resources/index.ts';
import type { Call, Resource } from './resources/resource.ts';
import { Failure, InitFailed } from './rpc/failure.ts';
import type {
  CheckFailure,
  CheckRequest,
  ConfigureRequest,
  CreateRequest,
  DeleteRequest,
  DiffRequest,
  DiffResponse,
  ReadRequest,
  UpdateRequest,
} from './rpc/protocol.ts';
import {
  fromStruct,
  hasUnknown,
  plain,
  type Struct,
  secretNames,
  toStruct,
  UNKNOWN,
  type Values,
  withSecrets,
} from './rpc/values.ts';
import { CONFIG, packageSchema } from './schema.ts';

/** Without a timeout in the program. */
const TIMEOUT_MS = 10 * 60_000;

type Env = Readonly<Record<string, string | undefined>>;

export class Provider {
  readonly #env: Env;
  readonly #version: string;
  readonly #canceled = new AbortController();
  #skerry: Skerry | null = null;

  constructor(env: Env, version: string) {
    this.#env = env;
    this.#version = version;
  }

  getSchema() {
    return { schema: packageSchema(this.#version) };
  }

  getPluginInfo() {
    return { version: this.#version };
  }

  checkConfig({ news }: CheckRequest) {
    const given = plain(fromStruct(news));
    const { apiUrl } = given;
    // The engine adds the version of the provider.
    const known = [...Object.keys(CONFIG), 'version', 'pluginDownloadURL'];
    const failures: CheckFailure[] = Object.keys(given)
      .filter((name) => !known.includes(name))
      .map((property) => ({ property, reason: 'there is no such setting' }));
    if (typeof apiUrl === 'string' && apiUrl !== UNKNOWN && !URL.canParse(apiUrl)) {
      failures.push({ property: 'apiUrl', reason: 'the address of the host is not a URL' });
    }
    return { inputs: news ?? toStruct({}), failures };
  }

  /** Another host is another account. Another token is not: it may be a new one for the same account. */
  diffConfig({ olds, news, old_inputs }: DiffRequest): DiffResponse {
    const [before, after] = [plain(fromStruct(old_inputs ?? olds)), plain(fromStruct(news))];
    const diffs = Object.keys(CONFIG).filter((name) => before[name] !== after[name]);
    const replaces = diffs.filter((name) => name === 'apiUrl' && before[name] !== undefined);
    const entries = diffs.map(
      (name) =>
        [name, { kind: replaces.includes(name) ? 'UPDATE_REPLACE' : 'UPDATE', inputDiff: true }] as const,
    );
    const changes = diffs.length > 0 ? 'DIFF_SOME' : 'DIFF_NONE';
    return { replaces, changes, diffs, detailedDiff: Object.fromEntries(entries), hasDetailedDiff: true };
  }

  configure({ args, variables }: ConfigureRequest) {
    const given = plain(fromStruct(args));
    const read = (name: keyof typeof CONFIG) =>
      given[name] ?? variables[`skerry:config:${name}`] ?? this.#env[CONFIG[name].env];
    const [apiUrl, token] = [read('apiUrl'), read('token')];
    if (!hasUnknown(apiUrl ?? null) && !hasUnknown(token ?? null)) {
      if (!apiUrl || !token) {
        throw new Failure(
          'set skerry:apiUrl and skerry:token in the configuration, or SKERRY_API_URL and SKERRY_TOKEN',
        );
      }
      this.#skerry = new Skerry({ baseUrl: String(apiUrl), token: String(token) });
    }
    return { acceptSecrets: true, supportsPreview: true, acceptResources: false, acceptOutputs: false };
  }

  check({ urn, olds, news }: CheckRequest) {
    const resource = resourceOf(urn);
    const given = fromStruct(news);
    const name = given.name ?? nameOf(urn);
    const inputs = Object.hasOwn(resource.inputs, 'name') ? { ...given, name } : given;
    const failures = checkInputs(resource, plain(inputs), plain(fromStruct(olds)));
    return { inputs: toStruct(inputs), failures };
  }

  diff({ urn, olds, news, old_inputs, ignoreChanges }: DiffRequest): DiffResponse {
    return diff(resourceOf(urn), oldInputs(olds, old_inputs), plain(fromStruct(news)), ignoreChanges);
  }

  async create({ urn, properties, timeout, preview }: CreateRequest) {
    const resource = resourceOf(urn);
    const given = fromStruct(properties);
    if (preview)
      return { id: '', properties: toStruct(sealed(resource, predict(resource, given, null), given)) };
    try {
      const { id, state } = await resource.create(this.#call(timeout), plain(given));
      return { id, properties: toStruct(sealed(resource, { ...plain(given), ...state }, given)) };
    } catch (error) {
      if (!(error instanceof InitFailed)) throw error;
      throw new InitFailed(error.id, sealed(resource, error.state, given), error);
    }
  }

  /** An empty ID: the resource no longer exists. */
  async read({ id, urn, properties, inputs }: ReadRequest) {
    const resource = resourceOf(urn);
    const [known, given] = [fromStruct(properties), fromStruct(inputs)];
    const state = await resource.read(this.#call(0), id, { ...plain(given), ...plain(known) });
    if (state === null) return { id: '', properties: null, inputs: null };
    const current = readInputs(resource, state, inputs && plain(given));
    return {
      id,
      properties: toStruct(sealed(resource, state, known)),
      inputs: toStruct(sealed(resource, current, given)),
    };
  }

  async update({ id, urn, olds, news, ignoreChanges, timeout, preview }: UpdateRequest) {
    const resource = resourceOf(urn);
    const [state, given] = [plain(fromStruct(olds)), fromStruct(news)];
    if (preview) return { properties: toStruct(sealed(resource, predict(resource, given, state), given)) };
    // Not the old inputs: after a failed creation, some of them were never applied.
    const inputs = plain(given);
    const changed = changedInputs(resource, state, inputs, ignoreChanges);
    const call = this.#call(timeout);
    await resource.update(call, id, { changed, inputs, state });
    const current = await resource.read(call, id, { ...state, ...inputs });
    if (current === null) throw new Failure(`${id} no longer exists; run pulumi refresh`);
    return { properties: toStruct(sealed(resource, { ...inputs, ...current }, given)) };
  }

  async delete({ id, urn, timeout }: DeleteRequest) {
    await resourceOf(urn).delete(this.#call(timeout), id);
    return {};
  }

  /** Stops all waits. The operations continue on the host. */
  cancel() {
    this.#canceled.abort(new Failure('canceled; the operation may continue on the host'));
    return {};
  }

  #call(timeoutS: number): Call {
    if (!this.#skerry) throw new Failure('the address of the host or the token is not known yet');
    const timeoutMs = timeoutS > 0 ? timeoutS * 1_000 : TIMEOUT_MS;
    return { skerry: this.#skerry, signal: this.#canceled.signal, timeoutMs };
  }
}

/** Older engines send only the outputs, which contain the inputs. */
function oldInputs(olds: Struct | null, inputs: Struct | null): Values {
  return plain(fromStruct(inputs ?? olds));
}

/** Marks what the program marked, and what is always secret. */
function sealed(resource: Resource, values: Values, given: Values): Values {
  return withSecrets(plain(values), new Set([...secretNames(given), ...secretInputs(resource)]));
}
