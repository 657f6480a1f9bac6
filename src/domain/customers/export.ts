/** `skerryd customers export`: streams one JSON document with all data stored about a customer. */
import { formatId, type IdKind } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { EXPORT_SECTIONS, type ExportSection, readSection } from '../../store/customers/export.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { requireCustomer } from './by-email.ts';

/**
 * Writes the document row by row from one consistent snapshot, in bounded memory. The audit row is written
 * first, so it also covers exports that break off.
 */
export async function exportCustomer(
  service: Pick<Service, 'db' | 'clock'>,
  email: string,
  write: (text: string) => Promise<void>,
): Promise<void> {
  const now = service.clock.now();
  const customerId = await service.db.transaction(async (tx) => {
    const { id } = await requireCustomer(tx, email);
    const entry = {
      actor: systemActor(now),
      action: 'customer.export',
      resource: null,
      customerId: id,
    } as const;
    await recordAudit(tx, entry, now);
    return id;
  });
  await service.db.transaction(async (tx) => {
    await tx.run('set transaction isolation level repeatable read read only');
    await write(`{"object":"customer_export","exported_at":"${formatRfc3339(now)}"`);
    for (const section of EXPORT_SECTIONS) {
      let rows = 0;
      await write(`,\n"${section.name}":[`);
      await readSection(tx, section, customerId, async (row) => {
        await write(`${rows === 0 ? '' : ','}\n${JSON.stringify(withShownIds(section, row))}`);
        rows += 1;
      });
      await write(rows === 0 ? ']' : '\n]');
    }
    await write('}\n');
  });
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
