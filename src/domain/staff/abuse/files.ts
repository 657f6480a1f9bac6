/** Files of abuse reports: recognized by their content, bounded, and sealed. */
import { fail } from '../../../kernel/fail.ts';
import { newId, parseId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { SEALED } from '../../../spec/sealed.ts';
import { ABUSE_FILE_TYPES, ABUSE_LIMITS, type AbuseFileType } from '../../../spec/staff/abuse.ts';
import {
  type AbuseFileRow,
  deleteAbuseFile,
  findAbuseFile,
  insertAbuseFile,
  listAbuseFiles,
} from '../../../store/staff/abuse-files.ts';
import type { Service } from '../../context.ts';
import { type NewTicketFile, type RecognizedFile, storeFile } from '../../customers/tickets/attach.ts';
import { cleanFileName, recognizeFile } from '../../customers/tickets/file-types.ts';
import { type AbuseReport, readAbuseReport, requireReportId } from './read.ts';
import { changeOpenReport } from './record.ts';

type Deps = Pick<Service, 'db' | 'keys' | 'clock'>;

const FILE_RULES = {
  types: ABUSE_FILE_TYPES,
  maxBytes: ABUSE_LIMITS.fileMaxBytes,
  refusal:
    'Send a PDF, a PNG or JPEG image, a packet capture (pcap), a saved mail, or a plain text file in UTF-8.',
};

/** Fails with `not_found`, `conflict_state`, `invalid_value`, and `limit_reached`. */
export async function attachAbuseFile(
  service: Deps,
  shownId: string,
  { name: wanted, content }: NewTicketFile,
): Promise<AbuseReport> {
  const { keys } = service;
  const type = recognizeFile(content, FILE_RULES);
  const name = cleanFileName(wanted, type, ABUSE_LIMITS.fileNameMaxChars);
  await changeOpenReport(service, shownId, async (tx, report, now) => {
    requireRoom(await listAbuseFiles(tx, report.id), content.length);
    const id = newId(now);
    await insertAbuseFile(tx, {
      ...{ id, report_id: report.id, type, size_bytes: content.length, created_at: now },
      name_sealed: keys.seal(SEALED.abuseFileName, id, name),
      content_sealed: keys.seal(SEALED.abuseFile, id, content),
    });
    return report;
  });
  return await readAbuseReport(service, shownId);
}

function requireRoom(files: readonly AbuseFileRow[], bytes: number): void {
  const limit = ABUSE_LIMITS.filesMax;
  if (files.length >= limit) fail('limit_reached', { limit }, `A report can have ${limit} files.`);
  const maxBytes = ABUSE_LIMITS.filesMaxBytes;
  const sum = files.reduce((total, { size_bytes: size }) => total + size, bytes);
  if (sum <= maxBytes) return;
  const mib = maxBytes / 1024 ** 2;
  fail('limit_reached', { limit: maxBytes }, `The files of a report can have ${mib} MiB in total.`);
}

/** A copy that was shared with the customer stays in the ticket. Fails like `attachAbuseFile`. */
export async function removeAbuseFile(service: Deps, shownId: string, fileId: string): Promise<AbuseReport> {
  const id = parseId('abuseFile', fileId.trim());
  await changeOpenReport(service, shownId, async (tx, report) => {
    if (id === undefined || !(await deleteAbuseFile(tx, { reportId: report.id, id }))) fileNotFound();
    return report;
  });
  return await readAbuseReport(service, shownId);
}

/** Fails with `not_found`. */
export async function readAbuseFile(
  { db, keys }: Pick<Deps, 'db' | 'keys'>,
  shownId: string,
  fileId: string,
): Promise<RecognizedFile<AbuseFileType>> {
  const id = parseId('abuseFile', fileId) ?? fileNotFound();
  return await openFile(db, keys, { reportId: requireReportId(shownId), id });
}

/** Copies the files of a report to a message of its ticket, one at a time. */
export async function shareFiles(
  tx: Sql,
  { keys }: Pick<Deps, 'keys'>,
  { reportId, messageId }: { readonly reportId: string; readonly messageId: string },
  now: Date,
): Promise<void> {
  for (const { id } of await listAbuseFiles(tx, reportId)) {
    const file = await openFile(tx, keys, { reportId, id });
    await storeFile(tx, { keys }, { messageId, file }, now);
  }
}

async function openFile(
  sql: Sql,
  keys: Deps['keys'],
  place: { readonly reportId: string; readonly id: string },
): Promise<RecognizedFile<AbuseFileType>> {
  const row = (await findAbuseFile(sql, place)) ?? fileNotFound();
  return {
    name: keys.open(SEALED.abuseFileName, row.id, row.name_sealed).toString(),
    type: row.type,
    content: Buffer.from(keys.open(SEALED.abuseFile, row.id, row.content_sealed)),
  };
}

function fileNotFound(): never {
  fail('not_found', {}, 'There is no file with this id.');
}
