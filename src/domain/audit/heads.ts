/**
 * One line a day with the head of the audit chain, in a file outside the database, authenticated with the
 * service key. Write access to the database is enough to compute a chain of other rows, but not to write
 * these lines: each fixes every row up to its head. A copy on another machine also survives an intruder on
 * this one.
 */

import { idTimestamp } from '../../kernel/ids.ts';
import { timingSafeEqualText } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, formatRfc3339 } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { readAnchorNo, readChainHash, readChainHead } from '../../store/audit-chain.ts';
import { appendHead, readHeads, readLastHead } from '../../store/service/audit-heads.ts';
import type { Service } from '../context.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'keys' | 'log' | 'settings'>;

const PURPOSE = 'audit head';

/** A line of the file, as JSON. */
interface HeadLine {
  /** When the line was written. */
  readonly at: string;
  /** The number and the hash of the head, and when its row was written. */
  readonly link: string;
  readonly hash: string;
  readonly row_at: string;
  /** The id of the key, and the authentication code of everything above. */
  readonly key: string;
  readonly mac: string;
}

/** Appends today's line, unless the file has one. Returns whether it did. A line twice does no harm. */
export async function recordDailyHead({ db, clock, keys, log, settings }: Deps): Promise<boolean> {
  const path = settings.auditHeadsFile;
  if (path === undefined) return false;
  const at = formatRfc3339(clock.now());
  const last = parseLine((await readLastHead(path)) ?? '');
  if (last && last.at.slice(0, 10) >= at.slice(0, 10)) return false;
  const { no, hash, event_id } = await readChainHead(db);
  if (event_id === null) return false;
  const facts = {
    at,
    link: String(no),
    hash: hash.toString('hex'),
    row_at: formatRfc3339(idTimestamp(event_id)),
  };
  const line: HeadLine = { ...facts, key: keys.newestId, mac: macOf(keys, facts, keys.newestId) };
  await appendHead(path, JSON.stringify(line));
  log.info({ link: line.link, hash: line.hash }, 'head of the audit log');
  return true;
}

function macOf(
  keys: Service['keys'],
  { at, link, hash, row_at }: Omit<HeadLine, 'key' | 'mac'>,
  keyId: string,
) {
  return keys.hmac(PURPOSE, JSON.stringify([at, link, hash, row_at]), keyId).toString('base64url');
}

export interface HeadCheck {
  /** Number of lines. */
  readonly checked: bigint;
  /** The lines that do not fit the chain, with the reason; at most ten. */
  readonly faults: readonly string[];
  readonly broken: bigint;
  /** The lines of keys that are no longer configured. */
  readonly unknownKeys: bigint;
}

const EXAMPLES_MAX = 10;

/** Compares the file, or a copy of it, with the chain. */
export async function checkHeads(service: Deps, path = service.settings.auditHeadsFile): Promise<HeadCheck> {
  let [checked, broken, unknownKeys] = [0n, 0n, 0n];
  const faults: string[] = [];
  if (path === undefined) return { checked, broken, faults, unknownKeys };
  const cutoff = formatRfc3339(new Date(service.clock.now().getTime() - LIMITS.auditRetentionDays * DAY_MS));
  const anchorNo = await readAnchorNo(service.db);
  for await (const text of readHeads(path)) {
    if (text === '') continue;
    checked += 1n;
    const line = parseLine(text);
    if (line && !service.keys.has(line.key)) {
      unknownKeys += 1n;
      continue;
    }
    const fault = await findFault(service, line, { anchorNo, cutoff });
    if (fault === null) continue;
    broken += 1n;
    if (faults.length < EXAMPLES_MAX) faults.push(`line ${checked}: ${fault}`);
  }
  return { checked, broken, faults, unknownKeys };
}

async function findFault(
  { db, keys }: Pick<Deps, 'keys'> & { readonly db: Sql },
  line: HeadLine | undefined,
  { anchorNo, cutoff }: { readonly anchorNo: bigint; readonly cutoff: string },
): Promise<string | null> {
  if (!line || !timingSafeEqualText(line.mac, macOf(keys, line, line.key))) return 'is not authentic';
  const no = BigInt(line.link);
  const hash = await readChainHash(db, no);
  if (hash) return hash.toString('hex') === line.hash ? null : `link ${no} has another hash`;
  if (no > anchorNo) return `link ${no} is missing`;
  return line.row_at < cutoff ? null : `link ${no} was deleted before its retention ended`;
}

function parseLine(text: string): HeadLine | undefined {
  try {
    const line = JSON.parse(text) as Partial<Record<keyof HeadLine, unknown>> | null;
    const { at, link, hash, row_at, key, mac } = line ?? {};
    if (typeof at !== 'string' || typeof link !== 'string' || !/^\d{1,18}$/.test(link)) return undefined;
    if (typeof hash !== 'string' || typeof row_at !== 'string') return undefined;
    return typeof key === 'string' && typeof mac === 'string'
      ? { at, link, hash, row_at, key, mac }
      : undefined;
  } catch {
    return undefined;
  }
}
