/** Whether a request that failed may have been carried out, and why it failed. */

/** Of a connection that was not made, so that nothing was sent over it: of Node, and of its fetch. */
const NOT_MADE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_\w+|UNABLE_TO_\w+|\w*CERT\w*)$/;
/** Of Node's fetch, which has no codes for them: a port that it does not use, an answer that only sends elsewhere. */
const NOT_TAKEN = /bad port|redirect/;
/** From here on it is a fault on the way back, of the service or of what stands before it, which may have numbers of its own. */
const FAULTS_FROM = 500;
/** But this one: the service turned it away. */
const TURNED_AWAY = 503;

interface Fault {
  readonly message?: string;
  readonly code?: string;
  readonly syscall?: string;
  readonly cause?: unknown;
}

/** `met` is the answer that came, or what the request failed with. What only reads is never lost. */
export function isLost(request: Request | undefined, met: unknown): boolean {
  if (!request || request.method === 'GET') return false;
  if (met instanceof Response) return met.status >= FAULTS_FROM && met.status !== TURNED_AWAY;
  return !isNotMade(met);
}

/** Browsers do not tell why: then it may have been made. */
function isNotMade(error: unknown): boolean {
  const { code = '', syscall, message = '' } = causeOf(error);
  return NOT_MADE.test(code) || syscall === 'connect' || NOT_TAKEN.test(message);
}

/** What a failed fetch hides one level down: `connect ECONNREFUSED …`. */
export function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'answered with something else than JSON';
  const { message, code } = causeOf(error);
  const said = message || code || (error as Fault | undefined)?.message || String(error);
  return isNotMade(error) ? `was not reached: ${said}` : `was not reached, or the connection broke: ${said}`;
}

function causeOf(error: unknown): Fault {
  return ((error as Fault | undefined)?.cause as Fault | undefined) ?? {};
}
