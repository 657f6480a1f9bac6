/**
 * Countries from a file of the MaxMind DB form, held in memory: 8 MB a process, a microsecond a look-up. It is read with
 * the first look-up or by `load`, so that no start waits for it.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Reader, Response } from 'mmdb-lib';
import type { Geo } from '../../ports/geo.ts';
import { isCountryCode } from '../../spec/countries.ts';

/** What comes with us: the registries' data as a package (ARCHITECTURE, "Data"). */
const BUNDLED_DATABASE = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb';

/** A country as the shipped file has it, and as MaxMind's and others' have. */
interface CountryRecord {
  readonly country_code?: unknown;
  readonly country?: { readonly iso_code?: unknown };
}

export class MmdbGeo implements Geo {
  readonly #file: string;
  /** null: the file is of no use. */
  #reader: Reader<Response> | null | undefined;

  /** `file` null: the one that comes with us. */
  constructor({ file }: { file: string | null }) {
    this.#file = file ?? fileURLToPath(import.meta.resolve(BUNDLED_DATABASE));
  }

  /** Reads the file, so that no caller waits for it. Throws when it cannot be read or is none of the kind. */
  async load(): Promise<void> {
    this.#reader ??= openReader(await readFile(this.#file));
  }

  countryOf(address: string): string | null {
    if (this.#reader === undefined) this.#loadSync();
    try {
      const found = this.#reader?.get(address) as CountryRecord | null | undefined;
      const code = found?.country_code ?? found?.country?.iso_code;
      return typeof code === 'string' && isCountryCode(code) ? code : null;
    } catch {
      // What is no address is nowhere.
      return null;
    }
  }

  #loadSync(): void {
    try {
      this.#reader = openReader(readFileSync(this.#file));
    } catch {
      // Whoever calls `load` hears why.
      this.#reader = null;
    }
  }
}

/** Not before it is needed, either: every command would wait for it. Throws where the file is none of the kind. */
function openReader(file: Buffer): Reader<Response> {
  const mmdb = createRequire(import.meta.url)('mmdb-lib') as typeof import('mmdb-lib');
  return new mmdb.Reader(file);
}
