/** Copies of snapshots as the operator sees them, and the request to copy the existing snapshots. */
import { DAY_MS, SECOND_MS } from '../../../kernel/time.ts';
import type { HostFinding } from '../../../ports/compute.ts';
import { type CopyCounts, countCopies, requestAllCopies } from '../../../store/servers/snapshot-copies.ts';
import type { Service } from '../../context.ts';

/** A copy takes hours at most, and comes after the others of its host. */
const LATE_S = DAY_MS / SECOND_MS;
const MB = 1_000_000n;

export async function readCopyCounts({ db }: Pick<Service, 'db'>): Promise<CopyCounts> {
  return await countCopies(db, LATE_S);
}

/** Copies that are late or fail. */
export async function copyFindings(service: Pick<Service, 'db'>): Promise<HostFinding[]> {
  const { stored, bytes, waiting, late, failing, deleting, fault } = await readCopyCounts(service);
  if (stored === 0n && waiting === 0n && deleting === 0n) return [];
  const subject = 'copies';
  const message = `${stored} snapshots are in the file store (${bytes / MB} MB), ${waiting} copies wait`;
  if (failing === 0n && late === 0n) return [{ level: 'ok', subject, message }];
  const reason = fault === null ? '' : `: ${fault}`;
  const details = `${late} for over a day, ${failing} failed last${reason}`;
  return [{ level: 'warn', subject, message: `${message}, ${details}` }];
}

/** Requests copies of all snapshots that have none. Returns how many those are. */
export async function copyExisting(service: Service): Promise<number> {
  const requested = await requestAllCopies(service.db);
  service.wake();
  return requested;
}
