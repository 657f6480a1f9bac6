/** Whether a request that failed may have been carried out, and why it failed. */

/** Of a connection that was not made, so that nothing was sent over it: of Node, and of its fetch. */
const CONNECT_FAILURE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_\w+|UNABLE_TO_\w+|\w*CERT\w*)$/;
/** Of Node's fetch, which has no codes for them: a port that it does not use, an answer that only sends elsewhere. */
const REFUSED_BY_FETCH = /bad port|redirect/;
/** From here on it is a fault on the way back, of the service or of what stands before it, which may have numbers of its own. */
const FIRST_SERVER_ERROR = 500;
/** But this one: the service turned it away. */
const SERVICE_UNAVAILABLE = 503;

interface ErrorCause {
  readonly message?: string;
  readonly code?: string;
  readonly syscall?: string;
  readonly cause?: unknown;
}

/** `met` is the answer that came, or what the request failed with. What only reads is never lost. */
export function isOutcomeUnknown(request: Request | undefined, outcome: unknown): boolean {
  if (!request || request.method === 'GET') return false;
  if (outcome instanceof Response)
    return outcome.status >= FIRST_SERVER_ERROR && outcome.status !== SERVICE_UNAVAILABLE;
  return !isConnectFailure(outcome);
}

/** Browsers do not tell why: then it may have been made. */
function isConnectFailure(error: unknown): boolean {
  const { code = '', syscall, message = '' } = causeOf(error);
  return CONNECT_FAILURE.test(code) || syscall === 'connect' || REFUSED_BY_FETCH.test(message);
}

/** What a failed fetch hides one level down: `connect ECONNREFUSED …`. */
export function describeFailure(error: unknown): string {
  if (error instanceof SyntaxError) return 'answered with something else than JSON';
  const { message, code } = causeOf(error);
  const detail = message || code || (error as ErrorCause | undefined)?.message || String(error);
  return isConnectFailure(error)
    ? `was not reached: ${detail}`
    : `was not reached, or the connection broke: ${detail}`;
}

function causeOf(error: unknown): ErrorCause {
  return ((error as ErrorCause | undefined)?.cause as ErrorCause | undefined) ?? {};
}
