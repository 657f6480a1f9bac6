/**
 * Country lookup in a MaxMind DB file held in memory: 8 MB per process, one microsecond per lookup. The file
 * is read on the first lookup or by `load`, so that it never delays startup.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Reader, Response } from 'mmdb-lib';
import type { Geo } from '../../ports/geo.ts';
import { isCountryCode } from '../../spec/countries.ts';

/** The bundled database: registry data as an npm package (ARCHITECTURE, "Data"). */
const BUNDLED_DATABASE = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb';

/** A country record in the bundled file's format or in MaxMind's. */
interface CountryRecord {
  readonly country_code?: unknown;
  readonly country?: { readonly iso_code?: unknown };
}

export class MmdbGeo implements Geo {
  readonly #file: string;
  /** null: the file can't be used. */
  #reader: Reader<Response> | null | undefined;

  /** `file` null: the bundled database. */
  constructor({ file }: { file: string | null }) {
    this.#file = file ?? fileURLToPath(import.meta.resolve(BUNDLED_DATABASE));
  }

  /** Preloads the file, so that no caller waits for it. Throws if it can't be read or isn't a MaxMind DB. */
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
      // Not a valid address.
      return null;
    }
  }

  #loadSync(): void {
    try {
      this.#reader = openReader(readFileSync(this.#file));
    } catch {
      // `load` reports the reason.
      this.#reader = null;
    }
  }
}

/**
 * Loads the library lazily, because otherwise every CLI command would. Throws if the file isn't a MaxMind DB.
 */
function openReader(file: Buffer): Reader<Response> {
  const mmdb = createRequire(import.meta.url)('mmdb-lib') as typeof import('mmdb-lib');
  return new mmdb.Reader(file);
}
