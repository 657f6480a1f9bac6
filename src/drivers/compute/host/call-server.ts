/** Handles the calls of a host: checks each one, carries it out with the driver, and answers. */
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { pipeline } from 'node:stream/promises';
import type { Logger } from '../../../kernel/logger.ts';
import {
  type ComputeDriver,
  ComputeError,
  type ExpectedResources,
  type MachineSpec,
  MissingFile,
} from '../../../ports/compute.ts';
import { Fence } from './fence.ts';
import type { FileOffers } from './file-offers.ts';
import { FileServer } from './file-server.ts';
import { JoinBody, type JoinOffer } from './join.ts';
import type { HostMembership } from './membership.ts';
import {
  AuthorityBody,
  CallBody,
  type CallMethod,
  CertificateBody,
  changedResources,
  HelloBody,
  isCallMethod,
  isCopyMethod,
  isMoveMethod,
  METHOD_VERSIONS,
  withoutPath,
} from './methods.ts';
import { readStream } from './read-stream.ts';
import {
  ACTION_VERSIONS,
  BadRequest,
  BODY_TIMEOUT_MS,
  CALL_MAX_BYTES,
  decodeValue,
  encodeValue,
  PROTOCOL_VERSIONS,
  parseJson,
  UNKNOWN_CALL,
  type Welcome,
  type WireError,
} from './wire.ts';

interface CallServerOptions {
  readonly driver: ComputeDriver;
  readonly log: Logger;
  readonly membership: HostMembership;
  readonly join?: JoinOffer;
  /** How long a sender of a file may pause; 30 seconds by default. */
  readonly fileIdleMs?: number;
  /** Omitted: it sends no files to other hosts. */
  readonly offers?: FileOffers;
  readonly versions?: readonly number[];
}

/** The calls whose specification may name a file. */
const BUILDS: readonly CallMethod[] = ['ensure', 'rebuild', 'revive'];

export class CallServer {
  readonly #driver: ComputeDriver;
  readonly #log: Logger;
  readonly #membership: HostMembership;
  readonly #join: JoinOffer | undefined;
  readonly #files: FileServer;
  readonly #versions: readonly number[];
  readonly #fence = new Fence();

