/** Who carries out which task. */
import type { TaskKind } from '../store/tasks.ts';
import type { Service } from './context.ts';
import { tearDownAccount } from './customers/deletion/tear-down.ts';
import { processResetRequest } from './customers/request-reset.ts';
import { ensureRdns } from './dns/ensure.ts';
import { applyFilter } from './firewall/apply.ts';
import { removeImageBlob } from './images/remove-blob.ts';
import { applyTraffic } from './servers/traffic.ts';
import { ensureSnapshot } from './snapshots/ensure.ts';
import { ensureVolume } from './volumes/ensure.ts';

/** What comes next: nothing, or the same again after so long, in business time. */
export type TaskResult = 'done' | { readonly againMs: number };

/**
 * Reads what is wanted of the subject, ensures it with the driver outside any transaction, and records what came of it.
 * It may run twice, also at the same time. What it throws is tried again: after 1, 2, 4 … 30 seconds.
 */
export type TaskHandler = (service: Service, subject: string) => Promise<TaskResult>;

export const TASKS: Readonly<Record<TaskKind, TaskHandler>> = {
  volume: ensureVolume,
  snapshot: ensureSnapshot,
  filter: applyFilter,
  traffic: applyTraffic,
  image_remove: removeImageBlob,
  reset_request: processResetRequest,
  account_delete: tearDownAccount,
  rdns: ensureRdns,
};
