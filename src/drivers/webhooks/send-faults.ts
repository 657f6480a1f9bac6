/**
 * Maps an error to one of a few fixed words: network errors contain addresses and repeat what others sent.
 */
import { lacksResources } from '../../kernel/faults/resources.ts';
import type { SendFault } from '../../ports/webhooks.ts';

export class ForbiddenAddress extends Error {
  override message = 'the name resolves to an address that webhooks may not be sent to';
}

export class HostNotResolved extends Error {
  constructor(options: ErrorOptions) {
    super('the name could not be resolved', options);
  }
}

/** We ended the request ourselves. */
export class SenderClosed extends Error {
  override message = 'the sender aborted this request';
}

const FAULT_BY_CODE: Readonly<Record<string, SendFault>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ECONNABORTED: 'connection reset',
  UND_ERR_SOCKET: 'connection reset',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  EPROTO: 'tls',
  UND_ERR_HEADERS_OVERFLOW: 'invalid answer',
};

/** Certificate errors of OpenSSL and Node. */
const TLS_CODE = new RegExp(
  '^ERR_TLS_|^ERR_SSL_|^ERR_OSSL_|CERT|^DEPTH_ZERO|^SELF_SIGNED|^UNABLE_TO_|^HOSTNAME_MISMATCH|' +
    '^INVALID_CA|^INVALID_PURPOSE|^PATH_LENGTH',
);

const CLOSING_CODES = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

/** This machine is out of sockets or memory, or we are closing: it says nothing about the receiver. */
export function isLocalFault(error: Error): boolean {
  const code = errorCode(error);
  return error instanceof SenderClosed || CLOSING_CODES.has(code) || lacksResources(error);
}

export function toSendFault(error: Error): SendFault {
  if (error instanceof ForbiddenAddress) return 'forbidden address';
  if (error instanceof HostNotResolved) return 'dns';
  const code = errorCode(error);
  const known = FAULT_BY_CODE[code];
  if (known) return known;
  if (TLS_CODE.test(code)) return 'tls';
  return error.name === 'HTTPParserError' ? 'invalid answer' : 'failed';
}

function errorCode(error: Error): string {
  return String((error as NodeJS.ErrnoException).code ?? '');
}
