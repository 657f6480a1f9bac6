/** Checks a backup without a database: its entries, and the rows and checksum of each table. */
import { createHash } from 'node:crypto';
import { ArchiveError } from '../../kernel/crypt/age.ts';
import { countRows, tableOfEntry } from './dump.ts';
import { HEADER_NAME, MANIFEST_NAME, parseHeader, parseManifest } from './format.ts';
import { readEntries } from './tar.ts';

/** `content` is a decrypted backup. Throws an ArchiveError unless it is whole. */
export async function checkDump(content: AsyncIterable<Uint8Array>): Promise<void> {
  const tables = new Map<string, { readonly hash: ReturnType<typeof createHash>; rows: number }>();
  let isWhole = false;
  for await (const { name, bytes } of readEntries(content)) {
    const table = tableOfEntry(name);
    if (name === HEADER_NAME) {
      for (const each of parseHeader(bytes).tables)
        tables.set(each.name, { hash: createHash('sha256'), rows: 0 });
    } else if (name === MANIFEST_NAME) {
      const manifest = parseManifest(bytes);
      for (const each of manifest.tables) {
        const found = tables.get(each.name);
        if (found?.rows !== each.rows || found.hash.digest('hex') !== each.sha256) throw mismatch(each.name);
      }
      isWhole = manifest.tables.length === tables.size;
    } else {
      const found = tables.get(table ?? '');
      if (!found) throw mismatch(name);
      found.hash.update(bytes);
      found.rows += countRows(bytes);
    }
  }
  if (!isWhole) throw new ArchiveError('the archive is damaged or incomplete');
}

function mismatch(name: string): ArchiveError {
  return new ArchiveError(`${name} of the backup is not what its manifest says`);
}
