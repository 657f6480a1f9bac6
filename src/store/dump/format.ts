/**
 * The contents of a backup: `backup.json` first, then the rows of each table in entries `tables/<name>/<n>`,
 * and `manifest.json` last, with counts and checksums.
 */
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { ArchiveError } from '../../kernel/crypt/age.ts';

/** The format of the archive. A change that earlier versions cannot read raises it. */
export const FORMAT = 1 as const;
export const HEADER_NAME = 'backup.json';
export const MANIFEST_NAME = 'manifest.json';

const Count = Type.Integer({ minimum: 0 });
const Digits = Type.String({ pattern: '^-?\\d{1,20}$' });

const Table = Type.Object({ name: Type.String(), columns: Type.Array(Type.String()) });

const HEADER = Type.Object({
  format: Type.Literal(FORMAT),
  /** The version of Skerry. */
  release: Type.String(),
  mode: Type.Union([Type.Literal('sandbox'), Type.Literal('live')]),
  /** Names the database and its restored copies. */
  database: Type.String(),
  /** Opens with the service key of the database. Older releases did not write it. */
  key_check: Type.Optional(Type.String()),
  /** On the clock of the business. */
  taken_at: Type.String({ format: 'date-time' }),
  migrations: Type.Array(Type.Object({ name: Type.String(), sha256: Type.String() }), { minItems: 1 }),
  tables: Type.Array(Table),
});
export type BackupHeader = Type.Static<typeof HEADER>;

const MANIFEST = Type.Object({
  tables: Type.Array(Type.Object({ name: Type.String(), rows: Count, sha256: Type.String() })),
  sequences: Type.Array(Type.Object({ name: Type.String(), last_value: Digits, is_called: Type.Boolean() })),
  /** The highest address numbers at the end of the backup, later than its rows. */
  marks: Type.Array(
    Type.Object({ coin: Type.String(), next_index: Digits, given: Digits, pool_place: Digits }),
  ),
});
export type BackupManifest = Type.Static<typeof MANIFEST>;

const isHeader = Compile(HEADER);
const isManifest = Compile(MANIFEST);

export function parseHeader(bytes: Buffer): BackupHeader {
  const value = parseJson(bytes);
  if (isHeader.Check(value)) return value;
  const { format } = (value ?? {}) as { readonly format?: unknown };
  if (typeof format === 'number' && format > FORMAT)
    throw new ArchiveError('a newer release made this backup: restore it with that release');
  throw new ArchiveError('this is not a backup of Skerry');
}

export function parseManifest(bytes: Buffer): BackupManifest {
  const value = parseJson(bytes);
  if (isManifest.Check(value)) return value;
  throw new ArchiveError('the manifest of the backup is damaged');
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}
