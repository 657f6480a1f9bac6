/** Maps an IP address to a country. Called for every request, so lookups are in memory. */
export interface Geo {
  /** Returns the country of a public address (ISO 3166-1 alpha-2), or null if unknown. Never throws. */
  countryOf(address: string): string | null;
}
