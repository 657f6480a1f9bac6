/** Backups of a server on a schedule. */
import { type BackupPolicy, type CreateServer, isApiError, type SetBackupPolicy } from '@skerry/sdk';
import type { CheckFailure } from '../rpc/protocol.ts';
import { isMap, type Values } from '../rpc/values.ts';
import { bodyOf, type Call, findOrNull } from './resource.ts';

type Order = NonNullable<CreateServer['backups']>;

export function checkBackups({ backups }: Values): readonly CheckFailure[] {
  const isMissing = isMap(backups) && (backups.enabled ?? null) === null;
  return isMissing ? [{ property: 'backups.enabled', reason: 'a value is required' }] : [];
}

export function backupsBody(backups: Values): Order {
  return bodyOf<Order>(backups, Object.keys(backups));
}

/** Members that the program omits keep their value. */
export async function replaceBackups(
  { skerry, signal }: Call,
  id: string,
  backups: Values,
  maxPriceUsd: number | undefined,
): Promise<void> {
  const { enabled, every, weekday, hour_utc, keep } = await skerry.backupPolicies.get(id, { signal });
  // Daily backups have no weekday.
  const day = backups.every === 'day' ? null : weekday;
  const current = { enabled, every, weekday: day, hour_utc, keep };
  const limit = maxPriceUsd === undefined ? {} : { max_price_usd: maxPriceUsd };
  const body: SetBackupPolicy = { ...current, ...backupsBody(backups), ...limit };
  await skerry.backupPolicies.replace(id, body, { signal });
}

/** Null if the program does not set them: then only an import looks, for backups that are enabled. */
export async function readBackups(call: Call, id: string, state: Values): Promise<Values | null> {
  const isImport = state.plan === undefined;
  if (!isImport && !isMap(state.backups)) return null;
  const policy = await findPolicy(call, id);
  if (policy === null) return isMap(state.backups) ? state.backups : null;
  if (isImport && !policy.enabled) return null;
  const { enabled, every, weekday, hour_utc: hourUtc, keep } = policy;
  return { enabled, every, weekday, hourUtc, keep };
}

/** Null for a service without backups, and for a limited token that must not read them. */
async function findPolicy({ skerry, signal }: Call, id: string): Promise<BackupPolicy | null> {
  try {
    return await findOrNull(skerry.backupPolicies.get(id, { signal }));
  } catch (error) {
    if (isApiError(error, 'forbidden_scope')) return null;
    throw error;
  }
}
