/** Receives webhooks and fails over if the primary is down: `node failover.ts`. See README.md. */
import { type Event, isApiError, Skerry } from '@skerry/sdk';
import { createReceiver } from './receiver.ts';
import { reconcile } from './reconcile.ts';
import { readSettings } from './settings.ts';
import { Worker } from './worker.ts';

const settings = readSettings(process.env);
const { baseUrl, token, secret, tls, port, retryMs, checkMs } = settings;
const skerry = new Skerry({ baseUrl, token });

const worker = new Worker({
  work: () => reconcile({ skerry, settings, log }),
  retryMs,
  checkMs,
  onError: (error) => log(`${errorMessage(error)}; retrying in ${retryMs / 1_000} s`),
});
const receiver = createReceiver({ secret, tls, onEvent });

function onEvent(event: Event): void {
  log(`${event.id} ${event.type}`);
  if (event.data.server?.labels.group === settings.group) worker.wake();
}

receiver.listen(port, '127.0.0.1', () => {
  log(`listening on ${port}`);
  // Catch up on events that were missed, and on a failover that a crash interrupted.
  worker.wake();
});

// Exit immediately: the next start continues an interrupted failover.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit());

function errorMessage(error: unknown): string {
  if (isApiError(error)) return `${error.message} (${error.requestId})`;
  return error instanceof Error ? error.message : String(error);
}

function log(line: string): void {
  process.stdout.write(`${new Date().toISOString()} ${line}\n`);
}
