/** Starts and ends maintenance windows. */
import { fail } from '../../kernel/fail.ts';
import { newId, parseId } from '../../kernel/ids.ts';
import { requireLine } from '../../kernel/operator-error.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { Operation } from '../../spec/operations.ts';
import {
  closeExpiredWindows,
  endWindows,
  incrementRulesVersion,
  insertWindow,
  readRules,
  type WindowRow,
} from '../../store/service/rules.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';

/** A window of more than a year is a mistake and could exceed the range of database timestamps. */
export const MAINTENANCE_MINUTES_MAX = 366 * 24 * 60;

type Deps = Pick<Service, 'db' | 'clock'>;

export interface NewWindow {
  /** Null: all operations. */
  readonly operation: Operation | null;
  readonly minutes: number;
  /** Shown to customers. */
  readonly reason: string | null;
}

/** Starts a window now. Every process applies it from its next request on. */
export async function startMaintenance(service: Deps, wanted: NewWindow): Promise<WindowRow> {
  const reason = wanted.reason === null ? null : requireLine('reason', wanted.reason);
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    await incrementRulesVersion(tx);
    await closeExpiredWindows(tx, now);
    const window: WindowRow = {
      id: newId(now),
      operation: wanted.operation,
      starts_at: now,
      ends_at: new Date(now.getTime() + wanted.minutes * MINUTE_MS),
      reason,
    };
    await insertWindow(tx, window);
    const resource = wanted.operation;
    await recordAudit(tx, { actor: systemActor(now), action: 'maintenance.start', resource }, now);
    return window;
  });
}

/** Ends all open windows and returns their number. */
export async function endMaintenance(service: Deps): Promise<number> {
  return (await endOpen(service, null)).length;
}

/** Ends one window. Fails with `not_found` if none with this id is open. */
export async function endMaintenanceWindow(service: Deps, shownId: string): Promise<WindowRow> {
  const id = parseId('maintenanceWindow', shownId);
  const [ended] = id === undefined ? [] : await endOpen(service, id);
  return ended ?? fail('not_found', {}, 'No open maintenance window has this id.');
}

async function endOpen(service: Deps, id: string | null): Promise<WindowRow[]> {
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    await incrementRulesVersion(tx);
    await closeExpiredWindows(tx, now);
    const ended = await endWindows(tx, now, id);
    for (const { operation } of ended) {
      const entry = { actor: systemActor(now), action: 'maintenance.end', resource: operation } as const;
      await recordAudit(tx, entry, now);
    }
    return ended;
  });
}

/** Returns the open windows. */
export async function listMaintenance(service: Deps): Promise<readonly WindowRow[]> {
  const now = service.clock.now();
  return (await readRules(service.db)).windows.filter((window) => now < window.ends_at);
}
