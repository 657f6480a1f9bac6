/** The export of all data stored about a customer, as one JSON document. */
import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { Deadline, runWithin } from '../../kernel/faults/deadline.ts';
import { formatId, type IdKind } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { EXPORT_SECTIONS, type ExportSection, readSection } from '../../store/customers/export.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { requireCustomer } from './operator.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'keys'>;

/**
 * Writes all data stored about a customer, row by row from one consistent snapshot, in bounded memory. The
 * audit row is written first, so it also covers exports that break off.
 */
export async function exportCustomer(
  service: Deps,
  name: string,
  write: (text: string) => Promise<void>,
): Promise<void> {
  await writeExport(service, await recordExport(service, name), write);
}

/** It holds a connection to the database: a slow reader does not keep it forever. */
const EXPORT_MAX_MS = 600_000;

/** The same as a stream, which may take longer than its request. A reader that stops ends the export. */
export async function openExport(service: Deps, name: string): Promise<Readable> {
  const customerId = await recordExport(service, name);
  const stream = new PassThrough();
  // It may fail before its reader listens.
  stream.on('error', () => undefined);
  const reading = new AbortController();
  stream.once('close', () => reading.abort());
  const signal = AbortSignal.any([reading.signal, AbortSignal.timeout(EXPORT_MAX_MS)]);
  const write = async (text: string) => {
    signal.throwIfAborted();
    if (!stream.write(text)) await once(stream, 'drain', { signal });
  };
  const deadline = new Deadline(EXPORT_MAX_MS, false);
  runWithin(deadline, () => writeExport(service, customerId, write)).then(
    () => stream.end(),
    (error: unknown) => stream.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  return stream;
}

async function recordExport(service: Deps, name: string): Promise<string> {
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    const { id: customerId } = await requireCustomer(tx, name);
    const entry = { actor: systemActor(now), action: 'customer.export', resource: null } as const;
    await recordAudit(tx, { ...entry, customerId }, now);
    return customerId;
  });
}

async function writeExport(
  { db, clock, keys }: Deps,
  customerId: string,
  write: (text: string) => Promise<void>,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run('set transaction isolation level repeatable read read only');
    await write(`{"object":"customer_export","exported_at":"${formatRfc3339(clock.now())}"`);
    for (const section of EXPORT_SECTIONS) {
      let rows = 0;
      await write(`,\n"${section.name}":[`);
      await readSection(tx, section, customerId, async (row) => {
        const shown = withShownIds(section, withOpened(keys, section, row));
        await write(`${rows === 0 ? '' : ','}\n${JSON.stringify(shown)}`);
        rows += 1;
      });
      await write(rows === 0 ? ']' : '\n]');
    }
    await write('}\n');
  });
}

/** Returns the row with its sealed columns opened. */
function withOpened(
  keys: Deps['keys'],
  { opens = {} }: ExportSection,
  row: Record<string, unknown>,
): Record<string, unknown> {
  const entries = Object.entries(row).map(([name, value]) => {
    const [as, at, encoding] = opens[name] ?? [];
    if (!as || !at) return [name, value];
    if (value === null) return [as, null];
    return [as, Buffer.from(keys.open(at, String(row.id), String(value))).toString(encoding)];
  });
  return Object.fromEntries(entries);
}

/** Returns the row with ids in their public form. */
function withShownIds({ ids }: ExportSection, row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row).map(([name, value]) => [name, toShownIds(ids[name], value)]);
  return Object.fromEntries(entries);
}

function toShownIds(kind: IdKind | undefined, value: unknown): unknown {
  if (kind === undefined) return value;
  if (Array.isArray(value)) return value.map((each) => toShownIds(kind, each));
  return typeof value === 'string' ? formatId(kind, value) : value;
}
