/** Lists as files for spreadsheets. */
import { Readable } from 'node:stream';
import { formatCsv, formatCsvRow } from '../../domain/staff/csv.ts';
import type { Shown } from '../../panel/staff/room.ts';
import type { StaffOperation } from '../../spec/staff/operations.ts';
import { field } from '../form.ts';
import type { ConsoleContext } from './page.ts';
import type { ListAnswer } from './pages/lists.ts';

const PAGE_SIZE = 200;

/** A list with the columns of its page. */
interface DownloadedList<Item> {
  readonly list: StaffOperation;
  readonly filters?: readonly (readonly [name: string, label: string])[];
  readonly columns: readonly Shown<Item>[];
}

/** Streams all rows that match the query as CSV. A later failure breaks off the download. */
export async function downloadList<Item>(
  { list, filters = [], columns }: DownloadedList<Item>,
  { query, read }: ConsoleContext,
): Promise<Readable> {
  const given = filters.map(([name]) => [name, field(query, name).trim()]).filter(([, text]) => text !== '');
  const filter = { ...Object.fromEntries(given), limit: String(PAGE_SIZE) };
  const readPage = (before?: string) =>
    read<ListAnswer<Item & { id: string }>>(list, {}, { ...filter, ...(before && { before }) });
  const first = await readPage();
  const pages = async function* () {
    yield formatCsv(
      columns.map(({ name }) => name),
      [],
    );
    for (let page = first; ; page = await readPage(page.data.at(-1)?.id)) {
      yield page.data.map((item) => formatCsvRow(columns.map(({ value }) => value(item)))).join('');
      if (!page.has_more) return;
    }
  };
  return Readable.from(pages());
}
