/**
 * Whether a mail is from the domain in its From header, as the operator's mail server found and wrote into
 * `Authentication-Results` (RFC 8601). Only headers with that server's name count: it removes those that
 * arrive with its name.
 */

interface AuthResult {
  readonly method: string;
  readonly result: string;
  /** Such as `header.from`, in lowercase. */
  readonly properties: ReadonlyMap<string, string>;
}

const METHOD = /^\s*([a-z0-9-]+)(?:\s*\/\s*\d+)?\s*=\s*([a-z0-9-]+)(?=\s|$)/i;
/** A word, in which quotes protect spaces, and a backslash protects a quote. An open quote ends the text. */
const TOKEN = /(?:[^\s"\\]|\\.|"(?:[^"\\]|\\.)*(?:"|\\?$))+/gs;
/** Values with quotes or backslashes are left out: the sender chose them, and programs read them differently. */
const PROPERTY = /^([a-z0-9-]+\.[a-z0-9_-]+)=([^"\\]+)$/i;
const HEADER_MAX_CHARS = 10_000;

/** `undecided`: the mail server could not find out now. */
export type Authenticity = 'authentic' | 'undecided' | 'unknown';

/** `headers` are the values of all headers `Authentication-Results`; `domain` is in ASCII and lowercase. */
export function authenticityOf(headers: readonly string[], server: string, domain: string): Authenticity {
  const results = headers.flatMap((header) => resultsOf(header.slice(0, HEADER_MAX_CHARS), server));
  const dmarc = results.filter(({ method }) => method === 'dmarc');
  const verdicts = new Set(dmarc.map(({ result }) => result));
  // Two verdicts contradict each other: one of them may be the sender's. A mail can have several signatures.
  const senders = new Set(results.filter(({ method }) => method === 'spf').map(({ result }) => result));
  if (verdicts.size > 1 || senders.size > 1) return 'unknown';
  if (verdicts.has('pass')) {
    const isOwn = dmarc.every(({ properties }) => properties.get('header.from') === domain);
    return isOwn ? 'authentic' : 'unknown';
  }
  if (verdicts.has('temperror')) return 'undecided';
  if (verdicts.size === 1 && !verdicts.has('none')) return 'unknown';
  // The domain has no policy: its signature, or its sending server, says the same.
  return results.some((each) => each.result === 'pass' && isAligned(each, domain)) ? 'authentic' : 'unknown';
}

function isAligned({ method, properties }: AuthResult, domain: string): boolean {
  const signer =
    method === 'dkim'
      ? (properties.get('header.d') ?? properties.get('header.i'))
      : method === 'spf'
        ? properties.get('smtp.mailfrom')
        : undefined;
  if (signer === undefined) return false;
  const host = signer.slice(signer.lastIndexOf('@') + 1);
  return host === domain || (host.includes('.') && domain.endsWith(`.${host}`));
}

function resultsOf(header: string, server: string): AuthResult[] {
  const [id = '', ...parts] = withoutComments(header).split(';');
  // A version may follow the name.
  if (id.trim().split(/\s+/)[0]?.toLowerCase() !== server.toLowerCase()) return [];
  return parts.flatMap((part) => {
    const [, method, result] = METHOD.exec(part) ?? [];
    if (method === undefined || result === undefined) return [];
    return [{ method: method.toLowerCase(), result: result.toLowerCase(), properties: propertiesOf(part) }];
  });
}

/** Empty if one is there twice: it is not known which one the mail server wrote. */
function propertiesOf(part: string): Map<string, string> {
  const found = (part.match(TOKEN) ?? []).flatMap((token) => {
    const [, name, value] = PROPERTY.exec(token) ?? [];
    return name === undefined || value === undefined
      ? []
      : [[name.toLowerCase(), value.toLowerCase()] as const];
  });
  const properties = new Map(found);
  return properties.size === found.length ? properties : new Map();
}

/** Comments can contain anything, such as the text of a result. */
function withoutComments(text: string): string {
  let depth = 0;
  let isQuoted = false;
  let kept = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\\') {
      if (depth === 0) kept += text.slice(at, at + 2);
      at += 1;
    } else if (char === '"' && depth === 0) {
      isQuoted = !isQuoted;
      kept += char;
    } else if (isQuoted) {
      // A separator in quotes is part of a value that we never need.
      kept += char === ';' ? ' ' : char;
    } else if (char === '(') depth += 1;
    else if (char === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0) kept += char;
  }
  return kept;
}