  constructor(options: CallServerOptions) {
    this.#driver = options.driver;
    this.#log = options.log;
    this.#membership = options.membership;
    this.#join = options.join;
    this.#versions = options.versions ?? PROTOCOL_VERSIONS;
    this.#files = new FileServer({
      files: options.driver.files,
      offers: options.offers,
      refuseLate: (call, resources) => this.#refuseLate(call, resources),
      idleMs: options.fileIdleMs,
    });
  }

  async handle(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    try {
      const path = String(headers[':path']);
      const [, version, action = '', name = ''] = path.split('/');
      if (headers[':method'] !== 'POST' || version !== 'v1') throw new BadRequest();
      if (!this.#versions.some((each) => each >= (ACTION_VERSIONS[action] ?? 0))) throw new BadRequest();
      if (action === 'console') return await this.#console(stream, decodeURIComponent(name));
      if (action === 'file') return answer(stream, await this.#files.receive(stream, name));
      const body = await readStream(stream, { maxBytes: CALL_MAX_BYTES, timeoutMs: BODY_TIMEOUT_MS });
      const value = parseJson(body);
      if (action === 'hello') answer(stream, this.#greet(value));
      else if (action === 'join') answer(stream, await this.#joinWith(name, value));
      else if (action === 'certificate') answer(stream, await this.#renew(name, value));
      else if (action === 'examine') await this.#examine(stream, value);
      else if (action === 'find-file') answer(stream, await this.#files.find(value));
      else if (action === 'offer-file') await this.#files.offer(stream, value);
      else if (action === 'fetch-file') await this.#files.fetch(stream, value);
      else if (action === 'call' && isCallMethod(name)) answer(stream, await this.#call(name, value));
      else throw new BadRequest();
    } catch (error) {
      // Reset by the client, for example because it lost its lease.
      if (!stream.destroyed) this.#fail(stream, error);
    }
  }

  #greet(body: unknown): Welcome | { readonly error: WireError } {
    if (!HelloBody.Check(body)) throw new BadRequest();
    const common = this.#versions.filter((version) => body.versions.includes(version));
    if (common.length === 0) {
      return { error: { fault: 'host', message: versionMessage(this.#versions, body.versions) } };
    }
    this.#fence.greet(body.call);
    return { version: Math.max(...common), hosts: this.#driver.hosts ?? [] };
  }

  async #joinWith(step: string, body: unknown): Promise<object> {
    if (step === 'certificate') {
      if (!CertificateBody.Check(body)) throw new BadRequest();
      await this.#join?.finish(body.certificate, this.#membership);
      return {};
    }
    if (!JoinBody.Check(body)) throw new BadRequest();
    const proof = (await this.#join?.prove(body.nonce, this.#membership)) ?? null;
    if (proof === null) throw new ComputeError('refused', 'the code was used before, or is too old');
    return proof;
  }

  async #renew(step: string, body: unknown): Promise<object> {
    if (step === 'request' && AuthorityBody.Check(body)) {
      return { request: await this.#membership.request(body.authority) };
    }
    if (step !== 'install' || !CertificateBody.Check(body)) throw new BadRequest();
    await this.#membership.install(body.certificate);
    this.#log.info({ host: this.#membership.name }, 'certificate renewed');
    return {};
  }

  async #call(method: CallMethod, body: unknown): Promise<object> {
    if (!CallBody.Check(body)) throw new BadRequest();
    const args = body.args.map(decodeValue);
    const resources = changedResources(method, args);
    if (resources === null) throw new BadRequest();
    if (!this.#versions.some((each) => each >= (METHOD_VERSIONS[method] ?? 0))) throw new BadRequest();
    const late = this.#refuseLate(body.call, resources);
    if (late !== null) return late;
    if (BUILDS.includes(method)) args[0] = withoutPath(args[0] as MachineSpec);
    return { result: encodeValue(await this.#carryOut(method, args)) };
  }

  async #carryOut(method: CallMethod, args: unknown[]): Promise<unknown> {
    type Method = (...args: unknown[]) => Promise<unknown>;
    if (isCopyMethod(method)) {
      const { copies } = this.#driver;
      if (!copies) throw new ComputeError('refused', 'this host cannot copy snapshots');
      return await (copies[method] as Method).apply(copies, args);
    }
    if (!isMoveMethod(method)) {
      const call = this.#driver[method] as Method | null | undefined;
      if (call === undefined) return null;
      if (call === null) throw new ComputeError('refused', 'the host cannot do that with its settings');
      return await call.apply(this.#driver, args);
    }
    const { moves } = this.#driver;
    if (moves === null) throw new ComputeError('refused', 'this host cannot move machines');
    return await (moves[method] as Method).apply(moves, args);
  }

  #refuseLate(call: number, resources: readonly string[]): { readonly error: WireError } | null {
    if (resources.length === 0 || this.#fence.admit(call, resources)) return null;
    return { error: { fault: 'late', message: 'a later call arrived first' } };
  }

  async #console(stream: ServerHttp2Stream, id: string): Promise<void> {
    const screen = await this.#driver.console(id);
    if (stream.destroyed) {
      screen.destroy();
      return;
    }
    stream.respond({ ':status': 200 });
    // Either end may close first, in the middle of a picture.
    await pipeline(stream, screen, stream).catch(() => undefined);
    screen.destroy();
  }

  async #examine(stream: ServerHttp2Stream, body: unknown): Promise<void> {
    if (!CallBody.Check(body)) throw new BadRequest();
    const [expected] = body.args.map(decodeValue);
    stream.respond({ ':status': 200 });
    for await (const finding of this.#driver.examine(expected as ExpectedResources)) {
      if (stream.destroyed) return;
      stream.write(`${JSON.stringify(finding)}\n`);
    }
    stream.end();
  }

  #fail(stream: ServerHttp2Stream, error: unknown): void {
    if (error instanceof ComputeError) {
      const { message } = error;
      const fault = error instanceof MissingFile ? 'missing' : error.fault;
      answer(stream, { error: { fault, message } }, 409);
      return;
    }
    this.#log.error({ err: error }, 'call failed');
    const isMalformed = error instanceof BadRequest || error instanceof URIError;
    const message = isMalformed ? UNKNOWN_CALL : 'the host failed';
    answer(stream, { error: { fault: 'transient', message } }, isMalformed ? 400 : 500);
  }
}

/** Closes the stream, also one whose body still arrives. */
function answer(stream: ServerHttp2Stream, body: object, status = 200): void {
  if (stream.destroyed) return;
  if (stream.headersSent) {
    stream.close();
    return;
  }
  stream.respond({ ':status': status });
  stream.end(JSON.stringify(body), () => stream.close());
}

function versionMessage(ours: readonly number[], theirs: readonly number[]): string {
  const isOlder = Math.max(...ours) < Math.min(...theirs);
  return `the versions differ too much: update ${isOlder ? 'Skerry on the host' : 'the control plane'}`;
}
