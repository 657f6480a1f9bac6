/**
 * A connection on which a read was refused, or that was opened under overload. Its REST reads are refused
 * before they are parsed. At three times the capacity, two refusals come with each response, and parsing them
 * costs as much as half of it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ReadRefuser {
  /** Whether a read would be refused now. Asked first, so that a served request costs no more. */
  isRefusing(): boolean;
  /** Answers a read of this path, or returns false if it is admitted. */
  refuse(socket: Socket, url: string): boolean;
}

type Parse = (this: Socket, chunk: Buffer) => void;

const READ = /^GET (\/v1\/[\x21-\x7e]{1,1000}) HTTP\/1\.1\r\n/;
const HEAD_END = '\r\n\r\n';
const HEAD_END_BYTES = Buffer.from(HEAD_END).readUInt32BE();
const HEAD_MAX_BYTES = 2_048;
/** A request with one of these headers has a body, or ends the use of the connection. */
const UNUSUAL_HEADER =
  /[\r\n](?:connection:(?! ?keep-alive\r)|(?:content-length|transfer-encoding|upgrade|expect) *:)/i;

const connections = new WeakMap<Socket, RefusedConnection>();

export class RefusedConnection {
  readonly #socket: Socket;
  readonly #refuser: ReadRefuser;
  readonly #parse: Parse;
  #pending = 0;
  #requestsInChunk = 0;
  #hasBody = false;
  /** Whether the parser waits for the first byte of a request. */
  #isAtBoundary: boolean;

  static of(socket: Socket): RefusedConnection | undefined {
    return connections.get(socket);
  }

  /** Takes the place of the server's own listener. `isNew`: nothing was parsed yet. */
  static start(socket: Socket, refuser: ReadRefuser, isNew: boolean): void {
    const [parse, ...others] = socket.listeners('data') as Parse[];
    if (!parse || others.length > 0 || connections.has(socket)) return;
    connections.set(socket, new RefusedConnection(socket, refuser, parse, isNew));
  }

  private constructor(socket: Socket, refuser: ReadRefuser, parse: Parse, isNew: boolean) {
    this.#socket = socket;
    this.#refuser = refuser;
    this.#parse = parse;
    this.#isAtBoundary = isNew;
    socket.off('data', parse).on('data', this.#read);
  }

  /** Each request that was parsed is counted until its response is sent. */
  count({ headers }: IncomingMessage, response: ServerResponse): void {
    this.#requestsInChunk += 1;
    this.#hasBody = 'content-length' in headers || 'transfer-encoding' in headers;
    this.#pending += 1;
    response.once('close', () => {
      this.#pending -= 1;
    });
  }

  /** The connection is no longer used for HTTP. */
  stop(): void {
    this.#socket.off('data', this.#read);
    connections.delete(this.#socket);
  }

  readonly #read = (chunk: Buffer): void => {
    if (this.#isBetweenRequests && this.#refuser.isRefusing() && this.#isRefused(chunk)) return;
    this.#requestsInChunk = 0;
    this.#parse.call(this.#socket, chunk);
    this.#isAtBoundary = this.#requestsInChunk === 1 && !this.#hasBody && endsWithHead(chunk);
  };

  get #isBetweenRequests(): boolean {
    return this.#isAtBoundary && this.#pending === 0 && this.#socket.writableLength === 0;
  }

  #isRefused(chunk: Buffer): boolean {
    if (chunk.length > HEAD_MAX_BYTES || !endsWithHead(chunk)) return false;
    const head = chunk.toString('latin1');
    const url = READ.exec(head)?.[1];
    if (url === undefined || UNUSUAL_HEADER.test(head)) return false;
    if (head.indexOf(HEAD_END) !== head.length - HEAD_END.length) return false;
    return this.#refuser.refuse(this.#socket, url);
  }
}

function endsWithHead(chunk: Buffer): boolean {
  const at = chunk.length - HEAD_END.length;
  return at > 0 && chunk.readUInt32BE(at) === HEAD_END_BYTES;
}
