/** Maps each task to its handler. */
import type { TaskKind, TaskResult } from '../store/tasks.ts';
import type { Service } from './context.ts';
import { tearDownAccount } from './customers/deletion/tear-down.ts';
import { processResetRequest } from './customers/reset-password.ts';
import { ensureRdns } from './dns/ensure.ts';
import { applyFilter } from './firewall/apply.ts';
import { removeImageBlob } from './images/remove.ts';
import { applyTraffic } from './servers/traffic.ts';
import { ensureSnapshot } from './snapshots/ensure.ts';
import { ensureVolume } from './volumes/ensure.ts';

/**
 * Reads the desired state of the subject, applies it with the driver outside any transaction, and records
 * the result. It may run twice, even concurrently. An error is retried after 1, 2, 4 … 30 seconds.
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
