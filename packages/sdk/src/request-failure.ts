/** Determines why a request failed, and whether it may have been carried out. */

/** Codes of Node and its fetch for a connection that was never established, so that nothing was sent. */
const SOCKET_FAILURE = /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;
const TLS_FAILURE = /^(ERR_TLS_\w+|UNABLE_TO_\w+|\w*CERT\w*)$/;
/** Errors of Node's fetch that have no code: a port that it blocks, and a redirect. */
const REFUSED_BY_FETCH = /bad port|redirect/;
/** Errors from here on come from the service or a proxy in front of it, which may have codes of its own. */
const FIRST_SERVER_ERROR = 500;
/** Exception: the service rejected the request before starting it. */
const SERVICE_UNAVAILABLE = 503;

interface ErrorCause {
  readonly message?: string;
  readonly code?: string;
  readonly syscall?: string;
  readonly cause?: unknown;
}

/** `outcome` is the response or the error of the request. A request that only reads has no effect to lose. */
export function isOutcomeUnknown(request: Request | undefined, outcome: unknown): boolean {
  if (!request || request.method === 'GET') return false;
  if (outcome instanceof Response)
    return outcome.status >= FIRST_SERVER_ERROR && outcome.status !== SERVICE_UNAVAILABLE;
  return !isConnectFailure(outcome);
}

/** Browsers do not give the reason: the connection may have been established. */
function isConnectFailure(error: unknown): boolean {
  const { code = '', syscall, message = '' } = causeOf(error);
  const isConnectCode = SOCKET_FAILURE.test(code) || TLS_FAILURE.test(code);
  return isConnectCode || syscall === 'connect' || REFUSED_BY_FETCH.test(message);
}

/**
 * Describes the cause that a failed fetch hides: `connect ECONNREFUSED …`. `host` is the address of the
 * service.
 */
export function describeFailure(host: string, error: unknown): string {
  if (error instanceof SyntaxError) return `The response of ${host} is not JSON.`;
  const { message, code } = causeOf(error);
  const detail = message || code || (error as ErrorCause | undefined)?.message || String(error);
  if (isConnectFailure(error)) return `Could not reach ${host}: ${detail}.`;
  return `Could not reach ${host}, or the connection broke: ${detail}.`;
}

function causeOf(error: unknown): ErrorCause {
  return ((error as ErrorCause | undefined)?.cause as ErrorCause | undefined) ?? {};
}
