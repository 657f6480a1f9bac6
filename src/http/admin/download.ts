/** Lists as files for spreadsheets. */
import { type CsvValue, formatCsv } from '../../domain/staff/csv.ts';
import type { Shown } from '../../panel/staff/room.ts';
import type { StaffOperation } from '../../spec/staff/operations.ts';
import { field } from '../form.ts';
import type { ConsoleContext } from './page.ts';
import type { ListAnswer } from './pages/lists.ts';

const ROWS_MAX = 10_000;
const PAGE_SIZE = 200;

/** A list with the columns of its page. */
interface DownloadedList<Item> {
  readonly list: StaffOperation;
  readonly filters?: readonly (readonly [name: string, label: string])[];
  readonly columns: readonly Shown<Item>[];
}

/** Reads the rows that match the filters of the query, up to a maximum, as CSV. */
export async function downloadList<Item>(
  { list, filters = [], columns }: DownloadedList<Item>,
  { query, read }: ConsoleContext,
): Promise<string> {
  const given = filters.map(([name]) => [name, field(query, name).trim()]).filter(([, text]) => text !== '');
  const filter = { ...Object.fromEntries(given), limit: String(PAGE_SIZE) };
  const rows: CsvValue[][] = [];
  let before: string | undefined;
  do {
    const page: ListAnswer<Item & { id: string }> = await read(
      list,
      {},
      { ...filter, ...(before && { before }) },
    );
    rows.push(...page.data.map((item) => columns.map(({ value }) => value(item))));
    before = page.has_more ? page.data.at(-1)?.id : undefined;
  } while (before !== undefined && rows.length < ROWS_MAX);
  return formatCsv(
    columns.map(({ name }) => name),
    rows,
  );
}
