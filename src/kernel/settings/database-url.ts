/**
 * The URL of a database. Like psql, it may name several hosts, of which one accepts writes:
 * `postgres://user@db-1:5432,db-2:5432/skerry?target_session_attrs=read-write`.
 */

const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)([/?#].*)?$/;
const TARGET = /([?&])target_session_attrs=([\w-]*)(&|$)/;
/** The service writes. */
const TARGETS = ['read-write', 'primary'];

export interface DatabaseUrl {
  /** A URL for each host. */
  readonly urls: readonly [string, ...string[]];
  /** Whether only a host that accepts writes will do. */
  readonly isWritable: boolean;
}

/** Returns undefined for a text that is no such URL. */
export function parseDatabaseUrl(text: string): DatabaseUrl | undefined {
  const [, start, hosts, rest = ''] = URL_PARTS.exec(text) ?? [];
  if (start === undefined || hosts === undefined) return undefined;
  const target = TARGET.exec(rest)?.[2];
  if (target !== undefined && !TARGETS.includes(target)) return undefined;
  const end = rest.replace(TARGET, (_, before: string, __, after: string) => (after === '&' ? before : ''));
  const [first = '', ...others] = hosts.split(',').map((host) => `${start}${host}${end}`);
  const urls = [first, ...others] as const;
  if (others.length > 0 && hosts.split(',').includes('')) return undefined;
  if (!urls.every((url) => URL.canParse(url))) return undefined;
  return { urls, isWritable: target !== undefined || others.length > 0 };
}
